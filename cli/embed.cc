// elias embed: the vectors of points, by the encoder of a model or a transformer in a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/errors.h"
#include "base/progress.h"
#include "cli/member_option.h"
#include "cli/model_input.h"
#include "cli/number_range.h"
#include "cli/vector_writer.h"
#include "cli/verbs.h"
#include "encoder/encode_all.h"
#include "encoder/pretrained.h"
#include "model/model_folder.h"
#include "report/model_points.h"

namespace elias::cli {
namespace {

struct Options {
  ModelInput from;
  MemberOption member;
  std::string format, output = "-", pooling, precision = "float32";
  int64_t max_length = 0;
  bool unit = false;
};

constexpr const char* kExamples = R"(Examples:
  The vectors of texts by a model, as a numpy array [texts, width]:
    elias embed --model model/ --input texts.txt --out vectors.npy

  By a transformer as Hugging Face writes it, of unit length, line by line:
    echo 'green tea' | elias embed --model all-MiniLM-L6-v2/ --input - --unit)";

/// What points become vectors by.
class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual const EncoderWeights& encoder() const = 0;
  virtual ReadOptions read_options() const = 0;
  virtual Points points(const SourceInfo& source, PointBatch& batch) = 0;
};

/// A model that `elias fit` wrote; of an ensemble one member.
class ModelEmbedder : public Embedder {
 public:
  ModelEmbedder(const Options& options, const Context& context)
      : options_(options),
        context_(context),
        model_(Model::load(options.from.model, context)),
        member_(options.member.of(model_)) {}

  const EncoderWeights& encoder() const override { return member_.weights.encoder; }
  ReadOptions read_options() const override {
    return options_.from.read_options(model_, ReadOptions::Labels::kIgnored);
  }
  Points points(const SourceInfo& source, PointBatch& batch) override {
    check_points(source, model_);
    return model_points(source, batch.texts, std::move(batch.features), model_, context_.pool());
  }

 private:
  const Options& options_;
  const Context& context_;
  Model model_;
  const Member& member_;
};

/// A transformer in a folder.
class TransformerEmbedder : public Embedder {
 public:
  TransformerEmbedder(const Options& options, const Context& context)
      : options_(options),
        context_(context),
        pretrained_(read_pretrained(options.from.model)),
        wordpiece_(pretrained_.tokens, options.from.model) {
    TransformerShape& shape = pretrained_.weights.shape;
    shape.pooling = pretrained_.pooling.value_or(Pooling::kFirst);
    if (!options.pooling.empty()) {
      shape.pooling = options.pooling == "mean" ? Pooling::kMean : Pooling::kFirst;
    }
    if (options.max_length > shape.positions) {
      throw InputError("--max-length {}: the model has positions for {} tokens alone: lower it",
                       options.max_length, shape.positions);
    }
    for (const std::string& module : pretrained_.left_out) {
      fmt::print(stderr, "elias: {}: its {} is left out: vectors are those without\n",
                 options.from.model, shown(module));
    }
    length_ =
        static_cast<size_t>(options.max_length == 0 ? pretrained_.max_length : options.max_length);
    encoder_ = TransformerEncoder{
        .weights = views_of<ConstTensorView>(pretrained_.weights),
        .unit = pretrained_.unit,
        .precision = options.precision == "bfloat16" ? Precision::kBFloat16 : Precision::kFloat32};
  }

  const EncoderWeights& encoder() const override { return encoder_; }
  ReadOptions read_options() const override {
    return options_.from.text_options(ReadOptions::Labels::kIgnored);
  }
  Points points(const SourceInfo& source, PointBatch& batch) override {
    if (!source.has_text) {
      throw InputError("{}: holds features, but a transformer reads texts: give texts",
                       source.name);
    }
    Points points{.features = {},
                  .tokens = wordpiece_.encode_all(batch.texts, length_, context_.pool())};
    points.features.offsets.assign(batch.texts.rows() + 1, 0);
    return points;
  }

 private:
  const Options& options_;
  const Context& context_;
  Pretrained pretrained_;
  WordPiece wordpiece_;
  size_t length_ = 0;
  EncoderWeights encoder_;
};

void refuse_for_model(const Options& options, const CLI::App& verb) {
  for (const char* name : {"--pooling", "--max-length", "--precision"}) {
    if (verb.count(name) == 0) continue;
    throw InputError("{}: is of a transformer's folder alone: {} is a model, which says it itself",
                     name, options.from.model);
  }
}

void refuse_for_transformer(const Options& options, const CLI::App& verb) {
  if (verb.count("--member") == 0) return;
  throw InputError("--member: is of a model alone: {} is one transformer: leave it out",
                   options.from.model);
}

std::unique_ptr<Embedder> open_embedder(const Options& options, const CLI::App& verb,
                                        const Context& context) {
  // Both have a config.json; what has none is no model, which says in what way.
  const std::string config = options.from.model + "/config.json";
  std::error_code ignored;
  if (std::filesystem::exists(config, ignored) && !is_config_of_model(config)) {
    refuse_for_transformer(options, verb);
    return std::make_unique<TransformerEmbedder>(options, context);
  }
  refuse_for_model(options, verb);
  return std::make_unique<ModelEmbedder>(options, context);
}

void scale_to_unit_length(TensorView rows) {
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.slice(i, i + 1).span<float>();
    double square = 0;
    for (const float value : row) square += double{value} * double{value};
    if (square == 0) continue;
    for (float& value : row) value = static_cast<float>(value / std::sqrt(square));
  }
}

void run(const Options& options, const CLI::App& verb, const Global& global) {
  ThreadPool pool(global.threads);
  const Context context(pool);
  const auto embedder = open_embedder(options, verb, context);
  const bool npy =
      options.format.empty() ? options.output.ends_with(".npy") : options.format == "npy";
  const auto writer =
      create_vectors(options.output, npy ? "npy" : "jsonl", embedder->encoder().width());
  const ReadOptions reading = embedder->read_options();
  LabelSpace ignored;
  const auto reader = open_points(options.from.input, reading, ignored, pool);
  const PackedEncoder encoder(context, embedder->encoder());
  EncoderRoom room;
  Progress progress("embedding", "points", reader->info().promised_rows.value_or(0));
  for (PointBatch batch; reader->next(batch);) {
    const size_t rows = batch.rows();
    const Points points = embedder->points(reader->info(), batch);
    encode_all(context, encoder, room, points, [&](size_t, ConstTensorView phi) {
      Tensor vectors = copy_to(Device::kCpu, phi);
      if (options.unit) scale_to_unit_length(vectors);
      writer->write(vectors);
    });
    if (reading.as_it_comes) writer->flush();
    progress.advance(rows);
  }
  writer->commit();
}

}  // namespace

void add_embed(CLI::App& app, const Global& global) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("embed", "Turn points into vectors by a model's encoder");
  verb->footer(kExamples);
  options->from.add_to(*verb, "whose labels are ignored",
                       "The folder that 'elias fit' wrote, or one of a BERT or DistilBERT model");
  verb->add_option("--out", options->output, "File to write, - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_option("--format", options->format,
                   "npy: a numpy array; jsonl: a vector a line (default: npy if --out ends in "
                   ".npy, else jsonl)")
      ->check(CLI::IsMember({"npy", "jsonl"}).description(""))
      ->type_name("npy|jsonl");
  verb->add_flag("--unit", options->unit, "Scale vectors to unit length");
  options->member.add_to(*verb);
  verb->add_option("--pooling", options->pooling,
                   "Of a transformer's folder: the vector of the first token, or the mean "
                   "(default: as the folder says, else first)")
      ->check(CLI::IsMember({"first", "mean"}).description(""))
      ->type_name("first|mean");
  verb->add_option("--max-length", options->max_length,
                   "Of a transformer's folder: tokens of a text that are read (default: as many as "
                   "the folder says, or all that it can)")
      ->check(number_range(int64_t{3}, int64_t{65536}))
      ->type_name("N");
  verb->add_option("--precision", options->precision,
                   "Of a transformer's folder: that of matrix products; bfloat16 is faster")
      ->check(CLI::IsMember({"float32", "bfloat16"}).description(""))
      ->type_name("float32|bfloat16")
      ->capture_default_str();
  verb->callback([options, verb, &global] { run(*options, *verb, global); });
}

}  // namespace elias::cli
