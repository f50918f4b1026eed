#include "cli/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/atomic_file.h"
#include "base/signals.h"

namespace elias::cli {
namespace {

std::atomic<int> stop_signal{0};

extern "C" void ask_to_stop(int signal) {
  const int error = errno;
  constexpr std::string_view kNotice =
      "\nelias: stopping as soon as a checkpoint is saved, a second signal stops at once\n";
  const size_t skipped = ::isatty(STDERR_FILENO) == 1 ? 0 : 1;  // only there is a line to end
  // If it cannot be said, the run stops all the same.
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, kNotice.data() + skipped, kNotice.size() - skipped);
  stop_signal = signal;
  remove_temporary_files_on_signals();  // the next one stops at once
  errno = error;
}

}  // namespace

void stop_in_good_order_on_signals() { on_stop_signals(ask_to_stop); }

int asked_to_stop() { return stop_signal; }

BrokenPipesIgnored::BrokenPipesIgnored() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
BrokenPipesIgnored::~BrokenPipesIgnored() { std::signal(SIGPIPE, before_); }

}  // namespace elias::cli
