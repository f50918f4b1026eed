#include "serve/request_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "serve/refusal.h"

namespace elias {

void RequestQueue::push(std::shared_ptr<Job> job, WhenFull when_full) {
  {
    std::unique_lock lock(mutex_);
    const size_t texts = job->size();
    const auto has_room = [&] { return jobs_.empty() || texts_ + texts <= settings_.capacity; };
    if (!has_room()) drop_what_is_over();
    if (when_full == WhenFull::kWait) room_.wait(lock, [&] { return stopped_ || has_room(); });
    if (stopped_) {
      throw Refusal(RefusalKind::kStopping, "the service is stopping: ask again in a while");
    }
    if (!has_room()) {
      throw Refusal(RefusalKind::kQueueFull,
                    fmt::format("{} texts wait already, of {} that may: ask again in a while",
                                texts_, settings_.capacity));
    }
    texts_ += texts;
    jobs_.push_back({std::move(job), 0});
  }
  more_.notify_one();
}

Batch RequestQueue::take() {
  std::unique_lock lock(mutex_);
  ++free_replicas_;
  Batch batch;
  while (batch.empty()) {
    more_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
    if (!stopped_ && texts_ < together_ / 2) {
      more_.wait_for(lock, settings_.batch_wait, [&] { return stopped_ || texts_ >= together_; });
    }
    if (jobs_.empty() && stopped_) break;
    batch = gather();
  }
  --free_replicas_;
  if (!jobs_.empty()) more_.notify_one();
  room_.notify_all();
  return batch;
}

void RequestQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  more_.notify_all();
  room_.notify_all();
}

size_t RequestQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}

void RequestQueue::drop_what_is_over() {
  std::erase_if(jobs_, [&](const Waiting& waiting) {
    if (!waiting.job->is_over()) return false;
    texts_ -= waiting.size();
    return true;
  });
}

bool RequestQueue::fits(const Job& job, const Batch& batch) const {
  if (batch.empty()) return true;
  const Job& first = *batch.front().job;
  return !job.is_task() && !first.is_task() && job.request().allowed == first.request().allowed;
}

Batch RequestQueue::gather() {
  const size_t share = (texts_ + free_replicas_ - 1) / free_replicas_;
  size_t room = std::clamp<size_t>(share, 1, settings_.batch);
  Batch batch;
  // Each job that waits has one turn.
  for (size_t turns = jobs_.size(); turns > 0 && room > 0; --turns) {
    Waiting next = std::move(jobs_.front());
    jobs_.pop_front();
    if (next.job->is_over()) {
      texts_ -= next.size();
      continue;
    }
    if (fits(*next.job, batch)) {
      const size_t size = std::min(room, next.size());
      batch.push_back({next.job, next.begin, next.begin + size});
      next.begin += size;
      room -= size;
      texts_ -= size;
    }
    if (next.size() > 0) jobs_.push_back(std::move(next));
  }
  const size_t taken =
      std::accumulate(batch.begin(), batch.end(), size_t{0},
                      [](size_t sum, const JobSlice& slice) { return sum + slice.size(); });
  together_ = batch.size() > 1 ? taken : 0;
  return batch;
}

}  // namespace elias
