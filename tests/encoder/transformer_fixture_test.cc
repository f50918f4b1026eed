// Transformers against PyTorch: tokens, hidden states, a loss and its gradients.
#include <gmock/gmock.h>

#include <numeric>

#include "encoder/transformer.h"
#include "encoder/transformer_file.h"
#include "tests/encoder/fixture.h"
#include "tests/encoder/own_transformer.h"
#include "tests/ops/backends.h"

namespace elias {
namespace {

constexpr const char* kArchitectures[] = {"bert", "distilbert"};

// A fixture, read, with what PyTorch expects of it.
struct Fixture {
  explicit Fixture(const std::string& name)
      : model(read_pretrained(fixture_folder(name))),
        expected(fixture_folder(name) + "/expected.safetensors"),
        views(views_of<ConstTensorView>(model.weights)) {
    ThreadPool pool(1);
    rows = WordPiece(model.tokens, name).encode_all(fixture_texts(), kFixtureLength, pool);
    std::vector<uint32_t> points(rows.rows());
    std::iota(points.begin(), points.end(), 0U);
    batch.gather(rows, points, model.config.shape);
  }

  std::vector<double> values(const std::string& name) const {
    const auto all = view_of(expected, name).span<float>();
    return {all.begin(), all.end()};
  }

  Pretrained model;
  SafetensorsFile expected;
  TransformerWeights<ConstTensorView> views;
  TokenRows rows;
  TokenBatch batch;
};

class TransformerFixtureTest : public OnBackend {
 protected:
  ConstTensorView encode(const Fixture& fixture, TokensWanted wanted, bool keep) {
    const auto packed = pack_transformer(context(), fixture.views, PackedFor::kForward,
                                         Precision::kFloat32, wanted);
    encode_tokens(context(), fixture.views, packed, fixture.batch, std::nullopt, keep,
                  activations_);
    return activations_.hidden();
  }

  TransformerActivations activations_;
};
INSTANTIATE_TEST_SUITE_P(Everywhere, TransformerFixtureTest,
                         testing::ValuesIn(backends(/*cuda=*/false)), backend_name);

TEST(TransformerFixtureTokensTest, AreThoseOfTheTokeniser) {
  for (const char* name : kArchitectures) {
    const Fixture fixture(name);
    const auto ids = view_of(fixture.expected, "ids").span<int32_t>();
    const auto mask = view_of(fixture.expected, "mask").span<int32_t>();
    std::vector<uint32_t> expected;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (mask[i] != 0) expected.push_back(static_cast<uint32_t>(ids[i]));
    }
    EXPECT_EQ(fixture.rows.ids, expected) << name;
  }
}

TEST_P(TransformerFixtureTest, HiddenStatesAreThoseOfPyTorch) {
  for (const char* name : kArchitectures) {
    SCOPED_TRACE(name);
    const Fixture fixture(name);
    const auto D = static_cast<size_t>(fixture.model.config.shape.width);
    const auto padded = fixture.values("hidden");
    const auto mask = view_of(fixture.expected, "mask").span<int32_t>();
    std::vector<double> hidden;
    for (size_t t = 0; t < mask.size(); ++t) {
      if (mask[t] == 0) continue;
      const auto row = padded.begin() + static_cast<ptrdiff_t>(t * D);
      hidden.insert(hidden.end(), row, row + static_cast<ptrdiff_t>(D));
    }
    expect_near(encode(fixture, TokensWanted::kAll, /*keep=*/false), hidden, 1e-5);
    Tensor mean({fixture.batch.points(), fixture.model.config.shape.width}, DType::kFloat32);
    pool_tokens(context(), Pooling::kMean, fixture.batch, activations_.hidden(), mean);
    expect_near(mean, fixture.values("mean"), 1e-5);
    expect_near(encode(fixture, TokensWanted::kFirst, /*keep=*/true), fixture.values("first"),
                1e-5);
  }
}

// Within 1e-4 of the largest value.
void expect_close(const std::vector<double>& actual, const std::vector<double>& wanted) {
  ASSERT_EQ(actual.size(), wanted.size());
  double most = 0;
  for (const double value : wanted) most = std::max(most, std::abs(value));
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], 1e-4 * most);
}

TEST_P(TransformerFixtureTest, LossAndGradientsAreThoseOfPyTorch) {
  for (const char* name : kArchitectures) {
    SCOPED_TRACE(name);
    const Fixture fixture(name);
    const TransformerShape& shape = fixture.model.config.shape;
    const ConstTensorView first = encode(fixture, TokensWanted::kFirst, /*keep=*/true);
    Tensor dfirst(first.shape(), DType::kFloat32);
    EXPECT_NEAR(FixtureHead(fixture.expected).loss(first, dfirst), fixture.values("loss")[0], 1e-6);
    OwnTransformer gradients(shape, /*zero=*/true);
    Tensor dembedded({fixture.batch.tokens(), shape.width}, DType::kFloat32);
    encode_tokens_backward(context(), fixture.views,
                           pack_transformer(context(), fixture.views, PackedFor::kInputGradient,
                                            Precision::kFloat32, TokensWanted::kFirst),
                           fixture.batch, std::nullopt, dfirst, activations_,
                           gradients.views<TensorView>(), dembedded);
    gradients.set_table_gradient(context(), fixture.batch, dembedded);

    auto expected = read_prefixed(fixture.expected, "gradient.", fixture.model.config);
    for_both_parts(gradients.tensors, expected,
                   [](const std::string& part_name, const Tensor& part, const Tensor& wanted) {
                     SCOPED_TRACE(part_name);
                     expect_close(values_of<double>(part), values_of<double>(wanted));
                   });
  }
}

}  // namespace
}  // namespace elias
