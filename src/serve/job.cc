#include "serve/job.h"

#include <algorithm>
#include <utility>

#include "serve/refusal.h"

namespace elias {

Job::Job(PredictRequest asked, Clock::time_point until)
    : request_(std::move(asked)),
      arrival_(Clock::now()),
      deadline_(until),
      rows_(request_.texts.rows()),
      missing_(request_.texts.rows()) {}

Job::Job(Task work, Clock::time_point until)
    : task_(std::move(work)), arrival_(Clock::now()), deadline_(until), missing_(1) {}

bool Job::is_over() const {
  const std::lock_guard lock(mutex_);
  return missing_ == 0 || failure_ != nullptr || Clock::now() >= deadline_;
}

void Job::run_task(Replica& replica) {
  task_(replica);
  {
    const std::lock_guard lock(mutex_);
    missing_ = 0;
  }
  over_.notify_all();  // outside of the lock, which whoever waits takes first
}

void Job::deliver(size_t begin, std::vector<RankedRow> rows) {
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) return;  // whoever waited took the rows' place along
    missing_ -= rows.size();
    std::ranges::move(rows, rows_.begin() + static_cast<ptrdiff_t>(begin));
    complete = missing_ == 0;
  }
  if (complete) over_.notify_all();
}

void Job::fail(std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  if (missing_ == 0 || failure_ != nullptr) return;
  failure_ = std::move(why);
  over_.notify_all();
}

std::vector<RankedRow> Job::wait() {
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return missing_ == 0 || failure_ != nullptr; };
  if (!over_.wait_until(lock, deadline_, ended)) {
    failure_ = std::make_exception_ptr(
        Refusal(RefusalKind::kOverdue, "no answer was ready in time: ask for less, or later"));
  }
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  return std::move(rows_);
}

}  // namespace elias
