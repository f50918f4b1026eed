// Predictions for features, and vectors, by the C interface.
#include <limits>

#include "encoder/encode_all.h"
#include "tests/capi/capi_test.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class CapiFeaturesTest : public testing::Test {
 protected:
  std::vector<Row> predict_rows(const std::vector<uint64_t>& offsets,
                                const std::vector<uint32_t>& columns,
                                const std::vector<float>& values) const {
    elias_predictions* found = nullptr;
    EXPECT_EQ(elias_predict_features(model_.get(), offsets.data(), columns.data(), values.data(),
                                     offsets.size() - 1, nullptr, &found),
              ELIAS_OK)
        << elias_last_error();
    return rows_of(PredictionsHandle(found));
  }

  elias_status refused(const std::vector<uint64_t>& offsets, const std::vector<uint32_t>& columns,
                       const std::vector<float>& values) const {
    elias_predictions* found = nullptr;
    return elias_predict_features(model_.get(), offsets.data(), columns.data(), values.data(),
                                  offsets.size() - 1, nullptr, &found);
  }

  const WrittenModel written_{WrittenModel::Kind::kFeatures};
  const ModelHandle model_ = load(written_.path());
};

TEST_F(CapiFeaturesTest, AreThoseOfTextsWithTheSameFeatures) {
  const WrittenModel of_texts(WrittenModel::Kind::kTexts);
  const ModelHandle texts_model = load(of_texts.path());
  const TextRows texts = WrittenModel::texts();
  ThreadPool pool(1);
  Csr features = Model::load(of_texts.path(), Context(pool)).points_of(texts, pool).features;
  const std::vector<Row> expected = rows_of(predict(texts_model.get(), texts));
  // Scaled to unit length once more, which rounds as the command line does.
  const std::vector<Row> rows = predict_rows(features.offsets, features.columns, features.values);
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), expected[i].size());
    for (size_t j = 0; j < rows[i].size(); ++j) {
      EXPECT_EQ(rows[i][j].first, expected[i][j].first);
      EXPECT_NEAR(rows[i][j].second, expected[i][j].second, 1e-6);
    }
  }
}

TEST_F(CapiFeaturesTest, OrderRepeatsAndLengthDoNotMatter) {
  const std::vector<Row> rows =
      predict_rows({0, 2, 4, 7, 7}, {1, 4, 4, 1, 4, 1, 1}, {3, 4, 8, 6, 4, 1, 2});
  EXPECT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows[1], rows[0]);
  EXPECT_EQ(rows[2], rows[0]);
  EXPECT_NE(rows[3], rows[0]);
}

TEST_F(CapiFeaturesTest, RowsMayBeThoseOfALargerMatrix) {
  const std::vector<Row> all = predict_rows({0, 1, 2, 3}, {5, 1, 2}, {1, 1, 1});
  EXPECT_EQ(predict_rows({1, 2, 3}, {5, 1, 2}, {1, 1, 1}), std::vector(all.begin() + 1, all.end()));
}

TEST_F(CapiFeaturesTest, WhatCannotBeIsRefusedWithItsPlace) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  const auto V = static_cast<uint32_t>(elias_feature_count(model_.get()));
  expect_refused(refused({0, 2, 1}, {1, 2}, {1, 1}),
                 StartsWith("offsets[1] is 2 and offsets[2] is 1"));
  expect_refused(refused({0, 1, 2}, {1, V}, {1, 1}),
                 StartsWith(fmt::format("row 1: feature {} is beyond the {} features", V, V)));
  expect_refused(refused({0, 1}, {3}, {kInfinite}), StartsWith("row 0: the value of feature 3"));
  expect_refused(refused({0, 2}, {3, 3}, {kLargest, kLargest}), HasSubstr("not a finite number"));
}

TEST_F(CapiFeaturesTest, NullIsRefused) {
  const std::vector<uint64_t> offsets{0, 1};
  const std::vector<uint32_t> columns{1};
  const std::vector<float> values{1};
  const auto predict_with = [&](const uint64_t* o, const uint32_t* c, const float* v) {
    elias_predictions* found = nullptr;
    return elias_predict_features(model_.get(), o, c, v, 1, nullptr, &found);
  };
  expect_refused(predict_with(nullptr, columns.data(), values.data()),
                 StartsWith("offsets is NULL"));
  expect_refused(predict_with(offsets.data(), nullptr, values.data()),
                 StartsWith("columns is NULL"));
  expect_refused(predict_with(offsets.data(), columns.data(), nullptr),
                 StartsWith("values is NULL"));
}

TEST_F(CapiFeaturesTest, FeaturesAreNoTexts) {
  const char* const text = "a bird";
  elias_predictions* found = nullptr;
  expect_refused(elias_predict(model_.get(), &text, nullptr, 1, nullptr, &found),
                 HasSubstr("takes features, not texts"));
}

TEST_F(CapiFeaturesTest, VectorsAreThoseOfTheEncoder) {
  const Csr points = random_points(50, elias_feature_count(model_.get()), 3);
  const auto width = elias_vector_width(model_.get());
  std::vector<float> vectors(points.rows() * width);
  ASSERT_EQ(elias_embed_features(model_.get(), 0, points.offsets.data(), points.columns.data(),
                                 points.values.data(), points.rows(), vectors.data()),
            ELIAS_OK)
      << elias_last_error();

  ThreadPool pool(1);
  const Context context(pool);
  const Model model = Model::load(written_.path(), context);
  Csr scaled = points;
  scale_rows_to_unit_length(scaled);
  std::vector<float> expected;
  encode_all(context, model.first().weights.encoder, scaled, [&](size_t, ConstTensorView phi) {
    for (int64_t i = 0; i < phi.rows(); ++i) {
      const auto row = phi.slice(i, i + 1).span<float>();
      expected.insert(expected.end(), row.begin(), row.end());
    }
  });
  EXPECT_EQ(vectors, expected);
}

TEST_F(CapiFeaturesTest, VectorsOfTextsAreAsWideAsTheModelSays) {
  const WrittenModel of_texts(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(of_texts.path());
  const std::vector<const char*> texts{"a bird in the hand", "", "a bird in the hand"};
  const size_t width = elias_vector_width(model.get());
  std::vector<float> vectors(3 * width + 1, -7);
  ASSERT_EQ(elias_embed(model.get(), 0, texts.data(), nullptr, 3, vectors.data()), ELIAS_OK);
  const auto row = [&](size_t i) { return std::span(vectors).subspan(i * width, width); };
  EXPECT_TRUE(std::ranges::equal(row(0), row(2)));
  EXPECT_FALSE(std::ranges::equal(row(0), row(1)));
  EXPECT_EQ(vectors.back(), -7);
  expect_refused(elias_embed(model.get(), 1, texts.data(), nullptr, 3, vectors.data()),
                 StartsWith("member 1: the model has 1 member"));
  expect_refused(elias_embed(model.get(), 0, texts.data(), nullptr, 3, nullptr),
                 StartsWith("vectors is NULL"));
}

}  // namespace
}  // namespace elias
