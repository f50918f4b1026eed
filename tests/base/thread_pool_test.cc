#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace elias {
namespace {

class ThreadPoolAt : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolAt, testing::Values(1, 2, 3, 7));

TEST_P(ThreadPoolAt, RunsEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (size_t count : {0, 1, 2, 5, 1000}) {
    std::vector<std::atomic<int>> hits(count);
    pool.for_each(count, [&](size_t i) { ++hits[i]; });
    for (const auto& hit : hits) EXPECT_EQ(hit, 1);
  }
}

TEST_P(ThreadPoolAt, ChunksDependOnTheSizeAlone) {
  ThreadPool pool(GetParam());
  std::vector<std::pair<size_t, size_t>> chunks(chunk_count(10, 4));
  pool.for_chunks(10, 4, [&](size_t chunk, size_t begin, size_t end) {
    chunks[chunk] = {begin, end};
  });
  EXPECT_EQ(chunks, (std::vector<std::pair<size_t, size_t>>{{0, 4}, {4, 8}, {8, 10}}));
}

TEST_P(ThreadPoolAt, TheLowestFailureArrivesAndThePoolLivesOn) {
  ThreadPool pool(GetParam());
  for (int attempt = 0; attempt < 50; ++attempt) {
    try {
      pool.for_each(100, [](size_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
  std::atomic<int> done = 0;
  pool.for_each(10, [&](size_t) { ++done; });
  EXPECT_EQ(done, 10);
}

TEST_P(ThreadPoolAt, NestedCallsRunInPlace) {
  ThreadPool pool(GetParam());
  std::atomic<int> done = 0;
  pool.for_each(8, [&](size_t) { pool.for_each(8, [&](size_t) { ++done; }); });
  EXPECT_EQ(done, 64);
}

TEST_P(ThreadPoolAt, ANestedFailureIsPassedOn) {
  ThreadPool pool(GetParam());
  const auto fail_inside = [&] {
    pool.for_each(4, [&](size_t) {
      pool.for_each(4, [](size_t i) {
        if (i == 2) throw std::runtime_error("inner");
      });
    });
  };
  EXPECT_THROW(fail_inside(), std::runtime_error);
}

}  // namespace
}  // namespace elias
