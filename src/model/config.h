// config.json of a model: what the folder holds, and how to tell that it is whole.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/thresholds.h"
#include "model/predictor.h"
#include "model/transformer_part.h"

namespace elias {

/// How the labels of the training data were given, and so how those of test data are read.
enum class LabelNaming : uint8_t {
  kIds,    // numbers; there is no labels.txt
  kNames,  // names, collected from the data
  kFile,   // by a label file: data may use its names or their numbers
};

struct ModelFile {
  std::string name;
  uint64_t bytes = 0;
  std::string checksum;
};

/// What is not in the ranker's tensors.
struct RankerConfig {
  RankerInputOptions input;
  int64_t top = 0;
  RankerLoss loss{};
  MixKind mix{};
};

/// What is not in the tensors of a member's graph of neighbours.
struct NeighbourConfig {
  int64_t links = 0;  // of a label on the level of all, at most
  int64_t ef = 0;
};

struct ModelConfig {
  std::string method;                                                     // "elias", "ova", "glas"
  int64_t features = 0, width = 0, layers = 0, clusters = 0, labels = 0;  // V, D, -, C, L
  BagForm encoder;  // its own part of the file only where it is not the usual one
  /// In the place of a bag.
  std::optional<TransformerPart> transformer;
  uint64_t points = 0;  // of training
  LabelNaming naming = LabelNaming::kIds;
  /// Of the members, at least one; those of an index where the method is "elias".
  std::vector<SearchSettings> search{1};
  /// Of the members; empty: they have no graphs of neighbours.
  std::vector<NeighbourConfig> neighbours;
  FusionKind fusion{};                 // of several members
  std::optional<RankerConfig> ranker;  // none: there is no ranker.safetensors
  /// Those of labels are in a file of their own.
  std::optional<Thresholds> thresholds;
  nlohmann::ordered_json training;  // the resolved settings of the run
  std::vector<ModelFile> files;

  bool has_index() const { return method == "elias"; }
  bool is_ensemble() const { return search.size() > 1; }
  /// Null if the model has no such file.
  const ModelFile* find(std::string_view name) const;
};

/// The text of config.json, with a checksum of itself.
std::string config_text(const ModelConfig& config);

/// Throws InputError, with `path` in front, if the text is damaged or of a newer format.
ModelConfig parse_config(std::string_view text, const std::string& path);

}  // namespace elias
