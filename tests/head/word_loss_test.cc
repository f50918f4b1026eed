#include "head/word_loss.h"

#include <gtest/gtest.h>

#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

constexpr int64_t kPlaces = 7, kWords = 11, kWidth = 5;

struct Values {
  std::vector<double> words, bias, h;
};

double loss_of(const Values& at, const std::vector<int32_t>& targets) {
  double loss = 0;
  for (size_t m = 0; m < targets.size(); ++m) {
    std::vector<double> z(kWords);
    double sum = 0;
    for (size_t v = 0; v < z.size(); ++v) {
      z[v] = at.bias[v];
      for (size_t d = 0; d < kWidth; ++d) z[v] += at.h[m * kWidth + d] * at.words[v * kWidth + d];
      sum += std::exp(z[v]);
    }
    loss += std::log(sum) - z[static_cast<size_t>(targets[m])];
  }
  return loss;
}

TEST(WordLoss, IsItsDefinitionAndHasItsGradient) {
  ThreadPool pool(2);
  const Context context(pool);
  const Tensor words = random_floats({kWords, kWidth}, 1), bias = random_floats({kWords}, 2),
               h = random_floats({kPlaces, kWidth}, 3, -2, 2);
  const std::vector<int32_t> targets = {0, 3, 10, 3, 5, 7, 1};
  const Values values{values_of<double>(words), values_of<double>(bias), values_of<double>(h)};
  const double expected = loss_of(values, targets);
  const WordClassifier classifier{.words = words, .bias = bias};
  EXPECT_NEAR(word_losses(context, classifier, Precision::kFloat32, h, targets).loss, expected,
              1e-5 * expected);

  constexpr float kWeight = 0.25F;
  Tensor dh({kPlaces, kWidth}, DType::kFloat32), dwords({kWords, kWidth}, DType::kFloat32),
      dbias({kWords}, DType::kFloat32);
  const WordSums sums = word_losses_backward(context, classifier, Precision::kFloat32, h, targets,
                                             kWeight, dh, dwords, dbias);
  EXPECT_NEAR(sums.loss, expected, 1e-5 * expected);
  const auto at = [&](auto change) {
    return [&, change](const std::vector<double>& moved) {
      Values own = values;
      change(own, moved);
      return kWeight * loss_of(own, targets);
    };
  };
  expect_gradient(at([](Values& own, const auto& moved) { own.h = moved; }), values.h,
                  values_of<double>(dh), 1e-5, 1e-5);
  expect_gradient(at([](Values& own, const auto& moved) { own.words = moved; }), values.words,
                  values_of<double>(dwords), 1e-5, 1e-5);
  expect_gradient(at([](Values& own, const auto& moved) { own.bias = moved; }), values.bias,
                  values_of<double>(dbias), 1e-5, 1e-5);
}

// More places than are worked on at a time; each is its own.
TEST(WordLoss, OfManyPlacesIsTheSum) {
  ThreadPool pool(2);
  const Context context(pool);
  constexpr int64_t kMany = 1100;
  const Tensor words = random_floats({kWords, kWidth}, 1), bias = random_floats({kWords}, 2),
               h = random_floats({kMany, kWidth}, 3);
  std::vector<int32_t> targets(kMany);
  for (size_t m = 0; m < targets.size(); ++m) targets[m] = static_cast<int32_t>(m % kWords);
  const Values values{values_of<double>(words), values_of<double>(bias), values_of<double>(h)};
  const WordSums sums = word_losses(context, {words, bias}, Precision::kFloat32, h, targets);
  EXPECT_NEAR(sums.loss, loss_of(values, targets), 1e-2);
  EXPECT_GT(sums.hits, 0);
  EXPECT_LT(sums.hits, kMany / 2);
}

TEST(WordLoss, CountsTrueWordsOnTop) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor words = tensor_of<float>({2, 1}, {1, -1}), bias = tensor_of<float>({2}, {0, 0});
  const Tensor h = tensor_of<float>({3, 1}, {2, -2, 2});
  const std::vector<int32_t> targets = {0, 1, 1};
  EXPECT_EQ(word_losses(context, {words, bias}, Precision::kFloat32, h, targets).hits, 2);
}

}  // namespace
}  // namespace elias
