// One line on the terminal that says how far a long job is: "reading  42%  1.2M/s  3 s left".
//
// It is drawn on standard error, only if that is a terminal, at most ten times a second, and wiped
// when the job ends. Output that goes to a file or a pipe never sees it. Progress counts by itself;
// a job that has more to say draws its own text on a StatusLine.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace elias {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { wipe(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// True if the line may be drawn again now; false for ever where there is no terminal.
  bool due() const;
  void draw(const std::string& text);
  /// Takes the line away, so that something can be printed.
  void wipe();

 private:
  bool on_terminal_, shown_ = false;
  std::chrono::steady_clock::time_point last_drawn_;
};

class Progress {
 public:
  /// `total` is 0 where it is not known; `unit` names what is counted ("points", "B").
  Progress(std::string task, std::string unit, uint64_t total = 0);

  void advance(uint64_t count);

 private:
  std::string task_, unit_;
  uint64_t total_;
  uint64_t done_ = 0;
  StatusLine line_;
  std::chrono::steady_clock::time_point start_;
};

/// The line Progress draws, without the control codes.
std::string progress_text(const std::string& task, const std::string& unit, uint64_t done,
                          uint64_t total, double seconds);

}  // namespace elias
