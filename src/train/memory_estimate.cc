// How much memory a run will take: counted from shapes, so it is a bound on what is large, not a
// measurement. What is small or passes quickly is left out.
//
// A run has five kinds of phases that do not overlap: labels are clustered, the label graph is
// built, batches are learned from, a graph of neighbours is built, the ranker learns. The first
// three hold the points, the parameters and the room of a batch, and something of their own; the
// last two the points and the model. The estimate is that of the phase which holds most.
#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "encoder/transformer.h"
#include "train/settings.h"

namespace elias {
namespace {

constexpr double kFloat = 4;     // bytes, as those below
constexpr double kStepped = 12;  // of a weight: itself and two moments
constexpr double kEntry = 8;     // of a sparse matrix: column and value
constexpr double kTermsOfCentroid = 200;
constexpr double kLabelsOfBlock = 512;
constexpr double kLabelParts = 16;         // each with a gradient of phi
constexpr double kKeptBlocks = 256 << 20;  // freed memory that is kept for the next step, at most

class Phases {
 public:
  Phases(const Settings& settings, const DataSizes& sizes, int threads)
      : settings_(settings),
        sizes_(sizes),
        threads_(threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
        points_(static_cast<double>(sizes.points)),
        features_(static_cast<double>(sizes.features)),
        labels_(static_cast<double>(sizes.labels)),
        table_rows_(sizes.transformer ? static_cast<double>(sizes.transformer->table_rows())
                                      : features_),
        width_(static_cast<double>(settings.width)),
        clusters_(static_cast<double>(settings.clusters)),
        label_entries_(points_ * sizes.labels_per_point) {}

  MemoryEstimate clustering() const {
    MemoryEstimate estimate = lasting(0);
    // After epochs before stage 1: the dense part of the labels' centroids.
    const bool again = settings_.warm_epochs > 0;
    const double dense = again ? labels_ * width_ * kFloat : 0;
    const double terms =
        std::min(label_entries_ * sizes_.features_per_point, labels_ * kTermsOfCentroid) * kEntry;
    // While they are summed up: labels turned to rows by label, two scales a point, and a table of
    // features a thread. Then, while they are split: vectors over features a thread, those of up to
    // 16 chunks of labels, and a label's place, score and side.
    const double summing =
        label_entries_ * kEntry + labels_ * 16 + points_ * 16 + threads_ * features_ * kFloat;
    const double vector = (features_ + (again ? width_ : 0)) * kFloat;
    const double chunks = std::min(16.0, labels_ / 16384);
    const double splitting =
        threads_ * (3 * vector + features_ * 8) + chunks * 2 * vector + labels_ * 17;
    add(estimate, "clustering", dense + terms + std::max(summing, splitting));
    return estimate;
  }

  MemoryEstimate graph_building() const {
    MemoryEstimate estimate = lasting(0);
    // A' (index/cluster_mass.h): each label of a point with each cluster of its beam, if all are
    // different; and the terms that wait to be added to it.
    const double terms = label_entries_ * static_cast<double>(settings_.beam);
    const double sums = std::min(terms, clusters_ * labels_);
    const double waiting = std::min(terms, std::max(double{1 << 22}, sums / 8));
    add(estimate, "graph building", sums * 12 + waiting * 20);
    return estimate;
  }

  // The last stage, the only one with averages.
  MemoryEstimate learning() const {
    MemoryEstimate estimate = lasting(settings_.average_from < 1 ? kFloat : 0);
    if (!has_index()) return estimate;
    // A label, a score and a gradient of it an edge, beside the trained value and its gradient.
    const double edges = clusters_ * static_cast<double>(settings_.edges);
    add(estimate, "label graph",
        settings_.stage2_epochs > 0 ? edges * (kStepped + 4 * kFloat) : labels_ * 2 * kFloat);
    return estimate;
  }

  // Graphs of neighbours are built beside a mapped model, and kept until all members have theirs.
  MemoryEstimate indexing() const {
    MemoryEstimate estimate;
    add(estimate, "points", point_bytes());
    const auto members = static_cast<double>(settings_.ensemble);
    add(estimate, "encoder", members * encoder_bytes() + start_bytes());
    add(estimate, "label classifiers", members * labels_ * width_ * kFloat);
    // Links as hnswlib has them, with locks and a table of labels, and as they are stored.
    const double links = 2 * static_cast<double>(settings_.neighbours) * 4;
    add(estimate, "neighbours", labels_ * (members * links + links + 150));
    return estimate;
  }

  MemoryEstimate ranking() const {
    MemoryEstimate estimate;
    add(estimate, "points", point_bytes());
    const auto members = static_cast<double>(settings_.ensemble);
    add(estimate, "encoder", members * encoder_bytes() + start_bytes());
    add(estimate, "label classifiers", members * labels_ * width_ * kFloat);
    // Each member searches on every thread.
    if (has_index()) add(estimate, "search", threads_ * members * labels_ * 28);
    if (settings_.index == IndexChoice::kHnsw) {
      add(estimate, "neighbours",
          members * labels_ * (2 * static_cast<double>(settings_.neighbours) * 4 + 8));
    }
    // The labels found for each point, by point and by label; what the ranker sees of each point;
    // a vector over all features a thread. Its weights are left out: how many there are is not
    // known before.
    const double found =
        points_ * std::min(labels_, static_cast<double>(settings_.ranker_top)) * 2 * kEntry;
    const double words =
        std::min(sizes_.features_per_point, static_cast<double>(settings_.ranker_words));
    const bool vector = settings_.ranker >= RankerChoice::kVector;
    add(estimate, "ranker",
        found + points_ * (words + (vector ? width_ : 0)) * kEntry + threads_ * features_ * kFloat);
    return estimate;
  }

 private:
  bool by_blocks() const { return labels_go_by_blocks(settings_, sizes_.labels); }
  bool has_index() const { return settings_.method == Method::kElias; }

  static void add(MemoryEstimate& estimate, const char* part, double bytes) {
    estimate.parts.emplace_back(part, static_cast<uint64_t>(bytes));
  }

  // Points, parameters, and what batches leave for the next one. There is a gradient of all weights
  // of what is not stepped by rows.
  MemoryEstimate lasting(double average) const {
    const double by_rows = kStepped + average, whole = kStepped + average + kFloat;
    MemoryEstimate estimate;
    // The model of a fold has its points for itself, inside and outside.
    add(estimate, "points", point_bytes() * (settings_.ranker_folds > 0 ? 2 : 1));
    add(estimate, "embedding table", table_rows_ * width_ * (by_rows + start()));
    add(estimate, "encoder layers", layer_weights() * (whole + start()));
    // By rows there is a copy in bfloat16 beside them, but of embeddings.
    const bool rounds = settings_.bf16 && settings_.method != Method::kGlas;
    const double rounded = rounds ? kFloat / 2 : 0;
    add(estimate, "label classifiers",
        labels_ * width_ * (by_blocks() ? whole : by_rows + rounded));
    if (has_index()) {
      add(estimate, "clusters", clusters_ * width_ * whole);
      // What a thread's search knows of each label, one of training and one of evaluation.
      add(estimate, "search", threads_ * labels_ * 56);
    }
    if (settings_.method == Method::kGlas) {
      // As they predict; a loss on all of them has their directions and gradients of these.
      add(estimate, "label embeddings",
          labels_ * width_ * kFloat * (draws_labels(settings_) ? 1 : 3));
    }
    if (needs_similarity(settings_.regulariser)) {
      // Each label of a point with each other, if all pairs are different.
      const double pairs = std::min(label_entries_ * sizes_.labels_per_point, labels_ * labels_);
      add(estimate, "label similarity", pairs * kEntry);
    }
    add(estimate, "a batch", batch_bytes() + std::min(batch_bytes(), kKeptBlocks));
    if (sizes_.transformer) add(estimate, "activations", activation_room());
    return estimate;
  }

  double point_bytes() const {
    return points_ * (kEntry * (sizes_.features_per_point + sizes_.labels_per_point) +
                      4 * sizes_.tokens_per_point + 16);
  }

  // What a transformer started with is kept for the whole run, for folds and members to come.
  double start() const { return sizes_.transformer ? kFloat : 0; }  // of a weight
  double start_bytes() const { return (table_rows_ * width_ + layer_weights()) * start(); }

  // Of the matrices behind the table.
  double layer_weights() const {
    if (!sizes_.transformer) return static_cast<double>(settings_.layers) * width_ * width_;
    return static_cast<double>(sizes_.transformer->layers) *
           (4 * width_ * width_ + 2 * width_ * static_cast<double>(sizes_.transformer->inner));
  }

  // What a transformer keeps of a batch, or of a part of it; and its weights as products read them.
  double activation_room() const {
    const Precision precision = settings_.bf16 ? Precision::kBFloat16 : Precision::kFloat32;
    const auto batch = static_cast<double>(settings_.batch);
    const auto longest = static_cast<double>(settings_.max_length);
    const double tokens =
        std::min(1.25 * batch * sizes_.tokens_per_point + 4 * longest, batch * longest);
    const double bytes =
        tokens * static_cast<double>(activation_bytes(*sizes_.transformer, precision));
    const double most = double{settings_.activations} * (int64_t{1} << 30);
    return std::min(bytes, most) + tokens * 4 * width_ + 2 * layer_weights() * kFloat;
  }

  // A model's encoder as it predicts: a transformer is copied from its file.
  double encoder_bytes() const {
    const double weights = table_rows_ * width_ + layer_weights();
    return weights * kFloat * (sizes_.transformer ? 2.5 : 1);
  }

  double batch_bytes() const {
    const double layers = static_cast<double>(settings_.layers) + 1;
    double a_point = width_ * kFloat * (4 * layers + 3);
    if (by_blocks()) {
      a_point += (threads_ * std::min(labels_, kLabelsOfBlock) + kLabelParts * width_) * kFloat;
    }
    if (has_index()) {
      // Score, edge, slot, logit, gradients, target of each label of a shortlist, its pairs
      // inverted by label; logit, score and gradient of all clusters.
      a_point += static_cast<double>(settings_.shortlist) * 40 + clusters_ * 12;
    }
    if (draws_labels(settings_)) {
      // Scores of what the batch drew, each point one label; a row, its direction, their gradients.
      a_point += (static_cast<double>(settings_.batch) + 4 * width_) * kFloat;
    }
    return static_cast<double>(settings_.batch) * a_point + regulariser_bytes();
  }

  // Labels, their directions and the gradients of both; all products of them, and similarities.
  double regulariser_bytes() const {
    if (settings_.regulariser == Regulariser::kNone) return 0;
    const bool drawn = settings_.regularised == RegularisedLabels::kDrawn;
    const double entries =
        static_cast<double>(settings_.batch) * (drawn ? 1 : sizes_.labels_per_point);
    const double R = std::min({entries, labels_, static_cast<double>(kMostRegularised)});
    return R * (4 * width_ + 2 * R) * kFloat;
  }

  const Settings& settings_;
  const DataSizes& sizes_;
  double threads_;
  double points_, features_, labels_, table_rows_, width_, clusters_;
  double label_entries_;
};

}  // namespace

uint64_t MemoryEstimate::total() const {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const auto& part) { return sum + part.second; });
}

MemoryEstimate estimate_memory(const Settings& settings, const DataSizes& sizes, int threads) {
  const Phases phases(settings, sizes, threads);
  MemoryEstimate most = phases.learning();
  const auto take_if_more = [&](MemoryEstimate other) {
    if (other.total() > most.total()) most = std::move(other);
  };
  if (settings.ranker != RankerChoice::kOff) take_if_more(phases.ranking());
  if (settings.index == IndexChoice::kHnsw) take_if_more(phases.indexing());
  if (settings.method != Method::kElias) return most;
  take_if_more(phases.clustering());
  if (settings.stage2_epochs > 0) take_if_more(phases.graph_building());
  return most;
}

}  // namespace elias
