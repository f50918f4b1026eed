#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/readable.h"

namespace elias {

Progress::Progress(std::string task, std::string unit, uint64_t total)
    : task_(std::move(task)),
      unit_(std::move(unit)),
      total_(total),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::advance(uint64_t count) {
  done_ += count;
  if (!on_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < std::chrono::milliseconds(100)) return;
  last_drawn_ = now;
  shown_ = true;
  draw();
}

void Progress::draw() const {
  const std::chrono::duration<double> elapsed = last_drawn_ - start_;
  fmt::print(stderr, "\r\x1b[K{}", progress_text(task_, unit_, done_, total_, elapsed.count()));
  std::fflush(stderr);
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
