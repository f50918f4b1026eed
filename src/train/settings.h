// Every setting of a training run: what may be given, what is derived, what is stored in the model.
//
// A setting has one name, the same in `--set name=value`, in a settings file and in the model. What
// is not given is derived from the data (see resolve), so that the settings of a run are complete
// before it starts.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/transformer_weights.h"
#include "head/label_regularisers.h"
#include "head/label_similarity.h"
#include "ranker/dual_descent.h"
#include "ranker/fusion.h"
#include "ranker/score_mix.h"

namespace elias {

inline constexpr size_t kMostFolds = 16;  // of the ranker
inline constexpr const char* kBagEncoder = "bag";

enum class Method : uint8_t { kElias, kOva, kGlas };

/// What an embedding classifier (method glas) learns by: one drawn label of each point against
/// those that other points of its batch drew, by a margin or a softmax; or all labels, each by
/// itself.
enum class EmbeddingLoss : uint8_t { kMargin, kSoftmax, kOva, kAuto };

/// What keeps the sum of a point's embeddings in bounds: a norm of each sum, or of the table's
/// columns, which all have one learned length (weight normalisation).
enum class Normalisation : uint8_t { kLayer, kWeight, kAuto };

enum class BagActivation : uint8_t { kRelu, kLinear };

/// What of a transformer's hidden states becomes a point's vector: that of [CLS], or the mean; or
/// what the folder that it comes from says, and [CLS] if that says nothing.
enum class PoolingChoice : uint8_t { kFirst, kMean, kAuto };

/// Which labels the classifiers learn to reject: those of the shortlist, beside the loss on p; all
/// of them, with the loss on p left to the index; or none (the paper's loss on p alone).
enum class LogitLoss : uint8_t { kNone, kShortlist, kAll, kAuto };

/// How label classifiers start: small weights and the bias of one label among those that are to be
/// rejected, or weights in +-sqrt(6 / D) and a bias in [0, 1), as the authors' do.
enum class LabelStart : uint8_t { kPrior, kPublished };

/// What warm-up and decay of encoder and label classifiers go over: each stage, which begins anew,
/// or all of them as one, through which AdamW's moments are kept. Clusters and edges always begin
/// anew with a stage.
enum class Schedule : uint8_t { kStages, kOne, kAuto };

/// What the sparse ranker sees of a point: its words, its vector, both; or there is no ranker.
enum class RankerChoice : uint8_t { kOff, kWords, kVector, kBoth };

/// Which labels of a batch are regularised: all that its points have, or the one that each drew; of
/// more than kMostRegularised, so many by chance, as all pairs are looked at.
enum class RegularisedLabels : uint8_t { kBatch, kDrawn };
inline constexpr int64_t kMostRegularised = 4096;

/// How a model without clusters finds labels: all are scored, or those that a graph of neighbours
/// leads to (HNSW).
enum class IndexChoice : uint8_t { kExact, kHnsw, kAuto };

/// Peak learning rates of a stage.
struct Rates {
  float encoder = 0;   // the layers, and the embedding table
  float clusters = 0;  // W_C
  float labels = 0;    // W_L
  float edges = 0;     // A, stage 2
};

struct Settings {
  Method method = Method::kElias;
  uint64_t seed = 0;

  // Features (texts only).
  int words_low = 1, words_high = -1;  // word n-grams; the longest derived
  int64_t opening = -1;                // first words of a text, features of their own too; derived
  int characters_low = -1, characters_high = -1;  // character n-grams
  double min_df = 0;                              // derived
  int64_t max_features = 0;                       // derived: a bound on memory
  bool sublinear_tf = true;

  // Encoder: a bag, the folder of a transformer, or the sizes of a new one.
  std::string encoder = kBagEncoder;
  PoolingChoice pooling = PoolingChoice::kAuto;
  int64_t max_length = 0;  // tokens of a text; derived
  float activations = 4;   // GiB that a transformer may keep of a batch
  int64_t width = 0;       // D
  int64_t layers = 0;
  float dropout = -1;       // derived
  float word_dropout = -1;  // derived
  Normalisation normalisation = Normalisation::kAuto;
  BagActivation activation = BagActivation::kRelu;

  // Index.
  int64_t labels_per_cluster = 50;  // what C is derived from
  int64_t clusters = 0;             // C, a power of two
  int64_t beam = 0;                 // b
  int64_t shortlist = 0;            // K
  int64_t edges = 0;                // kappa
  float alpha = 10;
  float beta = 0;
  int64_t extra_clusters = 5;  // beyond the beam in training: parents, then random ones
  int kept_clusters = 2;       // coverage: see GraphOptions
  bool informed_edges = true;
  bool keep_classifiers = true;       // W_L from stage 1 to stage 2
  bool keep_warm_classifiers = true;  // W_L from what comes before stage 1 to it
  LabelStart label_start = LabelStart::kPrior;

  // In place of an index, for the other methods (index/neighbour_graph.h).
  IndexChoice index = IndexChoice::kAuto;
  int64_t neighbours = 16;
  int64_t ef_construction = 200;
  int64_t ef = 0;  // chosen when the graph is built

  // Loss.
  LogitLoss logit_loss = LogitLoss::kAuto;
  float lambda = 0.05F;  // of the shortlist loss
  float gamma = -1;      // of the final score; below zero: chosen on held-out points
  EmbeddingLoss loss = EmbeddingLoss::kAuto;     // of method glas
  float margin = -1;                             // c; derived
  int64_t mined = -1;                            // rivals of a point that count; 0: all; derived
  float scale = 0;                               // at which the labels' shared length starts
  Regulariser regulariser = Regulariser::kAuto;  // of the directions of label classifiers
  float regulariser_weight = -1;                 // beside the losses; derived
  RegularisedLabels regularised = RegularisedLabels::kBatch;
  Similarity similarity = Similarity::kArithmetic;  // of labels, for the regulariser

  // Training.
  int64_t batch = 0;
  int64_t warm_epochs = -1;    // before stage 1, whose clusters are of what they learned; 0: none
  int64_t stage1_epochs = 0;   // for one-vs-all: all epochs
  int64_t stage2_epochs = -1;  // 0: stage 1 alone
  Rates stage1_rates, stage2_rates;
  /// Batches a step of clusters, edges, and labels if these go by blocks (head/label_losses.h).
  int64_t accumulation = 1;
  float weight_decay = 0;
  Schedule schedule = Schedule::kAuto;
  float warm_up = 0.1F;        // share of the steps
  float average_from = 0.5F;   // share of the last stage after which weights are averaged; 1: never
  int64_t averages = 4;        // an epoch
  int64_t held_out = -1;       // points, where no --dev is given; below zero: derived
  int64_t evaluate_every = 0;  // epochs of the last stage
  int64_t patience = 0;        // evaluations without a gain that end a run; 0: none do
  /// Products of encoder layers, clusters and labels in bfloat16.
  bool bf16 = true;

  // Ranker (ranker/sparse_ranker.h), and how its scores are mixed with those of the search.
  RankerChoice ranker = RankerChoice::kWords;
  int64_t ranker_words = 256;  // of a point, the largest
  int64_t ranker_top = 100;    // labels of a point that it learns to tell apart, and ranks
  int64_t ranker_folds = 0;    // whose models find them for training points; 0: the model itself
  RankerLoss ranker_loss = RankerLoss::kSquaredHinge;
  float ranker_cost = 1;
  // Points that have the label count for less than those it was found for in error: what comes
  // first is true more often (held-out points of EURLEX57K and of a fourth of YSO-Finna-EN: +0.2
  // P@1 each, P@5 -0.06 and +0.01).
  float ranker_positive_weight = 0.5F;
  float ranker_tolerance = 0.1F;
  int ranker_passes = 100;
  float ranker_least_weight = 0;
  float ranker_dropped = -1;  // below zero: derived
  int64_t ranker_most_weights = 0;
  MixKind mix = MixKind::kLearned;

  // Ensemble (ranker/fusion.h).
  int64_t ensemble = 1;  // members
  FusionKind fusion = FusionKind::kMean;
};

/// Applies one `name=value`; the value "auto" leaves a setting that can be derived open. Throws
/// InputError if there is no such setting (naming the nearest), or the value is out of its range.
/// `where` starts the message ("--set", "settings.json").
void set(Settings& settings, std::string_view name, std::string_view value,
         const std::string& where);
/// All settings of a JSON object. The same errors.
void set_all(Settings& settings, const nlohmann::ordered_json& json, const std::string& where);
/// Every setting by its name; what is still open is "auto".
nlohmann::ordered_json to_json(const Settings& settings);
/// Name, range and meaning of every setting, for --help.
std::string settings_help();

/// The paper's choices where ours differ (--as-published), those of the authors' code where the
/// paper is silent. What a preset has set stands. docs/training.md lists what is not restored.
void set_as_published(Settings& settings);
/// The settings of ELIAS, table 4, for a data set of the paper (amazon-670k, lf-amazontitles-131k,
/// wikipedia-500k, amazon-3m), or those of GLaS, table 1 (amazoncat-13k). Throws InputError for
/// another name, listing these.
void set_preset(Settings& settings, const std::string& name);
std::vector<std::string> preset_names();

/// What derived settings depend on.
struct DataSizes {
  int64_t points = 0;  // N
  int64_t labels = 0;  // L
  double labels_per_point = 0;
  int64_t features = 0;  // V
  double features_per_point = 0;
  std::optional<TransformerShape> transformer = {};  // none: the encoder is a bag
  double tokens_per_point = 0;
};
/// Of texts, what is known before their features are.
struct TextSizes {
  int64_t texts = 0;
  int64_t bytes = 0;   // of all texts
  int64_t labels = 0;  // L
};
/// Sets what is still open of n-grams, min_df and max_features: the features follow from them.
void resolve_features(Settings& settings, const TextSizes& sizes);
/// Sets what is still open (0, or below zero), and lowers what the data is too small for. Throws
/// InputError if the index or a batch has more entries than can be numbered.
void resolve(Settings& settings, const DataSizes& sizes);

/// True if the encoder is a transformer.
bool has_transformer(const Settings& settings);
/// True if batches learn from the labels that they draw alone.
bool draws_labels(const Settings& settings);
/// True if the classifiers of L labels are worked on and stepped as a whole, false if row by row
/// (head/label_losses.h).
bool labels_go_by_blocks(const Settings& settings, int64_t L);

/// Bytes of memory the run will need at its peak, by part.
struct MemoryEstimate {
  std::vector<std::pair<std::string, uint64_t>> parts;
  uint64_t total() const;
};
/// `threads` as for ThreadPool: 0 is one per hardware thread.
MemoryEstimate estimate_memory(const Settings& settings, const DataSizes& sizes, int threads = 0);

}  // namespace elias
