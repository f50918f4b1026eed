#include "ops/lookup/key_groups.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/backends.h"
#include "tests/ops/key_groups_reference.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::ThrowsMessage;

// Keys in [0, bound), of which about one in `pad_every` is a pad.
Tensor random_keys(Shape shape, uint64_t seed, int64_t bound, uint64_t pad_every = 5) {
  Tensor keys(shape, DType::kInt32);
  RandomSequence random(seed, 2);
  for (int32_t& key : keys.span<int32_t>()) {
    key = random.below(pad_every) == 0 ? -1 : static_cast<int32_t>(random.below(bound));
  }
  return keys;
}

void expect_groups(const KeyGroups& groups, const reference::Groups& expected) {
  std::vector<int32_t> keys;
  std::vector<int32_t> offsets = {0};
  std::vector<int32_t> positions;
  for (const auto& [key, members] : expected) {
    keys.push_back(key);
    positions.insert(positions.end(), members.begin(), members.end());
    offsets.push_back(static_cast<int32_t>(positions.size()));
  }
  // Not ElementsAreArray, which takes a while for long arrays and prints all of them.
  const auto equal = [](const std::vector<int32_t>& wanted, const Tensor& actual) {
    return std::ranges::equal(wanted, actual.span<int32_t>());
  };
  EXPECT_TRUE(equal(keys, groups.keys));
  EXPECT_TRUE(equal(offsets, groups.offsets));
  EXPECT_TRUE(equal(positions, groups.positions));
}

class KeyGroupsTest : public OnBackend {
 protected:
  KeyGroups back(const KeyGroups& groups) const {
    return {OnBackend::back(groups.keys), OnBackend::back(groups.offsets),
            OnBackend::back(groups.positions)};
  }
  using OnBackend::back;
};
INSTANTIATE_TEST_SUITE_P(Everywhere, KeyGroupsTest, testing::ValuesIn(backends(/*cuda=*/true)),
                         backend_name);

TEST_P(KeyGroupsTest, GroupsAreRisingKeysWithRisingPositions) {
  const Tensor keys = tensor_of<int32_t>({2, 4}, {7, -1, 3, 7, 0, 3, 7, -1});
  const KeyGroups groups = back(group_by_key(context(), here(keys), 8));
  EXPECT_THAT(groups.keys.span<int32_t>(), ElementsAre(0, 3, 7));
  EXPECT_THAT(groups.offsets.span<int32_t>(), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(groups.positions.span<int32_t>(), ElementsAre(4, 2, 5, 0, 3, 6));
}

TEST_P(KeyGroupsTest, GroupsMatchReferenceForAnyBound) {
  for (const int64_t bound : {int64_t{1}, int64_t{2}, int64_t{255}, int64_t{256}, int64_t{2049},
                              int64_t{65536}, (int64_t{1} << 22) + 1, (int64_t{1} << 31) - 1}) {
    for (const int64_t n : {0, 1, 100, 70000}) {
      SCOPED_TRACE(testing::Message() << "bound=" << bound << " n=" << n);
      Tensor keys = random_keys({n}, 1, bound);
      if (n > 1) keys.span<int32_t>()[n / 2] = static_cast<int32_t>(bound - 1);
      expect_groups(back(group_by_key(context(), here(keys), bound)),
                    reference::group_by_key(keys.span<int32_t>()));
    }
  }
}

TEST_P(KeyGroupsTest, NothingButPadsMakesNoGroups) {
  const Tensor keys = tensor_of<int32_t>({3}, {-1, -1, -1});
  for (const int64_t bound : {0, 1, 1000}) {
    const KeyGroups groups = back(group_by_key(context(), here(keys), bound));
    EXPECT_THAT(groups.keys.span<int32_t>(), IsEmpty());
    EXPECT_THAT(groups.offsets.span<int32_t>(), ElementsAre(0));
    EXPECT_THAT(groups.positions.span<int32_t>(), IsEmpty());
  }
}

TEST_P(KeyGroupsTest, SumsMatchReference) {
  for (const int64_t n : {0, 1, 50, 500}) {
    for (const int64_t D : {1, 3, 16, 65, 300}) {
      SCOPED_TRACE(testing::Message() << "n=" << n << " D=" << D);
      const Tensor keys = random_keys({n}, 1, 20);
      const Tensor values = random_floats({n, D + 2}, 2);
      Tensor dense({n, D}, DType::kFloat32);
      copy(values.view().columns(1, D + 1), dense);
      const auto expected = reference::sum_by_key(reference::group_by_key(keys.span<int32_t>()),
                                                  values_of<double>(dense), D);
      const KeyGroups groups = group_by_key(context(), here(keys), 20);
      const Tensor values_here = here(values);
      Tensor sums = zeros({groups.size(), D});
      sum_by_key(context(), groups, values_here.view().columns(1, D + 1), sums);
      expect_near(back(sums), expected, 1e-5);
    }
  }
}

class MaxByKeyTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Everywhere, MaxByKeyTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(MaxByKeyTest, MatchesReference) {
  const float values_of_interest[] = {-std::numeric_limits<float>::infinity(), -1, 0, 2,
                                      std::numeric_limits<float>::quiet_NaN()};
  for (const int64_t n : {0, 1, 40, 1000}) {
    SCOPED_TRACE(testing::Message() << "n=" << n);
    const Tensor keys = random_keys({n}, 1, 300);
    Tensor values = random_floats({n}, 2);
    const Tensor which = random_ids({n}, 3, 7);
    for (int64_t i = 0; i < n; ++i) {
      const int32_t choice = which.span<int32_t>()[i];
      if (choice < 5) values.span<float>()[i] = values_of_interest[choice];
    }
    const KeyGroups groups = group_by_key(context(), keys, 300);
    Tensor maxima({groups.size()}, DType::kFloat32);
    Tensor positions({groups.size()}, DType::kInt32);
    max_by_key(context(), groups, values, maxima, positions);
    const auto expected = reference::max_by_key(reference::group_by_key(keys.span<int32_t>()),
                                                values_of<float>(values));
    EXPECT_THAT(positions.span<int32_t>(), testing::ElementsAreArray(expected));
    for (int64_t r = 0; r < groups.size(); ++r) {
      const float wanted = values.span<float>()[expected[r]];
      EXPECT_THAT(maxima.span<float>()[r], testing::NanSensitiveFloatEq(wanted));
    }
  }
}

TEST(KeyGroupsThreadsTest, SameBitsAtAnyThreadCount) {
  // More than one chunk of the sort, and pads so that chunks keep different numbers of keys.
  const int64_t n = 200000;
  const Tensor keys = random_keys({n}, 1, 5000, 3);
  const Tensor values = random_floats({n, 3}, 2);
  const Tensor column = random_floats({n}, 3);
  const auto expected = reference::group_by_key(keys.span<int32_t>());
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    KeyGroups groups = group_by_key(context, keys, 5000);
    expect_groups(groups, expected);
    std::vector<Tensor> results;
    results.emplace_back(Shape{groups.size(), 3}, DType::kFloat32);
    results.emplace_back(Shape{groups.size()}, DType::kFloat32);
    results.emplace_back(Shape{groups.size()}, DType::kInt32);
    sum_by_key(context, groups, values, results[0]);
    max_by_key(context, groups, column, results[1], results[2]);
    return results;
  });
}

TEST(KeyGroupsErrorsTest, RefusesKeysAndShapesWithTheNumbers) {
  ThreadPool pool(1);
  const Context context(pool);
  const Tensor keys = tensor_of<int32_t>({2, 3}, {0, -1, 4, 2, 5, -2});
  EXPECT_THAT([&] { group_by_key(context, keys, 5); },
              ThrowsMessage<InputError>(
                  "group by key: keys holds 5 at row 1, column 1, but must be in [-1, 5)"));
  EXPECT_THAT([&] { group_by_key(context, keys, 6); },
              ThrowsMessage<InputError>(
                  "group by key: keys holds -2 at row 1, column 2, but must be in [-1, 6)"));
  EXPECT_THAT(
      [&] { group_by_key(context, keys, -1); },
      ThrowsMessage<InputError>("group by key: bound is -1, but must be in [0, 2147483648]"));
  EXPECT_THAT([&] { group_by_key(context, random_floats({3}, 1), 5); },
              ThrowsMessage<InputError>("group by key: keys is float32, but must be int32"));
  EXPECT_THAT([&] { group_by_key(context, keys.view().columns(0, 2), 5); },
              ThrowsMessage<InputError>(
                  "group by key: keys are a view of [2, 2] that is not contiguous: copy it first"));

  const KeyGroups groups = group_by_key(context, tensor_of<int32_t>({3}, {1, 1, 0}), 2);
  Tensor sums({2, 4}, DType::kFloat32);
  EXPECT_THAT(
      [&] {
        sum_by_key(context, groups, random_floats({2, 4}, 1), sums);
      },
      ThrowsMessage<InputError>(
          "sum by key: groups' positions holds 2 at row 0, column 0, but must be in [0, 2)"));
  EXPECT_THAT(
      [&] {
        sum_by_key(context, groups, random_floats({3, 5}, 1), sums);
      },
      ThrowsMessage<InputError>("sum by key: sums is [2, 4], but must be [2, 5]"));
  KeyGroups damaged = group_by_key(context, tensor_of<int32_t>({3}, {1, 1, 0}), 2);
  damaged.offsets.span<int32_t>()[2] = 100;
  EXPECT_THROW(sum_by_key(context, damaged, random_floats({3, 4}, 1), sums), InputError);
  damaged.offsets = Tensor({1}, DType::kInt32);
  EXPECT_THROW(sum_by_key(context, damaged, random_floats({3, 4}, 1), sums), InputError);
  EXPECT_THROW(sum_by_key(context, KeyGroups(), random_floats({3, 4}, 1), sums), InputError);
  Tensor maxima({2}, DType::kFloat32);
  Tensor positions({3}, DType::kInt32);
  EXPECT_THAT([&] { max_by_key(context, groups, random_floats({3}, 1), maxima, positions); },
              ThrowsMessage<InputError>("max by key: positions is [3], but must be [2]"));
}

}  // namespace
}  // namespace elias
