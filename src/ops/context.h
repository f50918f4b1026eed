// What an operator runs with on the CPU: threads and an instruction set. On a GPU neither matters.
#pragma once

#include "base/errors.h"
#include "base/thread_pool.h"
#include "ops/isa.h"

namespace elias {

class Context {
 public:
  /// `pool` must outlive the context, and the machine have the instruction set.
  explicit Context(ThreadPool& pool, Isa isa = chosen_isa()) : pool_(&pool), isa_(isa) {
    ELIAS_ASSERT(isa <= supported_isas().back());
  }

  ThreadPool& pool() const { return *pool_; }
  Isa isa() const { return isa_; }

 private:
  ThreadPool* pool_;
  Isa isa_;
};

}  // namespace elias
