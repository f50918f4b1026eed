// The bodies and parameters of requests, read strictly: whatever is of the wrong type, out of range
// or not known is refused with a sentence and its place. Needs no network, and no model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text_rows.h"
#include "server/options.h"

namespace elias::server {

inline constexpr int64_t kMostLabels = 1000;    // of a text
inline constexpr int64_t kMostExplained = 100;  // labels of a text
inline constexpr size_t kMostExplainedTexts = 16;
inline constexpr int64_t kMostWords = 1000;
inline constexpr int64_t kMostListed = 1000;  // of a search for labels

/// From which score on a label counts.
struct AskedThreshold {
  bool automatic = false;  // the model's own
  float score = 0;
};

struct AskedLabels {
  std::optional<std::string> model;  // none: the only one
  std::optional<int64_t> k;
  std::optional<AskedThreshold> threshold;
};

/// POST /v1/predict.
struct PredictBody {
  AskedLabels wanted;
  TextRows texts;
  std::optional<std::vector<std::string>> candidates;  // none: all labels
  bool explain = false;
  std::vector<std::string> explained;  // empty: the best labels
  size_t words = 8;
};
PredictBody read_predict_body(std::string_view body, const Limits& limits);

/// A line of POST /v1/predict as application/x-ndjson.
struct BulkLine {
  std::string id;  // as JSON; empty: none
  std::string text;
};
BulkLine read_bulk_line(std::string_view line, const Limits& limits);

/// POST /v2/models/{model}/infer.
struct InferBody {
  AskedLabels wanted;
  std::string id;  // empty: none
  TextRows texts;
  bool labels = true, scores = true;  // the outputs that are wanted
};
InferBody read_infer_body(std::string_view body, const Limits& limits);

/// Nothing, or an empty object.
void read_empty_body(std::string_view body);

// --- parameters of a query -----------------------------------------------------------------------

int64_t read_whole(const std::string& name, const std::string& value, int64_t least, int64_t most);
AskedThreshold read_threshold(const std::string& value);

}  // namespace elias::server
