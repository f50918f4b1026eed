// What an operator runs with on the CPU: threads and an instruction set. On a GPU neither matters.
#pragma once

#include "base/thread_pool.h"
#include "ops/isa.h"

namespace elias {

class Context {
 public:
  /// `pool` must outlive the context.
  explicit Context(ThreadPool& pool, Isa isa = chosen_isa()) : pool_(&pool), isa_(isa) {}

  ThreadPool& pool() const { return *pool_; }
  Isa isa() const { return isa_; }

 private:
  ThreadPool* pool_;
  Isa isa_;
};

}  // namespace elias
