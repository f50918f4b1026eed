// Files are mapped and verified one after the other, each on all threads; only what is verified is
// parsed, and what is parsed is checked as if it were not: sizes, offsets and ids before their use.
#include "model/model.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/errors.h"
#include "base/mapped_file.h"
#include "data/io/numbers.h"
#include "data/io/stored_tensors.h"
#include "encoder/pretrained.h"
#include "encoder/transformer_file.h"
#include "model/config.h"
#include "model/file_checksum.h"
#include "model/label_names.h"
#include "model/model_folder.h"
#include "model/neighbours_file.h"
#include "model/ranker_file.h"
#include "model/thresholds_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail_file(const std::string& path, std::string_view what) {
  throw InputError("{}: {}: copy the model again, or train it anew", path, what);
}

fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type();
}

// There is no config.json in `folder`: what is there instead?
[[noreturn]] void fail_folder(const std::string& folder) {
  const fs::file_type type = type_of(folder);
  if (type == fs::file_type::not_found) {
    throw InputError("{}: there is no such folder: give the one that 'elias fit' wrote", folder);
  }
  if (type != fs::file_type::directory) {
    throw InputError("{}: is a file: give the folder that 'elias fit' wrote", folder);
  }
  if (type_of(fs::path(folder) / "run" / "lock") == fs::file_type::regular) {
    throw InputError(
        "{}: holds a run that is not finished, or whose config.json is gone: give the command that "
        "began it again (with --overwrite if it was finished)",
        folder);
  }
  throw InputError(
      "{}: has no config.json: it is not a model, or its writing was broken off; give the folder "
      "that 'elias fit' wrote",
      folder);
}

MappedFile open_verified(const std::string& path, const ModelFile& expected, ThreadPool& pool) {
  MappedFile file(path);
  if (file.bytes().size() != expected.bytes) {
    fail_file(path, fmt::format("has {} bytes where config.json says {}; it is damaged or of "
                                "another model",
                                file.bytes().size(), expected.bytes));
  }
  if (file_checksum(file.bytes(), pool) != expected.checksum) {
    fail_file(path, "its checksum is not that in config.json; it is damaged or of another model");
  }
  return file;
}

// [C + 1] offsets that rise from 0 to E, and E labels in [0, L), rising within a row, with scores
// in [0, 1].
void check_graph(const LabelGraphView& graph, const std::string& path, ThreadPool& pool) {
  const auto& offsets = graph.offsets;
  const auto E = static_cast<int64_t>(graph.labels.size());
  if (offsets.front() != 0 || offsets.back() != E ||
      !std::is_sorted(offsets.begin(), offsets.end()) ||
      graph.scores.size() != graph.labels.size()) {
    fail_file(path, "the rows of its graph do not fit its edges");
  }
  constexpr size_t kRowsPerChunk = 64;
  pool.for_chunks(offsets.size() - 1, kRowsPerChunk, [&](size_t, size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) {
      int64_t before = -1;
      for (int64_t e = offsets[c]; e < offsets[c + 1]; ++e) {
        const int64_t label = graph.labels[e];
        if (label <= before || label >= graph.label_count) {
          fail_file(path, fmt::format("row {} of its graph holds label {} after {}, of {} labels",
                                      c, label, before, graph.label_count));
        }
        if (!(graph.scores[e] >= 0 && graph.scores[e] <= 1)) {
          fail_file(path, fmt::format("row {} of its graph holds the score {}, which is not in "
                                      "[0, 1]",
                                      c, graph.scores[e]));
        }
        before = label;
      }
    }
  });
}

}  // namespace

struct Model::Parts {
  Parts(const std::string& model_folder, const Context& model_context, IndexUse use)
      : folder(model_folder), context(model_context) {
    load_config();
    members.resize(config.search.size());
    for (size_t m = 0; m < members.size(); ++m) {
      members[m].search = config.search[m];
      load_encoder(m);
      load_classifiers(m);
      load_index(m);
      load_neighbours(m);
    }
    load_fusion();
    load_ranker();
    load_thresholds();
    load_features();
    load_tokens();
    load_names();
    make_predictor(use);
  }

  std::string path_of(const std::string& name) const { return (fs::path(folder) / name).string(); }

  void load_config() {
    const std::string path = path_of("config.json");
    if (type_of(path) == fs::file_type::not_found) fail_folder(folder);
    const MappedFile file(path);  // a path that cannot be looked at is told here
    config = parse_config(text_of(file.bytes()), path);
    sizes.emplace_back("config.json", file.bytes().size());
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    for (const int64_t size : {config.features, config.width, config.labels}) {
      if (size < 1 || size > kMost) fail_file(path, fmt::format("a size of {} cannot be", size));
    }
    const int64_t fewest_clusters = config.has_index() ? 1 : 0;
    if (config.clusters < fewest_clusters || config.clusters > kMost || config.layers < 0 ||
        config.layers > kMost) {
      fail_file(path,
                fmt::format("{} clusters and {} layers cannot be", config.clusters, config.layers));
    }
  }

  /// The bytes of a file that the model must have.
  const MappedFile& open(const std::string& name) {
    const ModelFile* expected = config.find(name);
    if (expected == nullptr) fail_file(path_of("config.json"), "names no " + name);
    mapped.push_back(
        std::make_unique<MappedFile>(open_verified(path_of(name), *expected, context.pool())));
    sizes.emplace_back(name, expected->bytes);
    return *mapped.back();
  }

  SafetensorsFile open_tensors(const std::string& name) {
    const MappedFile& file = open(name);
    return {file.bytes(), file.path()};
  }

  void load_encoder(size_t m) {
    const SafetensorsFile file = open_tensors(member_file("encoder", m));
    members[m].weights.features = config.features;
    if (config.transformer) return load_transformer(m, file);
    const int64_t D = config.width;
    const auto vector = [&](const std::string& name) {
      return view_of(file, name, DType::kFloat32, {D});
    };
    BagWeights<ConstTensorView> encoder{
        .table = view_of(file, "table", DType::kFloat32, {config.features, D}),
        .gain = vector("gain"),
        .shift = vector("shift"),
        .layers = {},
        .form = config.encoder};
    for (int64_t i = 0; i < config.layers; ++i) {
      const std::string prefix = fmt::format("layers.{}.", i);
      encoder.layers.push_back(
          {.weights = view_of(file, prefix + "weights", DType::kFloat32, {D, D}),
           .bias = vector(prefix + "bias"),
           .gain = vector(prefix + "gain"),
           .shift = vector(prefix + "shift")});
    }
    members[m].weights.encoder = encoder;
  }

  void load_transformer(size_t m, const SafetensorsFile& file) {
    transformers.push_back(std::make_unique<TransformerWeights<Tensor>>(
        read_transformer(file, config.transformer->config)));
    members[m].weights.encoder =
        TransformerEncoder{.weights = views_of<ConstTensorView>(*transformers.back()),
                           .unit = config.transformer->unit,
                           .precision = config.transformer->precision};
  }

  void load_tokens() {
    if (!config.transformer) return;
    const MappedFile& file = open("tokenizer.json");
    tokens = {.transformer = config.transformer->config,
              .words = parse_tokenizer_json(text_of(file.bytes()), file.path()),
              .max_length = config.transformer->max_length};
    tokens->words.pad_token = config.transformer->pad_token;
    tokens->words.mask_token = config.transformer->mask_token;
    check_tokens(tokens->words, tokens->transformer.shape, file.path());
    wordpiece.emplace(tokens->words, file.path());
    if (static_cast<size_t>(tokens->max_length) < wordpiece->special_count()) {
      fail_file(file.path(), "has more special tokens than a text may have");
    }
  }

  void load_classifiers(size_t m) {
    const SafetensorsFile file = open_tensors(member_file("classifiers", m));
    PredictorWeights& weights = members[m].weights;
    const bool halves = view_of(file, "weights").dtype() == DType::kBFloat16;
    weights.label_weights = view_of(file, "weights", halves ? DType::kBFloat16 : DType::kFloat32,
                                    {config.labels, config.width});
    weights.label_bias = view_of(file, "bias", DType::kFloat32, {config.labels});
  }

  void load_index(size_t m) {
    const SafetensorsFile file = open_tensors(member_file("index", m));
    auto& [weights, search, stage1_clusters] = members[m];
    const auto L = static_cast<size_t>(config.labels);
    if (m == 0) {
      label_counts = file.vector<uint64_t>("label_counts");
      if (label_counts.size() != L) fail_file(file.name(), "has not one count for each label");
    }
    if (file.tensors().contains("stage1_clusters")) {
      stage1_clusters = file.vector<int32_t>("stage1_clusters");
      const bool good =
          stage1_clusters.size() == L &&
          std::all_of(stage1_clusters.begin(), stage1_clusters.end(), [&](int32_t cluster) {
            return cluster >= 0 && cluster < std::max<int64_t>(1, config.clusters);
          });
      if (!good) fail_file(file.name(), "has not one cluster of stage 1 for each label");
    }
    if (!config.has_index()) return;
    const int64_t C = config.clusters;
    weights.cluster_weights = view_of(file, "clusters.weights", DType::kFloat32, {C, config.width});
    weights.cluster_bias = view_of(file, "clusters.bias", DType::kFloat32, {C});
    weights.graph = {.label_count = config.labels,
                     .offsets = file.vector<int64_t>("graph.offsets"),
                     .labels = file.vector<int32_t>("graph.labels"),
                     .scores = file.vector<float>("graph.scores")};
    if (weights.graph.clusters() != C) fail_file(file.name(), "has not one row for each cluster");
    check_graph(weights.graph, file.name(), context.pool());
  }

  void load_neighbours(size_t m) {
    if (config.neighbours.empty()) return;
    const SafetensorsFile file = open_tensors(member_file("neighbours", m));
    members[m].weights.neighbours =
        read_neighbours(file, config.labels, config.neighbours[m].links, context.pool());
  }

  void load_fusion() {
    fusion.kind = config.fusion;
    if (fusion.kind != FusionKind::kLearned) return;
    fusion.learned = read_logistic(open_tensors("fusion.safetensors"), "", members.size());
    check_fusion(fusion, members.size(), path_of("fusion.safetensors"));
  }

  void load_ranker() {
    if (!config.ranker) return;
    ranker = read_ranker(open_tensors("ranker.safetensors"), *config.ranker);
    ranker->label_counts = label_counts;
    check_ranker(*ranker, config.features, config.width, config.labels,
                 path_of("ranker.safetensors"), context.pool());
  }

  void load_thresholds() {
    if (!config.thresholds || config.thresholds->own == 0) return;
    const auto* const name = std::ranges::find_if(
        kThresholdFiles, [&](const char* file) { return config.find(file) != nullptr; });
    if (name == kThresholdFiles.end()) {
      fail_file(path_of("config.json"), "names no file of thresholds");
    }
    config.thresholds->by_label =
        read_thresholds(open_tensors(*name), static_cast<uint64_t>(config.labels));
  }

  void load_features() {
    // A transformer reads texts, so its models have features of them.
    if (config.find("features.safetensors") == nullptr && !config.transformer) return;
    tfidf.emplace(Tfidf::load(open_tensors("features.safetensors")));
    if (tfidf->features() == static_cast<uint64_t>(config.features)) return;
    fail_file(path_of("features.safetensors"), fmt::format("has {} features, but the encoder {}",
                                                           tfidf->features(), config.features));
  }

  void load_names() {
    if (config.naming == LabelNaming::kIds) return;
    const MappedFile& file = open("labels.txt");
    names.emplace(text_of(file.bytes()), config.labels, file.path());
  }

  void make_predictor(IndexUse use) try {
    std::vector<Member> used = members;
    for (Member& member : used) {
      if (use == IndexUse::kExact) member.weights.neighbours = {};
    }
    predictor.emplace(context, used, fusion, ranker);
  } catch (const InputError& error) {
    fail_file(folder, error.what());
  }

  std::string folder;
  Context context;
  ModelConfig config;
  std::vector<std::unique_ptr<MappedFile>> mapped;
  std::vector<std::pair<std::string, uint64_t>> sizes;
  std::vector<Member> members;
  std::vector<std::unique_ptr<TransformerWeights<Tensor>>> transformers;  // of members
  std::optional<TokenInput> tokens;
  std::optional<WordPiece> wordpiece;
  Fusion fusion;
  std::span<const uint64_t> label_counts;
  std::optional<RankerPart> ranker;
  std::optional<Tfidf> tfidf;
  std::optional<LabelNames> names;
  std::optional<Predictor> predictor;
};

Model::Model(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Model::Model(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::load(const std::string& folder, const Context& context, IndexUse use) {
  Model model(std::make_unique<Parts>(folder, context, use));
  if (use == IndexUse::kExact && model.first().weights.cluster_weights) {
    throw InputError(
        "{}: finds labels by clusters, whose scores are part of its own, so that its index cannot "
        "be 'exact': leave that out",
        folder);
  }
  return model;
}

const ModelConfig& Model::config() const { return parts_->config; }
const std::string& Model::method() const { return parts_->config.method; }
const std::vector<Member>& Model::members() const { return parts_->members; }
const Fusion& Model::fusion() const { return parts_->fusion; }
const Predictor& Model::predictor() const { return *parts_->predictor; }
const RankerPart* Model::ranker() const { return parts_->ranker ? &*parts_->ranker : nullptr; }
const Thresholds* Model::thresholds() const {
  return parts_->config.thresholds ? &*parts_->config.thresholds : nullptr;
}
const nlohmann::ordered_json& Model::training() const { return parts_->config.training; }
uint64_t Model::points() const { return parts_->config.points; }
uint64_t Model::features() const { return static_cast<uint64_t>(parts_->config.features); }
uint64_t Model::labels() const { return static_cast<uint64_t>(parts_->config.labels); }
std::span<const uint64_t> Model::label_counts() const { return parts_->label_counts; }
const Tfidf* Model::tfidf() const { return parts_->tfidf ? &*parts_->tfidf : nullptr; }
const TokenInput* Model::tokens() const { return parts_->tokens ? &*parts_->tokens : nullptr; }

Points Model::points_of(const TextRows& texts, ThreadPool& pool) const {
  ELIAS_ASSERT(parts_->tfidf.has_value());
  Points points{.features = parts_->tfidf->transform(texts, pool), .tokens = {}};
  if (parts_->wordpiece) {
    const auto most = static_cast<size_t>(parts_->tokens->max_length);
    points.tokens = parts_->wordpiece->encode_all(texts, most, pool);
  }
  return points;
}

const std::vector<std::pair<std::string, uint64_t>>& Model::files() const { return parts_->sizes; }

bool Model::has_names() const { return parts_->names.has_value(); }

std::string Model::label_name(uint32_t label) const {
  ELIAS_ASSERT(label < labels());
  return parts_->names ? std::string((*parts_->names)[label]) : std::to_string(label);
}

std::optional<uint32_t> Model::find_label(std::string_view name) const {
  if (parts_->names) return parts_->names->find(name);
  uint64_t id = 0;
  const char* p = name.data();
  const bool number = parse_integer(p, name.data() + name.size(), id) &&
                      p == name.data() + name.size() && id < labels();
  return number ? std::optional(static_cast<uint32_t>(id)) : std::nullopt;
}

LabelSpace Model::label_space() const {
  LabelSpace space;
  if (!parts_->names) {
    space.fix_form(LabelForm::kIds, "the model");
    space.cover_ids(labels());
    return space;
  }
  const LabelNames& names = *parts_->names;
  if (parts_->config.naming == LabelNaming::kFile) {
    return LabelSpace::read(bytes_in_memory(names.text(), names.path()), "the model");
  }
  space.fix_form(LabelForm::kNames, "the model");
  for (uint32_t label = 0; label < labels(); ++label)
    space.resolve_name(names[label], names.path());
  return space;
}

}  // namespace elias
