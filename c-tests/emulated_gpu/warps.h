// The threads of a block, each a context of its own on one thread of the processor. They run one after the other, each until it asks
// its warp something, or its block; once all of a warp have come to that, those get their answers that a GPU would answer together.
// So what lanes tell each other is carried out, and who forgets to wait for another lane finds what was there before, as long as
// nothing else is asked in between: every question is a barrier here. Where it is asked doesn't matter: the C++ compiler may double text.
//
// Lanes that ask which others are active are answered last, when nobody else can go on: what has come together by then is together.
// Now and then it is taken apart, as GPUs may do it, unless EMULATED_TOGETHER is set. Lanes that wait for each other, or ask lanes that have ended, end the process.
#ifndef EMULATED_WARPS_H
#define EMULATED_WARPS_H
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

enum Question { ACTIVE, WARP_BARRIER, SHUFFLE, SHUFFLE_DOWN, BALLOT, MATCH, OR, ADD, BLOCK_BARRIER, BLOCK_OR, MOST, XOR, LAUNCH };

class Block {
public:
  // Threads of which each does `work(data)`, after `enter(data, number)` each time that it goes on.
  void run(unsigned threads, void (*enter)(void *, unsigned), void (*work)(void *), void *data)
  {
    while (lanes.size() < threads)
      lanes.push_back(std::make_unique<Lane>());
    this->enter = enter;
    this->work = work;
    this->data = data;
    current_block() = this;
    // The first thread is the first to begin: that is how the host knows that a kernel has.
    answered = 0;
    for (unsigned i = 0; i < threads; i++)
      lanes[i]->state = READY;
    for (unsigned left = threads; left != 0;) {
      left = 0;
      for (unsigned first = 0; first < threads; first += 32)
        left += run_warp(first, threads - first < 32 ? threads - first : 32);
      if (left != 0)
        answer_block(threads, left);
    }
  }

  // What a lane asks; comes back with the answer.
  static uint64_t ask(int question, unsigned asked, uint64_t value, int from, const void *site)
  {
    Block &block = *current_block();
    if (question == LAUNCH) {
      await_launch();
      return 0;
    }
    Lane &lane = *block.lanes[block.running];
    lane.question = (Question)question;
    lane.asked = asked;
    lane.value = value;
    lane.from = from;
    lane.site = site;
    lane.state = STOPPED;
    block.stop(lane);
    return lane.answer;
  }

  // A launch that runs early: the one in front of it is carried out when one of its threads asks for that, as late as may be. None may end
  // without having asked.
  static void run_early(std::function<void()> before, const std::function<void()> &own)
  {
    awaited() = std::move(before);
    own();
    if (awaited())
      end("a launch that begins early doesn't wait for the one in front of it");
  }

private:
  static std::function<void()> &awaited()
  {
    static thread_local std::function<void()> before;
    return before;
  }
  static void await_launch()
  {
    // Its blocks are others.
    Block *const own = current_block();
    if (auto before = std::exchange(awaited(), nullptr))
      before();
    current_block() = own;
  }
  enum State { READY, STOPPED, ENDED };
  struct Lane {
    static const size_t STACK = 256 << 10;
    // Where it goes on. Its context is only for the beginning: jumps ask nothing of the system.
    jmp_buf place;
    bool has_begun = false;
    ucontext_t context;
    State state = ENDED;
    Question question;
    unsigned asked;
    uint64_t value, answer;
    int from;
    const void *site;

    Lane()
    {
      char *stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stack == MAP_FAILED)
        end("no memory for stacks");
      mprotect(stack, 4096, PROT_NONE);
      getcontext(&context);
      context.uc_stack.ss_sp = stack;
      context.uc_stack.ss_size = STACK;
      context.uc_link = nullptr;
      makecontext(&context, serve, 0);
    }
  };
  std::vector<std::unique_ptr<Lane>> lanes;
  jmp_buf scheduler;
  unsigned running = 0, answered = 0;
  const bool stays_together = getenv("EMULATED_TOGETHER") != nullptr;
  void (*enter)(void *, unsigned) = nullptr;
  void (*work)(void *) = nullptr;
  void *data = nullptr;

  static Block *&current_block()
  {
    static thread_local Block *block;
    return block;
  }
  [[noreturn]] static void end(const char *why)
  {
    fprintf(stderr, "the emulated GPU: %s\n", why);
    abort();
  }
  // A lane's context does the work of one thread after the other.
  static void serve()
  {
    for (;;) {
      Block &block = *current_block();
      block.work(block.data);
      Lane &lane = *block.lanes[block.running];
      lane.state = ENDED;
      block.stop(lane);
    }
  }
  void stop(Lane &lane)
  {
    if (_setjmp(lane.place) == 0)
      _longjmp(scheduler, 1);
  }
  void go_on(Lane &lane)
  {
    if (_setjmp(scheduler) != 0)
      return;
    if (lane.has_begun)
      _longjmp(lane.place, 1);
    lane.has_begun = true;
    setcontext(&lane.context);
  }

  // Until all of its lanes have ended, or wait for the block. How many wait.
  unsigned run_warp(unsigned first, unsigned count)
  {
    for (bool goes_on = true; goes_on;) {
      // Now from the front, now from the back.
      for (unsigned i = 0; i < count; i++) {
        unsigned number = first + (answered & 1 ? count - 1 - i : i);
        if (lanes[number]->state != READY)
          continue;
        running = number;
        enter(data, number);
        go_on(*lanes[number]);
      }
      goes_on = answer(first, count);
    }
    unsigned waiting = 0;
    for (unsigned i = 0; i < count; i++)
      if (lanes[first + i]->state == STOPPED) {
        if (!is_of_block(*lanes[first + i]))
          end("lanes wait for each other");
        waiting++;
      }
    return waiting;
  }

  static bool is_of_block(const Lane &lane) { return lane.question == BLOCK_BARRIER || lane.question == BLOCK_OR; }
  // All wait for the whole block. A GPU would wait for ever for threads that have ended, and for those that ask it something else.
  void answer_block(unsigned threads, unsigned waiting)
  {
    uint64_t some = 0;
    for (unsigned i = 0; i < threads; i++)
      some |= lanes[i]->value;
    for (unsigned i = 0; i < threads; i++) {
      if (waiting != threads || lanes[i]->question != lanes[0]->question)
        end("threads miss each other at a block's barrier");
      lanes[i]->answer = some;
      lanes[i]->state = READY;
    }
  }

  bool answer(unsigned first, unsigned count)
  {
    bool some = false;
    unsigned alive = 0;
    for (unsigned i = 0; i < count; i++)
      alive |= (unsigned)(lanes[first + i]->state != ENDED) << i;
    answered++;
    for (unsigned i = 0; i < count; i++) {
      Lane &lane = *lanes[first + i];
      if (lane.state != STOPPED || lane.question == ACTIVE || is_of_block(lane))
        continue;
      // Lanes beyond the end of a block, or that have ended, wait for nobody; but they can't be asked for values.
      unsigned asked = lane.asked & alive;
      if ((asked >> i & 1) == 0)
        end("a lane asks others, but not itself");
      if (asked != lane.asked && lane.question != WARP_BARRIER && lane.question != SHUFFLE_DOWN)
        end("a lane asks lanes that have ended");
      bool all = true;
      for (unsigned j = 0; j < count; j++)
        if (asked >> j & 1) {
          Lane &other = *lanes[first + j];
          all &= other.state == STOPPED && other.question == lane.question && other.asked == lane.asked;
        }
      if (!all)
        continue;
      tell(first, asked);
      some = true;
    }
    if (some)
      return true;
    for (unsigned i = 0; i < count; i++) {
      Lane &lane = *lanes[first + i];
      if (lane.state != STOPPED || lane.question != ACTIVE)
        continue;
      unsigned together = 0, taken_apart = !stays_together && answered % 7 == 0 ? 0xf0f0f00fu >> i : ~0u;
      for (unsigned j = i; j < count; j++) {
        Lane &other = *lanes[first + j];
        if (other.state == STOPPED && other.question == ACTIVE && other.site == lane.site && (i == j || (taken_apart >> j & 1)))
          together |= 1u << j;
      }
      for (unsigned j = i; j < count; j++)
        if (together >> j & 1) {
          lanes[first + j]->answer = together;
          lanes[first + j]->state = READY;
        }
      some = true;
    }
    return some;
  }

  void tell(unsigned first, unsigned asked)
  {
    for (unsigned i = 0; i < 32; i++) {
      if ((asked >> i & 1) == 0)
        continue;
      Lane &lane = *lanes[first + i];
      uint64_t answer = 0;
      switch (lane.question) {
      case SHUFFLE:
      case SHUFFLE_DOWN: {
        unsigned from = lane.question == SHUFFLE ? (unsigned)lane.from & 31 : i + (unsigned)lane.from;
        // Beyond the warp's end a lane keeps its own.
        from = from < 32 ? from : i;
        if ((asked >> from & 1) == 0) {
          if (lane.question == SHUFFLE)
            end("a lane asks for the value of one that isn't there");
          from = i;
        }
        answer = lanes[first + from]->value;
        break;
      }
      default:
        for (unsigned j = 0; j < 32; j++)
          if (asked >> j & 1) {
            uint64_t value = lanes[first + j]->value;
            switch (lane.question) {
            case BALLOT: answer |= (uint64_t)(value != 0) << j; break;
            case MATCH: answer |= (uint64_t)(value == lane.value) << j; break;
            case OR: answer |= value; break;
            case XOR: answer ^= value; break;
            case MOST: answer = value > answer ? value : answer; break;
            case ADD: answer = (uint32_t)(answer + value); break;
            default: break;
            }
          }
      }
      lane.answer = answer;
    }
    for (unsigned i = 0; i < 32; i++)
      if (asked >> i & 1)
        lanes[first + i]->state = READY;
  }
};
#endif
