/* What a lowered loop body stands on: the instrumentation behind the macros that generated text uses.
 *
 * The same text of a body is compiled three times: DIRECT (C, host addresses, no checks: the worker, and threads that
 * run a proven loop in place), DEVICE in C (the threads device: translated addresses, range checks, logs), DEVICE in
 * CUDA (the same through NVRTC). So what runs where no GPU is are the very bodies and logs that the GPU runs.
 * paragon_rt.h comes before this file. Parts include nothing. They are valid C89 with GNU extensions and CUDA C++.
 *
 * One part for each subject. Only what is compiled as a file includes them; generated text and kernels have them joined (texts.rs). */
#ifndef PARAGON_BODY_H
#define PARAGON_BODY_H

#include "body/operations.h"
/* A unit without functions for the threads device needs no more than this. */
#ifndef __PG_DIRECT_ONLY
#include "body/launch.h"
#include "body/range.h"
#include "body/bitmaps.h"
#include "body/logs.h"
#include "body/joined.h"
#include "body/buffered.h"
#include "body/iterations.h"
#include "body/accesses.h"
#include "body/updates.h"
#include "body/results.h"
#include "body/arithmetic.h"
#include "body/loop.h"
#endif /* __PG_DIRECT_ONLY */
#endif
