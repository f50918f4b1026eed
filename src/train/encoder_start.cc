#include "train/encoder_start.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "base/errors.h"
#include "base/machine_memory.h"
#include "base/random.h"
#include "base/readable.h"
#include "model/model_folder.h"
#include "text/tokenizer_folder.h"
#include "text/wordpiece_learner.h"

namespace elias {
namespace {

constexpr std::string_view kNew = "new:";

// What BERT starts with: normal numbers of this deviation, none beyond twice of it.
void fill_normal(TensorView weights, uint64_t seed, uint64_t stream) {
  constexpr double kDeviation = 0.02, kMost = 2;
  const Random random(seed ^ 0x7472616e73, stream);  // apart from the streams of other uses
  uint64_t next = 0;
  for (float& weight : weights.span<float>()) {
    double value = 0;
    do {  // Box and Muller
      const double radius = std::sqrt(-2 * std::log(1 - random.uniform(next)));
      value = radius * std::cos(2 * std::numbers::pi * random.uniform(next + 1));
      next += 2;
    } while (std::abs(value) > kMost);
    weight = static_cast<float>(kDeviation * value);
  }
}

int64_t parse_size(std::string_view name, std::string_view text, const std::string& where) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr int64_t kMost = 1 << 20;
  if (result.ec == std::errc() && result.ptr == text.data() + text.size() && value >= 1 &&
      value <= kMost) {
    return value;
  }
  throw InputError("{}: {} cannot be {}: give a whole number from 1 to {}", where, name,
                   shown(text), kMost);
}

WordPieceConfig words_for(const NewTransformer& sizes, const TextRows& texts, ThreadPool& pool) {
  if (!sizes.words.empty()) return read_wordpiece_in_folder(sizes.words);
  WordPieceLearnerOptions options;
  options.size = static_cast<size_t>(sizes.vocabulary);
  WordPieceLearner learner(options, pool);
  learner.add(texts);
  return learner.finish();
}

// Before weights are made, which would take long, or all the memory there is.
void require_memory(const TransformerShape& shape) {
  constexpr double kBytes = 16;  // of a weight in training, at least
  const double weights = weight_count(shape);
  const uint64_t total = machine_memory().total;
  if (total == 0 || kBytes * weights <= static_cast<double>(total)) return;
  throw InputError(
      "the new transformer: its {:.0f} million weights would take {} or more in training, the "
      "machine has {}: lower layers or width",
      1e-6 * weights, bytes_text(static_cast<uint64_t>(kBytes * weights)), bytes_text(total));
}

void refuse_model(const std::string& folder) {
  if (!is_config_of_model(folder + "/config.json")) return;
  throw InputError(
      "{}: is a model, not a transformer: give the folder that elias export --model {} --out "
      "FOLDER "
      "writes, if it has one",
      folder, folder);
}

}  // namespace

std::string encoder_name(const std::string& encoder) {
  if (is_new_transformer(encoder)) return encoder;
  // Not "..", which may lead elsewhere through a link.
  std::filesystem::path path;
  for (const auto& part : std::filesystem::path(encoder)) {
    if (!part.empty() && part != ".") path /= part;
  }
  std::string name = path.string();
  const bool is_folder = name != kBagEncoder && !is_new_transformer(name);
  return is_folder || encoder == name ? name : "./" + name;
}

bool is_new_transformer(const std::string& encoder) { return encoder.starts_with(kNew); }

NewTransformer parse_new_transformer(const std::string& encoder, const std::string& where) {
  NewTransformer sizes;
  std::set<std::string_view> given;
  std::string_view left = std::string_view(encoder).substr(kNew.size());
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    const size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals);
    const std::string_view value = equals == one.npos ? "" : one.substr(equals + 1);
    if (!given.insert(name).second) {
      throw InputError("{}: {} is given twice: leave one out", where, shown(name));
    }
    if (name == "words") {
      if (value.empty()) {
        throw InputError("{}: words is empty: give a tokenizer.json or vocab.txt, or leave it out",
                         where);
      }
      sizes.words = value;
      continue;
    }
    int64_t* const place = name == "layers"       ? &sizes.layers
                           : name == "width"      ? &sizes.width
                           : name == "heads"      ? &sizes.heads
                           : name == "inner"      ? &sizes.inner
                           : name == "vocabulary" ? &sizes.vocabulary
                           : name == "positions"  ? &sizes.positions
                                                  : nullptr;
    if (place == nullptr) {
      throw InputError(
          "{}: a new transformer has no {}: give layers, width, heads, inner, vocabulary, "
          "positions or words, as in new:layers=4,width=256,heads=4",
          where, shown(name));
    }
    *place = parse_size(name, value, where);
  }
  if (given.contains("words") && given.contains("vocabulary")) {
    throw InputError(
        "{}: words is a vocabulary, and vocabulary the size of one to learn: leave one out", where);
  }
  constexpr int64_t kLeastPositions = 3;  // [CLS], a word and [SEP]
  if (sizes.positions < kLeastPositions) {
    throw InputError("{}: positions cannot be {}: give {} or more", where, sizes.positions,
                     kLeastPositions);
  }
  if (sizes.inner == 0) sizes.inner = 4 * sizes.width;
  return sizes;
}

TransformerWeights<Tensor> random_transformer(const TransformerShape& shape, uint64_t seed) {
  auto weights = empty_weights<Tensor>(shape);
  auto shapes = part_shapes(shape);
  uint64_t stream = 0;
  for_both_parts(weights, shapes, [&](const std::string& name, Tensor& part, const Shape& size) {
    part = Tensor(size, DType::kFloat32);
    if (name.ends_with("gain")) std::ranges::fill(part.span<float>(), 1.0F);
    if (size.rank() == 2) fill_normal(part, seed, stream);
    ++stream;
  });
  return weights;
}

Pretrained make_transformer(const NewTransformer& sizes, WordPieceConfig words, uint64_t seed) {
  Pretrained made;
  made.tokens = std::move(words);
  made.config.shape = {.vocabulary = static_cast<int64_t>(made.tokens.tokens.rows()),
                       .positions = sizes.positions,
                       .types = 2,
                       .width = sizes.width,
                       .heads = sizes.heads,
                       .inner = sizes.inner,
                       .layers = sizes.layers};
  check_shape(made.config.shape, "the new transformer");
  check_tokens(made.tokens, made.config.shape, "the new transformer");
  require_memory(made.config.shape);
  made.max_length = sizes.positions;
  made.weights = random_transformer(made.config.shape, seed);
  return made;
}

std::shared_ptr<const Pretrained> start_transformer(Settings& settings, const TextRows& texts,
                                                    ThreadPool& pool) {
  Pretrained start;
  if (is_new_transformer(settings.encoder)) {
    const NewTransformer sizes = parse_new_transformer(settings.encoder, "--encoder");
    start = make_transformer(sizes, words_for(sizes, texts, pool), settings.seed);
  } else {
    refuse_model(settings.encoder);
    start = read_pretrained(settings.encoder);
  }
  TransformerShape& shape = start.config.shape;
  if (settings.pooling == PoolingChoice::kAuto) {
    const bool mean = start.pooling == Pooling::kMean;
    settings.pooling = mean ? PoolingChoice::kMean : PoolingChoice::kFirst;
  }
  shape.pooling = settings.pooling == PoolingChoice::kMean ? Pooling::kMean : Pooling::kFirst;
  start.weights.shape = shape;
  constexpr int64_t kUsualLength = 128;
  if (settings.max_length == 0) settings.max_length = std::min(kUsualLength, start.max_length);
  if (settings.max_length > shape.positions) {
    throw InputError("max_length {}: {} has positions for {} tokens alone: lower it",
                     settings.max_length, settings.encoder, shape.positions);
  }
  return std::make_shared<const Pretrained>(std::move(start));
}

}  // namespace elias
