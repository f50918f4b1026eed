// Every file appears whole or not at all, and config.json, which vouches for the others, last: a
// folder whose writing was broken off has none, and is no model.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "data/io/stored_tensors.h"
#include "encoder/transformer_file.h"
#include "model/config.h"
#include "model/label_names.h"
#include "model/model.h"
#include "model/model_folder.h"
#include "model/neighbours_file.h"
#include "model/ranker_file.h"
#include "model/thresholds_file.h"
#include "model/written_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

class ModelWriter {
 public:
  ModelWriter(const std::string& folder, const ModelParts& parts) : folder_(folder), parts_(parts) {
    std::error_code error;
    fs::create_directories(folder, error);
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
      throw InputError("{}: cannot be made ({}): name a folder for the model", folder,
                       error.message());
    }
    fs::remove(path_of("config.json"), ignored);  // of an older model, as are the others
    for (const std::string& name : model_files()) fs::remove(path_of(name), ignored);
  }

  void write(LabelStorage storage) {
    if (parts_.tfidf != nullptr) {
      parts_.tfidf->save(path_of("features.safetensors"));
      add("features.safetensors");
    }
    for (size_t m = 0; m < parts_.members.size(); ++m) {
      write_encoder(m);
      write_index(m);
      write_classifiers(m, storage);
      write_neighbours(m);
    }
    if (parts_.members.size() > 1 && parts_.fusion.kind == FusionKind::kLearned) {
      SafetensorsWriter writer;
      add_logistic(parts_.fusion.learned, "", writer);
      finish(writer, "fusion.safetensors");
    }
    if (parts_.ranker != nullptr) {
      SafetensorsWriter writer;
      const StoredMix mix(parts_.ranker->mix);
      add_ranker(*parts_.ranker, mix, writer);
      finish(writer, "ranker.safetensors");
    }
    if (parts_.thresholds != nullptr && parts_.thresholds->own > 0) {
      SafetensorsWriter writer;
      add_thresholds(*parts_.thresholds, writer);
      finish(writer, kThresholdFiles.front());
    }
    if (parts_.tokens != nullptr) {
      write_file(path_of("tokenizer.json"), tokenizer_json(parts_.tokens->words));
      add("tokenizer.json");
    }
    if (parts_.labels->has_names()) {
      write_file(path_of("labels.txt"), label_file_text(*parts_.labels));
      add("labels.txt");
    }
    write_file(path_of("config.json"), config_text(config()));
  }

 private:
  std::string path_of(const std::string& name) const { return (fs::path(folder_) / name).string(); }

  void write_encoder(size_t m) {
    const EncoderWeights& weights = parts_.members[m].weights.encoder;
    SafetensorsWriter writer;
    if (weights.reads_tokens()) {
      add_transformer(weights.transformer().weights, parts_.tokens->transformer.architecture,
                      writer);
      return finish(writer, member_file("encoder", m));
    }
    const BagWeights<ConstTensorView>& encoder = weights.bag();
    writer.add("table", stored(encoder.table));
    writer.add("gain", stored(encoder.gain));
    writer.add("shift", stored(encoder.shift));
    for (size_t i = 0; i < encoder.layers.size(); ++i) {
      const BagLayer<ConstTensorView>& layer = encoder.layers[i];
      writer.add(fmt::format("layers.{}.weights", i), stored(layer.weights));
      writer.add(fmt::format("layers.{}.bias", i), stored(layer.bias));
      writer.add(fmt::format("layers.{}.gain", i), stored(layer.gain));
      writer.add(fmt::format("layers.{}.shift", i), stored(layer.shift));
    }
    finish(writer, member_file("encoder", m));
  }

  void write_index(size_t m) {
    const auto& [weights, search, stage1_clusters] = parts_.members[m];
    SafetensorsWriter writer;
    if (m == 0) writer.add("label_counts", parts_.label_counts);
    if (!stage1_clusters.empty()) writer.add("stage1_clusters", stage1_clusters);
    if (weights.cluster_weights) {
      writer.add("clusters.weights", stored(weights.cluster_weights));
      writer.add("clusters.bias", stored(weights.cluster_bias));
      writer.add("graph.offsets", weights.graph.offsets);
      writer.add("graph.labels", weights.graph.labels);
      writer.add("graph.scores", weights.graph.scores);
    }
    finish(writer, member_file("index", m));
  }

  void write_classifiers(size_t m, LabelStorage storage) {
    const ConstTensorView weights = parts_.members[m].weights.label_weights;
    Tensor halves;
    if (storage == LabelStorage::kBFloat16 && weights.dtype() == DType::kFloat32) {
      halves = Tensor(weights.shape(), DType::kBFloat16);
      const auto values = weights.span<float>();
      std::transform(values.begin(), values.end(), halves.span<BFloat16>().begin(), to_bfloat16);
    }
    SafetensorsWriter writer;
    writer.add("weights", stored(halves ? ConstTensorView(halves) : weights));
    writer.add("bias", stored(parts_.members[m].weights.label_bias));
    finish(writer, member_file("classifiers", m));
  }

  void write_neighbours(size_t m) {
    const NeighbourGraphView& graph = parts_.members[m].weights.neighbours;
    if (!graph) return;
    SafetensorsWriter writer;
    add_neighbours(graph, writer);
    finish(writer, member_file("neighbours", m));
  }

  void finish(SafetensorsWriter& writer, const std::string& name) {
    write_tensors(writer, path_of(name));
    add(name);
  }

  // Notes a file that was written.
  void add(const std::string& name) { files_.push_back(described_file(folder_, name)); }

  ModelConfig config() const {
    const PredictorWeights& weights = parts_.members.front().weights;
    const bool has_index = static_cast<bool>(weights.cluster_weights);
    ModelConfig config;
    config.method = parts_.method;
    const bool has_transformer = weights.encoder.reads_tokens();
    config.features = has_transformer ? weights.features : weights.encoder.bag().table.rows();
    config.width = weights.encoder.width();
    config.layers = weights.encoder.layers();
    config.clusters = has_index ? weights.cluster_weights.rows() : 0;
    config.labels = weights.label_weights.rows();
    if (has_transformer) {
      const TransformerEncoder& encoder = weights.encoder.transformer();
      config.transformer = {.config = parts_.tokens->transformer,
                            .max_length = parts_.tokens->max_length,
                            .unit = encoder.unit,
                            .precision = encoder.precision,
                            .pad_token = parts_.tokens->words.pad_token,
                            .mask_token = parts_.tokens->words.mask_token};
    } else {
      config.encoder = weights.encoder.bag().form;
    }
    config.points = parts_.points;
    if (parts_.labels->has_names()) {
      config.naming = parts_.labels->closed() ? LabelNaming::kFile : LabelNaming::kNames;
    }
    config.search.clear();
    for (const Member& member : parts_.members) {
      config.search.push_back(member.search);
      const NeighbourGraphView& graph = member.weights.neighbours;
      if (graph) config.neighbours.push_back({.links = graph.most_links, .ef = member.search.ef});
    }
    config.fusion = parts_.fusion.kind;
    if (parts_.ranker != nullptr) config.ranker = config_of(*parts_.ranker);
    if (parts_.thresholds != nullptr) config.thresholds = *parts_.thresholds;
    config.training = parts_.training;
    config.files = files_;
    ELIAS_ASSERT(config.has_index() == has_index);
    return config;
  }

  std::string folder_;
  const ModelParts& parts_;
  std::vector<ModelFile> files_;
};

void check_parts(const ModelParts& parts) {
  ELIAS_ASSERT(!parts.members.empty() && parts.members.size() <= kMostMembers);
  const auto L = static_cast<size_t>(parts.members.front().weights.label_weights.rows());
  ELIAS_ASSERT(parts.labels != nullptr && parts.label_counts.size() == L);
  for (const Member& member : parts.members) {
    ELIAS_ASSERT(member.weights.encoder.reads_tokens() == (parts.tokens != nullptr));
    ELIAS_ASSERT(member.weights.label_weights.rows() == static_cast<int64_t>(L));
    ELIAS_ASSERT(static_cast<bool>(member.weights.neighbours) ==
                 static_cast<bool>(parts.members.front().weights.neighbours));
    ELIAS_ASSERT(member.stage1_clusters.empty() || member.stage1_clusters.size() == L);
  }
  ELIAS_ASSERT(!parts.labels->has_names() || parts.labels->names().size() == L);
  check_label_names(*parts.labels);
}

}  // namespace

ModelParts parts_of(const Model& model, const LabelSpace& labels) {
  return {.method = model.method(),
          .members = model.members(),
          .fusion = model.fusion(),
          .ranker = model.ranker(),
          .thresholds = model.thresholds(),
          .tfidf = model.tfidf(),
          .tokens = model.tokens(),
          .labels = &labels,
          .label_counts = model.label_counts(),
          .points = model.points(),
          .training = model.training()};
}

void write_model(const std::string& folder, const ModelParts& parts, LabelStorage storage) {
  check_parts(parts);
  ModelWriter(folder, parts).write(storage);
}

}  // namespace elias
