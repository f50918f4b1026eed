// A model on disk: a folder that `elias fit` writes and everything else reads.
//
//   config.json              format version, method, sizes, search settings, training settings,
//                            checksum of every other file and of itself
//   features.safetensors     the tf-idf vectorizer; absent if points come with their own features
//   encoder.safetensors      table, gain, shift, layers.i.{weights,bias,gain,shift}; of a
//                            transformer its weights, as Hugging Face names them
//   tokenizer.json           how texts become the tokens of a transformer; absent if there is none
//   index.safetensors        clusters.{weights,bias}, graph.{offsets,labels,scores}; label_counts,
//                            stage1_clusters
//   classifiers.safetensors  weights (float32 or bfloat16) and bias of the labels
//   neighbours.safetensors   links of labels to others near them; absent if labels are found by
//                            clusters, or all scored
//   encoder.2.safetensors, index.2.safetensors, classifiers.2.safetensors, ...
//                            of the second member of an ensemble, and of others
//   fusion.safetensors       how members' scores become one; absent unless it is learned
//   ranker.safetensors       the sparse ranker and the mix of scores; absent if there is none
//   thresholds-a.safetensors or thresholds-b.safetensors
//                            from which score on each label is predicted; absent if all have the
//                            same threshold, or none
//   labels.txt               names, one a line; absent if labels have ids only
//
// docs/file-format.md is the promise. Files are mapped, not read; every byte is verified at load.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/label_space.h"
#include "data/text_rows.h"
#include "encoder/points.h"
#include "encoder/token_input.h"
#include "metrics/thresholds.h"
#include "model/predictor.h"
#include "text/tfidf.h"

namespace elias {

/// What a model is made of, to be written. All views and pointers belong to the caller.
struct ModelParts {
  std::string method;           // "elias", "ova" or "glas"
  std::vector<Member> members;  // all of the same sizes; more than one are an ensemble
  Fusion fusion;
  const RankerPart* ranker = nullptr;  // none: scores are those of the search
  const Thresholds* thresholds = nullptr;
  const Tfidf* tfidf = nullptr;        // none: points come with their own features
  const TokenInput* tokens = nullptr;  // of members that are transformers; else none
  const LabelSpace* labels = nullptr;
  std::span<const uint64_t> label_counts;  // [L] training points of each label
  uint64_t points = 0;                     // of training
  nlohmann::ordered_json training;         // the resolved settings of the run
};

struct ModelConfig;
class Model;
/// The parts of a model, to write it again with others in their place; `labels` is its
/// label_space().
ModelParts parts_of(const Model& model, const LabelSpace& labels);

/// How labels are found: as the model was trained to be used, or by scoring every label, also where
/// it has a graph of neighbours; not of a model with clusters.
enum class IndexUse : uint8_t { kOwn, kExact };

enum class LabelStorage : uint8_t { kFloat32, kBFloat16 };

/// Throws InputError if a label's name cannot be stored: to be asked before training, not after.
void check_label_names(const LabelSpace& labels);

/// Writes all files into `folder`, which is made if need be; config.json comes last, so that a
/// folder with it is whole. An older model there is replaced.
void write_model(const std::string& folder, const ModelParts& parts, LabelStorage storage);

class Model {
 public:
  /// Throws InputError, naming the file, if the model is damaged, of a newer format, or mixed from
  /// two.
  static Model load(const std::string& folder, const Context& context,
                    IndexUse use = IndexUse::kOwn);
  Model(Model&&) noexcept;
  ~Model();

  const ModelConfig& config() const;
  const std::string& method() const;
  /// At least one; more are an ensemble.
  const std::vector<Member>& members() const;
  const Member& first() const { return members().front(); }
  const Fusion& fusion() const;
  const Predictor& predictor() const;
  /// Null if there is none.
  const RankerPart* ranker() const;
  /// Null if there are none.
  const Thresholds* thresholds() const;
  const nlohmann::ordered_json& training() const;
  uint64_t points() const;
  uint64_t features() const;  // V
  uint64_t labels() const;    // L
  bool has_names() const;     // else a label's name is its id in digits
  std::string label_name(uint32_t label) const;
  std::optional<uint32_t> find_label(std::string_view name) const;
  /// To read data with, so that a label has the same id there as here. Unless the model was trained
  /// with a label file, labels that it does not know get ids from labels() on.
  LabelSpace label_space() const;
  std::span<const uint64_t> label_counts() const;
  /// Null if points come with their own features.
  const Tfidf* tfidf() const;
  /// Null if the encoder is a bag.
  const TokenInput* tokens() const;
  /// What the model reads of texts; not if points come with their own features.
  Points points_of(const TextRows& texts, ThreadPool& pool) const;
  /// The folder's files and their sizes in bytes.
  const std::vector<std::pair<std::string, uint64_t>>& files() const;

 private:
  struct Parts;
  explicit Model(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Gives `model`, which was loaded from `folder`, thresholds there, in the place of others if it
/// has some. Every other file but config.json stays as it is, and a kill at any moment leaves a
/// whole model, with the old thresholds or with the new ones. Throws InputError if the folder holds
/// another model by now, or is being written to.
void store_thresholds(const std::string& folder, const Model& model, const Thresholds& thresholds);

}  // namespace elias
