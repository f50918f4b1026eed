#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/errors.h"

namespace elias {
namespace {

// True on a thread that is running a body: nested calls then run in place instead of waiting for
// workers that may all be waiting themselves.
thread_local bool inside_body = false;

// One turn of a loop that waits for another thread.
void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

struct Job {
  const std::function<void(size_t)>* body;
  size_t count;
  std::atomic<size_t> next{0};
  std::mutex failure_mutex;
  size_t failed_at = std::numeric_limits<size_t>::max();
  std::exception_ptr failure;

  // Indices are claimed in ascending order, so when one fails every lower one has been claimed and
  // will finish: the lowest failure is found whatever the timing.
  void work() {
    inside_body = true;
    for (size_t i = next++; i < count; i = next++) {
      try {
        (*body)(i);
      } catch (...) {
        std::lock_guard lock(failure_mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
        next = count;
      }
    }
    inside_body = false;
  }
};

}  // namespace

struct ThreadPool::State {
  std::mutex call_mutex;  // one for_each at a time
  std::mutex mutex;
  std::condition_variable wake, finished;
  Job* job = nullptr;
  std::atomic<size_t> generation{0};
  std::atomic<size_t> busy{0};
  std::atomic<bool> stopping{false};
  bool spins = false;
  std::vector<std::thread> workers;

  // Waits for a while in a loop, about as long as waking a sleeping thread takes: a training step
  // is hundreds of short calls, one right after the other. Not where threads share a processor.
  template <typename Waiting>
  void spin_while(const Waiting& waiting) const {
    constexpr int kTurns = 1000;
    for (int turn = 0; spins && turn < kTurns && waiting(); ++turn) pause_briefly();
  }

  ~State() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (auto& worker : workers) worker.join();
  }

  void run_worker() {
    size_t seen = 0;
    while (true) {
      const auto called = [&] { return stopping || generation != seen; };
      spin_while([&] { return !called(); });
      std::unique_lock lock(mutex);
      wake.wait(lock, called);
      if (stopping) return;
      seen = generation;
      Job* current = job;
      lock.unlock();
      current->work();
      lock.lock();
      if (--busy == 0) finished.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  ELIAS_ASSERT(threads >= 0);
  const auto processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (threads == 0) threads = processors;
  state_->spins = threads <= processors;
  try {
    for (int i = 1; i < threads; ++i) {
      state_->workers.emplace_back([state = state_.get()] { state->run_worker(); });
    }
  } catch (const std::system_error& error) {
    throw InputError("{} threads cannot be started ({}): use fewer", threads, error.what());
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::run(size_t count, const std::function<void(size_t)>& body) {
  if (inside_body || count <= 1 || state_->workers.empty()) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::lock_guard one_call(state_->call_mutex);
  Job job{.body = &body, .count = count, .failure_mutex = {}, .failure = nullptr};
  {
    std::lock_guard lock(state_->mutex);
    state_->job = &job;
    ++state_->generation;
    state_->busy = state_->workers.size();
  }
  state_->wake.notify_all();
  job.work();
  state_->spin_while([&] { return state_->busy != 0; });
  std::unique_lock lock(state_->mutex);
  state_->finished.wait(lock, [&] { return state_->busy == 0; });
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace elias
