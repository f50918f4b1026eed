#include "encoder/bag.h"

#include <gmock/gmock.h>

#include "ops/rows/dropout.h"
#include "tests/encoder/bag_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradients.h"

namespace elias {
namespace {

// Bags of 0 to 6 features below V; the first and the last are empty.
struct OwnBags {
  OwnBags(int64_t N, int32_t V) : offsets({N + 1}, DType::kInt32) {
    RandomSequence random(1, 0);
    const auto ends = offsets.span<int32_t>();
    for (int64_t n = 0; n < N; ++n) {
      const bool empty = n == 0 || n == N - 1;
      ends[n + 1] = ends[n] + (empty ? 0 : static_cast<int32_t>(random.below(7)));
    }
    ids = random_ids({ends[N]}, 2, V);
    weights = random_floats({ends[N]}, 3);
  }

  operator Bags() const { return {offsets, ids, weights}; }
  reference::BagsOf spans() const {
    return {offsets.span<int32_t>(), ids.span<int32_t>(), weights.span<float>()};
  }

  Tensor offsets, ids, weights;
};

// Weights, or zeros to gather gradients in.
struct OwnWeights {
  OwnWeights(int64_t V, int64_t D, int layer_count, bool zero = false, BagForm own_form = {})
      : form(own_form) {
    uint64_t seed = 10;
    const auto make = [&](Shape shape, float low, float high) {
      return zero ? Tensor(shape, DType::kFloat32) : random_floats(shape, ++seed, low, high);
    };
    table = make({V, D}, -1, 1);
    gain = make({D}, 0.5, 1.5);
    shift = make({D}, -0.5, 0.5);
    for (int i = 0; i < layer_count; ++i) {
      layers.push_back(
          {make({D, D}, -1, 1), make({D}, -0.5, 0.5), make({D}, 0.5, 1.5), make({D}, -0.5, 0.5)});
    }
  }

  BagWeights<ConstTensorView> views() const {
    BagWeights<ConstTensorView> views{table, gain, shift, {}, form};
    for (const auto& layer : layers) {
      views.layers.push_back({layer.weights, layer.bias, layer.gain, layer.shift});
    }
    return views;
  }
  BagWeights<TensorView> views() {
    BagWeights<TensorView> views{table, gain, shift, {}, form};
    for (auto& layer : layers) {
      views.layers.push_back({layer.weights, layer.bias, layer.gain, layer.shift});
    }
    return views;
  }
  reference::BagWeights<double> values() const {
    reference::BagWeights<double> all{
        values_of<double>(table), values_of<double>(gain), values_of<double>(shift), {}, form};
    for (const auto& layer : layers) {
      all.layers.push_back({values_of<double>(layer.weights), values_of<double>(layer.bias),
                            values_of<double>(layer.gain), values_of<double>(layer.shift)});
    }
    return all;
  }

  Tensor table, gain, shift;
  std::vector<BagLayer<Tensor>> layers;
  BagForm form;
};

constexpr BagForm kEmbedded{.layer_norm = false, .relu = true, .unit = true};
constexpr BagForm kLinear{.layer_norm = false, .relu = false, .unit = true};
constexpr BagForm kForms[] = {{}, kEmbedded, kLinear};

constexpr PhiNoise kNoise{.dropout = 0.4F, .seed = 7, .step = 3};

std::vector<double> dropout_mask(const Context& context, Shape shape) {
  Tensor ones = random_floats(shape, 0, 1, 1);
  dropout(context, ones, kNoise.dropout, {kNoise.seed, phi_dropout_stream(kNoise.step)}, ones);
  return values_of<double>(ones);
}

class BagTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, BagTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(BagTest, ForwardMatchesReference) {
  const int32_t V = 30;
  BagActivations activations;  // one for all: what earlier batches left does not show
  for (const int64_t N : {100, 7, 0, 1, 30}) {
    for (const int64_t D : {3, 16, 67}) {
      for (const auto& [form, layers] :
           {std::pair(BagForm(), 0), std::pair(BagForm(), 1), std::pair(BagForm(), 3),
            std::pair(kEmbedded, 0), std::pair(kEmbedded, 2), std::pair(kLinear, 1)}) {
        SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D << " layers=" << layers);
        const OwnBags bags(N, V);
        const OwnWeights own(V, D, layers, /*zero=*/false, form);
        const PackedBag packed = pack_bag(context(), own.views(), Precision::kFloat32);
        encode_bags(context(), own.views(), packed, bags, std::nullopt, activations);
        expect_near(activations.phi(), reference::encode_bags(bags.spans(), own.values(), {}),
                    2e-5);
        encode_bags(context(), own.views(), packed, bags, kNoise, activations);
        expect_near(
            activations.phi(),
            reference::encode_bags(bags.spans(), own.values(), dropout_mask(context(), {N, D})),
            2e-5);
      }
    }
  }
}

TEST_P(BagTest, RoundedProductsStayClose) {
  const OwnBags bags(20, 30);
  const OwnWeights own(30, 64, 2);
  BagActivations activations;
  encode_bags(context(), own.views(), pack_bag(context(), own.views(), Precision::kBFloat16), bags,
              std::nullopt, activations);
  expect_near(activations.phi(), reference::encode_bags(bags.spans(), own.values(), {}), 2e-2);
}

// Every gradient against central differences of the reference in double.
void expect_derivatives(const Context& context, const OwnWeights& own, int64_t D, int layers,
                        const std::optional<PhiNoise>& noise) {
  const int64_t N = 9;
  const int32_t V = 12;
  const OwnBags bags(N, V);
  const Tensor dphi = random_floats({N, D}, 5);
  BagActivations activations;
  encode_bags(context, own.views(), pack_bag(context, own.views(), Precision::kFloat32), bags,
              noise, activations);
  OwnWeights gradients(V, D, layers, /*zero=*/true);
  Tensor overwritten = copy_to(Device::kCpu, dphi);
  const RowGradient rows = encode_bags_backward(context, own.views(), Precision::kFloat32, bags,
                                                noise, overwritten, activations, gradients.views());
  gradients.table = dense_on_cpu(rows, V);

  auto at = own.values();
  const auto mask = noise ? dropout_mask(context, {N, D}) : std::vector<double>();
  const auto weight = values_of<double>(dphi);
  const auto expect = [&](const char* name, std::vector<double>& part,
                          const std::vector<double>& gradient) {
    SCOPED_TRACE(name);
    const auto loss = [&](const std::vector<double>& values) {
      const auto before = std::exchange(part, values);
      const double result = dot(reference::encode_bags(bags.spans(), at, mask), weight);
      part = before;
      return result;
    };
    expect_gradient(loss, part, gradient, 1e-6, 5e-5);
  };
  const auto actual = gradients.values();
  expect("table", at.table, actual.table);
  expect("gain", at.gain, actual.gain);
  expect("shift", at.shift, actual.shift);
  for (int i = 0; i < layers; ++i) {
    expect("layer weights", at.layers[i].weights, actual.layers[i].weights);
    expect("layer bias", at.layers[i].bias, actual.layers[i].bias);
    expect("layer gain", at.layers[i].gain, actual.layers[i].gain);
    expect("layer shift", at.layers[i].shift, actual.layers[i].shift);
  }
}

TEST_P(BagTest, BackwardIsTheDerivative) {
  for (const BagForm& form : kForms) {
    for (const int layers : {0, 2}) {
      for (const bool noisy : {false, true}) {
        SCOPED_TRACE(testing::Message() << "unit=" << form.unit << " relu=" << form.relu
                                        << " layers=" << layers << " noisy=" << noisy);
        const OwnWeights own(12, 6, layers, /*zero=*/false, form);
        expect_derivatives(context(), own, 6, layers, noisy ? std::optional(kNoise) : std::nullopt);
      }
    }
  }
}

TEST_P(BagTest, GradientsAreAdded) {
  const OwnBags bags(9, 12);
  const OwnWeights own(12, 6, 1);
  BagActivations activations;
  encode_bags(context(), own.views(), pack_bag(context(), own.views(), Precision::kFloat32), bags,
              std::nullopt, activations);
  OwnWeights gradients(12, 6, 1, /*zero=*/true);
  std::vector<std::vector<double>> once;
  for (const int times : {1, 2}) {
    Tensor dphi = random_floats({9, 6}, 5);
    encode_bags_backward(context(), own.views(), Precision::kFloat32, bags, std::nullopt, dphi,
                         activations, gradients.views());
    const auto all = gradients.values();
    const std::vector<std::vector<double>> parts = {
        all.gain,           all.shift,          all.layers[0].weights,
        all.layers[0].bias, all.layers[0].gain, all.layers[0].shift};
    if (times == 1) {
      once = parts;
      continue;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      for (size_t j = 0; j < parts[i].size(); ++j) {
        ASSERT_NEAR(parts[i][j], 2 * once[i][j], 1e-5) << i << ", " << j;
      }
    }
  }
}

TEST_P(BagTest, PointsWithoutFeaturesAreFinite) {
  const Tensor offsets({4}, DType::kInt32);  // three points, no features
  const Tensor ids({0}, DType::kInt32);
  const Tensor weights({0}, DType::kFloat32);
  const Bags bags{offsets, ids, weights};
  for (const BagForm& form : kForms) {
    const OwnWeights own(5, 16, 2, /*zero=*/false, form);
    BagActivations activations;
    encode_bags(context(), own.views(), pack_bag(context(), own.views(), Precision::kFloat32), bags,
                kNoise, activations);
    for (const float value : activations.phi().span<float>()) ASSERT_TRUE(std::isfinite(value));
    OwnWeights gradients(5, 16, 2, /*zero=*/true);
    Tensor dphi = random_floats({3, 16}, 5);
    const RowGradient rows = encode_bags_backward(context(), own.views(), Precision::kFloat32, bags,
                                                  kNoise, dphi, activations, gradients.views());
    EXPECT_EQ(rows.size(), 0);
    const auto all = gradients.values();
    for (const auto* part : {&all.gain, &all.shift, &all.layers[0].weights, &all.layers[1].gain}) {
      for (const double value : *part) ASSERT_TRUE(std::isfinite(value));
    }
    for (const float value : dphi.span<float>()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(BagMemoryTest, SmallerBatchesUseTheSameRoom) {
  ThreadPool pool(1);
  const Context context(pool);
  const OwnWeights own(30, 16, 1);
  const PackedBag packed = pack_bag(context, own.views(), Precision::kFloat32);
  BagActivations activations;
  encode_bags(context, own.views(), packed, OwnBags(50, 30), std::nullopt, activations);
  const void* room = activations.phi().bytes();
  for (const int64_t N : {20, 1, 50}) {
    encode_bags(context, own.views(), packed, OwnBags(N, 30), std::nullopt, activations);
    EXPECT_EQ(activations.phi().bytes(), room);
    EXPECT_EQ(activations.phi().shape(), (Shape{N, 16}));
  }
}

TEST(PhiNoiseTest, StepsDropOthers) {
  ThreadPool pool(1);
  const Context context(pool);
  const OwnBags bags(50, 30);
  const OwnWeights own(30, 16, 0);
  BagActivations activations;
  const auto phi = [&](uint64_t step) {
    encode_bags(context, own.views(), {}, bags, PhiNoise{.dropout = 0.5F, .seed = 1, .step = step},
                activations);
    return values_of<double>(activations.phi());
  };
  EXPECT_EQ(phi(1), phi(1));
  EXPECT_NE(phi(1), phi(2));
}

void expect_same_bits(const BagForm& form) {
  const int64_t N = 300;
  const int32_t V = 100;
  const int64_t D = 130;
  const OwnBags bags(N, V);
  const OwnWeights own(V, D, 1, /*zero=*/false, form);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    BagActivations activations;
    encode_bags(context, own.views(), pack_bag(context, own.views(), Precision::kBFloat16), bags,
                kNoise, activations);
    std::vector<Tensor> results;
    results.push_back(copy_to(Device::kCpu, activations.phi()));
    Tensor dphi = random_floats({N, D}, 5);
    OwnWeights gradients(V, D, 1, /*zero=*/true);
    const RowGradient rows = encode_bags_backward(context, own.views(), Precision::kBFloat16, bags,
                                                  kNoise, dphi, activations, gradients.views());
    results.push_back(dense_on_cpu(rows, V));
    results.push_back(std::move(gradients.gain));
    results.push_back(std::move(gradients.shift));
    results.push_back(std::move(gradients.layers[0].weights));
    results.push_back(std::move(gradients.layers[0].bias));
    results.push_back(std::move(gradients.layers[0].gain));
    return results;
  });
}

TEST(BagThreadsTest, SameBitsAtAnyThreadCount) {
  for (const BagForm& form : kForms) expect_same_bits(form);
}

}  // namespace
}  // namespace elias
