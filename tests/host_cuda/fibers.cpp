#include "tests/host_cuda/fibers.h"

#include <ucontext.h>

#include <memory>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define ROPE_ASAN 1
#else
#define ROPE_ASAN 0
#endif

namespace rope_bench::host_cuda {
namespace {

constexpr size_t kStackSize = 128 * 1024;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack{new char[kStackSize]};
  Fibers::State state = Fibers::State::kReady;
};

// Stacks are kept between blocks: making one costs more than running a thread.
std::vector<std::unique_ptr<Fiber>> pool;
ucontext_t scheduler;
[[maybe_unused]] void* scheduler_fake_stack = nullptr;
[[maybe_unused]] const void* scheduler_stack = nullptr;
[[maybe_unused]] size_t scheduler_stack_size = 0;
const std::function<void(size_t)>* current_body = nullptr;
size_t running = 0;

// AddressSanitizer follows stacks: it must be told of every change of one.
void enter_fiber(Fiber& fiber) {
#if ROPE_ASAN
  __sanitizer_start_switch_fiber(&scheduler_fake_stack, fiber.stack.get(), kStackSize);
#endif
  swapcontext(&scheduler, &fiber.context);
#if ROPE_ASAN
  __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
}

void leave_fiber(Fiber& fiber, bool for_good) {
#if ROPE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack, scheduler_stack,
                                 scheduler_stack_size);
#else
  (void)for_good;
#endif
  swapcontext(&fiber.context, &scheduler);
#if ROPE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &scheduler_stack, &scheduler_stack_size);
#endif
}

void fiber_main() {
#if ROPE_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
  (*current_body)(running);
  pool[running]->state = Fibers::State::kDone;
  leave_fiber(*pool[running], true);
}

}  // namespace

Fibers::State Fibers::state(size_t i) const { return pool[i]->state; }
void Fibers::set_ready(size_t i) { pool[i]->state = State::kReady; }

void Fibers::run(size_t count, const std::function<void(size_t)>& body) {
  while (pool.size() < count) pool.push_back(std::make_unique<Fiber>());
  current_body = &body;
  for (size_t i = 0; i < count; ++i) {
    Fiber& fiber = *pool[i];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackSize;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
    fiber.state = State::kReady;
  }
  for (;;) {
    bool waiting = false, progressed = false;
    for (size_t i = 0; i < count; ++i) {
      if (pool[i]->state == State::kReady) {
        current_ = running = i;
        enter_fiber(*pool[i]);
        progressed = true;
      }
      waiting = waiting || pool[i]->state == State::kWaiting;
    }
    if (!waiting) return;
    if (!progressed) throw std::logic_error("fibers: nobody was released");
    bool any_ready = false;
    for (size_t i = 0; i < count; ++i) any_ready = any_ready || pool[i]->state == State::kReady;
    if (!any_ready) on_all_waiting();
  }
}

void Fibers::wait() {
  Fiber& fiber = *pool[current_];
  fiber.state = State::kWaiting;
  leave_fiber(fiber, false);
}

}  // namespace rope_bench::host_cuda
