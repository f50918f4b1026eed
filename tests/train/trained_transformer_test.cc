// A transformer in training: ten steps against PyTorch's, and batches in parts.
#include <gmock/gmock.h>

#include <numeric>

#include "tests/encoder/fixture.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "train/trained_encoder.h"

namespace elias {
namespace {

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

// Parts that are computed twice lead to the same gradients, in another order of sums.
TEST(TrainedTransformerTest, BatchesInPartsLearnTheSame) {
  ThreadPool pool(2);
  const Context context(pool);
  const auto whole = trained_in(context, 1);
  const auto parts = trained_in(context, 2e-5F);  // some 20 tokens
  ASSERT_EQ(whole.size(), parts.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_THAT(parts[i], testing::Pointwise(testing::DoubleNear(3e-5), whole[i])) << i;
  }
}

TEST(TrainedTransformerThreadsTest, SameBitsAtAnyThreadCount) {
  std::vector<std::vector<std::vector<double>>> all;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    all.push_back(trained_in(Context(pool), 2e-5F));
  }
  EXPECT_EQ(all[0], all[1]);
}

}  // namespace
}  // namespace elias
