#include "ops/lookup/embedding_bag.h"

#include <gmock/gmock.h>

#include "tests/ops/backends.h"
#include "tests/ops/embedding_bag_reference.h"
#include "tests/ops/numbers.h"
#include "tests/ops/row_gradients.h"

namespace elias {
namespace {

using testing::ThrowsMessage;

// Bags of 0 to 2 * `most` features below V, on the CPU or moved from there.
struct OwnBags {
  Tensor offsets, ids, weights;

  Bags views() const { return {offsets, ids, weights}; }
  reference::BagsOf spans() const {
    return {offsets.span<int32_t>(), ids.span<int32_t>(), weights.span<float>()};
  }
  OwnBags moved_to(Device device) const {
    return {copy_to(device, offsets), copy_to(device, ids), copy_to(device, weights)};
  }
};

OwnBags random_bags(int64_t N, int32_t most, int32_t V) {
  Tensor offsets({N + 1}, DType::kInt32);
  RandomSequence random(1, 0);
  const auto ends = offsets.span<int32_t>();
  for (int64_t n = 0; n < N; ++n) {
    ends[n + 1] = ends[n] + static_cast<int32_t>(random.below(2 * most + 1));
  }
  const int64_t size = ends[N];
  return {std::move(offsets), random_ids({size}, 2, V), random_floats({size}, 3)};
}

class EmbeddingBagTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, EmbeddingBagTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST(EmbeddingBagGradientTest, ReferenceIsTheDerivative) {
  const size_t V = 6;
  const size_t D = 3;
  const OwnBags bags = random_bags(5, 3, V);
  const auto table = values_of<double>(random_floats({V, D}, 4));
  const auto dy = values_of<double>(random_floats({5, D}, 5));
  expect_gradient([&](auto& at) { return dot(reference::embedding_bag(bags.spans(), at, D), dy); },
                  table, reference::embedding_bag_backward(bags.spans(), dy, V, D));
}

TEST_P(EmbeddingBagTest, ForwardAndBackwardMatchReference) {
  const int64_t V = 30;
  for (const int64_t N : {0, 1, 7, 100}) {
    for (const int64_t D : {1, 3, 16, 33, 257, 768}) {
      SCOPED_TRACE(testing::Message() << "N=" << N << " D=" << D);
      const OwnBags bags = random_bags(N, 5, V);
      const OwnBags bags_here = bags.moved_to(device());
      const Tensor table = random_floats({V, D}, 4);
      const Tensor dy = random_floats({N, D}, 5);

      Tensor y = here(random_floats({N, D}, 9));  // what was there does not show
      embedding_bag(context(), bags_here.views(), here(table), y);
      expect_near(back(y), reference::embedding_bag(bags.spans(), values_of<double>(table), D),
                  1e-5);

      const Tensor dy_here = here(dy);
      const RowGradient gradient = embedding_bag_backward(context(), bags_here.views(), dy_here, V);
      expect_near(dense_on_cpu(gradient, V),
                  reference::embedding_bag_backward(bags.spans(), values_of<double>(dy), V, D),
                  1e-5);
    }
  }
}

TEST_P(EmbeddingBagTest, WorksOnViews) {
  const OwnBags bags = random_bags(8, 5, 20);
  const Tensor wide = random_floats({20, 50}, 1);
  const Tensor dense = copy_to(Device::kCpu, wide.view().columns(7, 40));
  const Tensor wide_here = here(wide);
  Tensor y = zeros({8, 40});
  embedding_bag(context(), bags.moved_to(device()).views(), wide_here.view().columns(7, 40),
                y.view().columns(2, 35));
  expect_near(back(y.view().columns(2, 35)),
              reference::embedding_bag(bags.spans(), values_of<double>(dense), 33), 1e-5);
  // What is beside the view is left alone.
  expect_near(back(y.view().columns(0, 2)), std::vector<double>(16), 0);
  expect_near(back(y.view().columns(35, 40)), std::vector<double>(40), 0);
}

TEST(EmbeddingBagThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t V = 400;
  for (const int64_t N : {5, 300}) {  // few points are shared out by columns
    const int64_t D = 600;
    const OwnBags bags = random_bags(N, 30, V);
    const Tensor table = random_floats({V, D}, 4);
    const Tensor dy = random_floats({N, D}, 5);
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      results.emplace_back(Shape{N, D}, DType::kFloat32);
      embedding_bag(context, bags.views(), table, results[0]);
      RowGradient gradient = embedding_bag_backward(context, bags.views(), dy, V);
      results.emplace_back(Shape{gradient.size(), D}, DType::kFloat32);
      expand_rows(context, gradient, results[1]);
      results.push_back(std::move(gradient.points));
      results.push_back(std::move(gradient.weights));
      return results;
    });
  }
}

TEST(EmbeddingBagErrorsTest, RefusesWrongShapesAndIdsWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor table = random_floats({4, 6}, 1);
  const Tensor offsets = tensor_of<int32_t>({3}, {0, 1, 3});
  const Tensor ids = tensor_of<int32_t>({3}, {0, 3, 4});
  const Tensor weights = random_floats({3}, 1);
  Tensor y({2, 6}, DType::kFloat32);
  Tensor narrow({2, 5}, DType::kFloat32);
  Tensor long_y({3, 6}, DType::kFloat32);
  const Bags bags{offsets, ids, weights};
  EXPECT_THAT([&] { embedding_bag(context, bags, table, narrow); },
              ThrowsMessage<InputError>("embedding bag: y is [2, 5], but must be [2, 6]"));
  EXPECT_THAT([&] { embedding_bag(context, bags, table, long_y); },
              ThrowsMessage<InputError>("embedding bag: offsets is [3], but must be [4]"));
  EXPECT_THAT([&] { embedding_bag(context, bags, table, y); },
              ThrowsMessage<InputError>(
                  "embedding bag: ids holds 4 at row 0, column 2, but must be in [0, 4)"));
  EXPECT_THAT([&] { embedding_bag_backward(context, bags, y, 3); },
              ThrowsMessage<InputError>("embedding bag, backward: ids holds 3 at row 0, column 1, "
                                        "but must be in [0, 3)"));
  const Tensor short_offsets = tensor_of<int32_t>({3}, {0, 1, 2});
  EXPECT_THAT(
      [&] {
        embedding_bag(context, {short_offsets, ids, weights}, table, y);
      },
      ThrowsMessage<InputError>("embedding bag: offsets run from 0 to 2, but must from 0 to 3"));
}

}  // namespace
}  // namespace elias
