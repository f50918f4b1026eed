// The border of the C interface: what is thrown behind it arrives as a status and a sentence.
#pragma once

#include <exception>
#include <new>

#include "base/errors.h"
#include "elias/elias.h"

namespace elias {

/// Keeps the sentence for elias_last_error. Returns the status.
elias_status fail(elias_status status, const char* sentence) noexcept;

/// Calls body(). Every function of the interface that can fail does its work in one.
template <typename Body>
elias_status guarded(const Body& body) noexcept {
  try {
    body();
    return ELIAS_OK;
  } catch (const InputError& error) {
    return fail(ELIAS_REFUSED, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ELIAS_REFUSED, "out of memory: use a machine with more, or fewer points a call");
  } catch (const std::exception& error) {
    return fail(ELIAS_BUG, error.what());
  } catch (...) {
    return fail(ELIAS_BUG, "an exception of no known kind");
  }
}

/// Throws InputError if an argument that must be given is NULL.
template <typename T>
T& required(T* argument, const char* name) {
  if (argument == nullptr)
    throw InputError("{} is NULL: give the function all that it needs", name);
  return *argument;
}

}  // namespace elias
