#include "head/losses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/head/losses_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

constexpr LossWeights kWeights{.on_p = 0.75F, .on_z = 0.5F};

struct Entry {
  float z, yhat, target;
};

// All the combinations that matter: from where sigma is 0 to where it is 1, from a path that is
// hardly there to one that is clamped, and targets in between.
std::vector<Entry> grid() {
  std::vector<Entry> all;
  for (const float z : {-90.0F, -87.0F, -60.0F, -20.0F, -5.0F, -1.0F, -1e-3F, 0.0F, 1e-3F, 0.7F,
                        4.0F, 15.0F, 25.0F, 40.0F, 80.0F, 87.0F, 90.0F}) {
    for (const float yhat :
         {1e-30F, 1e-20F, 1e-7F, 1e-3F, 0.3F, 0.5F, 0.9F, 0.999F, 0.9999999F, 1.0F}) {
      for (const float target : {0.0F, 0.3F, 1.0F}) all.push_back({z, yhat, target});
    }
  }
  return all;
}

struct Results {
  LossSums sums;
  std::vector<float> dz, dlog_yhat;
};

Results run(Isa isa, const std::vector<Entry>& entries, const LossWeights& weights) {
  std::vector<float> z, yhat, targets;
  for (const Entry& entry : entries) {
    z.push_back(entry.z);
    yhat.push_back(entry.yhat);
    targets.push_back(entry.target);
  }
  Results results{.sums = {},
                  .dz = std::vector<float>(entries.size()),
                  .dlog_yhat = std::vector<float>(entries.size())};
  results.sums = shortlist_losses(isa,
                                  {.z = z.data(),
                                   .yhat = yhat.data(),
                                   .targets = targets.data(),
                                   .dz = results.dz.data(),
                                   .dlog_yhat = results.dlog_yhat.data(),
                                   .size = entries.size()},
                                  weights);
  return results;
}

class LossesTest : public testing::TestWithParam<Isa> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, LossesTest, testing::ValuesIn(supported_isas()),
                         [](const auto& own) { return std::string(name_of(own.param)); });

TEST_P(LossesTest, ValuesMatchTheFormulas) {
  for (const Entry& entry : grid()) {
    SCOPED_TRACE(testing::Message()
                 << "z=" << entry.z << " yhat=" << entry.yhat << " t=" << entry.target);
    const double z = entry.z;
    const double t = entry.target;
    const LossSums sums = run(GetParam(), {entry}, kWeights).sums;
    const double on_p = reference::loss_on_p(z, std::log(double{entry.yhat}), t);
    // exp(-|z|) is no less than the smallest float, which -log(1 - p) shows beyond z = 87.
    const double tolerance = z > 87.3 && entry.yhat == 1 ? 3 : 1e-6 * std::max(1.0, on_p);
    EXPECT_NEAR(sums.on_p, on_p, tolerance);
    const double on_z = reference::loss_on_z(z, t);
    EXPECT_NEAR(sums.on_z, on_z, 1e-6 * std::max(1.0, on_z));
  }
}

TEST_P(LossesTest, GradientsMatchTheFormulas) {
  const double weight_p = kWeights.on_p;
  const double weight_z = kWeights.on_z;
  for (const Entry& entry : grid()) {
    SCOPED_TRACE(testing::Message()
                 << "z=" << entry.z << " yhat=" << entry.yhat << " t=" << entry.target);
    const double z = entry.z;
    const double yhat = entry.yhat;
    const double t = entry.target;
    const double sigma = reference::sigmoid(z);
    const double odds = yhat * sigma / reference::rest_of(z, yhat);
    const Results results = run(GetParam(), {entry}, kWeights);
    const double dlog_yhat = weight_p * ((1 - t) * std::min(odds, 1e12) - t);
    EXPECT_NEAR(results.dlog_yhat[0], dlog_yhat, 1e-6 * (std::min(odds, 1e12) + t) + 1e-37);
    const double against = (1 - t) * odds * reference::sigmoid(-z);  // at most 1
    const double towards = t * reference::sigmoid(-z);
    const double dz = weight_p * (against - towards) + weight_z * (sigma - t);
    EXPECT_NEAR(results.dz[0], dz, 2e-6 * (against + towards + sigma + t) + 1e-37);
  }
}

// The formulas themselves, where differences of the losses can tell.
TEST(LossFormulasTest, GradientsAreDerivatives) {
  for (const Entry& entry : grid()) {
    if (std::abs(entry.z) > 15 || entry.yhat > 0.99F) continue;
    const double t = entry.target;
    const double z = entry.z;
    const double yhat = entry.yhat;
    const auto loss = [&](const std::vector<double>& at) {
      return reference::loss_on_p(at[0], at[1], t) + reference::loss_on_z(at[0], t);
    };
    const double dlog_p = (1 - t) * yhat * reference::sigmoid(z) / reference::rest_of(z, yhat) - t;
    expect_gradient(
        loss, {z, std::log(yhat)},
        std::vector<double>{dlog_p * reference::sigmoid(-z) + reference::sigmoid(z) - t, dlog_p},
        1e-6, 1e-6);
  }
}

// Whatever the number of lanes and of entries left over.
TEST_P(LossesTest, EntriesDoNotMeet) {
  const auto all = grid();
  for (const size_t size : {0, 1, 7, 8, 15, 16, 17, 33, 500}) {
    const std::vector<Entry> entries(all.begin(), all.begin() + static_cast<ptrdiff_t>(size));
    const Results together = run(GetParam(), entries, kWeights);
    LossSums sums;
    for (size_t i = 0; i < size; ++i) {
      const Results alone = run(GetParam(), {entries[i]}, kWeights);
      EXPECT_EQ(together.dz[i], alone.dz[0]);
      EXPECT_EQ(together.dlog_yhat[i], alone.dlog_yhat[0]);
      sums.on_p += alone.sums.on_p;
      sums.on_z += alone.sums.on_z;
    }
    EXPECT_NEAR(together.sums.on_p, sums.on_p, 1e-6 * sums.on_p);
    EXPECT_NEAR(together.sums.on_z, sums.on_z, 1e-6 * sums.on_z);
  }
}

TEST_P(LossesTest, WeightsCountInGradientsAlone) {
  const auto entries = grid();
  const Results both = run(GetParam(), entries, {.on_p = 1, .on_z = 1});
  const Results none = run(GetParam(), entries, {.on_p = 0, .on_z = 0});
  EXPECT_EQ(both.sums.on_p, none.sums.on_p);
  EXPECT_EQ(both.sums.on_z, none.sums.on_z);
  for (const float value : none.dz) ASSERT_EQ(value, 0);
  for (const float value : none.dlog_yhat) ASSERT_EQ(value, 0);
}

TEST_P(LossesTest, RejectionIsTheLossOfTargetZero) {
  constexpr float kBias = 0.625F;  // added without rounding
  std::vector<float> z;
  double expected = 0, sum = 0;
  for (float value = -90; value <= 90; value += 0.375F) {
    z.push_back(value - kBias);
    expected += reference::loss_on_z(double{value}, 0);
    sum += 0.25 * reference::sigmoid(double{value});
  }
  std::vector<float> gradient = z;
  const RejectionSums sums = rejection_losses(GetParam(), 0.25F, kBias, gradient);
  EXPECT_NEAR(sums.loss, expected, 1e-6 * expected);
  EXPECT_NEAR(sums.gradient, sum, 1e-6 * sum);
  for (size_t i = 0; i < z.size(); ++i) {
    const double sigma = reference::sigmoid(double{z[i]} + double{kBias});
    EXPECT_NEAR(gradient[i], 0.25 * sigma, 1e-6 * sigma + 1e-37) << z[i];
  }
}

}  // namespace
}  // namespace elias
