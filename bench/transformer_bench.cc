// Transformers against their own matrix products, in the same run.
//
//   transformer_bench THREADS ROUNDS
//
// prints one JSON object: of each shape how many tokens a second a forward pass takes, and forward
// and backward pass together with all that a training step does with the encoder but the step
// itself; what of the rate of the products alone, at the same shapes, that is; of one short text at
// a time the median and the 99th percentile of the time; and of a MiniLM's forward pass over some
// texts the median, in both precisions, which bench/transformer.py holds against peers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "bench/roofline.h"
#include "encoder/transformer.h"
#include "ops/lookup/embedding_bag.h"
#include "ops/rows/convert.h"

namespace elias::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr TransformerShape kBertBase{
    .vocabulary = 30522, .types = 2, .width = 768, .heads = 12, .inner = 3072, .layers = 12};
constexpr TransformerShape kMiniLm{
    .vocabulary = 30522, .types = 2, .width = 384, .heads = 12, .inner = 1536, .layers = 6};

struct Case {
  std::string name;
  TransformerShape shape;
  int64_t texts, tokens;  // of each text
};

const Case kCases[] = {{"BERT-base, 32 x 128 tokens", kBertBase, 32, 128},
                       {"MiniLM, 64 x 128 tokens", kMiniLm, 64, 128},
                       {"MiniLM, 512 x 20 tokens", kMiniLm, 512, 20}};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

Tensor random_tensor(Shape shape, float low, float high, uint64_t seed) {
  Tensor tensor(shape, DType::kFloat32);
  const Random random(seed, 0);
  const auto values = tensor.span<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = low + (high - low) * static_cast<float>(random.uniform(i));
  }
  return tensor;
}

// Weights, or zeros to gather gradients in.
TransformerWeights<Tensor> make_weights(const TransformerShape& shape, bool zero) {
  auto weights = empty_weights<Tensor>(shape);
  auto shapes = part_shapes(shape);
  uint64_t seed = 0;
  for_both_parts(weights, shapes, [&](const std::string& name, Tensor& part, const Shape& size) {
    const float centre = name.ends_with("gain") && !zero ? 1 : 0;
    const float reach = zero ? 0 : 0.03F;
    part = random_tensor(size, centre - reach, centre + reach, ++seed);
  });
  return weights;
}

TokenRows random_rows(const Case& what) {
  TokenRows rows;
  RandomSequence random(1, 0);
  for (int64_t n = 0; n < what.texts; ++n) {
    for (int64_t t = 0; t < what.tokens; ++t) {
      rows.ids.push_back(
          static_cast<uint32_t>(random.below(static_cast<uint64_t>(what.shape.vocabulary))));
    }
    rows.offsets.push_back(rows.ids.size());
  }
  return rows;
}

class Runner {
 public:
  Runner(const Context& context, const Case& what, Precision precision = Precision::kBFloat16)
      : context_(context),
        precision_(precision),
        shape_(what.shape),
        weights_(make_weights(what.shape, false)),
        gradients_(make_weights(what.shape, true)),
        views_(views_of<ConstTensorView>(weights_)) {
    const TokenRows rows = random_rows(what);
    std::vector<uint32_t> points(rows.rows());
    std::iota(points.begin(), points.end(), 0U);
    batch_.gather(rows, points, shape_);
    packed_ = pack_transformer(context_, views_, PackedFor::kForward, precision_, kWanted);
    dembedded_ = Tensor({batch_.tokens(), shape_.width}, DType::kFloat32);
    dhidden_ = Tensor({batch_.tokens(), shape_.width}, DType::kFloat32);
    noise_ = random_tensor(dhidden_.shape(), -1, 1, 7);
  }

  // For products(), which are those of training, in bfloat16.
  void make_operands() {
    ELIAS_ASSERT(precision_ == Precision::kBFloat16);
    normed_ = random_tensor({batch_.tokens(), shape_.width}, -1, 1, 3);
    const Tensor rows = random_tensor({batch_.tokens(), shape_.inner}, -1, 1, 4);
    rows_ = Tensor(rows.shape(), DType::kBFloat16);
    convert(context_, rows, rows_);
    result_ = Tensor({batch_.tokens(), std::max(shape_.inner, 3 * shape_.width)}, DType::kBFloat16);
  }

  void forward() {
    encode_tokens(context_, views_, packed_, batch_, std::nullopt, /*keep=*/false, activations_);
  }

  // Weights are packed anew, as after every step.
  void train() {
    const std::optional<TokenNoise> noise =
        TokenNoise{.hidden = 0.1F, .attention = 0.1F, .seed = 1, .step = ++step_};
    const auto packed =
        pack_transformer(context_, views_, PackedFor::kForward, precision_, kWanted);
    encode_tokens(context_, views_, packed, batch_, noise, /*keep=*/true, activations_);
    copy(noise_, dhidden_);
    encode_tokens_backward(
        context_, views_,
        pack_transformer(context_, views_, PackedFor::kInputGradient, precision_, kWanted), batch_,
        noise, dhidden_, activations_, views_of<TensorView>(gradients_), dembedded_);
    dtable_ =
        embedding_bag_backward(context_, batch_.embeddings(), dembedded_, shape_.table_rows());
  }

  // The products of one layer's forward pass, of and to what the pass has there: rows that a norm
  // made are float32, all others bfloat16.
  void products() {
    const PackedTransformerLayer& layer = packed_.layers.front();
    const auto multiply = [&](const Tensor& rows, const PackedWeights& w) {
      linear(context_, rows.view().columns(0, w.inner()), w, {}, Activation::kNone,
             result_.view().columns(0, w.outer()));
    };
    multiply(normed_, layer.qkv);
    multiply(rows_, layer.mix);
    multiply(normed_, layer.up);
    multiply(rows_, layer.down);
  }

  double product_operations() const {  // of a layer
    const auto D = static_cast<double>(shape_.width), F = static_cast<double>(shape_.inner);
    return 2 * static_cast<double>(batch_.tokens()) * (4 * D * D + 2 * D * F);
  }
  double operations(double tokens_a_text) const {
    const double attention = 4 * static_cast<double>(batch_.tokens()) * tokens_a_text *
                             static_cast<double>(shape_.width);
    return static_cast<double>(shape_.layers) * (product_operations() + attention);
  }
  double tokens() const { return static_cast<double>(batch_.tokens()); }

 private:
  static constexpr TokensWanted kWanted = TokensWanted::kAll;

  const Context& context_;
  Precision precision_;
  TransformerShape shape_;
  TransformerWeights<Tensor> weights_, gradients_;
  TransformerWeights<ConstTensorView> views_;
  PackedTransformer packed_;
  TokenBatch batch_;
  TransformerActivations activations_;
  RowGradient dtable_;
  Tensor dhidden_, noise_, dembedded_, normed_, rows_, result_;
  uint64_t step_ = 0;
};

Json measure(const Context& context, const Case& what, int rounds) {
  Runner runner(context, what);
  runner.make_operands();
  runner.train();
  runner.products();
  const double operations = runner.operations(static_cast<double>(what.tokens));
  std::vector<double> forward, both, forward_ratio, both_ratio;
  for (int round = 0; round < rounds; ++round) {
    const double rate = runner.product_operations() / seconds_of([&] { runner.products(); });
    forward.push_back(seconds_of([&] { runner.forward(); }));
    both.push_back(seconds_of([&] { runner.train(); }));
    forward_ratio.push_back(operations / forward.back() / rate);
    both_ratio.push_back(3 * operations / both.back() / rate);
  }
  return {{"name", what.name},
          {"forward tokens a second", runner.tokens() / median(forward)},
          {"forward ratio", median(forward_ratio)},
          {"training tokens a second", runner.tokens() / median(both)},
          {"training ratio", median(both_ratio)}};
}

// The sizes that peers are asked for, too.
Json measure_inference(const Context& context) {
  Json all = Json::array();
  for (const auto& [name, precision] :
       {std::pair("float32", Precision::kFloat32), std::pair("bfloat16", Precision::kBFloat16)}) {
    for (const int64_t texts : {1, 32}) {
      for (const int64_t tokens : {32, 128}) {
        Runner runner(context, {"MiniLM", kMiniLm, texts, tokens}, precision);
        for (int i = 0; i < 3; ++i) runner.forward();
        std::vector<double> times;
        for (int i = 0; i < (texts == 1 ? 40 : 9); ++i) {
          times.push_back(seconds_of([&] { runner.forward(); }));
        }
        all.push_back({{"texts", texts},
                       {"tokens", tokens},
                       {"precision", name},
                       {"ms", 1e3 * median(times)}});
      }
    }
  }
  return all;
}

// One text of 32 tokens at a time.
Json measure_single(const Context& context, const std::string& name,
                    const TransformerShape& shape) {
  Runner runner(context, {name, shape, 1, 32});
  constexpr int kQueries = 200;
  std::vector<double> times;
  for (int i = 0; i < kQueries; ++i) times.push_back(seconds_of([&] { runner.forward(); }));
  std::ranges::sort(times);
  return {{"name", name + ", one text of 32 tokens"},
          {"p50 ms", 1e3 * times[kQueries / 2]},
          {"p99 ms", 1e3 * times[kQueries * 99 / 100]}};
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  using namespace elias::bench;
  if (argc != 3) {
    fmt::print(stderr, "usage: transformer_bench THREADS ROUNDS\n");
    return 2;
  }
  elias::ThreadPool pool(std::atoi(argv[1]));
  const elias::Context context(pool);
  Json result = {{"threads", pool.threads()}, {"cases", Json::array()}, {"single", Json::array()}};
  for (const Case& what : kCases) {
    result["cases"].push_back(measure(context, what, std::atoi(argv[2])));
  }
  result["single"].push_back(measure_single(context, "BERT-base", kBertBase));
  result["single"].push_back(measure_single(context, "MiniLM", kMiniLm));
  result["inference"] = measure_inference(context);
  fmt::print("{}\n", result.dump());
  return 0;
}
