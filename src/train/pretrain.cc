#include "train/pretrain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/stopwatch.h"
#include "encoder/points.h"
#include "encoder/transformer.h"
#include "ops/room.h"
#include "ops/rows/row_access.h"
#include "train/stages.h"
#include "train/training_points.h"
#include "train/transformer_parameters.h"
#include "train/word_head.h"

namespace elias {
namespace {

using nlohmann::ordered_json;

constexpr const char* kStage = "masked words";

class Pretrainer {
 public:
  Pretrainer(const Context& context, const PretrainSettings& settings, const Pretrained& start,
             const WordMasker& masker, const TokenRows& texts, const PretrainHooks& hooks)
      : context_(context),
        settings_(settings),
        start_(start),
        texts_(texts),
        hooks_(hooks),
        masker_(masker),
        parameters_(start.weights, /*table_by_rows=*/false),
        head_(context, start.config.shape, settings.seed) {
    const auto held_out = static_cast<size_t>(settings.held_out);
    const auto out = held_out_points(texts.rows(), held_out, settings.seed);
    std::vector<bool> is_out(texts.rows());
    for (const size_t text : out) is_out[text] = true;
    for (uint32_t text = 0; text < texts.rows(); ++text) {
      (is_out[text] ? held_out_ : learned_).push_back(text);
    }
    for (Parameter* parameter : all()) {
      const bool matrix = parameter->weights().rank() == 2;
      parameter->set_rates(settings.rate, matrix ? settings.weight_decay : 0);
    }
  }

  Outcome run(const std::optional<SafetensorsFile>& resume) {
    if (resume) load(*resume);
    for (; epoch_ < settings_.epochs; ++epoch_, done_ = 0) {
      if (run_epoch() == Outcome::kStopped) return Outcome::kStopped;
    }
    return Outcome::kFinished;
  }

 private:
  // Epochs have different numbers of steps, as batches are cut by tokens: it is texts that count.
  int64_t texts_of_epoch() const { return std::ssize(learned_); }
  int64_t all_texts() const { return settings_.epochs * texts_of_epoch(); }
  int64_t all_done() const { return epoch_ * texts_of_epoch() + done_; }

  Precision precision() const {
    return settings_.bf16 ? Precision::kBFloat16 : Precision::kFloat32;
  }
  std::vector<Parameter*> all() {
    std::vector<Parameter*> all = parameters_.all();
    for (Parameter* parameter : head_.parameters()) all.push_back(parameter);
    return all;
  }

  Outcome run_epoch() {
    const Stopwatch watch;
    std::vector<uint32_t> order;
    for (const uint32_t i : epoch_order(texts_of_epoch(), settings_.seed, 0, epoch_)) {
      order.push_back(learned_[i]);
    }
    if (done_ == 0) loss_ = words_ = 0;
    while (done_ < texts_of_epoch()) {
      const bool stop = hooks_.stop();
      if (stop || hooks_.checkpoint_due()) save();
      if (stop) return Outcome::kStopped;
      const auto batch = next_batch(std::span(order).subspan(static_cast<size_t>(done_)));
      done_ += std::ssize(batch);
      learn(batch);
      report();
    }
    end_epoch(watch.seconds());
    return Outcome::kFinished;
  }

  std::span<const uint32_t> next_batch(std::span<const uint32_t> left) const {
    return left.first(batch_size(texts_, left, settings_.batch_tokens));
  }

  // The hidden states [M, D] of chosen places.
  ConstTensorView encode(const MaskedWords& masked, const std::optional<TokenNoise>& noise,
                         bool keep) {
    std::vector<uint32_t> rows(masked.inputs.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    const auto views = parameters_.views(Weights::kCurrent);
    batch_tokens_.gather(masked.inputs, rows, views.shape);
    encode_tokens(
        context_, views,
        pack_transformer(context_, views, PackedFor::kForward, precision(), TokensWanted::kAll),
        batch_tokens_, noise, keep, activations_);
    const auto M = static_cast<int64_t>(masked.places.size());
    const TensorView chosen = room(chosen_, {M, views.shape.width});
    for_rows(context_.pool(), masked.places.size(), [&](size_t i) {
      const auto place = static_cast<size_t>(masked.places[i]);
      std::ranges::copy(row_of(activations_.hidden(), place), row_of(chosen, i).begin());
    });
    return chosen;
  }

  // The batch that ends with the last of all_done() texts: each has a stream of its own.
  void learn(std::span<const uint32_t> texts) {
    const auto stream = static_cast<uint64_t>(all_done());
    const MaskedWords masked = masker_.mask(texts_, texts, settings_.seed, stream);
    if (masked.places.empty()) return;
    const std::optional<TokenNoise> noise = TokenNoise{.hidden = start_.config.hidden_dropout,
                                                       .attention = start_.config.attention_dropout,
                                                       .seed = settings_.seed,
                                                       .step = stream};
    const ConstTensorView h = encode(masked, noise, /*keep=*/true);
    const auto views = parameters_.views(Weights::kCurrent);
    const auto gradients = parameters_.gradients();
    Tensor dchosen(h.shape(), DType::kFloat32);
    const WordSums sums = head_.learn(context_, precision(), views.table, h, masked.words, dchosen,
                                      gradients.table.slice(0, views.shape.vocabulary));
    const Shape all_tokens{batch_tokens_.tokens(), views.shape.width};
    Tensor dhidden(all_tokens, DType::kFloat32), dembedded(all_tokens, DType::kFloat32);
    for (size_t i = 0; i < masked.places.size(); ++i) {
      std::ranges::copy(row_of(ConstTensorView(dchosen), i),
                        row_of(TensorView(dhidden), static_cast<size_t>(masked.places[i])).begin());
    }
    encode_tokens_backward(context_, views,
                           pack_transformer(context_, views, PackedFor::kInputGradient, precision(),
                                            TokensWanted::kAll),
                           batch_tokens_, noise, dhidden, activations_, gradients, dembedded);
    add_table_gradient(dembedded, gradients.table);
    // A step has the rate of its middle: that of its last text is next to none in a run of few.
    const int64_t middle = all_done() - std::ssize(texts) / 2;
    const float share = scheduled_rate(1, settings_.warm_up, middle, all_texts());
    for (Parameter* parameter : all()) {
      parameter->step(context_, share * parameter->options().rate);
    }
    if (!std::isfinite(sums.loss)) {
      throw InputError("epoch {}: the loss is no longer a number: lower --rate", epoch_ + 1);
    }
    loss_ += sums.loss;
    words_ += static_cast<double>(masked.words.size());
  }

  void add_table_gradient(ConstTensorView dembedded, TensorView dtable) {
    const RowGradient gradient =
        embedding_bag_backward(context_, batch_tokens_.embeddings(), dembedded, dtable.rows());
    Tensor rows({gradient.size(), dtable.width()}, DType::kFloat32);
    expand_rows(context_, gradient, rows);
    const auto used = gradient.rows.span<int32_t>();
    for_rows(context_.pool(), used.size(), [&](size_t r) {
      const auto from = row_of(ConstTensorView(rows), r);
      const auto to = row_of(dtable, static_cast<size_t>(used[r]));
      for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    });
  }

  struct HeldOutSums {
    WordSums sums;
    double words = 0;
  };

  // Held-out texts have the same masks in every epoch, each a word of its own to tell.
  HeldOutSums measure() {
    HeldOutSums all;
    std::span<const uint32_t> left = held_out_;
    while (!left.empty()) {
      const auto batch = next_batch(left);
      const auto stream = static_cast<uint64_t>(held_out_.size() - left.size());
      left = left.subspan(batch.size());
      const MaskedWords masked =
          masker_.mask(texts_, batch, settings_.seed + 1, stream, FewestMasked::kOneOfEachText);
      if (masked.places.empty()) continue;
      const ConstTensorView h = encode(masked, std::nullopt, /*keep=*/false);
      const WordSums own = head_.evaluate(
          context_, precision(), parameters_.views(Weights::kCurrent).table, h, masked.words);
      all.sums.loss += own.loss;
      all.sums.hits += own.hits;
      all.words += static_cast<double>(masked.words.size());
    }
    return all;
  }

  void end_epoch(double seconds) {
    ordered_json fields = {{"stage", kStage},
                           {"epoch", epoch_ + 1},
                           {"epochs", settings_.epochs},
                           {"loss", loss_ / std::max(1.0, words_)},
                           {"seconds", seconds}};
    const HeldOutSums held_out = measure();
    const bool measured = held_out.words > 0;
    const double loss = measured ? held_out.sums.loss / held_out.words : best_;
    if (measured) {
      fields["held_out_loss"] = loss;
      fields["held_out_accuracy"] = static_cast<double>(held_out.sums.hits) / held_out.words;
    }
    if (!measured || loss < best_) {
      best_ = loss;
      hooks_.keep(parameters_.views(Weights::kCurrent));
      fields["kept"] = true;
    }
    hooks_.log("epoch", fields);
  }

  void report() {
    hooks_.progress({.stage = kStage,
                     .epoch = epoch_ + 1,
                     .epochs = settings_.epochs,
                     .point = done_,
                     .points = texts_of_epoch(),
                     .loss = loss_ / std::max(1.0, words_),
                     .share = static_cast<double>(all_done()) / static_cast<double>(all_texts())});
  }

  std::array<int64_t, 4> identity() const {
    return {static_cast<int64_t>(settings_.seed), settings_.epochs, settings_.batch_tokens,
            static_cast<int64_t>(texts_.ids.size())};
  }

  void save() {
    SafetensorsWriter writer;
    const auto run = identity();
    const std::array<int64_t, 2> position = {epoch_, done_};
    const std::array<double, 3> sums = {loss_, words_, best_};
    writer.add<int64_t>("run", run);
    writer.add<int64_t>("position", position);
    writer.add<double>("sums", sums);
    for (const Parameter* parameter : all()) parameter->save(writer);
    hooks_.checkpoint(writer);
  }

  void load(const SafetensorsFile& file) {
    const auto position = file.vector<int64_t>("position");
    const auto sums = file.vector<double>("sums");
    if (!std::ranges::equal(file.vector<int64_t>("run"), identity()) || position.size() != 2 ||
        sums.size() != 3 || position[0] < 0 || position[0] >= settings_.epochs || position[1] < 0 ||
        position[1] >= texts_of_epoch()) {
      throw InputError("{}: is not a checkpoint of this run: remove it to start anew", file.name());
    }
    for (Parameter* parameter : all()) parameter->load(file);
    epoch_ = position[0];
    done_ = position[1];
    loss_ = sums[0];
    words_ = sums[1];
    best_ = sums[2];
  }

  const Context& context_;
  const PretrainSettings& settings_;
  const Pretrained& start_;
  const TokenRows& texts_;
  const PretrainHooks& hooks_;
  const WordMasker& masker_;
  TransformerParameters parameters_;
  WordHead head_;
  std::vector<uint32_t> learned_, held_out_;  // texts

  TokenBatch batch_tokens_;
  TransformerActivations activations_;
  Tensor chosen_;

  int64_t epoch_ = 0, done_ = 0;  // the epoch, and its texts that were learned from
  double loss_ = 0, words_ = 0;   // of the epoch
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

ordered_json to_json(const PretrainSettings& settings) {
  return {{"seed", settings.seed},
          {"epochs", settings.epochs},
          {"batch_tokens", settings.batch_tokens},
          {"rate", settings.rate},
          {"warm_up", settings.warm_up},
          {"weight_decay", settings.weight_decay},
          {"masked", settings.masked},
          {"held_out", settings.held_out},
          {"bf16", settings.bf16}};
}

TokenRows texts_with_words(TokenRows texts, const WordMasker& masker, const std::string& name) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < texts.rows(); ++i) {
    if (masker.has_word(texts.row(i))) rows.push_back(i);
  }
  if (rows.empty()) {
    throw InputError(
        "{}: no text has a word to mask, as all are empty or of words that the vocabulary does not "
        "have: give other texts, or the vocabulary of their language",
        name);
  }
  return rows.size() == texts.rows() ? std::move(texts) : select_rows(texts, rows);
}

size_t batch_size(const TokenRows& texts, std::span<const uint32_t> order, int64_t most) {
  size_t size = 0;
  for (int64_t tokens = 0; size < order.size(); ++size) {
    tokens += std::ssize(texts.row(order[size]));
    if (size > 0 && tokens > most) break;
  }
  return size;
}

void resolve(PretrainSettings& settings, const TokenRows& texts, bool is_new) {
  const auto rows = static_cast<int64_t>(texts.rows());
  if (settings.held_out < 0) settings.held_out = std::min<int64_t>(2000, rows / 20);
  if (settings.held_out > rows / 2) {
    throw InputError("--held-out {}: of {} texts at most {} may be held out: lower it",
                     settings.held_out, rows, rows / 2);
  }
  if (settings.rate == 0) settings.rate = is_new ? 1e-3F : 1e-4F;
  if (settings.batch_tokens == 0) {
    constexpr int64_t kFewest = 512, kMost = 8192, kSteps = 64;  // the last: wanted of an epoch
    settings.batch_tokens = std::clamp(std::ssize(texts.ids) / kSteps, kFewest, kMost);
  }
  // So many tokens in all: a few hours of two processors for a small transformer.
  constexpr double kTokens = 1e8;
  if (settings.epochs > 0) return;
  const double all = kTokens / static_cast<double>(std::max<size_t>(1, texts.ids.size()));
  settings.epochs = std::clamp<int64_t>(std::llround(all), 1, 40);
}

uint64_t pretraining_memory(const PretrainSettings& settings, const TransformerShape& shape,
                            const TokenRows& texts) {
  constexpr double kOfWeight = 24;  // its start, itself, gradient, two moments, for products
  int64_t tokens = std::min(settings.batch_tokens, std::ssize(texts.ids));
  for (size_t i = 0; i < texts.rows(); ++i) tokens = std::max(tokens, std::ssize(texts.row(i)));
  const Precision precision = settings.bf16 ? Precision::kBFloat16 : Precision::kFloat32;
  // Hidden states of a batch have gradients twice.
  const double masked = double{settings.masked} * static_cast<double>(tokens);
  const double scored = std::min(masked, double{kScoredPlaces});
  const double batch =
      static_cast<double>(tokens * (activation_bytes(shape, precision) + 8 * shape.width)) +
      scored * static_cast<double>(shape.vocabulary) * sizeof(float);
  return static_cast<uint64_t>(kOfWeight * weight_count(shape) + batch +
                               static_cast<double>(texts.ids.size()) * sizeof(uint32_t));
}

Outcome pretrain(const Context& context, const PretrainSettings& settings, const Pretrained& start,
                 const WordMasker& masker, const TokenRows& texts, const PretrainHooks& hooks,
                 std::optional<SafetensorsFile> resume) {
  ELIAS_ASSERT(settings.epochs > 0 && settings.rate > 0 && settings.held_out >= 0 &&
               settings.batch_tokens > 0);
  ELIAS_ASSERT(texts.rows() > 0);
  return Pretrainer(context, settings, start, masker, texts, hooks).run(resume);
}

}  // namespace elias
