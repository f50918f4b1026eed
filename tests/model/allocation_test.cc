// Serving a query must not wait for the allocator: once its room is warm, a predictor allocates
// nothing. This program counts what it asks of the global allocator, for objects and for tensors.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "model/predictor.h"
#include "tests/model/tiny_model.h"
#include "tests/model/tiny_ranker.h"

namespace {
std::atomic<int> allocations{0};
}

// Not inlined, where the compiler would see only one of a pair and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
extern "C" void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace elias {
namespace {

void expect_no_allocations(const TinyModel& model, const std::vector<uint8_t>& flags,
                           std::optional<RankerPart> ranker = {}, size_t members = 1) {
  const AllowedLabels allowed(flags);
  ThreadPool pool(1);
  const Context context(pool);
  const Member member{.weights = model.views(),
                      .search = {.alpha = 3, .beam = 4, .shortlist = 20, .gamma = 0.5},
                      .stage1_clusters = {}};
  const Predictor predictor(context, std::vector<Member>(members, member), {}, std::move(ranker));
  const Csr points = random_points(100, 30, 4);
  const auto state = predictor.make_state();
  std::vector<int32_t> labels(500);
  std::vector<float> scores(500);
  predictor.predict(context, points, 0, 100, 5, allowed, *state, {labels, scores});
  const int before = allocations;
  predictor.predict(context, points, 0, 100, 5, allowed, *state, {labels, scores});
  for (size_t n = 0; n < 10; ++n) {
    predictor.predict(context, points, n, n + 1, 5, allowed, *state,
                      {std::span(labels).first(5), std::span(scores).first(5)});
  }
  EXPECT_EQ(allocations - before, 0);
}

TEST(AllocationTest, APredictionAllocatesNothing) {
  const int before = allocations;
  expect_no_allocations(TinyModel({}), {});
  EXPECT_GT(allocations - before, 100);  // they are counted
  expect_no_allocations(TinyModel({.halves = true}), std::vector<uint8_t>(40, 1));
  expect_no_allocations(TinyModel({.C = 300, .L = 400}), std::vector<uint8_t>(400, 1));
  expect_no_allocations(TinyModel({.C = 0}), {});  // every label is scored
  for (const MixKind mix : {MixKind::kProduct, MixKind::kTree, MixKind::kLearned}) {
    const TinyRanker ranker({}, RankerParts::kBoth, mix, 20);
    expect_no_allocations(TinyModel({}), {}, ranker.part());
    expect_no_allocations(TinyModel({}), {}, ranker.part(), 3);
  }
}

}  // namespace
}  // namespace elias
