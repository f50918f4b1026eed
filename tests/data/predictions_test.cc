#include "data/predictions.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "data/io/npz.h"
#include "tests/data/reading.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

class Predictions : public testing::Test {
 protected:
  Csr read(const std::string& text, LabelSpace labels = {}) {
    write_file(folder_ / "p", text);
    ThreadPool pool(2);
    return read_predictions(folder_ / "p", {}, LabelForm::kUnknown, labels, pool);
  }

  TemporaryFolder folder_;
  const Row first_{{1, -0.5}, {3, 0.25}};
};

TEST_F(Predictions, EveryForm) {
  for (const char* text : {"2 5\n3:0.25 1:-0.5\n\n", "3:0.25 1:-0.5\n\n", "3::0.25,1::-0.5\n\n",
                           "\n3::0.25,1::-0.5\n", "3::0.25,1::-0.5\tsome text\n\tno prediction\n",
                           "{\"labels\": [3, 1], \"scores\": [0.25, -0.5]}\n{\"labels\": []}\n",
                           "{\"labels\": {\"3\": 0.25, \"1\": -0.5}}\n{\"labels\": {}}\n"}) {
    LabelSpace ids;
    ids.set_form(LabelForm::kIds);
    const Csr scores = read(text, ids);
    EXPECT_EQ(scores.rows(), 2u) << text;
    EXPECT_EQ(row_of(scores, text[0] == '\n' ? 1 : 0), first_) << text;
  }
}

TEST_F(Predictions, FastTextProbabilities) {
  const Csr scores = read("__label__b 0.75 __label__a 0.125\n", label_file("a\nb\n"));
  EXPECT_EQ(row_of(scores, 0), (Row{{0, 0.125}, {1, 0.75}}));
  EXPECT_THROW(read("__label__b __label__a\n", label_file("a\nb\n")), InputError);
}

TEST_F(Predictions, NamesAndNpz) {
  const Csr scores = read("blue::0.5,red::0.25\n", label_file("red\nblue\n"));
  EXPECT_EQ(row_of(scores, 0), (Row{{0, 0.25}, {1, 0.5}}));
  write_npz(folder_ / "q.npz", scores);
  ThreadPool pool(1);
  LabelSpace labels = label_file("red\nblue\n");
  const Csr back = read_predictions(folder_ / "q.npz", {}, LabelForm::kUnknown, labels, pool);
  EXPECT_EQ(back.values, scores.values);
}

TEST_F(Predictions, MalformedOnesAreRefused) {
  EXPECT_THROW(read("3:nan\n"), InputError);
  // Without scores there is no ranking: not a word would be the wrong answer.
  EXPECT_THROW(read("3,1::0.5\n"), InputError);
  EXPECT_THROW(read("{\"labels\": [3], \"score\": [0.5]}\n"), InputError);
  EXPECT_THROW(read("2 5\n3:1\n"), InputError);
  EXPECT_THROW(read("2 2\n3:1\n\n"), InputError);
  EXPECT_THROW(read(""), InputError);
  EXPECT_THROW(read("3 5 4\n1 2:1\n\n\n"), InputError);
  EXPECT_THROW(read("green::1\n", label_file("red\nblue\n")), InputError);
}

TEST_F(Predictions, FilterFiles) {
  write_file(folder_ / "f", "0 3\n2\t1\r\n");
  const auto pairs = read_filter(folder_ / "f", 3, 4);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1], std::pair(uint64_t{2}, LabelId(1)));
  EXPECT_THROW(read_filter(folder_ / "f", 2, 4), InputError);
  EXPECT_THROW(read_filter(folder_ / "f", 3, 3), InputError);
  for (const char* bad : {"1\n", "1 2 3\n", "a b\n", "-1 2\n", "1 2\n\n"}) {
    write_file(folder_ / "f", bad);
    EXPECT_THROW(read_filter(folder_ / "f", 9, 9), InputError) << bad;
  }
}

}  // namespace
}  // namespace elias
