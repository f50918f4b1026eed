#include "train/training_points.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>

#include "base/errors.h"
#include "base/machine_memory.h"
#include "base/random.h"
#include "text/tfidf_fitter.h"
#include "train/encoder_start.h"
#include "train/fingerprint.h"

namespace elias {
namespace {

constexpr uint64_t kHeldOutStream = 0x68656c64;  // no other use of the seed has this stream

/// Takes the entries from column `cols` on out; returns how many there were.
uint64_t cut_columns(Csr& matrix, uint64_t cols) {
  const size_t before = matrix.nonzeros();
  size_t kept = 0;
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const uint64_t begin = i == 0 ? 0 : matrix.offsets[i], end = matrix.offsets[i + 1];
    matrix.offsets[i] = kept;
    for (uint64_t entry = begin; entry < end; ++entry) {
      if (matrix.columns[entry] >= cols) continue;
      matrix.columns[kept] = matrix.columns[entry];
      matrix.values[kept++] = matrix.values[entry];
    }
  }
  matrix.offsets.back() = kept;
  matrix.columns.resize(kept);
  matrix.values.resize(kept);
  matrix.cols = cols;
  return before - kept;
}

Tfidf learn_words(const Dataset& train, uint64_t labels, Settings& settings, ThreadPool& pool) {
  resolve_features(settings, {.texts = static_cast<int64_t>(train.rows()),
                              .bytes = static_cast<int64_t>(train.texts.bytes.size()),
                              .labels = static_cast<int64_t>(labels)});
  TfidfOptions options;
  options.words = {settings.words_low, settings.words_high};
  options.opening = settings.opening;
  options.characters = {settings.characters_low, settings.characters_high};
  options.min_df = settings.min_df;
  options.max_features = static_cast<uint64_t>(settings.max_features);
  options.sublinear_tf = settings.sublinear_tf;
  TfidfFitter fitter(options, pool);
  fitter.add(train.texts);
  try {
    return fitter.finish();
  } catch (const InputError& error) {
    throw InputError("{}: {}; to learn from letters, set characters_low=1 and characters_high=3",
                     train.info.name, error.what());
  }
}

void require_alike(const Dataset& train, const Dataset& dev) {
  if (train.info.has_text != dev.info.has_text) {
    const char* const kinds[] = {"features", "texts"};
    throw InputError("{}: holds {}, but {} holds {}: give both in one form", dev.info.name,
                     kinds[dev.info.has_text ? 1 : 0], train.info.name,
                     kinds[train.info.has_text ? 1 : 0]);
  }
  const auto promised = dev.info.promised_features;
  if (promised && train.info.promised_features && *promised != *train.info.promised_features) {
    throw InputError("{}: has {} features, {} has {}: give files of the same features",
                     dev.info.name, *promised, train.info.name, *train.info.promised_features);
  }
}

/// Texts become features; matrices take the width of the training file's.
void make_features(Dataset& train, Dataset* dev, Settings& settings, TrainingPoints& points,
                   ThreadPool& pool) {
  if (train.info.has_text) {
    points.tfidf = learn_words(train, points.labels.size(), settings, pool);
    for (Dataset* data : {&train, dev}) {
      if (data == nullptr) continue;
      data->features = points.tfidf->transform(data->texts, pool);
      data->texts = {};
    }
    return;
  }
  uint64_t& features = train.features.cols;
  features = std::max(features, train.info.promised_features.value_or(0));
  if (train.features.nonzeros() == 0) {
    throw InputError("{}: no point has a feature: there is nothing to learn from", train.info.name);
  }
  if (dev != nullptr) points.unknown_features = cut_columns(dev->features, features);
  for (Dataset* data : {&train, dev}) {
    if (data != nullptr) scale_rows_to_unit_length(data->features);
  }
}

/// What a transformer reads of the texts of both files, before make_features takes these.
void make_tokens(const Dataset& train, const Dataset* dev, Settings& settings,
                 TrainingPoints& points, ThreadPool& pool) {
  TrainingData& data = points.data;
  if (!has_transformer(settings)) return;
  if (!train.info.has_text) {
    throw InputError(
        "{}: holds features, but --encoder {} reads texts: give texts, or leave --encoder out",
        train.info.name, settings.encoder);
  }
  data.transformer = start_transformer(settings, train.texts, pool);
  points.tokens = {.transformer = data.transformer->config,
                   .words = data.transformer->tokens,
                   .max_length = settings.max_length};
  const WordPiece wordpiece(points.tokens->words, settings.encoder);
  const auto most = static_cast<size_t>(settings.max_length);
  data.tokens = wordpiece.encode_all(train.texts, most, pool);
  if (dev != nullptr) data.held_out_tokens = wordpiece.encode_all(dev->texts, most, pool);
}

/// Takes the points without labels out; returns how many there were. Throws InputError if all are.
uint64_t drop_unlabelled(Dataset& data, TokenRows& tokens) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < data.rows(); ++i) {
    if (data.labels.row(i).size() > 0) rows.push_back(i);
  }
  if (rows.empty()) {
    throw InputError("{}: no point has a label: give points with labels", data.info.name);
  }
  const uint64_t unlabelled = data.rows() - rows.size();
  if (unlabelled == 0) return 0;
  data.features = select_rows(data.features, rows);
  data.labels = select_rows(data.labels, rows);
  if (tokens.rows() > 0) tokens = select_rows(tokens, rows);
  return unlabelled;
}

/// A target is a probability: more than fully relevant counts as fully.
void clamp_relevances(Csr& labels) {
  for (float& value : labels.values) value = std::min(value, 1.0F);
}

DataSizes sizes_of(const TrainingData& data) {
  const Csr &features = data.features, &labels = data.labels;
  const auto points = static_cast<double>(labels.rows());
  DataSizes sizes{.points = static_cast<int64_t>(labels.rows()),
                  .labels = static_cast<int64_t>(labels.cols),
                  .labels_per_point = static_cast<double>(labels.nonzeros()) / points,
                  .features = static_cast<int64_t>(features.cols),
                  .features_per_point = static_cast<double>(features.nonzeros()) / points};
  if (!data.transformer) return sizes;
  sizes.transformer = data.transformer->config.shape;
  sizes.tokens_per_point = static_cast<double>(data.tokens.ids.size()) / points;
  return sizes;
}

void require_labels(const TrainingPoints& points, const std::string& name) {
  if (points.sizes.labels < 2) {
    throw InputError(
        "{}: has one label alone: there is nothing to choose from: give points of two labels or "
        "more",
        name);
  }
}

/// Splits what `train` holds into points to learn from and held-out ones.
void hold_out(const Settings& settings, TrainingPoints& points) {
  TrainingData& data = points.data;
  const size_t count = data.labels.rows();
  const auto out = held_out_points(count, static_cast<size_t>(settings.held_out), settings.seed);
  std::vector<size_t> all(count), in;
  std::iota(all.begin(), all.end(), size_t{0});
  std::set_difference(all.begin(), all.end(), out.begin(), out.end(), std::back_inserter(in));
  data.held_out_features = select_rows(data.features, out);
  data.held_out_labels = select_rows(data.labels, out);
  data.features = select_rows(data.features, in);
  data.labels = select_rows(data.labels, in);
  if (data.tokens.rows() == 0) return;
  data.held_out_tokens = select_rows(data.tokens, out);
  data.tokens = select_rows(data.tokens, in);
}

using elias::mixed;

uint64_t mixed(uint64_t hash, const Csr& matrix) {
  hash = mixed(hash, std::span<const uint64_t>(matrix.offsets));
  hash = mixed(hash, std::span<const uint32_t>(matrix.columns));
  return mixed(hash, std::span<const float>(matrix.values));
}

nlohmann::ordered_json fingerprint_of(const Dataset& train, const Dataset* dev,
                                      const LabelSpace& labels) {
  uint64_t hash = mixed(0, labels.names().rows());
  for (const Dataset* data : {&train, dev}) {
    if (data == nullptr) continue;
    hash = mixed(mixed(mixed(hash, data->texts), data->features), data->labels);
  }
  return {{"points", train.rows()},
          {"dev_points", dev == nullptr ? 0 : dev->rows()},
          {"labels", labels.size()},
          {"hash", fingerprint_text(hash)}};
}

}  // namespace

TrainingPoints read_training_points(const TrainingFiles& files, LabelSpace labels,
                                    Settings& settings, ThreadPool& pool) {
  Dataset train = read_dataset(files.train, files.reading, labels, pool);
  std::optional<Dataset> dev;
  if (!files.dev.empty()) dev = read_dataset(files.dev, files.reading, labels, pool);
  return make_training_points(std::move(train), std::move(dev), std::move(labels), settings, pool);
}

TrainingPoints make_training_points(Dataset train, std::optional<Dataset> dev, LabelSpace labels,
                                    Settings& settings, ThreadPool& pool) {
  TrainingPoints points;
  points.labels = std::move(labels);
  if (dev) {
    require_alike(train, *dev);
    settings.held_out = 0;
  }
  make_tokens(train, dev ? &*dev : nullptr, settings, points, pool);
  points.fingerprint = fingerprint_of(train, dev ? &*dev : nullptr, points.labels);
  make_features(train, dev ? &*dev : nullptr, settings, points, pool);

  TrainingData& data = points.data;
  points.unlabelled = drop_unlabelled(train, data.tokens);
  if (dev) points.unlabelled_dev = drop_unlabelled(*dev, data.held_out_tokens);

  data.features = std::move(train.features);
  data.labels = std::move(train.labels);
  data.labels.cols = points.labels.size();  // the second file may have brought more
  clamp_relevances(data.labels);
  points.sizes = sizes_of(data);
  require_labels(points, train.info.name);
  resolve(settings, points.sizes);
  points.label_counts = column_counts(data.labels);
  if (dev) {
    data.held_out_features = std::move(dev->features);
    data.held_out_labels = std::move(dev->labels);
    data.held_out_labels.cols = data.labels.cols;
  } else {
    hold_out(settings, points);
  }
  return_freed_memory();  // texts and the counts of their terms
  return points;
}

std::vector<size_t> held_out_points(size_t points, size_t count, uint64_t seed) {
  const Random random(seed, kHeldOutStream);
  std::vector<std::pair<uint64_t, size_t>> order(points);
  for (size_t i = 0; i < points; ++i) order[i] = {random.bits(i), i};
  std::nth_element(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end());
  std::vector<size_t> chosen(count);
  for (size_t i = 0; i < count; ++i) chosen[i] = order[i].second;
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace elias
