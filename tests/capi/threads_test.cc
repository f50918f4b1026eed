// Many threads of a caller on one model of the C interface.
#include <atomic>
#include <thread>

#include "tests/capi/capi_test.h"

namespace elias {
namespace {

constexpr size_t kThreads = 6;

/// Calls body(thread) on so many threads, as near to the same time as can be had.
template <typename Body>
void at_once(const Body& body) {
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CapiThreadsTest, ShareAModel) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const TextRows texts = WrittenModel::texts();
  const std::vector<Row> expected = expected_rows(written.path(), texts, 5);
  for (const uint32_t threads : {1, 3}) {
    const ModelHandle model = load(written.path(), threads);
    at_once([&](size_t t) {
      for (int call = 0; call < 20; ++call) {
        TextRows own = texts;  // one text as often as several
        if (t % 2 == 0) own = {.bytes = std::string(texts.row(0)), .offsets = {0, 18}};
        const std::vector<Row> rows = rows_of(predict(model.get(), own));
        for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], expected[i]);
      }
    });
  }
}

TEST(CapiThreadsTest, AskForNamesAndVectorsForTheFirstTime) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(written.path());
  const char* const text = "two birds";
  std::vector<std::vector<float>> vectors(kThreads,
                                          std::vector<float>(elias_vector_width(model.get())));
  at_once([&](size_t t) {
    EXPECT_STREQ(elias_label_name(model.get(), 39, nullptr), "grün, 39");
    uint32_t label = 0;
    EXPECT_EQ(elias_find_label(model.get(), "grün, 7", 8, &label), ELIAS_OK);
    EXPECT_EQ(label, 7U);
    EXPECT_EQ(elias_embed(model.get(), 0, &text, nullptr, 1, vectors[t].data()), ELIAS_OK);
  });
  for (const std::vector<float>& vector : vectors) EXPECT_EQ(vector, vectors[0]);
}

TEST(CapiThreadsTest, EachHasItsOwnError) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(written.path());
  at_once([&](size_t t) {
    EXPECT_STREQ(elias_last_error(), "");
    const auto wrong = static_cast<uint32_t>(100 + t);
    for (int call = 0; call < 50; ++call) {
      EXPECT_EQ(elias_label_name(model.get(), wrong, nullptr), nullptr);
      EXPECT_THAT(elias_last_error(), testing::StartsWith(fmt::format("label {} is", wrong)));
    }
  });
}

}  // namespace
}  // namespace elias
