// The checksum is the hash of the text in which its own digits are zeros, so that not a byte can
// change. The version is looked at before it: a newer format may well have another checksum.
#include "model/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/hash.h"
#include "base/readable.h"
#include "model/config_values.h"
#include "model/model_folder.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;
using config_values::named;
using config_values::real;
using config_values::whole;

constexpr std::string_view kFormat = "elias-model";
constexpr int kNewest = 4;
constexpr std::string_view kField = "\"checksum\": \"";
constexpr size_t kDigits = 16;
constexpr std::array<std::string_view, 3> kNamings = {"ids", "names", "file"};

// Where the digits of the text's own checksum are; npos if there are none.
size_t digits_of(std::string_view text) {
  const size_t field = text.rfind(kField);
  if (field == std::string_view::npos || field + kField.size() + kDigits > text.size()) {
    return std::string_view::npos;
  }
  return field + kField.size();
}

std::string checksum_of(std::string text, size_t digits) {
  text.replace(digits, kDigits, kDigits, '0');
  return fmt::format("{:016x}", hash_bytes(text));
}

RankerConfig ranker_from(const Json& json, const std::string& path) {
  return {.input = {.parts = named<RankerParts>(json, "input", kRankerPartsNames, path),
                    .most_words = whole(json, "words", path)},
          .top = whole(json, "top", path),
          .loss = named<RankerLoss>(json, "loss", kRankerLossNames, path),
          .mix = named<MixKind>(json, "mix", kMixNames, path)};
}

Json to_json(const RankerConfig& ranker) {
  return {{"input", kRankerPartsNames[static_cast<size_t>(ranker.input.parts)]},
          {"words", ranker.input.most_words},
          {"top", ranker.top},
          {"loss", kRankerLossNames[static_cast<size_t>(ranker.loss)]},
          {"mix", kMixNames[static_cast<size_t>(ranker.mix)]}};
}

constexpr std::array<std::string_view, 2> kNormalisations = {"layer", "weight"};
constexpr std::array<std::string_view, 2> kActivations = {"linear", "relu"};

BagForm encoder_from(const Json& json, const std::string& path) {
  return {.layer_norm = named<int>(json, "normalisation", kNormalisations, path) == 0,
          .relu = named<int>(json, "activation", kActivations, path) == 1,
          .unit = json.at("unit").get<bool>()};
}

Json to_json(const BagForm& form) {
  return {{"normalisation", kNormalisations[form.layer_norm ? 0 : 1]},
          {"activation", kActivations[form.relu ? 1 : 0]},
          {"unit", form.unit}};
}

Thresholds thresholds_from(const Json& json, const std::string& path) {
  Thresholds thresholds;
  thresholds.goal.aim = named<ThresholdAim>(json, "for", kThresholdAimNames, path);
  if (thresholds.goal.aim != ThresholdAim::kF1) {
    thresholds.goal.share = real(json, "share", path);
  }
  const int64_t own = whole(json, "own", path);
  if (own < 0) {
    throw InputError("{}: thresholds of {} labels cannot be: copy the model again", path, own);
  }
  thresholds.common = static_cast<float>(real(json, "common", path));
  thresholds.own = static_cast<uint64_t>(own);
  return thresholds;
}

Json to_json(const Thresholds& thresholds) {
  Json json = {{"for", kThresholdAimNames[static_cast<size_t>(thresholds.goal.aim)]}};
  if (thresholds.goal.aim != ThresholdAim::kF1) json["share"] = thresholds.goal.share;
  json["common"] = shortest(thresholds.common);
  json["own"] = thresholds.own;
  return json;
}

/// The lowest version whose programs read it.
int version_of(const ModelConfig& config) {
  if (config.transformer) return 4;
  if (config.method == "glas" || !(config.encoder == BagForm()) || !config.neighbours.empty()) {
    return 3;
  }
  const bool own_thresholds = config.thresholds && config.thresholds->own > 0;
  return config.is_ensemble() || own_thresholds ? 2 : 1;
}

void check_version(const Json& json, const std::string& path) {
  if (json.at("format").get<std::string>() != kFormat) {
    throw InputError("{}: holds {}, not {}: give the folder that 'elias fit' wrote", path,
                     shown(json.at("format").get<std::string>()), kFormat);
  }
  const auto version = whole(json, "version", path);
  if (version > kNewest) {
    throw InputError(
        "{}: the model has format version {}, and this program reads versions up to {}: update "
        "elias",
        path, version, kNewest);
  }
}

void check_checksum(std::string_view text, const std::string& path) {
  const size_t digits = digits_of(text);
  if (digits != std::string_view::npos &&
      checksum_of(std::string(text), digits) == text.substr(digits, kDigits)) {
    return;
  }
  throw InputError(
      "{}: is damaged or was edited: its checksum does not match; copy the model again", path);
}

SearchSettings search_from(const Json& json, const std::string& path) {
  return {.alpha = static_cast<float>(real(json, "alpha", path)),
          .beam = whole(json, "beam", path),
          .shortlist = whole(json, "shortlist", path),
          .gamma = static_cast<float>(real(json, "gamma", path))};
}

Json to_json(const SearchSettings& search) {
  return {{"alpha", shortest(search.alpha)},
          {"beam", search.beam},
          {"shortlist", search.shortlist},
          {"gamma", shortest(search.gamma)}};
}

NeighbourConfig neighbours_from(const Json& json, const std::string& path) {
  const NeighbourConfig config{.links = whole(json, "links", path), .ef = whole(json, "ef", path)};
  constexpr int64_t kMostLinks = 1 << 16, kMostKept = std::numeric_limits<int32_t>::max();
  if (config.links < 2 || config.links > kMostLinks || config.ef < 1 || config.ef > kMostKept) {
    throw InputError("{}: neighbours with {} links and ef {} cannot be: copy the model again", path,
                     config.links, config.ef);
  }
  return config;
}

Json to_json(const NeighbourConfig& neighbours) {
  return {{"links", neighbours.links}, {"ef", neighbours.ef}};
}

void read_neighbours(const Json& json, const std::string& path, ModelConfig& config) {
  if (!json.contains("neighbours")) return;
  const Json& all = json.at("neighbours");
  const size_t members = config.search.size();
  if (config.has_index() || (config.is_ensemble() && all.size() != members)) {
    throw InputError("{}: has neighbours for {} of {} members: copy the model again", path,
                     config.has_index() ? 0 : all.size(), members);
  }
  config.neighbours.resize(members);
  for (size_t m = 0; m < members; ++m) {
    config.neighbours[m] = neighbours_from(config.is_ensemble() ? all.at(m) : all, path);
    config.search[m].ef = config.neighbours[m].ef;
  }
}

void write_neighbours(const ModelConfig& config, Json& json) {
  if (config.neighbours.empty()) return;
  if (!config.is_ensemble()) {
    json["neighbours"] = to_json(config.neighbours.front());
    return;
  }
  json["neighbours"] = Json::array();
  for (const NeighbourConfig& one : config.neighbours) json["neighbours"].push_back(to_json(one));
}

void read_members(const Json& json, const std::string& path, ModelConfig& config) {
  if (!json.contains("ensemble")) {
    if (config.has_index()) config.search = {search_from(json.at("search"), path)};
    return;
  }
  const Json& ensemble = json.at("ensemble");
  const int64_t members = whole(ensemble, "members", path);
  const auto given = config.has_index() ? static_cast<int64_t>(json.at("search").size()) : members;
  if (members < 2 || members > static_cast<int64_t>(kMostMembers) || given != members) {
    throw InputError(
        "{}: an ensemble of {} members with {} of them described cannot be: copy the "
        "model again",
        path, members, given);
  }
  config.fusion = named<FusionKind>(ensemble, "fusion", kFusionNames, path);
  config.search.resize(static_cast<size_t>(members));
  if (!config.has_index()) return;
  for (size_t m = 0; m < config.search.size(); ++m) {
    config.search[m] = search_from(json.at("search").at(m), path);
  }
}

void write_members(const ModelConfig& config, Json& json) {
  if (config.is_ensemble()) {
    json["ensemble"] = {{"members", config.search.size()},
                        {"fusion", kFusionNames[static_cast<size_t>(config.fusion)]}};
  }
  if (!config.has_index()) return;
  if (!config.is_ensemble()) {
    json["search"] = to_json(config.search.front());
    return;
  }
  json["search"] = Json::array();
  for (const SearchSettings& search : config.search) json["search"].push_back(to_json(search));
}

ModelConfig from_json(const Json& json, const std::string& path) {
  ModelConfig config;
  config.method = json.at("method").get<std::string>();
  const Json& sizes = json.at("sizes");
  config.features = whole(sizes, "features", path);
  config.width = whole(sizes, "width", path);
  config.layers = whole(sizes, "layers", path);
  config.clusters = whole(sizes, "clusters", path);
  config.labels = whole(sizes, "labels", path);
  config.points = static_cast<uint64_t>(whole(sizes, "points", path));
  config.naming = named<LabelNaming>(json, "label_naming", kNamings, path);
  if (json.contains("encoder") && json.contains("transformer")) {
    throw InputError("{}: has both an encoder and a transformer: copy the model again", path);
  }
  if (json.contains("encoder")) config.encoder = encoder_from(json.at("encoder"), path);
  if (json.contains("transformer")) {
    config.transformer =
        transformer_from(json.at("transformer"), config.width, config.layers, path);
  }
  read_members(json, path, config);
  read_neighbours(json, path, config);
  if (json.contains("ranker")) config.ranker = ranker_from(json.at("ranker"), path);
  if (json.contains("threshold")) {
    config.thresholds = thresholds_from(json.at("threshold"), path);
  }
  config.training = json.at("training");
  for (const auto& [name, file] : json.at("files").items()) {
    config.files.push_back({name, static_cast<uint64_t>(whole(file, "bytes", path)),
                            file.at("checksum").get<std::string>()});
  }
  const auto known_file = [](const ModelFile& file) {
    return is_model_file(file.name) && file.name != model_files().back();
  };
  const bool known =
      (config.method == "elias" || config.method == "ova" || config.method == "glas") &&
      std::all_of(config.files.begin(), config.files.end(), known_file);
  if (!known) {
    throw InputError("{}: describes a model of a kind that is not known here: update elias", path);
  }
  return config;
}

}  // namespace

const ModelFile* ModelConfig::find(std::string_view name) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const ModelFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

std::string config_text(const ModelConfig& config) {
  Json json = {{"format", kFormat}, {"version", version_of(config)}, {"method", config.method}};
  json["sizes"] = {{"points", config.points},     {"features", config.features},
                   {"width", config.width},       {"layers", config.layers},
                   {"clusters", config.clusters}, {"labels", config.labels}};
  json["label_naming"] = kNamings[static_cast<size_t>(config.naming)];
  if (!(config.encoder == BagForm())) json["encoder"] = to_json(config.encoder);
  if (config.transformer) json["transformer"] = to_json(*config.transformer);
  write_members(config, json);
  write_neighbours(config, json);
  if (config.ranker) json["ranker"] = to_json(*config.ranker);
  if (config.thresholds) json["threshold"] = to_json(*config.thresholds);
  json["training"] = config.training;
  json["files"] = Json::object();
  for (const ModelFile& file : config.files) {
    json["files"][file.name] = {{"bytes", file.bytes}, {"checksum", file.checksum}};
  }
  json["checksum"] = std::string(kDigits, '0');
  std::string text = json.dump(2) + "\n";
  const size_t digits = digits_of(text);
  ELIAS_ASSERT(digits != std::string::npos);
  return text.replace(digits, kDigits, checksum_of(text, digits));
}

ModelConfig parse_config(std::string_view text, const std::string& path) try {
  const Json json = Json::parse(text);
  if (json.contains("model_type")) {
    throw InputError(
        "{}: is the config.json of a transformer, not of a model: learn a model with it by elias "
        "fit "
        "--encoder, or take its vectors by elias embed",
        path);
  }
  check_version(json, path);
  check_checksum(text, path);
  return from_json(json, path);
} catch (const Json::exception&) {
  throw InputError("{}: is damaged, or not the config.json of a model: copy the model again", path);
}

}  // namespace elias
