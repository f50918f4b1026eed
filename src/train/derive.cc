// What settings follow from the data. docs/training.md says the same to users: keep them together.
//
// Where a rule has figures behind it they are a prototype's, on EURLEX57K (45,000 points, 4,271
// labels) and YSO-Finna-EN (590,000 points, 25,400 labels).
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "train/settings.h"

namespace elias {
namespace {

constexpr int64_t kTableBytes = int64_t{2} << 30;  // of the embedding table in training
constexpr int64_t kBytesAWeight = 16;              // the weight, two moments, the average
constexpr int64_t kNarrow = 512, kWide = 1024;
// Passing over all labels is the faster way up to this many for each place of the shortlist.
constexpr int64_t kBlockedLabelsPerPlace = 8;
// Learning to reject all labels, not only those of the shortlist, is better (YSO-Finna-EN, a fourth
// of its points: +0.9 P@1, +1.1 R@100), and affordable up to this many. Where a shortlist is an
// eighth of all labels or more it is not (EURLEX57K: -0.2 P@1, -0.5 P@5).
constexpr int64_t kRejectedLabelsPerPlace = 32;

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

void derive_encoder(Settings& settings, const DataSizes& sizes) {
  // A wider vector is better (EURLEX57K: +1 P@1), and costs most where there are many labels.
  const bool wide = sizes.labels < 10'000 && table_fits(sizes.features, kWide);
  derive<int64_t>(settings.width, 0, wide ? kWide : kNarrow);
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

  // The paper's 20, and fewer where 20 would be a large part of all clusters.
  derive<int64_t>(settings.beam, 0,
                  std::clamp<int64_t>(rounded(0.04 * static_cast<double>(C)), 10, 20));
  settings.beam = std::min(settings.beam, C);
  // Half of the paper's 2,000, at half of its cost: a beam's clusters hold about as many.
  derive<int64_t>(settings.shortlist, 0, 1000);
  settings.shortlist = std::min(settings.shortlist, L);
  const bool rejects_all = L > kBlockedLabelsPerPlace * settings.shortlist &&
                           L <= kRejectedLabelsPerPlace * settings.shortlist;
  derive(settings.logit_loss, LogitLoss::kAuto,
         rejects_all ? LogitLoss::kAll : LogitLoss::kShortlist);
  // The paper's rule, 10 L / C; its sweep shows that fewer than 100 lose labels.
  derive<int64_t>(settings.edges, 0, std::max<int64_t>(100, rounded(10 * a_cluster)));
  settings.edges = std::min(settings.edges, L);
  // 1.5 times a cluster's labels: as many edges can reach a score of 1 at the same time.
  derive<float>(settings.beta, 0, static_cast<float>(1.5 * a_cluster));
}

void derive_epochs(Settings& settings, int64_t points) {
  // Fewer points need more epochs, but not as many more as there are fewer points: with the root,
  // 45,000 points get 5 epochs of stage 1 and 590,000 get 1.
  const double root = std::sqrt(static_cast<double>(points));
  const int64_t stage1 = std::clamp<int64_t>(rounded(1060 / root), 1, 20);
  const int64_t stage2 = std::max<int64_t>(4, 2 * stage1 + 1);
  // One cluster holds all labels: there is no index to learn.
  if (settings.method == Method::kOva || settings.clusters == 1) {
    derive<int64_t>(settings.stage1_epochs, 0, stage1 + stage2);
    settings.warm_epochs = settings.stage2_epochs = 0;
    return;
  }
  derive<int64_t>(settings.stage1_epochs, 0, stage1);
  derive<int64_t>(settings.stage2_epochs, -1, stage2);
  // Clustering again on what a short stage 1 learned is worth a point where most labels are rare;
  // half of stage 1 is enough for that.
  derive<int64_t>(settings.warm_epochs, -1, (settings.stage1_epochs + 1) / 2);
}

void derive_steps(Settings& settings, int64_t points) {
  // About 64 steps an epoch or more, so that few points are not learned in too few steps; larger
  // batches keep the processor busy.
  const int64_t most = points < 100'000 ? 512 : 1024;
  const int64_t batch = power_of_two_below(static_cast<double>(points) / 64);
  derive<int64_t>(settings.batch, 0, std::clamp<int64_t>(batch, 16, most));
  settings.batch = std::min(settings.batch, std::max<int64_t>(1, points));
  // At least one step an epoch.
  const int64_t batches = (points + settings.batch - 1) / settings.batch;
  settings.accumulation =
      std::clamp<int64_t>(settings.accumulation, 1, std::max<int64_t>(1, batches));
}

void derive_rates(Settings& settings) {
  // With few epochs a fresh start of each stage costs too many of them (YSO-Finna-EN, a fourth of
  // its points: -1.0 P@1, -1.5 R@100); with many it is better (EURLEX57K: +0.4 P@1).
  constexpr int64_t kFewEpochs = 2;
  derive(settings.schedule, Schedule::kAuto,
         settings.stage1_epochs <= kFewEpochs ? Schedule::kOne : Schedule::kStages);
  // Stage 2 starts from a trained encoder and trained clusters and moves them less, the encoder by
  // its schedule or by a lower peak; edges have far to go in few steps.
  Rates& first = settings.stage1_rates;
  derive(first.encoder, 0.0F, 2e-3F);
  derive(first.clusters, 0.0F, 5e-3F);
  derive(first.labels, 0.0F, 5e-3F);
  Rates& second = settings.stage2_rates;
  derive(second.encoder, 0.0F, settings.schedule == Schedule::kOne ? first.encoder : 6e-4F);
  derive(second.clusters, 0.0F, 1e-3F);
  derive(second.labels, 0.0F, 5e-3F);
  derive(second.edges, 0.0F, 2e-2F);
}

// Edges, and the places of a batch's shortlists, are numbered in 31 bits.
void check_countable(const Settings& settings, int64_t L) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (settings.method == Method::kOva) return;
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

}  // namespace

void resolve_features(Settings& settings, int64_t texts) {
  // A term of one text teaches nothing about others, but of few texts each word counts.
  derive<double>(settings.min_df, 0, texts < 1000 ? 1 : 2);
  // The largest table that stays below 2 GiB; what is cut is what few texts hold. The bound is for
  // words and for characters each.
  const int64_t width = settings.width == 0 ? kNarrow : settings.width;
  const int64_t kinds = settings.words_low > 0 && settings.characters_low > 0 ? 2 : 1;
  const int64_t rows = kTableBytes / kBytesAWeight / width / kinds;
  derive<int64_t>(settings.max_features, 0, std::max<int64_t>(rows, 1));
}

bool labels_go_by_blocks(const Settings& settings, int64_t L) {
  return settings.method == Method::kOva || settings.logit_loss == LogitLoss::kAll ||
         L <= kBlockedLabelsPerPlace * settings.shortlist;
}

void resolve(Settings& settings, const DataSizes& sizes) {
  resolve_features(settings, sizes.points);
  // The paper's 4,000, and no more than a tenth: enough to choose by, little to learn from.
  derive<int64_t>(settings.held_out, -1, std::min<int64_t>(4000, sizes.points / 10));
  settings.held_out = std::min(settings.held_out, sizes.points / 2);
  derive_encoder(settings, sizes);
  derive_index(settings, sizes);
  const int64_t points = sizes.points - settings.held_out;
  derive_epochs(settings, points);
  // An evaluation predicts the held-out points several times: three in the last stage are enough.
  const int64_t last = settings.stage2_epochs > 0 ? settings.stage2_epochs : settings.stage1_epochs;
  derive<int64_t>(settings.evaluate_every, 0, (last + 2) / 3);
  derive_steps(settings, points);
  derive_rates(settings);
  check_countable(settings, sizes.labels);
}

}  // namespace elias
