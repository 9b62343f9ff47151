/* What kernels have besides paragon_body.h: several iterations in one thread, and inner loops whose loads are under way together.
 * CUDA C++; the threads device does without.
 *
 * A thread runs a group of __pg_rows by __pg_columns iterations together, statement by statement, where the text allows it
 * (codegen::group): what they all load is loaded once, and more loads are under way. Its variables are members of arrays then; a
 * statement names one iteration's by reference.
 *
 * A walk is how an access of an inner loop moves through memory: pointers that are made before the loop and moved by strides,
 * instead of addresses that are made of subscripts at each turn. It stands for accesses that are affine and shown to stay in their
 * array (__PG_HOW), whose addresses are therefore what the strides say. Turns are run some at once, all their loads first
 * (T. C. Mowry: Tolerating Latency Through Software-Controlled Data Prefetching. Stanford University, 1994).
 *
 * One part for each subject; kernels have them joined (texts.rs). */
#ifndef PARAGON_KERNEL_H
#define PARAGON_KERNEL_H

#include "kernel/groups.h"
#include "kernel/origins.h"
#include "kernel/edges.h"
#include "kernel/room.h"
#include "kernel/walks.h"
#include "kernel/stages.h"
#include "kernel/subscripts.h"
#include "kernel/lent.h"
#include "kernel/runs.h"
#include "kernel/held.h"
#include "kernel/warps.h"
#include "kernel/side_by_side.h"
#include "kernel/gathered.h"
#include "kernel/notes.h"
#include "kernel/turns.h"
#include "kernel/collected.h"
#endif
