// One request on its way through a service: what is asked, until when, and the answer as it grows.
//
// A job of many texts is worked on slice by slice, by several replicas at the same time. Whoever
// waits may give up at any moment; what replicas then still have in hand is thrown away.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "data/text_rows.h"
#include "model/allowed_labels.h"
#include "serve/replica.h"

namespace elias {

struct PredictRequest {
  TextRows texts;
  int64_t k = 5;                                 // labels a text, at least 1
  std::shared_ptr<const AllowedLabels> allowed;  // none: all labels
};

class Job {
 public:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<void(Replica&)>;

  Job(PredictRequest asked, Clock::time_point until);
  /// Anything else that needs a replica; it counts as one text.
  Job(Task work, Clock::time_point until);

  const PredictRequest& request() const { return request_; }
  bool is_task() const { return task_ != nullptr; }
  size_t size() const { return is_task() ? 1 : request_.texts.rows(); }  // in texts
  Clock::time_point arrival() const { return arrival_; }

  // --- of replicas -------------------------------------------------------------------------------

  /// True once there is nobody to answer, or nothing left to say.
  bool is_over() const;
  void run_task(Replica& replica);
  /// Rows [begin, begin + rows.size()) of the answer.
  void deliver(size_t begin, std::vector<RankedRow> rows);
  /// Ends the job, unless it has ended.
  void fail(std::exception_ptr why);

  // --- of whoever waits --------------------------------------------------------------------------

  /// Until everything is there. Throws what the job failed with, and Refusal when its time is up.
  std::vector<RankedRow> wait();

 private:
  PredictRequest request_;
  Task task_;
  Clock::time_point arrival_, deadline_;

  mutable std::mutex mutex_;
  std::condition_variable over_;
  std::vector<RankedRow> rows_;
  size_t missing_;  // texts without an answer
  std::exception_ptr failure_;
};

}  // namespace elias
