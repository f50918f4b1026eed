// Points go through in chunks, so that the room for one does not grow with the number of points.
#include "model/predictor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/exact_scan.h"
#include "model/shortlist_search.h"
#include "ops/check.h"

namespace elias {
namespace {

constexpr size_t kChunk = 64;  // points

constexpr DType kFloat = DType::kFloat32;
constexpr int64_t kAny = Operand::kAny;
constexpr std::string_view kWho = "the model";

void check_encoder(const BagWeights<ConstTensorView>& encoder) {
  const ConstTensorView& table = encoder.table;
  require_cpu(kWho, check(kWho, {{"encoder table", table, kFloat, {kAny, kAny}}}));
  const int64_t D = table.width();
  check(kWho, {{"encoder table", table, kFloat, {kAny, D}},
               {"encoder gain", encoder.gain, kFloat, {D}},
               {"encoder shift", encoder.shift, kFloat, {D}}});
  for (const BagLayer<ConstTensorView>& layer : encoder.layers) {
    check(kWho, {{"encoder layer's weights", layer.weights, kFloat, {D, D}},
                 {"encoder layer's bias", layer.bias, kFloat, {D}},
                 {"encoder layer's gain", layer.gain, kFloat, {D}},
                 {"encoder layer's shift", layer.shift, kFloat, {D}}});
  }
}

void check_labels(const PredictorWeights& weights) {
  const ConstTensorView& w = weights.label_weights;
  const bool halves = w && w.dtype() == DType::kBFloat16;
  check(kWho, {{"label weights",
                w,
                halves ? DType::kBFloat16 : kFloat,
                {kAny, weights.encoder.table.width()}}});
  check(kWho, {{"label bias", weights.label_bias, kFloat, {w.rows()}}});
}

void check_clusters(const PredictorWeights& weights) {
  const ConstTensorView& w = weights.cluster_weights;
  check(kWho, {{"cluster weights", w, kFloat, {kAny, weights.encoder.table.width()}}});
  check(kWho, {{"cluster bias", weights.cluster_bias, kFloat, {w.rows()}}});
  const LabelGraphView& graph = weights.graph;
  if (graph.clusters() != w.rows() || graph.label_count != weights.label_weights.rows()) {
    throw InputError("the model: its graph is of {} clusters and {} labels, but it has {} and {}",
                     graph.clusters(), graph.label_count, w.rows(), weights.label_weights.rows());
  }
  const auto edges = static_cast<size_t>(graph.offsets.back());
  if (graph.labels.size() != edges || graph.scores.size() != edges) {
    throw InputError("the model: its graph has {} edges, but {} labels and {} scores of them",
                     edges, graph.labels.size(), graph.scores.size());
  }
}

void check_setting(std::string_view name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return;
  throw InputError("the model: {} is {}, but must be in [{}, {}]", name, value, lowest, highest);
}

void check_settings(const SearchSettings& settings, const PredictorWeights& weights) {
  constexpr double kMost = std::numeric_limits<float>::max();
  check_setting("alpha", settings.alpha, std::numeric_limits<float>::min(), kMost);
  check_setting("gamma", settings.gamma, 0, kMost);
  check_setting("the beam", static_cast<double>(settings.beam), 1,
                static_cast<double>(weights.cluster_weights.rows()));
  check_setting("the shortlist", static_cast<double>(settings.shortlist), 1,
                static_cast<double>(weights.label_weights.rows()));
}

}  // namespace

struct Predictor::Parts {
  Isa isa;
  PredictorWeights weights;
  SearchSettings settings;
  PackedBag encoder;
  std::optional<SearchWeights> search;  // none: exact one-vs-all
  std::optional<RankerPart> ranker;     // none: scores are those of the search

  int64_t features() const { return weights.encoder.table.rows(); }  // V
  int64_t width() const { return weights.encoder.table.width(); }    // D
};

// What a state is: everything that a prediction writes to.
class Predictor::Room : public Predictor::State {
 public:
  explicit Room(const Parts& parts) {
    if (parts.search) search_.emplace(parts.isa, parts.weights, parts.settings);
    if (parts.ranker) {
      reranker_.emplace(*parts.ranker, parts.features(), parts.width(), parts.isa);
    }
  }

  /// phi of the rows [begin, end), at most kChunk of them.
  ConstTensorView encode(const Context& context, const Parts& parts, const Csr& features,
                         size_t begin, size_t end) {
    const size_t first = features.offsets[begin];
    for (size_t i = begin; i <= end; ++i) {
      const size_t offset = features.offsets[i] - first;
      ELIAS_ASSERT(offset <= std::numeric_limits<int32_t>::max());
      offsets_[i - begin] = static_cast<int32_t>(offset);
    }
    const auto size = static_cast<int64_t>(features.offsets[end] - first);
    // Feature ids are below V, which fits: of unsigned and signed numbers the bits are the same.
    const auto* ids = reinterpret_cast<const int32_t*>(features.columns.data() + first);
    const Bags bags{.offsets = {offsets_.data(), {static_cast<int64_t>(end - begin + 1)}},
                    .ids = {ids, {size}},
                    .weights = {features.values.data() + first, {size}}};
    encode_bags(context, parts.weights.encoder, parts.encoder, bags, std::nullopt, activations_);
    return activations_.phi();
  }

  void rank(const Context& context, const Parts& parts, ConstTensorView phi, int64_t k,
            std::span<const uint8_t> allowed, std::span<const int32_t> listed,
            const RankedLabels& ranked) {
    if (search_) return search_->rank(context, *parts.search, phi, k, allowed, listed, ranked);
    scan_.rank(context, parts.weights, phi, k, allowed, listed, ranked);
  }

  /// The same with a ranker, which is asked about more labels than are wanted.
  void rerank(const Context& context, const Parts& parts, ConstTensorView phi, int64_t k,
              std::span<const uint8_t> allowed, std::span<const int32_t> listed,
              const Csr& features, size_t begin, const RankedLabels& ranked) {
    const auto wanted = static_cast<size_t>(k);
    const int64_t most = parts.weights.label_weights.rows();
    const int64_t asked = std::max(k, std::min(parts.ranker->top, most));
    const auto places = static_cast<size_t>(asked);
    const auto points = static_cast<size_t>(phi.rows());
    labels_.resize(points * places);
    scores_.resize(points * places);
    rank(context, parts, phi, asked, allowed, listed, {labels_, scores_});
    for (size_t i = 0; i < points; ++i) {
      const auto labels = std::span(labels_).subspan(i * places, places);
      const auto scores = std::span(scores_).subspan(i * places, places);
      const auto* vector = phi.data<float>() + static_cast<int64_t>(i) * phi.stride();
      reranker_->rank(*parts.ranker, features.row(begin + i),
                      {vector, static_cast<size_t>(phi.width())}, labels, scores);
      std::copy_n(labels.begin(), wanted,
                  ranked.labels.begin() + static_cast<ptrdiff_t>(i * wanted));
      std::copy_n(scores.begin(), wanted,
                  ranked.scores.begin() + static_cast<ptrdiff_t>(i * wanted));
    }
  }

 private:
  std::array<int32_t, kChunk + 1> offsets_{};
  BagActivations activations_;
  std::optional<ShortlistSearch> search_;
  ExactScan scan_;
  std::optional<Reranker> reranker_;
  std::vector<int32_t> labels_;  // of the search, where there is a ranker
  std::vector<float> scores_;
};

Predictor::Predictor(const Context& context, const PredictorWeights& weights,
                     const SearchSettings& settings, std::optional<RankerPart> ranker) {
  check_encoder(weights.encoder);
  check_labels(weights);
  if (weights.cluster_weights) {
    check_clusters(weights);
    check_settings(settings, weights);
  }
  parts_ = std::make_unique<Parts>(
      Parts{.isa = context.isa(),
            .weights = weights,
            .settings = settings,
            .encoder = pack_bag(context, weights.encoder, Precision::kFloat32),
            .search = {},
            .ranker = std::move(ranker)});
  if (!weights.cluster_weights) return;
  parts_->search.emplace(SearchWeights{
      parts_->weights,
      pack_weights(context, weights.cluster_weights, PackedFor::kForward, Precision::kFloat32)});
}

Predictor::~Predictor() = default;

int64_t Predictor::labels() const { return parts_->weights.label_weights.rows(); }

std::unique_ptr<Predictor::State> Predictor::make_state() const {
  return std::make_unique<Room>(*parts_);
}

void Predictor::predict(const Context& context, const Csr& features, size_t begin, size_t end,
                        int64_t k, const AllowedLabels& allowed, State& state,
                        const RankedLabels& ranked) const {
  ELIAS_ASSERT(begin <= end && end <= features.rows() && k > 0);
  const auto places = static_cast<size_t>(k);
  ELIAS_ASSERT(ranked.labels.size() == (end - begin) * places);
  ELIAS_ASSERT(ranked.scores.size() == ranked.labels.size());
  ELIAS_ASSERT(allowed.all() || allowed.flags().size() == static_cast<size_t>(labels()));
  const int64_t V = parts_->features();
  if (features.cols > static_cast<uint64_t>(V)) {
    throw InputError(
        "the points have {} features, but the model has {}: give points of the kind "
        "it was trained on",
        features.cols, V);
  }
  auto& room = static_cast<Room&>(state);
  // So few that every one of them is scored.
  const bool few = allowed.list().size() <= static_cast<size_t>(parts_->settings.shortlist);
  const auto listed = few ? allowed.list() : std::span<const int32_t>();
  for (size_t first = begin; first < end; first += kChunk) {
    const size_t last = std::min(end, first + kChunk);
    const auto part = [&](auto all) {
      return all.subspan((first - begin) * places, (last - first) * places);
    };
    const ConstTensorView phi = room.encode(context, *parts_, features, first, last);
    const RankedLabels own{part(ranked.labels), part(ranked.scores)};
    if (parts_->ranker) {
      room.rerank(context, *parts_, phi, k, allowed.flags(), listed, features, first, own);
    } else {
      room.rank(context, *parts_, phi, k, allowed.flags(), listed, own);
    }
  }
}

}  // namespace elias
