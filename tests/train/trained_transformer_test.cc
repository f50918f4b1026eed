// A transformer in training: ten steps against PyTorch's, and batches in parts.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "tests/encoder/fixture.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "train/trained_encoder.h"

namespace elias {
namespace {

constexpr float kManyParts = 2e-5F;  // GiB, of some 20 tokens each

Settings fixture_settings(const Pretrained& start) {
  Settings settings;
  settings.encoder = "somewhere";
  settings.width = start.config.shape.width;
  settings.dropout = 0;
  settings.bf16 = false;
  return settings;
}

struct Texts {
  explicit Texts(const Pretrained& start, ThreadPool& pool) {
    tokens = WordPiece(start.tokens, "words").encode_all(fixture_texts(), kFixtureLength, pool);
    features.offsets.assign(tokens.rows() + 1, 0);
    batch.resize(tokens.rows());
    std::iota(batch.begin(), batch.end(), 0U);
  }
  PointsView points() const { return {features, tokens}; }

  Csr features;
  TokenRows tokens;
  std::vector<uint32_t> batch;
};

// The bias of keys changes no score beside the others, so its gradient is what rounding leaves,
// which AdamW makes a whole step of: set to zero where weights are compared.
std::vector<double> without_key_bias(const std::string& name, std::vector<double> values) {
  if (!name.ends_with("qkv.bias")) return values;
  const auto third = static_cast<ptrdiff_t>(values.size() / 3);
  std::fill(values.begin() + third, values.begin() + 2 * third, 0.0);
  return values;
}

std::vector<double> compared(Parameter& parameter, const Context& context) {
  parameter.catch_up_all(context);
  return without_key_bias(parameter.name(), values_of<double>(std::as_const(parameter).weights()));
}

TEST(TrainedTransformerTest, TenStepsAreThoseOfPyTorch) {
  ThreadPool pool(2);
  const Context context(pool);
  for (const char* name : {"bert", "distilbert"}) {
    SCOPED_TRACE(name);
    const Pretrained start = read_pretrained(fixture_folder(name));
    const SafetensorsFile expected(fixture_folder(name) + "/expected.safetensors");
    const Texts texts(start, pool);
    const FixtureHead head(expected);
    const auto encoder = make_trained_transformer(fixture_settings(start), start);
    for (Parameter* parameter : encoder->parameters()) {
      parameter->set_rates(1e-3F, parameter->weights().rank() == 2 ? 0.01F : 0.0F);
    }
    std::vector<float> losses;
    for (uint64_t step = 0; step < 10; ++step) {
      const ConstTensorView phi = encoder->forward(context, texts.points(), texts.batch, step);
      Tensor dphi(phi.shape(), DType::kFloat32);
      losses.push_back(static_cast<float>(head.loss(phi, dphi)));
      encoder->backward(context, dphi, 1);
    }
    EXPECT_THAT(losses, testing::Pointwise(testing::FloatNear(2e-6F),
                                           view_of(expected, "losses").span<float>()));
    auto trained = read_prefixed(expected, "trained.", start.config);
    std::vector<Parameter*> parameters = encoder->parameters();
    size_t next = 0;
    for_parts(trained, [&](const std::string& part_name, const Tensor& part) {
      SCOPED_TRACE(part_name);
      // Ten steps move a weight by up to 1e-2.
      EXPECT_THAT(compared(*parameters[next++], context),
                  testing::Pointwise(testing::DoubleNear(3e-5),
                                     without_key_bias(part_name, values_of<double>(part))));
    });
  }
}

// All parameters after some steps of a batch whose activations may take so many GiB.
std::vector<std::vector<double>> trained_in(const Context& context, float activations) {
  Pretrained start = read_pretrained(fixture_folder("bert"));
  Settings settings = fixture_settings(start);
  settings.activations = activations;
  const Texts texts(start, context.pool());
  const FixtureHead head(SafetensorsFile(fixture_folder("bert") + "/expected.safetensors"));
  const auto encoder = make_trained_transformer(settings, start);
  for (Parameter* parameter : encoder->parameters()) parameter->set_rates(1e-3F, 0);
  for (uint64_t step = 0; step < 3; ++step) {
    const ConstTensorView phi = encoder->forward(context, texts.points(), texts.batch, step);
    Tensor dphi(phi.shape(), DType::kFloat32);
    head.loss(phi, dphi);
    encoder->backward(context, dphi, 1);
  }
  std::vector<std::vector<double>> all;
  for (Parameter* parameter : encoder->parameters()) all.push_back(compared(*parameter, context));
  return all;
}

// Members of an ensemble are told apart by their seeds alone.
TEST(TrainedTransformerTest, NewOnesBeginWithTheWeightsOfTheirSeed) {
  const Pretrained start = read_pretrained(fixture_folder("bert"));
  const auto first_weights = [&](const std::string& encoder, uint64_t seed) {
    Settings settings = fixture_settings(start);
    settings.encoder = encoder;
    settings.seed = seed;
    const auto trained = make_trained_transformer(settings, start);
    return values_of<double>(std::as_const(*trained->parameters().front()).weights());
  };
  EXPECT_NE(first_weights("new:", 1), first_weights("new:", 2));
  EXPECT_EQ(first_weights("new:", 2), first_weights("new:", 2));
  EXPECT_EQ(first_weights("folder", 1), first_weights("folder", 2));
}

// Parts that are computed twice lead to the same gradients, in another order of sums.
TEST(TrainedTransformerTest, BatchesInPartsLearnTheSame) {
  ThreadPool pool(2);
  const Context context(pool);
  const auto whole = trained_in(context, 1);
  const auto parts = trained_in(context, kManyParts);
  ASSERT_EQ(whole.size(), parts.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_THAT(parts[i], testing::Pointwise(testing::DoubleNear(3e-5), whole[i])) << i;
  }
}

// --- dropout in parts ----------------------------------------------------------------------------

struct Dropout {
  float hidden, attention;
  Pooling pooling;
};

Pretrained start_with(const Dropout& dropout) {
  Pretrained start = read_pretrained(fixture_folder("bert"));
  start.config.hidden_dropout = dropout.hidden;
  start.config.attention_dropout = dropout.attention;
  start.weights.shape.pooling = start.config.shape.pooling = dropout.pooling;
  return start;
}

// The moments of a single step, whose rate is zero: a tenth of the gradients.
std::vector<std::vector<double>> gradients_of(TrainedEncoder& encoder) {
  const TemporaryFolder folder;
  SafetensorsWriter writer;
  for (const Parameter* parameter : encoder.parameters()) parameter->save(writer);
  writer.write(folder / "parameters");
  const SafetensorsFile file(folder / "parameters");
  std::vector<std::vector<double>> gradients;
  for (const Parameter* parameter : encoder.parameters()) {
    gradients.push_back(values_of<double>(view_of(file, parameter->name() + ".first_moment")));
    for (double& value : gradients.back()) value *= 10;
  }
  return gradients;
}

// The loss is linear in phi, with coefficients by chance.
class DroppedRun {
 public:
  DroppedRun(const Context& context, const Pretrained& start, float activations)
      : context_(context), texts_(start, context.pool()) {
    Settings settings = fixture_settings(start);
    settings.activations = activations;
    encoder_ = make_trained_transformer(settings, start);
    phi_ = encoder_->forward(context, texts_.points(), texts_.batch, /*stream=*/5);
    coefficients_ = Tensor(phi_.shape(), DType::kFloat32);
    fill_uniform(context, coefficients_, 1, /*seed=*/3, /*stream=*/1);
  }

  double loss() const {
    const auto phi = phi_.span<float>();
    return std::inner_product(phi.begin(), phi.end(), coefficients_.span<float>().begin(), 0.0,
                              std::plus<>(), [](double x, double y) { return x * y; });
  }

  std::vector<std::vector<double>> gradients() {
    encoder_->backward(context_, coefficients_, 1);
    return gradients_of(*encoder_);
  }

 private:
  const Context& context_;
  Texts texts_;
  std::unique_ptr<TrainedEncoder> encoder_;
  ConstTensorView phi_;
  Tensor coefficients_;
};

// The gradient is that of the loss that the first pass led to: what a part drops when it is
// computed again is what it dropped then. Steps along the gradient are the largest there are, so
// that rounding does not count.
TEST(TrainedTransformerTest, PartsDropTheSameWhenTheyAreComputedAgain) {
  ThreadPool pool(2);
  const Context context(pool);
  for (const Dropout& dropout :
       {Dropout{0.3F, 0, Pooling::kFirst}, Dropout{0.3F, 0, Pooling::kMean},
        Dropout{0, 0.3F, Pooling::kFirst}, Dropout{0, 0.3F, Pooling::kMean}}) {
    const Pretrained start = start_with(dropout);
    const auto gradients = DroppedRun(context, start, kManyParts).gradients();
    double square = 0;
    for (const auto& own : gradients) {
      square = std::inner_product(own.begin(), own.end(), own.begin(), square);
    }
    constexpr double kDistance = 2e-3;
    const double share = kDistance / std::sqrt(square);
    const auto loss_at = [&](double step) {
      Pretrained moved = start_with(dropout);
      size_t next = 0;
      for_parts(moved.weights, [&](const std::string&, Tensor& part) {
        const auto& own = gradients[next++];
        for (size_t i = 0; i < own.size(); ++i) {
          part.span<float>()[i] += static_cast<float>(step * own[i]);
        }
      });
      return DroppedRun(context, moved, kManyParts).loss();
    };
    const double difference = (loss_at(share) - loss_at(-share)) / (2 * share);
    EXPECT_NEAR(difference / square, 1, 0.01) << dropout.hidden << " " << dropout.attention;
    // Other masks are another function.
    EXPECT_GT(std::abs(DroppedRun(context, start, 1).loss() - loss_at(0)), 0.01);
  }
}

TEST(TrainedTransformerThreadsTest, SameBitsAtAnyThreadCount) {
  std::vector<std::vector<std::vector<double>>> all;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    all.push_back(trained_in(Context(pool), kManyParts));
  }
  EXPECT_EQ(all[0], all[1]);
}

}  // namespace
}  // namespace elias
