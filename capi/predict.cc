// Predictions, as those of `elias predict`: cut into parts, so that the room for places that no
// label fills does not grow with the number of points.
#include <algorithm>

#include "base/errors.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "capi/options.h"
#include "capi/points.h"
#include "data/scored_label.h"

namespace elias {
namespace {

constexpr size_t kDefaultLabels = 5;
constexpr size_t kPointsAPart = 4096, kPlacesAPart = size_t{1} << 24;

std::optional<Thresholds> thresholds_of(const elias_model& model, double wanted) {
  if (wanted == 0) return std::nullopt;
  if (wanted > 0 && wanted <= 1) {
    Thresholds thresholds;
    thresholds.common = static_cast<float>(wanted);
    return thresholds;
  }
  if (wanted != ELIAS_THRESHOLDS_OF_MODEL) {
    throw InputError("options.threshold is {}: scores are probabilities: give a number from 0 to 1",
                     wanted);
  }
  if (model.model.thresholds() != nullptr) return *model.model.thresholds();
  throw InputError(
      "{}: has no thresholds: 'elias threshold --model {} --data FILE' chooses them on points that "
      "it was not trained on; or give a number",
      model.folder, model.folder);
}

AllowedLabels allowed_labels(const Model& model, const elias_predict_options& options) {
  if (options.candidates == nullptr && options.candidate_count == 0) return {};
  const std::span candidates(&required(options.candidates, "options.candidates"),
                             options.candidate_count);
  if (candidates.empty()) {
    throw InputError(
        "options.candidate_count is 0: give the labels that may be predicted, or no candidates at "
        "all");
  }
  std::vector<uint8_t> allowed(model.labels());
  for (const uint32_t label : candidates) {
    if (label >= model.labels()) {
      throw InputError(
          "options.candidates: label {} is beyond the {} labels of the model (ids start at 0)",
          label, model.labels());
    }
    allowed[label] = 1;
  }
  return AllowedLabels(std::move(allowed));
}

class Prediction {
 public:
  Prediction(const elias_model& model, const elias_predict_options& options)
      : model_(model),
        thresholds_(thresholds_of(model, options.threshold)),
        k_(std::min<size_t>(labels_asked_for(options.k), model.model.labels())),
        allowed_(allowed_labels(model.model, options)) {}

  std::unique_ptr<elias_predictions> of(const CallersPoints& points) const {
    auto predictions = std::make_unique<elias_predictions>();
    const size_t part = std::clamp<size_t>(kPlacesAPart / k_, 1, kPointsAPart);
    for (size_t begin = 0; begin < points.rows(); begin += part) {
      Csr scores = best_labels(points.read(begin, std::min(begin + part, points.rows())));
      if (thresholds_) keep_predicted(*thresholds_, scores);
      append(scores, *predictions);
    }
    return predictions;
  }

 private:
  size_t labels_asked_for(size_t k) const {
    if (k > 0) return k;
    return thresholds_ ? size_t{Thresholds::kDepth} : kDefaultLabels;
  }

  Csr best_labels(const Points& points) const {
    const auto k = static_cast<int64_t>(k_);
    const PointsView view = points;
    if (view.rows() != 1) {
      return predict_all(model_.context, model_.model.predictor(), view, k, allowed_);
    }
    std::vector<int32_t> labels(k_);
    std::vector<float> scores(k_);
    model_.states.with([&](Predictor::State& state) {
      model_.model.predictor().predict(model_.context, view, 0, 1, k, allowed_, state,
                                       {labels, scores});
    });
    Csr row;
    row.cols = model_.model.labels();
    for (size_t i = 0; i < k_ && labels[i] >= 0; ++i) {
      row.columns.push_back(static_cast<uint32_t>(labels[i]));
      row.values.push_back(scores[i]);
    }
    row.finish_row(Csr::Repeats::kSum);
    return row;
  }

  static void append(const Csr& scores, elias_predictions& predictions) {
    std::vector<ScoredLabel> order;
    for (size_t i = 0; i < scores.rows(); ++i) {
      const CsrRow row = scores.row(i);
      order.clear();
      for (size_t j = 0; j < row.size(); ++j) {
        order.push_back({.score = row.values[j], .label = static_cast<int32_t>(row.columns[j])});
      }
      std::ranges::sort(order, is_better);
      for (const auto [score, label] : order) {
        predictions.labels.push_back(static_cast<uint32_t>(label));
        predictions.scores.push_back(score);
      }
      predictions.offsets.push_back(predictions.labels.size());
    }
  }

  const elias_model& model_;
  std::optional<Thresholds> thresholds_;  // none: the k best whatever their score
  size_t k_;
  AllowedLabels allowed_;
};

}  // namespace
}  // namespace elias

elias_status elias_predict(const elias_model* model, const char* const* texts,
                           const size_t* lengths, size_t n, const elias_predict_options* options,
                           elias_predictions** predictions) {
  return elias::guarded([&] {
    const elias_model& asked = elias::required(model, "model");
    elias_predictions*& result = elias::required(predictions, "predictions");
    const elias::CallersTexts points(asked, texts, lengths, n);
    result = elias::Prediction(asked, elias::options_of(options)).of(points).release();
  });
}

elias_status elias_predict_features(const elias_model* model, const uint64_t* offsets,
                                    const uint32_t* columns, const float* values, size_t n,
                                    const elias_predict_options* options,
                                    elias_predictions** predictions) {
  return elias::guarded([&] {
    const elias_model& asked = elias::required(model, "model");
    elias_predictions*& result = elias::required(predictions, "predictions");
    const elias::CallersFeatures points(asked, offsets, columns, values, n);
    result = elias::Prediction(asked, elias::options_of(options)).of(points).release();
  });
}

size_t elias_predictions_rows(const elias_predictions* predictions) {
  return predictions == nullptr ? 0 : predictions->offsets.size() - 1;
}

const uint64_t* elias_predictions_offsets(const elias_predictions* predictions) {
  return predictions == nullptr ? nullptr : predictions->offsets.data();
}

const uint32_t* elias_predictions_labels(const elias_predictions* predictions) {
  return predictions == nullptr ? nullptr : predictions->labels.data();
}

const float* elias_predictions_scores(const elias_predictions* predictions) {
  return predictions == nullptr ? nullptr : predictions->scores.data();
}

void elias_predictions_free(elias_predictions* predictions) { delete predictions; }
