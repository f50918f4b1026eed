// What waits for a replica, in bounded number, and how it becomes batches.
//
// Jobs take turns: one of many texts gives a batch's worth and goes to the back, so that a lone
// text never waits for all of it. What waits is shared out among the replicas that are free. A
// replica that finds much less to do than the last one did waits a moment for more, but only while
// requests come together: one client that asks and waits is answered at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "serve/job.h"

namespace elias {

/// Part of a job: the texts [begin, end).
struct JobSlice {
  std::shared_ptr<Job> job;
  size_t begin = 0, end = 0;

  size_t size() const { return end - begin; }
};

/// What a replica does at one go: a task, or texts that may have the same labels.
using Batch = std::vector<JobSlice>;

class RequestQueue {
 public:
  struct Settings {
    size_t capacity = 4096;                     // texts that may wait
    size_t batch = 64;                          // texts of a batch, at most
    std::chrono::microseconds batch_wait{200};  // for more, where requests come together
  };

  /// What becomes of a job that there is no room for.
  enum class WhenFull : uint8_t { kRefuse, kWait };

  explicit RequestQueue(const Settings& settings) : settings_(settings) {}

  /// Throws Refusal if it is full, unless the job is to wait, or stopped. A job larger than the
  /// queue is taken while nothing else waits.
  void push(std::shared_ptr<Job> job, WhenFull when_full = WhenFull::kRefuse);
  /// Blocks until there is something to do. Empty: the queue is stopped, and nothing is left.
  Batch take();
  /// Takes nothing new; what waits is still handed out.
  void stop();

  size_t waiting() const;  // texts

 private:
  struct Waiting {
    std::shared_ptr<Job> job;
    size_t begin;  // texts before it were handed out

    size_t size() const { return job->size() - begin; }
  };

  void drop_what_is_over();
  Batch gather();
  bool fits(const Job& job, const Batch& batch) const;

  const Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable more_, room_;
  std::deque<Waiting> jobs_;
  size_t texts_ = 0;          // of jobs_
  size_t free_replicas_ = 0;  // that are in take()
  size_t together_ = 0;       // texts of the last batch, if it was of several jobs
  bool stopped_ = false;
};

}  // namespace elias
