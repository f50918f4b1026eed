#include "capi/error.h"

#include <string>

namespace elias {
namespace {

thread_local std::string last_error;
// What there was no memory to keep a copy of is a literal.
thread_local const char* shown_error = "";

}  // namespace

elias_status fail(elias_status status, const char* sentence) noexcept {
  try {
    last_error = sentence;
    if (status == ELIAS_BUG) last_error += ": this is a bug in elias; please report it";
    shown_error = last_error.c_str();
  } catch (const std::bad_alloc&) {
    shown_error = "out of memory, also for saying what went wrong";
  }
  return status;
}

}  // namespace elias

const char* elias_last_error() { return elias::shown_error; }
