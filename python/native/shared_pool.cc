#include "python/native/shared_pool.h"

#include <sys/types.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/errors.h"

namespace elias::python {

ThreadPool& shared_pool(int threads) {
  constexpr int kMostThreads = 1024;
  if (threads < 0 || threads > kMostThreads) {
    throw InputError("threads {}: give a number from 0, which is all of the machine's, to {}",
                     threads, kMostThreads);
  }
  using Pools = std::map<std::pair<pid_t, int>, ThreadPool*>;
  static std::mutex mutex;
  static Pools& pools = *new Pools;  // never destroyed, as its threads may be at work at the end
  const std::lock_guard lock(mutex);
  ThreadPool*& pool = pools[{::getpid(), threads}];
  if (pool == nullptr) pool = new ThreadPool(threads);
  return *pool;
}

}  // namespace elias::python
