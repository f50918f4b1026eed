// Predictions for texts by the C interface: those of the layers below it, to the bit.
#include <limits>

#include "tests/capi/capi_test.h"

namespace elias {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class CapiPredictTest : public testing::Test {
 protected:
  elias_status refused_options(const elias_predict_options& options) const {
    const char* const text = "a bird";
    elias_predictions* found = nullptr;
    const elias_status status = elias_predict(model_.get(), &text, nullptr, 1, &options, &found);
    EXPECT_EQ(found, nullptr);
    return status;
  }

  static elias_predict_options with_k(size_t k) {
    return {.size = 0, .k = k, .threshold = 0, .candidates = nullptr, .candidate_count = 0};
  }

  elias_predict_options sized_options() const {
    elias_predict_options options{};
    options.size = sizeof options;
    return options;
  }

  const WrittenModel written_{WrittenModel::Kind::kTexts};
  const ModelHandle model_ = load(written_.path());
  const TextRows texts_ = WrittenModel::texts();
};

TEST_F(CapiPredictTest, AreThoseOfThePredictorAtAnyNumberOfThreads) {
  const std::vector<Row> expected = expected_rows(written_.path(), texts_, 8);
  EXPECT_THAT(expected, Each(SizeIs(8)));
  for (const uint32_t threads : {1, 2, 7}) {
    EXPECT_EQ(rows_of(predict(load(written_.path(), threads).get(), texts_, with_k(8))), expected);
  }
}

TEST_F(CapiPredictTest, TextsGoThroughInParts) {
  TextRows many;
  for (size_t i = 0; i < 10000; ++i) many.add(texts_.row(i % texts_.rows()));
  const std::vector<Row> expected = expected_rows(written_.path(), texts_, 3);
  const std::vector<Row> actual = rows_of(predict(model_.get(), many, with_k(3)));
  ASSERT_THAT(actual, SizeIs(10000));
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(actual[i], expected[i % expected.size()]);
}

TEST_F(CapiPredictTest, OneTextIsPredictedAsAmongOthers) {
  const std::vector<Row> all = rows_of(predict(model_.get(), texts_));
  for (size_t i = 0; i < texts_.rows(); ++i) {
    TextRows one;
    one.add(texts_.row(i));
    EXPECT_THAT(rows_of(predict(model_.get(), one)), ElementsAre(all[i]));
  }
}

TEST_F(CapiPredictTest, WithoutLengthsTextsEndAtNul) {
  const char* const text = "two birds in a bush";
  elias_predictions* found = nullptr;
  ASSERT_EQ(elias_predict(model_.get(), &text, nullptr, 1, nullptr, &found), ELIAS_OK);
  EXPECT_EQ(rows_of(PredictionsHandle(found)).at(0), rows_of(predict(model_.get(), texts_))[1]);
}

TEST_F(CapiPredictTest, ANulWithinALengthIsPartOfTheText) {
  TextRows texts;
  texts.add(std::string_view("bird\0hand", 9));
  texts.add("bird");
  const std::vector<Row> rows = rows_of(predict(model_.get(), texts));
  EXPECT_EQ(rows, expected_rows(written_.path(), texts, 5));
  EXPECT_NE(rows[0], rows[1]);
}

TEST_F(CapiPredictTest, NoTextsAreNoRows) {
  elias_predictions* found = nullptr;
  ASSERT_EQ(elias_predict(model_.get(), nullptr, nullptr, 0, nullptr, &found), ELIAS_OK);
  EXPECT_EQ(elias_predictions_rows(found), 0U);
  EXPECT_EQ(elias_predictions_offsets(found)[0], 0U);
  elias_predictions_free(found);
}

TEST_F(CapiPredictTest, NumberOfLabels) {
  EXPECT_THAT(rows_of(predict(model_.get(), texts_, with_k(0))), Each(SizeIs(5)));
  EXPECT_THAT(rows_of(predict(model_.get(), texts_, with_k(1))), Each(SizeIs(1)));
  const std::vector<Row> all = expected_rows(written_.path(), texts_, 40);
  const size_t giant = std::numeric_limits<size_t>::max();
  EXPECT_EQ(rows_of(predict(model_.get(), texts_, with_k(giant))), all);
  EXPECT_THAT(all, Each(SizeIs(17)));  // the shortlist
}

TEST_F(CapiPredictTest, AThresholdCutsTheList) {
  elias_predict_options options{};
  for (const auto& [given, least] :
       {std::pair{0.5, 0.5F}, {1e-9, 1e-9F}, {ELIAS_THRESHOLDS_OF_MODEL, written_.kThreshold}}) {
    options.threshold = given;
    EXPECT_EQ(rows_of(predict(model_.get(), texts_, options)),
              expected_rows(written_.path(), texts_, 40, least));
  }
  options.k = 2;
  options.threshold = 1e-9;
  EXPECT_THAT(rows_of(predict(model_.get(), texts_, options)), Each(SizeIs(2)));
  options.threshold = 1;
  EXPECT_THAT(rows_of(predict(model_.get(), texts_, options)), Each(IsEmpty()));
}

TEST_F(CapiPredictTest, ThresholdsThatCannotBeAreRefused) {
  elias_predict_options options = sized_options();
  for (const double threshold : {1.5, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
    options.threshold = threshold;
    expect_refused(refused_options(options), HasSubstr("scores are probabilities"));
  }
}

TEST_F(CapiPredictTest, OnlyCandidatesArePredicted) {
  const std::vector<uint32_t> candidates{31, 2, 39, 2};
  elias_predict_options options{};
  options.candidates = candidates.data();
  options.candidate_count = candidates.size();
  for (const Row& row : rows_of(predict(model_.get(), texts_, options))) {
    std::vector<uint32_t> labels;
    for (const auto& [label, score] : row) labels.push_back(label);
    EXPECT_THAT(labels, testing::UnorderedElementsAre(2, 31, 39));
  }
}

TEST_F(CapiPredictTest, CandidatesThatCannotBeAreRefused) {
  const uint32_t label = 40;
  elias_predict_options options = sized_options();
  options.candidates = &label;
  expect_refused(refused_options(options), StartsWith("options.candidate_count is 0"));
  options.candidate_count = 1;
  expect_refused(refused_options(options), HasSubstr("label 40 is beyond the 40 labels"));
  options.candidates = nullptr;
  expect_refused(refused_options(options), StartsWith("options.candidates is NULL"));
}

TEST_F(CapiPredictTest, TextsThatCannotBeAreRefusedWithTheirPlace) {
  const std::vector<const char*> texts{"fine", "latin \xe4", nullptr};
  const std::vector<size_t> lengths{4, 7, 0};
  elias_predictions* found = nullptr;
  const auto predict_from = [&](size_t first, const size_t* all_lengths, size_t n) {
    return elias_predict(model_.get(), texts.data() + first, all_lengths, n, nullptr, &found);
  };
  expect_refused(predict_from(0, lengths.data(), 2),
                 StartsWith("texts[1]: byte 0xe4 at position 7 is not UTF-8"));
  expect_refused(predict_from(1, nullptr, 1), StartsWith("texts[0]: byte 0xe4"));
  expect_refused(predict_from(2, nullptr, 1), StartsWith("texts[0] is NULL"));
  expect_refused(predict_from(2, lengths.data(), 1), StartsWith("texts[0] is NULL"));
  EXPECT_EQ(found, nullptr);
  ASSERT_EQ(predict_from(2, lengths.data() + 2, 1), ELIAS_OK);  // NULL of no bytes is empty
  EXPECT_THAT(rows_of(PredictionsHandle(found)), SizeIs(1));
}

TEST_F(CapiPredictTest, NullIsRefused) {
  const char* const text = "a bird";
  elias_predictions* found = nullptr;
  expect_refused(elias_predict(nullptr, &text, nullptr, 1, nullptr, &found),
                 StartsWith("model is NULL"));
  expect_refused(elias_predict(model_.get(), nullptr, nullptr, 1, nullptr, &found),
                 StartsWith("texts is NULL"));
  expect_refused(elias_predict(model_.get(), &text, nullptr, 1, nullptr, nullptr),
                 StartsWith("predictions is NULL"));
  EXPECT_EQ(elias_predictions_rows(nullptr), 0U);
  EXPECT_EQ(elias_predictions_offsets(nullptr), nullptr);
  EXPECT_EQ(elias_predictions_labels(nullptr), nullptr);
  EXPECT_EQ(elias_predictions_scores(nullptr), nullptr);
  elias_predictions_free(nullptr);
}

TEST_F(CapiPredictTest, PredictionsOutliveTheirModel) {
  const std::vector<Row> expected = rows_of(predict(model_.get(), texts_));
  ModelHandle model = load(written_.path());
  const PredictionsHandle predictions = predict(model.get(), texts_);
  model.reset();
  EXPECT_EQ(rows_of(predictions), expected);
}

TEST_F(CapiPredictTest, TextsAreNoFeatures) {
  const std::vector<uint64_t> offsets{0, 0};
  elias_predictions* found = nullptr;
  expect_refused(
      elias_predict_features(model_.get(), offsets.data(), nullptr, nullptr, 1, nullptr, &found),
      HasSubstr("takes texts, not features"));
}

}  // namespace
}  // namespace elias
