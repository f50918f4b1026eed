// Two families of error, because they have two different readers.
//
// InputError is for the user: an argument, a file or the machine's disk is not as it must be. Its
// message is one sentence that names the file, the line and the value, and says what to do. The
// command line prints it and exits with code 2.
//
// InternalError is for us: an invariant of this code does not hold. ELIAS_ASSERT throws it with the
// expression and the place. The command line asks for a bug report and exits with code 70.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace elias {

class InputError : public std::runtime_error {
 public:
  template <typename... Args>
  explicit InputError(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Text of the current errno, for messages about the operating system.
std::string system_error_text();

/// `value` as it may stand in a message: quoted, cut at 40 bytes, unprintable bytes as \xNN.
std::string shown(std::string_view value);

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace elias

/// Always on: a broken invariant in a release build must not become a wrong number.
#define ELIAS_ASSERT(expression) \
  ((expression) ? void(0) : ::elias::assertion_failed(#expression, __FILE__, __LINE__))
