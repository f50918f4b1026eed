// Predictions for many who ask at the same time: a bounded queue, batches, and replicas that share
// one model. Knows nothing of networks.
//
//   PredictionService service(ServedModel::load("model", 0), {}, statistics);
//   PendingAnswer answer = service.predict({.texts = texts, .k = 5}, deadline);
//   for (const RankedRow& row : answer.wait()) ...
//
// What a request is answered does not depend on what is asked at the same time.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "serve/job.h"
#include "serve/request_queue.h"
#include "serve/served_model.h"
#include "serve/statistics.h"

namespace elias {

struct ServiceSettings {
  int replicas = 0;  // 0: one per hardware thread
  RequestQueue::Settings queue;
};

/// An answer to come. Letting go of it cancels the request, as far as it was not begun.
class PendingAnswer {
 public:
  PendingAnswer(std::shared_ptr<Job> job, std::shared_ptr<ServiceStatistics> statistics);
  PendingAnswer(PendingAnswer&&) noexcept = default;
  ~PendingAnswer();

  /// A row a text; of a task none. Throws Refusal when the request's time is up, or else what the
  /// work on it failed with. To be called once.
  std::vector<RankedRow> wait();

 private:
  std::shared_ptr<Job> job_;  // none: it was waited for
  std::shared_ptr<ServiceStatistics> statistics_;
};

class PredictionService {
 public:
  /// The statistics may be those of an earlier service, and go on.
  PredictionService(std::shared_ptr<const ServedModel> served, const ServiceSettings& settings,
                    std::shared_ptr<ServiceStatistics> statistics);
  /// Takes nothing new, answers what waits, and ends.
  ~PredictionService();
  PredictionService(const PredictionService&) = delete;
  PredictionService& operator=(const PredictionService&) = delete;

  const ServedModel& served() const { return *served_; }
  ServiceCounts counts() const;

  using WhenFull = RequestQueue::WhenFull;

  /// Throws Refusal if too much is waiting, unless the request is to wait as well, or the service
  /// is stopping.
  PendingAnswer predict(PredictRequest request, Job::Clock::time_point deadline,
                        WhenFull when_full = WhenFull::kRefuse);
  /// The same for anything else that needs a replica. The task must own what it uses: it may run
  /// after nobody waits for it any more.
  PendingAnswer run(Job::Task task, Job::Clock::time_point deadline);

  /// From now on nothing new is taken.
  void stop() { queue_.stop(); }

 private:
  PendingAnswer push(std::shared_ptr<Job> job, WhenFull when_full);
  void work();
  void answer(const Batch& batch, Replica& replica);
  void predict(const Batch& batch, Replica& replica);

  std::shared_ptr<const ServedModel> served_;
  std::shared_ptr<ServiceStatistics> statistics_;
  RequestQueue queue_;
  std::vector<std::thread> replicas_;
};

}  // namespace elias
