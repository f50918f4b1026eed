// What the C interface does when there is no memory: whichever allocation of a call fails, the call
// says so, makes nothing, and the next one works. This program replaces the global allocator by one
// that fails once when it is told to: large blocks are refused where small ones are still to be
// had.
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "tests/capi/capi_test.h"

namespace {
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
std::atomic<int64_t> allocations_before_failure{kNever};
std::atomic<size_t> smallest_counted{0};
}  // namespace

// Not inlined, where the compiler would see only one of a pair and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  const bool fails = size >= smallest_counted && allocations_before_failure-- == 0;
  void* const memory = fails ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Who asks so can do without.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace elias {
namespace {

/// Makes the first allocation of call() fail, then the second, and so on, until none is left to
/// fail; of those of at least so many bytes. Returns how often the call failed.
template <typename Call>
int fail_everywhere(const Call& call, size_t smallest = 0) {
  smallest_counted = smallest;
  for (int failures = 0;; ++failures) {
    allocations_before_failure = failures;
    const elias_status status = call();
    allocations_before_failure = kNever;
    if (status == ELIAS_OK) return failures;
    EXPECT_EQ(status, ELIAS_REFUSED);
    EXPECT_THAT(elias_last_error(), testing::HasSubstr("memory"));
    if (testing::Test::HasFailure()) return failures;
  }
}

TEST(CapiMemoryTest, EndsWhileAModelIsLoaded) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const elias_load_options options{.size = sizeof options, .threads = 1, .exact = 0};
  elias_model* model = nullptr;
  // The JSON library ends the program where the few bytes that its destructors ask for are refused.
  constexpr size_t kLargerThanThose = 1024;
  const int failures = fail_everywhere(
      [&] {
        EXPECT_EQ(model, nullptr);
        return elias_load(written.path().c_str(), &options, &model);
      },
      kLargerThanThose);
  EXPECT_GT(failures, 3);
  EXPECT_EQ(elias_label_count(model), 40U);
  elias_free(model);
}

TEST(CapiMemoryTest, EndsDuringACall) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const std::vector<const char*> texts{"a bird in the hand", "two birds in a bush"};
  for (const size_t n : {1, 2}) {  // one text has a path of its own
    const ModelHandle model = load(written.path(), 1);
    elias_predictions* found = nullptr;
    const int failures = fail_everywhere([&] {
      EXPECT_EQ(found, nullptr);
      return elias_predict(model.get(), texts.data(), nullptr, n, nullptr, &found);
    });
    EXPECT_GT(failures, 10);
    std::vector<Row> expected = expected_rows(written.path(), WrittenModel::texts(), 5);
    expected.resize(n);
    EXPECT_EQ(rows_of(PredictionsHandle(found)), expected);

    std::vector<float> vectors(n * elias_vector_width(model.get()));
    EXPECT_GT(fail_everywhere([&] {
                return elias_embed(model.get(), 0, texts.data(), nullptr, n, vectors.data());
              }),
              5);
    EXPECT_GT(fail_everywhere([&] {
                const char* const name = elias_label_name(model.get(), 3, nullptr);
                return name == nullptr ? ELIAS_REFUSED : ELIAS_OK;
              }),
              1);
  }
}

}  // namespace
}  // namespace elias
