// The cost of a catch-up, which is its number of segments; that it arrives is shown by the tests of
// the optimisers.
#include "ops/update/row_catch_up.h"

#include <gtest/gtest.h>

#include "tests/ops/row_updates.h"

namespace elias {
namespace {

size_t segments_of(const AdamWSettings& settings, int32_t done, int64_t steps) {
  ThreadPool pool(1);
  const RateHistory rates(std::vector<float>(steps, 0.01F));
  const AdamWCatchUps catch_ups(pool, settings, rates, all_rows(1), ids_of({done}));
  const AdamWCatchUp& catch_up = catch_ups.after(done);
  EXPECT_EQ(catch_up.segments_end - catch_up.segments_begin, catch_ups.segments().size());
  return catch_ups.segments().size();
}

TEST(AdamWCatchUpsTest, LateInTrainingOneSegmentDoes) {
  for (const int64_t missed : {1, 2, 100, 50000}) {
    EXPECT_EQ(segments_of({}, 5000, 5000 + missed), 1) << missed;
  }
}

TEST(AdamWCatchUpsTest, AtTheFirstStepsAFewDo) {
  EXPECT_LE(segments_of({}, 1, 1000), 20);
  EXPECT_LE(segments_of({}, 300, 1000), 3);
}

TEST(AdamWCatchUpsTest, WithoutMomentumThereIsNothingToFollow) {
  EXPECT_EQ(segments_of({.beta1 = 0}, 1, 1000), 0);
}

// Where the momentum outlasts the second moment no step can be left out, but the range of floats
// bounds the segments.
TEST(AdamWCatchUpsTest, SegmentsAreBoundedForAnyBetas) {
  EXPECT_LE(segments_of({.beta1 = 0.9F, .beta2 = 0.5F}, 1, 100000), 600);
  EXPECT_EQ(segments_of({.beta1 = 0.9F, .beta2 = 0}, 1, 100000), 1);
}

TEST(AdamWCatchUpsTest, RowsOfOneAgeShareOneCatchUp) {
  ThreadPool pool(1);
  const RateHistory rates(std::vector<float>(9000, 0.01F));
  const AdamWCatchUps catch_ups(pool, {}, rates, ids_of({3, 0, 2, 4}),
                                ids_of({8000, 1, 7000, 8000, 9000}));
  EXPECT_EQ(catch_ups.segments().size(), 2);  // of 7000 and 8000; row 1 is not asked for, 4 is done
  EXPECT_NE(&catch_ups.after(8000), &catch_ups.after(7000));
}

}  // namespace
}  // namespace elias
