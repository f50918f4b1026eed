#include "encoder/transformer.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/encoder/own_transformer.h"
#include "tests/ops/backends.h"

namespace elias {
namespace {

constexpr TransformerShape kSmall{.vocabulary = 7,
                                  .positions = 6,
                                  .types = 2,
                                  .width = 6,
                                  .heads = 2,
                                  .inner = 9,
                                  .layers = 2,
                                  .epsilon = 1e-5F};
constexpr TransformerShape kWide{.vocabulary = 50,
                                 .positions = 200,
                                 .types = 0,
                                 .width = 64,
                                 .heads = 4,
                                 .inner = 100,
                                 .layers = 3,
                                 .epsilon = 1e-12F,
                                 .pooling = Pooling::kMean};
constexpr TokenNoise kNoise{.hidden = 0.3F, .attention = 0.2F, .seed = 7, .step = 3};

std::vector<uint32_t> all_points(const TokenRows& rows) {
  std::vector<uint32_t> points(rows.rows());
  std::iota(points.begin(), points.end(), 0U);
  return points;
}

std::vector<int32_t> as_signed(const auto& values) { return {values.begin(), values.end()}; }

// One batch of all rows.
struct Batch {
  Batch(const TokenRows& own, const TransformerShape& shape) : rows(own) {
    tokens.gather(rows, all_points(rows), shape);
  }
  std::vector<double> expected(const reference::TransformerValues<double>& weights,
                               TokensWanted wanted, const std::optional<TokenNoise>& noise) const {
    return reference::encode_tokens(weights, as_signed(rows.offsets), as_signed(rows.ids), wanted,
                                    noise);
  }
  TokenRows rows;
  TokenBatch tokens;
};

// The size of a difference beside that of what is expected.
double relative_error(std::span<const double> actual, std::span<const double> expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / size);
}

class TransformerTest : public OnBackend {
 protected:
  ConstTensorView encode(OwnTransformer& own, const Batch& batch, Precision precision,
                         TokensWanted wanted, const std::optional<TokenNoise>& noise, bool keep) {
    const auto views = own.views<ConstTensorView>();
    const auto packed = pack_transformer(context(), views, PackedFor::kForward, precision, wanted);
    encode_tokens(context(), views, packed, batch.tokens, noise, keep, activations_);
    return activations_.hidden();
  }

  TransformerActivations activations_;  // one for all: what earlier batches left does not show
};
INSTANTIATE_TEST_SUITE_P(Everywhere, TransformerTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(TransformerTest, ForwardMatchesReference) {
  for (const TransformerShape& shape : {kWide, kSmall}) {
    OwnTransformer own(shape);
    const auto longest = static_cast<size_t>(shape.positions);
    const Batch batch(random_tokens({3, 1, longest, 2}, shape.vocabulary), shape);
    for (const TokensWanted wanted : {TokensWanted::kAll, TokensWanted::kFirst}) {
      for (const bool keep : {false, true}) {
        for (const auto& noise : {std::optional<TokenNoise>(), std::optional(kNoise)}) {
          SCOPED_TRACE(testing::Message()
                       << "width " << shape.width << ", keep " << keep << ", first "
                       << (wanted == TokensWanted::kFirst) << ", noise " << noise.has_value());
          const auto expected = batch.expected(own.values(), wanted, noise);
          expect_near(encode(own, batch, Precision::kFloat32, wanted, noise, keep), expected, 5e-5);
          const auto rounded =
              values_of<double>(encode(own, batch, Precision::kBFloat16, wanted, noise, keep));
          EXPECT_LT(relative_error(rounded, expected), 0.03);
        }
      }
    }
  }
}

// The whole backward pass against differences of the reference in double.
TEST_P(TransformerTest, BackwardIsTheDerivative) {
  OwnTransformer own(kSmall);
  const Batch batch(random_tokens({3, 1, 6}, kSmall.vocabulary), kSmall);
  for (const TokensWanted wanted : {TokensWanted::kAll, TokensWanted::kFirst}) {
    for (const auto& noise : {std::optional<TokenNoise>(), std::optional(kNoise)}) {
      SCOPED_TRACE(testing::Message() << "first " << (wanted == TokensWanted::kFirst) << ", noise "
                                      << noise.has_value());
      const ConstTensorView hidden =
          encode(own, batch, Precision::kFloat32, wanted, noise, /*keep=*/true);
      Tensor dhidden = random_floats(hidden.shape(), 99);
      const auto dy = values_of<double>(dhidden);
      OwnTransformer gradients(kSmall, /*zero=*/true);
      Tensor dembedded({batch.tokens.tokens(), kSmall.width}, DType::kFloat32);
      const auto views = own.views<ConstTensorView>();
      encode_tokens_backward(context(), views,
                             pack_transformer(context(), views, PackedFor::kInputGradient,
                                              Precision::kFloat32, wanted),
                             batch.tokens, noise, dhidden, activations_,
                             gradients.views<TensorView>(), dembedded);
      gradients.set_table_gradient(context(), batch.tokens, dembedded);

      auto at = own.values();
      auto actual = gradients.values();
      const auto loss = [&] { return dot(batch.expected(at, wanted, noise), dy); };
      for_both_parts(actual, at,
                     [&](const std::string& name, const std::vector<double>& gradient,
                         std::vector<double>& part) {
                       SCOPED_TRACE(name);
                       const std::vector<double> start = part;
                       expect_gradient(
                           [&](const std::vector<double>& moved) {
                             part = moved;
                             return loss();
                           },
                           start, gradient, 1e-5, 2e-4);
                       part = start;
                     });
    }
  }
}

// With products in bf16 gradients are those in float32 but for what rounding does.
TEST_P(TransformerTest, GradientsInBFloat16AreNear) {
  OwnTransformer own(kWide);
  const Batch batch(random_tokens({30, 150, 2, 17}, kWide.vocabulary), kWide);
  const auto views = own.views<ConstTensorView>();
  const auto gradients_in = [&](Precision precision) {
    const TokensWanted wanted = TokensWanted::kFirst;
    const ConstTensorView hidden = encode(own, batch, precision, wanted, kNoise, /*keep=*/true);
    Tensor dhidden = random_floats(hidden.shape(), 99);
    OwnTransformer gradients(kWide, /*zero=*/true);
    Tensor dembedded({batch.tokens.tokens(), kWide.width}, DType::kFloat32);
    encode_tokens_backward(
        context(), views,
        pack_transformer(context(), views, PackedFor::kInputGradient, precision, wanted),
        batch.tokens, kNoise, dhidden, activations_, gradients.views<TensorView>(), dembedded);
    gradients.tensors.table = std::move(dembedded);
    return gradients;
  };
  OwnTransformer exact = gradients_in(Precision::kFloat32);
  OwnTransformer rounded = gradients_in(Precision::kBFloat16);
  auto expected = exact.values();
  auto actual = rounded.values();
  for_both_parts(actual, expected,
                 [](const std::string& name, const std::vector<double>& part,
                    const std::vector<double>& other) {
                   EXPECT_LT(relative_error(part, other), 0.03) << name;
                 });
}

TEST_P(TransformerTest, PoolingIsTheFirstOrTheMean) {
  const Batch batch(random_tokens({3, 1, 2}, kSmall.vocabulary), kSmall);
  const Tensor hidden = random_floats({6, 4}, 1), firsts = random_floats({3, 4}, 2);
  Tensor pooled({3, 4}, DType::kFloat32);
  pool_tokens(context(), Pooling::kFirst, batch.tokens, firsts, pooled);
  expect_near(pooled, values_of<double>(firsts), 0);
  pool_tokens(context(), Pooling::kMean, batch.tokens, hidden, pooled);
  const auto h = values_of<double>(hidden);
  const auto mean = [&](std::vector<double> at) {
    std::vector<double> result(12);
    const size_t rows[] = {0, 0, 0, 1, 2, 2};
    const double lengths[] = {3, 1, 2};
    for (size_t i = 0; i < at.size(); ++i)
      result[rows[i / 4] * 4 + i % 4] += at[i] / lengths[rows[i / 4]];
    return result;
  };
  expect_near(pooled, mean(h), 1e-6);
  const Tensor dpooled = random_floats({3, 4}, 3);
  Tensor dhidden({6, 4}, DType::kFloat32);
  pool_tokens_backward(context(), Pooling::kMean, batch.tokens, dpooled, dhidden);
  expect_gradient([&](auto& at) { return dot(mean(at), values_of<double>(dpooled)); }, h,
                  values_of<double>(dhidden), 1e-5, 1e-6);
}

TEST(TransformerThreadsTest, SameBitsAtAnyThreadCount) {
  OwnTransformer own(kWide);
  const Batch batch(random_tokens({30, 150, 2, 17}, kWide.vocabulary), kWide);
  const auto views = own.views<ConstTensorView>();
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      TransformerActivations activations;
      const TokensWanted wanted = TokensWanted::kFirst;
      encode_tokens(context, views,
                    pack_transformer(context, views, PackedFor::kForward, precision, wanted),
                    batch.tokens, kNoise, /*keep=*/true, activations);
      std::vector<Tensor> results;
      results.push_back(copy_to(Device::kCpu, activations.hidden()));
      Tensor dhidden = random_floats(activations.hidden().shape(), 99);
      OwnTransformer gradients(kWide, /*zero=*/true);
      results.emplace_back(Shape{batch.tokens.tokens(), kWide.width}, DType::kFloat32);
      encode_tokens_backward(
          context, views,
          pack_transformer(context, views, PackedFor::kInputGradient, precision, wanted),
          batch.tokens, kNoise, dhidden, activations, gradients.views<TensorView>(), results[1]);
      for_parts(gradients.tensors,
                [&](const std::string&, Tensor& part) { results.push_back(std::move(part)); });
      return results;
    });
  }
}

TEST(TransformerShapeTest, SizesThatDoNotGoTogetherAreRefused) {
  const auto refusal = [](auto change) {
    TransformerShape shape = kSmall;
    change(shape);
    return [shape] { check_shape(shape, "config.json"); };
  };
  using testing::ThrowsMessage;
  EXPECT_NO_THROW(check_shape(kSmall, "config.json"));
  EXPECT_THAT(
      refusal([](TransformerShape& shape) { shape.heads = 4; }),
      ThrowsMessage<InputError>("config.json: the width 6 is not a multiple of the 4 heads"));
  EXPECT_THAT(refusal([](TransformerShape& shape) { shape.layers = 0; }),
              ThrowsMessage<InputError>("config.json: the number of layers cannot be 0"));
  EXPECT_THAT(refusal([](TransformerShape& shape) { shape.width = int64_t{1} << 40; }),
              ThrowsMessage<InputError>("config.json: the width cannot be 1099511627776"));
  EXPECT_THAT(refusal([](TransformerShape& shape) { shape.epsilon = 0; }),
              ThrowsMessage<InputError>(
                  "config.json: epsilon of the layer norms is 0, but must be positive"));
}

}  // namespace
}  // namespace elias
