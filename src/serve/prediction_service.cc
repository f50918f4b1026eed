#include "serve/prediction_service.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "serve/refusal.h"

namespace elias {
namespace {

std::atomic<uint64_t>& counter_of(ServiceStatistics& statistics, RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kOverdue:
      return statistics.overdue;
    case RefusalKind::kCancelled:
      return statistics.cancelled;
    case RefusalKind::kQueueFull:
    case RefusalKind::kStopping:
      break;
  }
  return statistics.full;
}

TextRows texts_of(const Batch& batch) {
  TextRows texts;
  for (const JobSlice& slice : batch) {
    for (size_t i = slice.begin; i < slice.end; ++i) texts.add(slice.job->request().texts.row(i));
  }
  return texts;
}

int64_t most_wanted(const Batch& batch) {
  int64_t k = 1;
  for (const JobSlice& slice : batch) k = std::max(k, slice.job->request().k);
  return k;
}

}  // namespace

// --- an answer to come ---------------------------------------------------------------------------

PendingAnswer::PendingAnswer(std::shared_ptr<Job> job,
                             std::shared_ptr<ServiceStatistics> statistics)
    : job_(std::move(job)), statistics_(std::move(statistics)) {}

PendingAnswer::~PendingAnswer() {
  if (job_ == nullptr) return;
  job_->fail(std::make_exception_ptr(Refusal(RefusalKind::kCancelled, "nobody waits any more")));
  ++statistics_->cancelled;
}

std::vector<RankedRow> PendingAnswer::wait() {
  const auto job = std::exchange(job_, nullptr);
  try {
    auto rows = job->wait();
    statistics_->answering.add(Job::Clock::now() - job->arrival());
    return rows;
  } catch (const Refusal& refusal) {
    ++counter_of(*statistics_, refusal.kind());
    throw;
  } catch (...) {
    ++statistics_->failed;
    throw;
  }
}

// --- the service ---------------------------------------------------------------------------------

PredictionService::PredictionService(std::shared_ptr<const ServedModel> served,
                                     const ServiceSettings& settings,
                                     std::shared_ptr<ServiceStatistics> statistics)
    : served_(std::move(served)), statistics_(std::move(statistics)), queue_(settings.queue) {
  const int replicas = settings.replicas > 0 ? settings.replicas : ThreadPool().threads();
  for (int i = 0; i < replicas; ++i) replicas_.emplace_back([this] { work(); });
}

PredictionService::~PredictionService() {
  queue_.stop();
  for (std::thread& replica : replicas_) replica.join();
}

ServiceCounts PredictionService::counts() const {
  ServiceCounts counts = statistics_->counts();
  counts.waiting_texts = queue_.waiting();
  return counts;
}

PendingAnswer PredictionService::predict(PredictRequest request, Job::Clock::time_point deadline,
                                         WhenFull when_full) {
  return push(std::make_shared<Job>(std::move(request), deadline), when_full);
}

PendingAnswer PredictionService::run(Job::Task task, Job::Clock::time_point deadline) {
  return push(std::make_shared<Job>(std::move(task), deadline), WhenFull::kRefuse);
}

PendingAnswer PredictionService::push(std::shared_ptr<Job> job, WhenFull when_full) {
  ++statistics_->requests;
  statistics_->texts += job->size();
  if (job->size() > 0) {
    try {
      queue_.push(job, when_full);
    } catch (const Refusal& refusal) {
      ++counter_of(*statistics_, refusal.kind());
      throw;
    }
  }
  return {std::move(job), statistics_};
}

void PredictionService::work() {
  Replica replica(served_);
  for (Batch batch = queue_.take(); !batch.empty(); batch = queue_.take()) {
    for (const JobSlice& slice : batch) {
      if (slice.begin == 0) statistics_->waiting.add(Job::Clock::now() - slice.job->arrival());
    }
    ++statistics_->batches;
    answer(batch, replica);
  }
}

// What fails in company is tried alone, so that no request fails by another.
void PredictionService::answer(const Batch& batch, Replica& replica) {
  try {
    if (batch.front().job->is_task()) {
      batch.front().job->run_task(replica);
    } else {
      predict(batch, replica);
    }
  } catch (...) {
    if (batch.size() == 1) return batch.front().job->fail(std::current_exception());
    for (const JobSlice& slice : batch) answer({slice}, replica);
  }
}

void PredictionService::predict(const Batch& batch, Replica& replica) {
  static const AllowedLabels all;
  const PredictRequest& first = batch.front().job->request();
  // A list begins the same at any length, so that the longest serves all.
  std::vector<RankedRow> rows = replica.predict(texts_of(batch), most_wanted(batch),
                                                first.allowed != nullptr ? *first.allowed : all);
  statistics_->predicted_texts += rows.size();
  auto row = rows.begin();
  std::vector<std::vector<RankedRow>> answers;
  for (const JobSlice& slice : batch) {
    const auto k = static_cast<size_t>(slice.job->request().k);
    std::vector<RankedRow>& own = answers.emplace_back();
    own.reserve(slice.size());
    for (size_t i = 0; i < slice.size(); ++i, ++row) {
      row->resize(std::min(k, row->size()));
      own.push_back(std::move(*row));
    }
  }
  // From here on nothing fails: what was delivered must not be tried again.
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].job->deliver(batch[i].begin, std::move(answers[i]));
  }
}

}  // namespace elias
