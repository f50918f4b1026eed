// What tests of the C interface share: handles that free themselves, and what a call must say.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "elias/elias.h"
#include "tests/capi/written_model.h"

namespace elias {

struct Free {
  void operator()(elias_model* model) const { elias_free(model); }
  void operator()(elias_predictions* predictions) const { elias_predictions_free(predictions); }
};
using ModelHandle = std::unique_ptr<elias_model, Free>;
using PredictionsHandle = std::unique_ptr<elias_predictions, Free>;

inline ModelHandle load(const std::string& path, uint32_t threads = 2) {
  const elias_load_options options{.size = sizeof options, .threads = threads, .exact = 0};
  elias_model* model = nullptr;
  EXPECT_EQ(elias_load(path.c_str(), &options, &model), ELIAS_OK) << elias_last_error();
  return ModelHandle(model);
}

/// The predictions for texts as the interface takes them.
inline PredictionsHandle predict(const elias_model* model, const TextRows& texts,
                                 elias_predict_options options = {}) {
  options.size = sizeof options;
  std::vector<const char*> begins;
  std::vector<size_t> lengths;
  for (size_t i = 0; i < texts.rows(); ++i) {
    begins.push_back(texts.row(i).data());
    lengths.push_back(texts.row(i).size());
  }
  elias_predictions* found = nullptr;
  EXPECT_EQ(elias_predict(model, begins.data(), lengths.data(), texts.rows(), &options, &found),
            ELIAS_OK)
      << elias_last_error();
  return PredictionsHandle(found);
}

/// A row of predictions: labels and scores, best first.
using Row = std::vector<std::pair<uint32_t, float>>;

inline std::vector<Row> rows_of(const PredictionsHandle& predictions) {
  const uint64_t* const offsets = elias_predictions_offsets(predictions.get());
  std::vector<Row> rows(elias_predictions_rows(predictions.get()));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (uint64_t j = offsets[i]; j < offsets[i + 1]; ++j) {
      rows[i].emplace_back(elias_predictions_labels(predictions.get())[j],
                           elias_predictions_scores(predictions.get())[j]);
    }
  }
  return rows;
}

/// What the layers below the interface predict: the k best labels with at least the score.
inline std::vector<Row> expected_rows(const std::string& path, const TextRows& texts, int64_t k,
                                      float least = 0) {
  ThreadPool pool(1);
  const Context context(pool);
  const Model model = Model::load(path, context);
  const Csr scores = predict_all(context, model.predictor(), model.points_of(texts, pool), k);
  std::vector<Row> rows(scores.rows());
  for (size_t i = 0; i < rows.size(); ++i) {
    const CsrRow row = scores.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      if (row.values[j] >= least) rows[i].emplace_back(row.columns[j], row.values[j]);
    }
    std::ranges::stable_sort(rows[i],
                             [](const auto& a, const auto& b) { return a.second > b.second; });
  }
  return rows;
}

/// The call failed for the caller's fault, and said so.
inline void expect_refused(elias_status status, const testing::Matcher<std::string>& sentence) {
  EXPECT_EQ(status, ELIAS_REFUSED);
  EXPECT_THAT(elias_last_error(), sentence);
}

}  // namespace elias
