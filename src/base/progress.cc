#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/readable.h"

namespace elias {

using Clock = std::chrono::steady_clock;

StatusLine::StatusLine() : on_terminal_(::isatty(STDERR_FILENO) == 1), last_drawn_(Clock::now()) {}

bool StatusLine::due() const {
  return on_terminal_ && Clock::now() - last_drawn_ >= std::chrono::milliseconds(100);
}

void StatusLine::draw(const std::string& text) {
  if (!on_terminal_) return;
  last_drawn_ = Clock::now();
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

void StatusLine::wipe() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

Progress::Progress(std::string task, std::string unit, uint64_t total)
    : task_(std::move(task)), unit_(std::move(unit)), total_(total), start_(Clock::now()) {}

void Progress::advance(uint64_t count) {
  done_ += count;
  if (!line_.due()) return;
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  line_.draw(progress_text(task_, unit_, done_, total_, elapsed.count()));
}

std::string progress_text(const std::string& task, const std::string& unit, uint64_t done,
                          uint64_t total, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = fmt::format("{}  {} {}", task, short_count(static_cast<double>(done)), unit);
  if (total > 0) {
    text +=
        fmt::format("  {:.0f}%", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  }
  text += fmt::format("  {} {}/s", short_count(rate), unit);
  if (total > done && rate > 0) {
    text += fmt::format("  {:.0f} s left", static_cast<double>(total - done) / rate);
  }
  return text;
}

}  // namespace elias
