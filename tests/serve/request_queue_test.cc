#include "serve/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "serve/refusal.h"

namespace elias {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

std::shared_ptr<Job> job_of(size_t texts, std::shared_ptr<const AllowedLabels> allowed = nullptr,
                            Job::Clock::time_point until = Job::Clock::now() + hours(1)) {
  PredictRequest request{.texts = {}, .k = 5, .allowed = std::move(allowed)};
  for (size_t i = 0; i < texts; ++i) request.texts.add("x");
  return std::make_shared<Job>(std::move(request), until);
}

std::vector<std::pair<const Job*, size_t>> sizes(const Batch& batch) {
  std::vector<std::pair<const Job*, size_t>> sizes;
  for (const JobSlice& slice : batch) sizes.emplace_back(slice.job.get(), slice.size());
  return sizes;
}

RefusalKind refusal_of(RequestQueue& queue, std::shared_ptr<Job> job) {
  try {
    queue.push(std::move(job));
  } catch (const Refusal& refusal) {
    return refusal.kind();
  }
  ADD_FAILURE() << "the job was taken";
  return RefusalKind::kCancelled;
}

TEST(RequestQueueTest, GathersSmallJobsIntoABatch) {
  RequestQueue queue({.capacity = 100, .batch = 8, .batch_wait = std::chrono::microseconds(0)});
  const auto a = job_of(1), b = job_of(3), c = job_of(2);
  for (const auto& job : {a, b, c}) queue.push(job);
  EXPECT_EQ(queue.waiting(), 6U);
  EXPECT_THAT(sizes(queue.take()),
              ElementsAre(Pair(a.get(), 1), Pair(b.get(), 3), Pair(c.get(), 2)));
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST(RequestQueueTest, ALargeJobDoesNotHoldUpASmallOne) {
  RequestQueue queue({.capacity = 100, .batch = 4, .batch_wait = std::chrono::microseconds(0)});
  const auto large = job_of(50), small = job_of(1);
  queue.push(large);
  queue.push(small);
  EXPECT_THAT(sizes(queue.take()), ElementsAre(Pair(large.get(), 4)));
  const auto second = sizes(queue.take());
  EXPECT_THAT(second, ElementsAre(Pair(small.get(), 1), Pair(large.get(), 3)));
}

TEST(RequestQueueTest, SlicesOfAJobFollowOnEachOther) {
  RequestQueue queue({.capacity = 100, .batch = 4, .batch_wait = std::chrono::microseconds(0)});
  queue.push(job_of(10));
  size_t next = 0;
  while (queue.waiting() > 0) {
    const Batch batch = queue.take();
    ASSERT_EQ(batch.size(), 1U);
    EXPECT_EQ(batch[0].begin, next);
    next = batch[0].end;
  }
  EXPECT_EQ(next, 10U);
}

TEST(RequestQueueTest, OnlyWhatMayHaveTheSameLabelsIsOneBatch) {
  RequestQueue queue({.capacity = 100, .batch = 8, .batch_wait = std::chrono::microseconds(0)});
  const auto some = std::make_shared<const AllowedLabels>(std::vector<uint8_t>{1, 0});
  const auto all = job_of(1), a = job_of(1, some), other = job_of(1), b = job_of(1, some);
  const auto task = std::make_shared<Job>([](Replica&) {}, Job::Clock::now() + hours(1));
  for (const auto& job : {all, a, other, b, task}) queue.push(job);
  std::vector<std::vector<std::pair<const Job*, size_t>>> batches;
  while (queue.waiting() > 0) batches.push_back(sizes(queue.take()));
  EXPECT_THAT(batches,
              UnorderedElementsAre(UnorderedElementsAre(Pair(all.get(), 1), Pair(other.get(), 1)),
                                   UnorderedElementsAre(Pair(a.get(), 1), Pair(b.get(), 1)),
                                   ElementsAre(Pair(task.get(), 1))));
}

TEST(RequestQueueTest, RefusesWhatIsBeyondItsCapacity) {
  RequestQueue queue({.capacity = 4, .batch = 4, .batch_wait = std::chrono::microseconds(0)});
  queue.push(job_of(3));
  queue.push(job_of(1));
  EXPECT_EQ(refusal_of(queue, job_of(1)), RefusalKind::kQueueFull);
  queue.take();
  queue.push(job_of(9));  // larger than the queue, but alone
  EXPECT_EQ(refusal_of(queue, job_of(1)), RefusalKind::kQueueFull);
}

TEST(RequestQueueTest, WhatIsOverMakesRoomAndIsNotHandedOut) {
  RequestQueue queue({.capacity = 4, .batch = 4, .batch_wait = std::chrono::microseconds(0)});
  const auto overdue = job_of(2, nullptr, Job::Clock::now() - hours(1));
  const auto given_up = job_of(2);
  queue.push(overdue);
  queue.push(given_up);
  given_up->fail(std::make_exception_ptr(Refusal(RefusalKind::kCancelled, "no")));
  const auto good = job_of(4);
  queue.push(good);
  EXPECT_THAT(sizes(queue.take()), ElementsAre(Pair(good.get(), 4)));
}

TEST(RequestQueueTest, HandsOutWhatWaitsAfterItWasStopped) {
  RequestQueue queue({});
  const auto job = job_of(1);
  queue.push(job);
  queue.stop();
  EXPECT_EQ(refusal_of(queue, job_of(1)), RefusalKind::kStopping);
  EXPECT_THAT(sizes(queue.take()), ElementsAre(Pair(job.get(), 1)));
  EXPECT_TRUE(queue.take().empty());
}

TEST(RequestQueueThreadTest, APatientJobWaitsForRoom) {
  RequestQueue queue({.capacity = 2, .batch = 2, .batch_wait = std::chrono::microseconds(0)});
  queue.push(job_of(2));
  std::atomic<bool> taken{false};
  std::thread patient([&] {
    queue.push(job_of(2), RequestQueue::WhenFull::kWait);
    taken = true;
  });
  EXPECT_FALSE(taken);
  EXPECT_EQ(queue.take().size(), 1U);
  EXPECT_EQ(queue.take().size(), 1U);  // blocks until the patient one is in
  patient.join();
  EXPECT_TRUE(taken);
}

TEST(RequestQueueThreadTest, APatientJobIsRefusedWhenTheQueueStops) {
  RequestQueue queue({.capacity = 2, .batch = 2, .batch_wait = std::chrono::microseconds(0)});
  queue.push(job_of(2));
  std::thread stopper([&] { queue.stop(); });
  EXPECT_THROW(queue.push(job_of(2), RequestQueue::WhenFull::kWait), Refusal);
  stopper.join();
}

// Several replicas that wait share what there is; the queue hands everything out exactly once.
TEST(RequestQueueThreadTest, ManyReplicasGetEverythingOnce) {
  RequestQueue queue(
      {.capacity = 100'000, .batch = 16, .batch_wait = std::chrono::microseconds(50)});
  std::atomic<size_t> texts{0};
  std::vector<std::thread> replicas, clients;
  for (int i = 0; i < 3; ++i) {
    replicas.emplace_back([&] {
      for (Batch batch = queue.take(); !batch.empty(); batch = queue.take()) {
        for (const JobSlice& slice : batch) texts += slice.size();
      }
    });
  }
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (size_t j = 0; j < 200; ++j) queue.push(job_of(1 + j % 40));
    });
  }
  for (auto& client : clients) client.join();
  queue.stop();
  for (auto& replica : replicas) replica.join();
  size_t wanted = 0;
  for (size_t j = 0; j < 200; ++j) wanted += 4 * (1 + j % 40);
  EXPECT_EQ(texts, wanted);
}

}  // namespace
}  // namespace elias
