/* What comes before and after iterations and between the turns of their loops: whether to go on, and what a thread leaves when it ends.
 * The loops themselves stand in generated text; which iterations a thread has is the device's to say. */

/* Whether to give up, now. Not 0: leave; and the loops around have to be left, too, so whoever asks next by ticks is answered at once. */
__PG_SHARED_FN int __pg_poll_now(struct __pg_ctx *c)
{
  if (!c->left && c->fail == 0 && __pg_peek(c->launch->stop) != 0)
    c->fail |= PG_FAIL_STOPPED;
  if (!c->left && c->fail == 0 && __pg_peek(&c->launch->flags[0]) == 0)
    return 0;
  c->left = 1;
  c->ticks |= 1023u;
  return 1;
}

/* Innermost loops call this at each turn, or now and then: speculation may have made them endless. Not 0: leave. */
__PG_SHARED_FN int __pg_poll(struct __pg_ctx *c)
{
  return (++c->ticks & 1023u) == 0 && __pg_poll_now(c);
}

/* The same for loops around others, which may have many turns before they ask. */
__PG_SHARED_FN int __pg_poll_around(struct __pg_ctx *c)
{
  return (++c->ticks & 15u) == 0 && __pg_poll_now(c);
}

/* Before an iteration. Not 0: do no more. */
__PG_SHARED_FN int __pg_begin_iteration(struct __pg_ctx *c, __pg_u64 k)
{
#ifdef __PG_BUFFERED_GROUPED
  __pg_note_due(c);
#endif
#ifdef __PG_JOINED
  __pg_end_its_notes(c);
#endif
  c->iteration = (__pg_u32)k + 1;
  if (__PG_MARKS_REPEATS)
    c->marked = 0;
#if defined(__PG_BUFFERED) || defined(__PG_SEAMS)
  c->stored = 0;
#endif
  if (c->fail != 0 || (c->left && __PG_LEADS))
    return 1;
  c->left = 0;
  /* Where nothing is logged, others hardly ever give up: to look each time would cost more than it saves. So it would where logs
   * are cheap. */
#ifndef __PG_NAMELESS
  if ((__PG_LOG_METHOD(c->launch) == PG_LOG_ATOMIC || __PG_LOG_METHOD(c->launch) == PG_LOG_REDUCTION) &&
      __pg_peek(&c->launch->flags[0]) != 0)
    return 1;
#endif
  return (++c->ticks & 63u) == 0 && __pg_poll_now(c);
}

/* After a thread's last iteration. */
__PG_SHARED_FN void __pg_end_thread(struct __pg_ctx *c)
{
#ifdef __PG_BUFFERED_GROUPED
  __pg_note_due(c);
  /* Stores of a launch take less than so many bits: a stamp numbers them all, and each has eight cells at most. */
  c->writes += (__pg_u64)c->far << 36;
#endif
#ifdef __PG_GATHERS
  if (c->gathered != 0)
    __pg_set_bits(c->launch->wr, 0, c->word, c->gathered);
#endif
#ifdef __CUDACC_RTC__
  if (__PG_METHOD == PG_LOG_BITMAP)
    __pg_end_notes(c);
#endif
  if (c->fail != 0 && __PG_LEADS)
    __pg_fetch_or(&c->launch->flags[0], c->fail);
  if (c->writes != 0) {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
    const __pg_u32 lanes = __activemask();
    __pg_u64 writes = c->writes;
    /* In 32 bits for all lanes at once, where they can't overflow. */
    if (!__any_sync(lanes, writes >> 27 != 0)) {
      writes = __reduce_add_sync(lanes, (__pg_u32)writes);
      if ((int)(threadIdx.x & 31) != __ffs(lanes) - 1)
        return;
    }
    __pg_fetch_add64(&c->launch->total[__PG_PLACE_OF_TOTAL * PG_TOTALS_APART], writes);
#else
    __pg_fetch_add64(&c->launch->total[0], c->writes);
#endif
  }
}

/* A thread may have left its loops by __pg_poll because another one failed; then flags[0] is set already. */
