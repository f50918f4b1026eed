#include "ops/attention/attention.h"

#include <gmock/gmock.h>

#include "ops/rows/convert.h"
#include "tests/ops/attention_reference.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using reference::AttentionSizes;

constexpr DropoutKey kKey{.seed = 0x89abcdef'01234567, .stream = 0xfedcba98'76543210};

std::vector<int32_t> offsets_of(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> offsets = {0};
  for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

Tensor ids_of(const std::vector<int32_t>& values) {
  Tensor tensor({std::ssize(values)}, DType::kInt32);
  std::ranges::copy(values, tensor.span<int32_t>().begin());
  return tensor;
}

// Sequences of these lengths, each with as many queries as keys, or with its first token's alone.
AttentionSizes sizes_of(const std::vector<int32_t>& lengths, size_t heads, size_t width,
                        bool first_alone = false) {
  std::vector<int32_t> queries = lengths;
  for (int32_t& count : queries) count = first_alone ? std::min(count, 1) : count;
  return {.query_offsets = offsets_of(queries),
          .offsets = offsets_of(lengths),
          .heads = heads,
          .width = width};
}

// Operands, as bf16 has them, so that rounding them changes nothing.
struct World {
  explicit World(const AttentionSizes& own) : sizes(own) {
    const int64_t S = sizes.query_offsets.back(), T = sizes.offsets.back();
    const auto D = static_cast<int64_t>(sizes.width);
    q = rounded({S, D}, 1);
    k = rounded({T, D}, 2);
    v = rounded({T, D}, 3);
    dy = rounded({S, D}, 4);
    query_offsets = ids_of(sizes.query_offsets);
    offsets = ids_of(sizes.offsets);
  }

  static Tensor rounded(Shape shape, uint64_t seed) {
    Tensor tensor = random_floats(shape, seed, -2, 2);
    for (float& value : tensor.span<float>()) value = to_float(to_bfloat16(value));
    return tensor;
  }

  AttentionInput input() const {
    return {.q = q,
            .k = k,
            .v = v,
            .query_offsets = query_offsets,
            .offsets = offsets,
            .heads = static_cast<int64_t>(sizes.heads),
            .dropout = sizes.dropout,
            .key = sizes.key};
  }

  AttentionSizes sizes;
  Tensor q, k, v, dy, query_offsets, offsets;
};

class AttentionTest : public OnBackend {
 protected:
  // Runs both passes and holds them to the reference.
  void expect_reference(const World& world, Precision precision, DType dtype, double tolerance) {
    const auto q = values_of<double>(world.q), k = values_of<double>(world.k),
               v = values_of<double>(world.v), dy = values_of<double>(world.dy);
    const auto expected = reference::attention(world.sizes, q, k, v);
    const auto gradients = reference::attention_backward(world.sizes, q, k, v, dy);
    const Tensor own_q = as(dtype, world.q), own_k = as(dtype, world.k), own_v = as(dtype, world.v),
                 own_dy = as(dtype, world.dy);
    AttentionInput input = world.input();
    input.q = own_q;
    input.k = own_k;
    input.v = own_v;
    Tensor y(world.q.shape(), dtype), dq(world.q.shape(), dtype), dk(world.k.shape(), dtype),
        dv(world.k.shape(), dtype);
    Tensor log_sums({input.heads, world.q.shape()[0]}, DType::kFloat32);
    for (Tensor* result : {&y, &dq, &dk, &dv}) poison(*result);
    attention(context(), input, precision, y, log_sums);
    expect_near(as(DType::kFloat32, y), expected.y, tolerance);
    expect_near(log_sums, expected.log_sums, 1e-5);
    attention_backward(context(), input, precision, y, log_sums, own_dy, dq, dk, dv);
    expect_near(as(DType::kFloat32, dq), gradients.dq, tolerance);
    expect_near(as(DType::kFloat32, dk), gradients.dk, tolerance);
    expect_near(as(DType::kFloat32, dv), gradients.dv, tolerance);
  }

  Tensor as(DType dtype, ConstTensorView tensor) const {
    if (tensor.dtype() == dtype) return back(tensor);
    Tensor converted(tensor.shape(), dtype);
    convert(context(), tensor, converted);
    return converted;
  }

  static void poison(Tensor& tensor) {
    if (tensor.dtype() == DType::kFloat32) {
      std::ranges::fill(tensor.span<float>(), std::nanf(""));
    } else {
      std::ranges::fill(tensor.span<BFloat16>(), to_bfloat16(std::nanf("")));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, AttentionTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST(AttentionGradientTest, ReferenceIsTheDerivative) {
  for (const float rate : {0.0F, 0.4F}) {
    for (const bool first_alone : {false, true}) {
      AttentionSizes sizes = sizes_of({3, 1, 5}, 2, 6, first_alone);
      sizes.dropout = rate;
      sizes.key = kKey;
      const World world(sizes);
      const auto q = values_of<double>(world.q), k = values_of<double>(world.k),
                 v = values_of<double>(world.v), dy = values_of<double>(world.dy);
      const auto loss = [&](auto& at_q, auto& at_k, auto& at_v) {
        return dot(reference::attention(sizes, at_q, at_k, at_v).y, dy);
      };
      const auto gradients = reference::attention_backward(sizes, q, k, v, dy);
      expect_gradient([&](auto& at) { return loss(at, k, v); }, q, gradients.dq);
      expect_gradient([&](auto& at) { return loss(q, at, v); }, k, gradients.dk);
      expect_gradient([&](auto& at) { return loss(q, k, at); }, v, gradients.dv);
    }
  }
}

const AttentionSizes kSizes[] = {
    sizes_of({1}, 1, 1),          sizes_of({3, 1, 7}, 1, 5),
    sizes_of({20, 2, 33}, 3, 96), sizes_of({48, 16, 130}, 2, 64),
    sizes_of({300, 5}, 1, 20),    sizes_of({}, 2, 8),
    sizes_of({4, 0, 2}, 2, 8),    sizes_of({17, 40, 1}, 4, 128, /*first_alone=*/true),
    sizes_of({512}, 1, 16, true),
};

TEST_P(AttentionTest, BothPassesMatchReference) {
  for (const AttentionSizes& sizes : kSizes) {
    for (const float rate : {0.0F, 0.3F}) {
      SCOPED_TRACE(testing::Message() << sizes.sequences() << " sequences, longest "
                                      << sizes.longest() << ", " << sizes.heads << " heads of "
                                      << sizes.width / sizes.heads << ", dropout " << rate);
      AttentionSizes with = sizes;
      with.dropout = rate;
      with.key = kKey;
      const World world(with);
      expect_reference(world, Precision::kFloat32, DType::kFloat32, 5e-6);
      // Probabilities are rounded on their way.
      expect_reference(world, Precision::kBFloat16, DType::kFloat32, 1e-2);
      expect_reference(world, Precision::kBFloat16, DType::kBFloat16, 2e-2);
    }
  }
}

// Query, key and value side by side in one matrix, as one product makes them.
TEST_P(AttentionTest, WorksOnViews) {
  const World world(sizes_of({9, 4}, 2, 12));
  Tensor all({13, 36}, DType::kFloat32), dall({13, 36}, DType::kFloat32);
  copy(world.q, all.view().columns(0, 12));
  copy(world.k, all.view().columns(12, 24));
  copy(world.v, all.view().columns(24, 36));
  AttentionInput input = world.input();
  const auto run = [&](const AttentionInput& of, TensorView dq, TensorView dk, TensorView dv) {
    Tensor y({13, 12}, DType::kFloat32), log_sums({2, 13}, DType::kFloat32);
    attention(context(), of, Precision::kFloat32, y, log_sums);
    attention_backward(context(), of, Precision::kFloat32, y, log_sums, world.dy, dq, dk, dv);
    return y;
  };
  Tensor dq({13, 12}, DType::kFloat32), dk(dq.shape(), DType::kFloat32),
      dv(dq.shape(), DType::kFloat32);
  const Tensor expected = run(input, dq, dk, dv);
  input.q = all.view().columns(0, 12);
  input.k = all.view().columns(12, 24);
  input.v = all.view().columns(24, 36);
  const TensorView parts = dall.view();
  const Tensor y = run(input, parts.columns(0, 12), parts.columns(12, 24), parts.columns(24, 36));
  expect_near(y, values_of<double>(expected), 0);
  for (const auto& [begin, gradient] : {std::pair(0, &dq), {12, &dk}, {24, &dv}}) {
    expect_near(copy_to(Device::kCpu, parts.columns(begin, begin + 12)),
                values_of<double>(*gradient), 0);
  }
}

// What others add to a batch changes nothing of a sequence's result.
TEST_P(AttentionTest, SequencesDoNotSeeEachOther) {
  const World both(sizes_of({6, 150}, 2, 32));
  const auto result = [&](int64_t tokens, const Tensor& offsets) {
    AttentionInput input = both.input();
    input.q = both.q.view().slice(0, tokens);
    input.k = both.k.view().slice(0, tokens);
    input.v = both.v.view().slice(0, tokens);
    input.offsets = input.query_offsets = offsets;
    Tensor y({tokens, 32}, DType::kFloat32), log_sums({2, tokens}, DType::kFloat32);
    attention(context(), input, Precision::kBFloat16, y, log_sums);
    return values_of<float>(copy_to(Device::kCpu, y.view().slice(0, 6)));
  };
  EXPECT_EQ(result(6, ids_of({0, 6})), result(156, both.offsets));
}

TEST_P(AttentionTest, LargeScoresStayFinite) {
  World world(sizes_of({40}, 1, 16));
  for (float& value : world.q.span<float>()) value *= 1e4F;
  Tensor y(world.q.shape(), DType::kFloat32), log_sums({1, 40}, DType::kFloat32);
  attention(context(), world.input(), Precision::kFloat32, y, log_sums);
  const auto q = values_of<double>(world.q), k = values_of<double>(world.k),
             v = values_of<double>(world.v);
  expect_near(y, reference::attention(world.sizes, q, k, v).y, 1e-4);
}

TEST(AttentionThreadsTest, SameBitsAtAnyThreadCount) {
  AttentionSizes sizes = sizes_of({40, 3, 131, 17}, 3, 48);
  sizes.dropout = 0.2F;
  sizes.key = kKey;
  const World world(sizes);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    expect_same_bits_at_any_thread_count([&](const Context& context) {
      std::vector<Tensor> results;
      for (const Tensor* like : {&world.q, &world.q, &world.k, &world.k}) {
        results.emplace_back(like->shape(), DType::kFloat32);
      }
      results.emplace_back(Shape{3, world.q.shape()[0]}, DType::kFloat32);
      attention(context, world.input(), precision, results[0], results[4]);
      attention_backward(context, world.input(), precision, results[0], results[4], world.dy,
                         results[1], results[2], results[3]);
      return results;
    });
  }
}

TEST(AttentionErrorsTest, RefusesWhatDoesNotFitWithTheNumbers) {
  using testing::ThrowsMessage;
  ThreadPool pool(1);
  const Context context(pool, Isa::kScalar);
  const World world(sizes_of({3, 2}, 2, 8));
  Tensor y({5, 8}, DType::kFloat32), log_sums({2, 5}, DType::kFloat32);
  const auto run = [&](auto change) {
    return [&, change] {
      AttentionInput input = world.input();
      change(input);
      attention(context, input, Precision::kFloat32, y, log_sums);
    };
  };
  EXPECT_THAT(run([](AttentionInput& input) { input.heads = 3; }),
              ThrowsMessage<InputError>("attention: 3 heads do not divide a width of 8"));
  EXPECT_THAT(
      run([](AttentionInput& input) { input.dropout = 1; }),
      ThrowsMessage<InputError>("attention: the rate of dropout is 1, but must be in [0, 1)"));
  const Tensor narrow({5, 6}, DType::kFloat32), halves({5, 8}, DType::kBFloat16);
  EXPECT_THAT(run([&](AttentionInput& input) { input.v = narrow; }),
              ThrowsMessage<InputError>("attention: v is [5, 6], but must be [5, 8]"));
  EXPECT_THAT(run([&](AttentionInput& input) { input.q = halves; }),
              ThrowsMessage<InputError>("attention: q is bfloat16, but must be float32"));
  const Tensor short_offsets = ids_of({0, 3, 4}), empty = ids_of({0, 5, 5});
  EXPECT_THAT(
      run([&](AttentionInput& input) { input.offsets = short_offsets; }),
      ThrowsMessage<InputError>("attention: offsets run from 0 to 4, but must from 0 to 5"));
  EXPECT_THAT(run([&](AttentionInput& input) { input.offsets = empty; }),
              ThrowsMessage<InputError>("attention: sequence 1 has queries, but no keys"));
}

}  // namespace
}  // namespace elias
