// What settings follow from the data. docs/training.md says the same to users: keep them together.
//
// Where a rule has figures behind it they are of EURLEX57K (45,000 points, 4,271 labels) and
// YSO-Finna-EN (590,000 points, 25,400 labels), on points held out from training.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "train/settings.h"

namespace elias {
namespace {

constexpr int64_t kTableBytes = int64_t{3} << 29;  // of the embedding table in training
constexpr int64_t kBytesAWeight = 16;              // the weight, two moments, the average
constexpr int64_t kNarrow = 512, kWide = 1024;
constexpr int64_t kManyPoints = 100'000, kManyLabels = 10'000;
// Passing over all labels is the faster way up to this many for each place of the shortlist.
constexpr int64_t kBlockedLabelsPerPlace = 8;
// Learning to reject all labels, not only those of the shortlist, is better (YSO-Finna-EN, a fourth
// of its points: +0.9 P@1, +1.1 R@100), and affordable up to this many.
constexpr int64_t kRejectedLabels = 50'000;

template <typename T>
void derive(T& setting, T open, T value) {
  if (setting == open) setting = value;
}

int64_t rounded(double value) { return static_cast<int64_t>(std::llround(value)); }

int64_t power_of_two_below(double value) {
  return value < 1 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(value)));
}

int64_t power_of_two_above(double value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::ceil(value))));
}

bool table_fits(int64_t features, int64_t width) {
  return features <= kTableBytes / kBytesAWeight / width;
}

// A wider vector is better (EURLEX57K: +1 P@1), and costs most where there are many labels.
int64_t width_for(int64_t labels) { return labels < kManyLabels ? kWide : kNarrow; }

// What has no effect on the encoder that there is.
void refuse_for_encoder(const Settings& settings) {
  const bool transformer = has_transformer(settings);
  const auto refuse = [&](bool given, const char* name) {
    if (!given) return;
    throw InputError("{}: is of {} alone, but the encoder is {}: leave it out", name,
                     transformer ? "a bag" : "a transformer",
                     transformer ? "a transformer" : "a bag");
  };
  refuse(!transformer && settings.pooling != PoolingChoice::kAuto, "pooling");
  refuse(!transformer && settings.max_length > 0, "max_length");
  refuse(transformer && settings.layers > 0, "layers");
  refuse(transformer && settings.word_dropout > 0, "word_dropout");
  refuse(transformer && settings.normalisation == Normalisation::kWeight, "normalisation");
  refuse(transformer && settings.activation != BagActivation::kRelu, "activation");
}

// A transformer keeps its norms, and has dropout of its own in every layer.
void derive_transformer(Settings& settings, const TransformerShape& shape) {
  settings.normalisation = Normalisation::kLayer;
  derive(settings.word_dropout, -1.0F, 0.0F);
  derive(settings.dropout, -1.0F, settings.method == Method::kGlas ? 0.0F : 0.5F);
  if (settings.width > 0 && settings.width != shape.width) {
    throw InputError("width {}: the transformer has vectors of {}: leave width out", settings.width,
                     shape.width);
  }
  settings.width = shape.width;
}

void derive_encoder(Settings& settings, const DataSizes& sizes) {
  refuse_for_encoder(settings);
  if (sizes.transformer) return derive_transformer(settings, *sizes.transformer);
  const bool glas = settings.method == Method::kGlas;
  derive(settings.normalisation, Normalisation::kAuto,
         glas ? Normalisation::kWeight : Normalisation::kLayer);
  // Features left out do for an embedding classifier what a vector's parts left out do for others
  // (EURLEX57K, one-vs-all: 0.4 of features +0.4 P@1 and +0.8 PSP@1 beside 0.2; 0.4 of the vector
  // -0.5 P@1).
  derive(settings.dropout, -1.0F, glas ? 0.0F : 0.5F);
  derive(settings.word_dropout, -1.0F, glas ? 0.4F : 0.2F);
  const int64_t width = width_for(sizes.labels);
  derive<int64_t>(settings.width, 0, table_fits(sizes.features, width) ? width : kNarrow);
}

void derive_index(Settings& settings, const DataSizes& sizes) {
  const int64_t L = sizes.labels;
  const auto labels = static_cast<double>(L);
  // About 25 to 50 labels a cluster: smaller clusters than the paper's 100 are found more surely
  // and cost less. With few labels fewer still, so that there is something to search.
  const int64_t fewest = std::min<int64_t>(16, power_of_two_below(labels / 8));
  const auto a_cluster_at_most = static_cast<double>(settings.labels_per_cluster);
  derive<int64_t>(settings.clusters, 0,
                  std::max(fewest, power_of_two_above(labels / a_cluster_at_most)));
  // No more clusters than labels: balanced clusters are never empty.
  settings.clusters = std::min(settings.clusters, power_of_two_below(labels));
  const int64_t C = settings.clusters;
  const double a_cluster = labels / static_cast<double>(C);

  // The paper's 20, and fewer where 20 would be a large part of all clusters; but the labels of a
  // point may each be in another.
  const int64_t a_point = rounded(sizes.labels_per_point);
  derive<int64_t>(
      settings.beam, 0,
      std::max(a_point, std::clamp<int64_t>(rounded(0.04 * static_cast<double>(C)), 10, 20)));
  settings.beam = std::min(settings.beam, C);
  // Half of the paper's 2,000, at half of its cost: a beam's clusters hold about as many.
  derive<int64_t>(settings.shortlist, 0, std::max<int64_t>(1000, 20 * a_point));
  settings.shortlist = std::min(settings.shortlist, L);
  derive(settings.logit_loss, LogitLoss::kAuto,
         L <= kRejectedLabels ? LogitLoss::kAll : LogitLoss::kShortlist);
  // The paper's rule, 10 L / C; its sweep shows that fewer than 100 lose labels.
  derive<int64_t>(settings.edges, 0, std::max<int64_t>(100, rounded(10 * a_cluster)));
  settings.edges = std::min(settings.edges, L);
  // 1.5 times a cluster's labels: as many edges can reach a score of 1 at the same time.
  derive<float>(settings.beta, 0, static_cast<float>(1.5 * a_cluster));
}

void derive_neighbours(Settings& settings, int64_t labels) {
  if (settings.method == Method::kElias) {
    if (settings.index == IndexChoice::kAuto) return;
    throw InputError(
        "index {}: the method elias learns an index of its own: leave index out, or take method "
        "glas or ova",
        to_json(settings)["index"].get<std::string>());
  }
  // Up to so many a scan of all takes less than a millisecond. The classifiers of ova are of all
  // lengths, which a graph by products suits less.
  constexpr int64_t kScanned = 100'000;
  derive(settings.index, IndexChoice::kAuto,
         settings.method == Method::kGlas && labels > kScanned ? IndexChoice::kHnsw
                                                               : IndexChoice::kExact);
  if (settings.index == IndexChoice::kExact && settings.ef > 0) {
    throw InputError(
        "ef {}: all labels are scored, there is no graph to search: add index=hnsw, or leave ef "
        "out",
        settings.ef);
  }
}

void derive_epochs(Settings& settings, int64_t points) {
  // Fewer points need more epochs, but not as many more as there are fewer points.
  const double root = std::sqrt(static_cast<double>(points));
  // Where all labels are rejected in one schedule: 8 for 45,000 points, where 13 are too many; 5
  // for more, where a sixth is a fifth of the time (YSO-Finna-EN, a fourth of its points: +0.6 P@1,
  // +0.2 P@5, +0.3 R@100).
  const int64_t whole = std::clamp<int64_t>(rounded(1700 / root), 5, 100);
  // One cluster holds all labels: there is no index to learn.
  if (settings.method != Method::kElias || settings.clusters == 1) {
    derive<int64_t>(settings.stage1_epochs, 0, whole);
    settings.warm_epochs = settings.stage2_epochs = 0;
    return;
  }
  if (settings.logit_loss == LogitLoss::kAll) {
    // Stage 1 need only find out where clusters are, half of all epochs are for the index.
    derive<int64_t>(settings.stage1_epochs, 0, std::max<int64_t>(1, whole / 8));
    derive<int64_t>(settings.stage2_epochs, -1, whole / 2);
    derive<int64_t>(settings.warm_epochs, -1,
                    std::max<int64_t>(1, whole - settings.stage1_epochs - settings.stage2_epochs));
    return;
  }
  // With the root, 45,000 points get 5 epochs of stage 1 and 590,000 get 1.
  const int64_t stage1 = std::clamp<int64_t>(rounded(1060 / root), 1, 20);
  derive<int64_t>(settings.stage1_epochs, 0, stage1);
  derive<int64_t>(settings.stage2_epochs, -1, std::max<int64_t>(4, 2 * stage1 + 1));
  // Clustering again on what a short stage 1 learned is worth a point where most labels are rare;
  // half of stage 1 is enough for that.
  derive<int64_t>(settings.warm_epochs, -1, (settings.stage1_epochs + 1) / 2);
}

void derive_steps(Settings& settings, int64_t points) {
  // About 64 steps an epoch or more, so that few points are not learned in too few steps; larger
  // batches keep the processor busy.
  const int64_t most = points < kManyPoints ? 512 : 1024;
  const int64_t batch = power_of_two_below(static_cast<double>(points) / 64);
  derive<int64_t>(settings.batch, 0, std::clamp<int64_t>(batch, 16, most));
  settings.batch = std::min(settings.batch, std::max<int64_t>(1, points));
  // At least one step an epoch.
  const int64_t batches = (points + settings.batch - 1) / settings.batch;
  settings.accumulation =
      std::clamp<int64_t>(settings.accumulation, 1, std::max<int64_t>(1, batches));
}

void derive_rates(Settings& settings, int64_t points) {
  // With few epochs a fresh start of each stage costs too many of them (YSO-Finna-EN, a fourth of
  // its points: -1.0 P@1, -1.5 R@100); with many it is better (EURLEX57K: +0.4 P@1).
  constexpr int64_t kFewEpochs = 2;
  derive(settings.schedule, Schedule::kAuto,
         settings.logit_loss == LogitLoss::kAll || settings.stage1_epochs <= kFewEpochs
             ? Schedule::kOne
             : Schedule::kStages);
  // Classifiers that reject all labels take every step, and need less where there are many (the
  // same fourth of YSO-Finna-EN: -1.3 P@1 at 1e-2, -0.1 at 5e-3, -0.2 at 1.5e-3; EURLEX57K: +0.3 at
  // 5e-3).
  const bool rejects_all =
      settings.method == Method::kOva || settings.logit_loss == LogitLoss::kAll;
  const float labels = rejects_all && points >= kManyPoints ? 2.5e-3F : 5e-3F;
  // Stage 2 starts from a trained encoder and trained clusters and moves them less, the encoder by
  // its schedule or by a lower peak; edges have far to go in few steps.
  Rates& first = settings.stage1_rates;
  derive(first.encoder, 0.0F, has_transformer(settings) ? 1e-4F : 2e-3F);
  derive(first.clusters, 0.0F, 5e-3F);
  // Of unit length, a direction turns by a rate times the root of the width.
  const float embeddings = draws_labels(settings) ? 1e-3F : 3e-3F;
  derive(first.labels, 0.0F, settings.method == Method::kGlas ? embeddings : labels);
  Rates& second = settings.stage2_rates;
  derive(second.encoder, 0.0F,
         settings.schedule == Schedule::kOne ? first.encoder
         : has_transformer(settings)         ? 0.3F * first.encoder
                                             : 6e-4F);
  derive(second.clusters, 0.0F, 1e-3F);
  derive(second.labels, 0.0F, labels);
  derive(second.edges, 0.0F, 2e-2F);
}

constexpr float kUsualScale = 24;

// An embedding classifier. Rejecting all labels is best where it is affordable (decision 16); of a
// margin the ten nearest rivals count (EURLEX57K: 90.3 P@1, against 83.2 with all of them).
void derive_embeddings(Settings& settings, int64_t labels) {
  const auto only_of = [&](const char* name, bool given, const char* whose) {
    if (!given) return;
    const auto value = to_json(settings)[name];
    throw InputError("{} {}: is of {} alone: leave {} out, or set it to auto", name,
                     value.is_string() ? value.get<std::string>() : value.dump(), whose, name);
  };
  if (settings.method != Method::kGlas) {
    only_of("loss", settings.loss != EmbeddingLoss::kAuto, "method glas");
    only_of("scale", settings.scale > 0, "method glas");
  } else {
    derive(settings.loss, EmbeddingLoss::kAuto,
           labels <= kRejectedLabels ? EmbeddingLoss::kOva : EmbeddingLoss::kSoftmax);
  }
  const bool margin = settings.loss == EmbeddingLoss::kMargin;
  if (!margin) only_of("margin", settings.margin >= 0, "the loss margin");
  if (!draws_labels(settings)) {
    only_of("mined", settings.mined >= 0, "the losses margin and softmax");
    if (settings.method == Method::kGlas) derive(settings.scale, 0.0F, kUsualScale);
    return;
  }
  derive<int64_t>(settings.mined, -1, margin ? 10 : 0);
  derive(settings.scale, 0.0F, margin ? 1.0F : kUsualScale);
  if (margin) derive(settings.margin, -1.0F, 0.3F);
}

// Of what was measured (docs/results.md) only losses on drawn labels gain by a regulariser, above
// all in rare labels and R@100. Those losses are sums over labels and not their mean.
void derive_regulariser(Settings& settings) {
  const bool draws = draws_labels(settings);
  derive(settings.regulariser, Regulariser::kAuto, draws ? Regulariser::kGlas : Regulariser::kNone);
  derive(settings.regulariser_weight, -1.0F, draws ? 300.0F : 1.0F);
}

// Fewer weights are a smaller and faster ranker. With many labels it is large, and their
// classifiers learned from too few points for small weights to tell much (a fourth of YSO-Finna-EN,
// nDCG@5: 33.0 at 0.2, 33.2 at 0.3, 33.1 at 0.4 with a third fewer weights); with few they are
// worth having (EURLEX57K: 84.2 at 0.3, 84.3 at 0.15).
void derive_ranker(Settings& settings, int64_t labels) {
  derive(settings.ranker_dropped, -1.0F, labels < kManyLabels ? 0.15F : 0.4F);
}

// Edges, the places of a batch's shortlists and what its tokens are made of are numbered in 31
// bits.
void check_countable(const Settings& settings, int64_t L) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (has_transformer(settings) && settings.batch * settings.max_length * 3 >= kMost) {
    throw InputError("batch {}: of texts of {} tokens it has too many to be numbered: lower one",
                     settings.batch, settings.max_length);
  }
  if (settings.method != Method::kElias) return;
  if (settings.stage2_epochs > 0) {
    // A row has more edges than it may hold where more are kept (index/graph_builder.h).
    const int64_t kept = settings.kept_clusters > 0 ? (settings.kept_clusters + 1) * L : 0;
    if (settings.clusters * settings.edges + kept >= kMost) {
      throw InputError(
          "edges {} times clusters {}, and {} that labels may keep, are 2^31 edges or more: lower "
          "edges, clusters or kept_clusters",
          settings.edges, settings.clusters, kept);
    }
  }
  if (settings.batch * settings.shortlist >= kMost) {
    throw InputError("batch {}: with a shortlist of {} it has 2^31 places or more: lower one",
                     settings.batch, settings.shortlist);
  }
}

// A model of a fold needs points inside it and outside.
void check_folds(Settings& settings, int64_t points) {
  if (settings.ranker_folds > 1 && settings.ranker == RankerChoice::kOff) {
    throw InputError(
        "ranker_folds {}: without a ranker there is nothing to learn from folds: set it "
        "to 0, or ranker to what it sees of a point",
        settings.ranker_folds);
  }
  settings.ranker_folds = std::min(settings.ranker_folds, points);
  if (settings.ranker_folds == 1) settings.ranker_folds = 0;
}

// Texts of many words and of few are known by different things.
void derive_ngrams(Settings& settings, const TextSizes& sizes) {
  constexpr int64_t kLongText = 500;
  const bool long_texts = sizes.bytes >= kLongText * sizes.texts;
  // Pairs of words tell more than words where there are many of them (EURLEX57K, 4,700 bytes a
  // text: +0.5 P@1, +1.0 P@5), and are learned by heart where there are few (YSO-Finna-EN, 80
  // bytes: -1.7 P@1).
  const int words = long_texts ? 2 : 1;
  derive(settings.words_high, -1,
         settings.words_low == 0 ? 0 : std::max(settings.words_low, words));
  // A long text says at its start what it is about (EURLEX57K: +0.5 P@1, +0.8 P@3).
  constexpr int64_t kVeryLongText = 2000, kOpening = 100;
  const bool has_opening = settings.words_low > 0 && sizes.bytes >= kVeryLongText * sizes.texts;
  derive<int64_t>(settings.opening, -1, has_opening ? kOpening : 0);
  // Where a text has few words, the parts of one tell what it has in common with others (a fourth
  // of YSO-Finna-EN: +2.2 P@1, +2.7 R@100; those of 3 to 5 characters are no better, and many).
  constexpr int kCharacters = 4;
  int &low = settings.characters_low, &high = settings.characters_high;
  if (low < 0 && high < 0) high = long_texts ? 0 : kCharacters;
  derive(low, -1, std::min(kCharacters, high));
  derive(high, -1, low == 0 ? 0 : std::max(low, kCharacters));
}

int64_t kinds_of_terms(const Settings& settings) {
  const bool kinds[] = {settings.words_low > 0, settings.opening > 0, settings.characters_low > 0};
  return std::max<int64_t>(1, std::ranges::count(kinds, true));
}

}  // namespace

void resolve_features(Settings& settings, const TextSizes& sizes) {
  derive_ngrams(settings, sizes);
  // A term of one text teaches nothing about others, but of few texts each word counts.
  derive<double>(settings.min_df, 0, sizes.texts < 1000 ? 1 : 2);
  // The largest table that stays below 1.5 GiB; what is cut is what few texts hold. The bound is
  // for each kind of terms.
  const int64_t width = settings.width == 0 ? width_for(sizes.labels) : settings.width;
  const int64_t rows = kTableBytes / kBytesAWeight / width / kinds_of_terms(settings);
  derive<int64_t>(settings.max_features, 0, std::max<int64_t>(rows, 1));
}

bool has_transformer(const Settings& settings) { return settings.encoder != kBagEncoder; }

bool draws_labels(const Settings& settings) {
  return settings.method == Method::kGlas && settings.loss != EmbeddingLoss::kOva;
}

bool labels_go_by_blocks(const Settings& settings, int64_t L) {
  if (settings.method == Method::kGlas) return !draws_labels(settings);
  return settings.method == Method::kOva || settings.logit_loss == LogitLoss::kAll ||
         L <= kBlockedLabelsPerPlace * settings.shortlist;
}

void resolve(Settings& settings, const DataSizes& sizes) {
  resolve_features(settings, {.texts = sizes.points, .bytes = 0, .labels = sizes.labels});
  // The paper's 4,000, and no more than a tenth: enough to choose by, little to learn from.
  derive<int64_t>(settings.held_out, -1, std::min<int64_t>(4000, sizes.points / 10));
  settings.held_out = std::min(settings.held_out, sizes.points / 2);
  derive_encoder(settings, sizes);
  derive_index(settings, sizes);
  derive_neighbours(settings, sizes.labels);
  const int64_t points = sizes.points - settings.held_out;
  derive_epochs(settings, points);
  // An evaluation predicts the held-out points several times: two in the last stage are enough.
  const int64_t last = settings.stage2_epochs > 0 ? settings.stage2_epochs : settings.stage1_epochs;
  derive<int64_t>(settings.evaluate_every, 0, settings.patience > 0 ? 1 : (last + 1) / 2);
  derive_steps(settings, points);
  derive_embeddings(settings, sizes.labels);
  derive_rates(settings, points);
  derive_regulariser(settings);
  derive_ranker(settings, sizes.labels);
  check_folds(settings, points);
  check_countable(settings, sizes.labels);
}

}  // namespace elias
