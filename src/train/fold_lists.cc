#include "train/fold_lists.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/random.h"
#include "train/ranker_stage.h"

namespace elias {
namespace {

constexpr uint64_t kFoldStream = 0x666f6c64;  // no other use of the seed has this stream

/// What the model of a fold learns from, and what it is asked for.
struct FoldData {
  TrainingData outside;
  Points inside;
};

FoldData split(const TrainingData& data, std::span<const uint8_t> fold_of, size_t fold) {
  std::vector<size_t> outside, inside;
  for (size_t i = 0; i < fold_of.size(); ++i) {
    (fold_of[i] == fold ? inside : outside).push_back(i);
  }
  Points own = select_rows(data.points(), outside);
  return {.outside = {.features = std::move(own.features),
                      .labels = select_rows(data.labels, outside),
                      .held_out_features = data.held_out_features,
                      .held_out_labels = data.held_out_labels,
                      .tokens = std::move(own.tokens),
                      .held_out_tokens = data.held_out_tokens,
                      .transformer = data.transformer},
          .inside = select_rows(data.points(), inside)};
}

/// The lists in a file, where they lie.
struct StoredLists {
  std::span<const uint64_t> offsets;  // [n + 1]
  std::span<const uint32_t> labels;

  std::span<const uint32_t> row(size_t i) const {
    return labels.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

StoredLists lists_in(const SafetensorsFile& file, size_t points, uint64_t labels) {
  const StoredLists lists{file.vector<uint64_t>("offsets"), file.vector<uint32_t>("labels")};
  const auto& offsets = lists.offsets;
  const bool fits = offsets.size() == points + 1 && offsets.front() == 0 &&
                    offsets.back() == lists.labels.size() && std::ranges::is_sorted(offsets) &&
                    std::ranges::all_of(lists.labels, [&](uint32_t l) { return l < labels; });
  if (!fits) throw InputError("{}: is not of the points of this run", file.name());
  return lists;
}

}  // namespace

std::vector<uint8_t> deal_folds(size_t points, size_t folds, uint64_t seed) {
  ELIAS_ASSERT(folds > 0 && folds <= kMostFolds);
  const Random random(seed, kFoldStream);
  std::vector<std::pair<uint64_t, size_t>> order(points);
  for (size_t i = 0; i < points; ++i) order[i] = {random.bits(i), i};
  std::ranges::sort(order);
  std::vector<uint8_t> fold_of(points);
  for (size_t i = 0; i < points; ++i) fold_of[order[i].second] = static_cast<uint8_t>(i % folds);
  return fold_of;
}

Outcome train_fold(const Context& context, const Settings& settings, const TrainingData& data,
                   size_t fold, TrainingHooks hooks,
                   const std::function<void(const Csr& found)>& keep_lists,
                   std::optional<SafetensorsFile> resume) {
  const auto folds = static_cast<size_t>(settings.ranker_folds);
  ELIAS_ASSERT(fold < folds);
  const FoldData points = split(data, deal_folds(data.features.rows(), folds, settings.seed), fold);
  Settings of_fold = settings;
  of_fold.seed += 1 + fold;
  hooks.keep = [&](const Member& member) {
    const Predictor predictor(context, member.weights, member.search);
    keep_lists(labels_to_rank(context, settings, predictor, points.inside));
  };
  return train(context, of_fold, points.outside, hooks, std::move(resume));
}

SafetensorsWriter fold_file(const Csr& found) {
  SafetensorsWriter writer;
  writer.add<uint64_t>("offsets", found.offsets);
  writer.add<uint32_t>("labels", found.columns);
  return writer;
}

Csr join_folds(std::span<const SafetensorsFile> files, size_t points, uint64_t labels,
               uint64_t seed) {
  const auto fold_of = deal_folds(points, files.size(), seed);
  std::vector<StoredLists> folds;
  size_t found = 0;
  for (size_t f = 0; f < files.size(); ++f) {
    const auto inside = static_cast<size_t>(std::ranges::count(fold_of, f));
    folds.push_back(lists_in(files[f], inside, labels));
    found += folds.back().labels.size();
  }
  Csr all;
  all.cols = labels;
  all.offsets.reserve(points + 1);
  all.columns.reserve(found);
  std::vector<size_t> next(files.size());  // row of each file
  for (const uint8_t fold : fold_of) {
    const auto row = folds[fold].row(next[fold]++);
    all.columns.insert(all.columns.end(), row.begin(), row.end());
    all.offsets.push_back(all.columns.size());
  }
  all.values.assign(found, 1);
  return all;
}

}  // namespace elias
