// One line on the terminal that says how far a long job is: "reading  42%  1.2M/s  3 s left".
//
// It is drawn on standard error, only if that is a terminal, at most ten times a second, and wiped
// when the job ends. Output that goes to a file or a pipe never sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace elias {

class Progress {
 public:
  /// `total` is 0 where it is not known; `unit` names what is counted ("points", "B").
  Progress(std::string task, std::string unit, uint64_t total = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(uint64_t count);

 private:
  void draw() const;

  std::string task_, unit_;
  uint64_t total_;
  uint64_t done_ = 0;
  bool shown_ = false;
  bool on_terminal_;
  std::chrono::steady_clock::time_point start_, last_drawn_;
};

/// The line Progress draws, without the control codes.
std::string progress_text(const std::string& task, const std::string& unit, uint64_t done,
                          uint64_t total, double seconds);

}  // namespace elias
