#include "src/cli/interrupt.h"

#include <csignal>

namespace rope_bench {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void on_interrupt(int) {
  g_interrupted = 1;
  // Back to the default after the first one, so that the second one kills.
  for (int number : kSignals) std::signal(number, SIG_DFL);
}

}  // namespace

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int number : kSignals) {
    struct sigaction old {};
    sigaction(number, nullptr, &old);
    // nohup must go on meaning what it says.
    if (number == SIGHUP && old.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
}

void ignore_closed_pipes() { std::signal(SIGPIPE, SIG_IGN); }

bool interrupted() { return g_interrupted != 0; }

}  // namespace rope_bench
