// The one thread pool of the process.
//
// Determinism is the contract: how work is cut depends on the problem alone, never on the number of
// threads, so a caller that combines the chunks' results in chunk order gets the same bits on any
// machine. If chunks throw, the exception of the lowest chunk is the one that arrives, so an error
// message does not depend on timing either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/errors.h"

namespace elias {

class ThreadPool {
 public:
  /// The calling thread works too: `threads` - 1 are started. 0 means one per hardware thread.
  /// Throws InputError if the machine refuses to start so many.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls body(i) for every i in [0, count), in any order, and returns when all are done. A call
  /// from inside a body runs there and then on that one thread.
  template <typename Body>
  void for_each(size_t count, const Body& body) {
    // A reference, which std::function holds without an allocation, as it would not hold the body.
    run(count, std::cref(body));
  }

  /// Cuts [0, size) into chunks of `grain` (the last may be shorter) and calls
  /// body(chunk, begin, end) for each.
  template <typename Body>
  void for_chunks(size_t size, size_t grain, const Body& body) {
    ELIAS_ASSERT(grain > 0);
    for_each((size + grain - 1) / grain, [&](size_t chunk) {
      const size_t begin = chunk * grain;
      body(chunk, begin, std::min(size, begin + grain));
    });
  }

 private:
  void run(size_t count, const std::function<void(size_t)>& body);

  struct State;
  std::unique_ptr<State> state_;
};

/// How many chunks of `grain` for_chunks makes of `size`.
constexpr size_t chunk_count(size_t size, size_t grain) { return (size + grain - 1) / grain; }

}  // namespace elias
