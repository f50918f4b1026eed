#include "ops/update/rate_history.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/errors.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

TEST(RateHistoryTest, CountsStepsFromOne) {
  RateHistory rates;
  EXPECT_EQ(rates.steps(), 0);
  rates.add(0);
  rates.add(0.25F);
  EXPECT_EQ(rates.steps(), 2);
  EXPECT_EQ(rates.rate(1), 0);
  EXPECT_EQ(rates.rate(2), 0.25F);
  EXPECT_THAT(RateHistory(rates.rates()).rates(), ElementsAre(0, 0.25F));
}

TEST(RateHistoryTest, RefusesWhatIsNoRate) {
  RateHistory rates(std::vector<float>{0.5F});
  EXPECT_THAT(
      [&] { rates.add(-0.5F); },
      ThrowsMessage<InputError>("the rate of step 2 is -0.5, but must be finite and not negative"));
  EXPECT_THROW(rates.add(std::numeric_limits<float>::quiet_NaN()), InputError);
  EXPECT_THROW(RateHistory(std::vector<float>{std::numeric_limits<float>::infinity()}), InputError);
  EXPECT_EQ(rates.steps(), 1);
}

}  // namespace
}  // namespace elias
