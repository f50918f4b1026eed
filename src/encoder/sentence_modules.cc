#include "encoder/sentence_modules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "data/io/json_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kModules = "modules.json";
constexpr const char* kSentences = "sentence_bert_config.json";
constexpr const char* kOldSentences = "sentence_distilbert_config.json";
constexpr const char* kPooling = "1_Pooling/config.json";
constexpr const char* kNormalize = "2_Normalize/config.json";
constexpr const char* kRemedy = "copy the folder again";

std::string path_in(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

std::string mode_text(const Json& mode) {
  return mode.is_string() ? mode.get<std::string>() : mode.dump();
}

/// {"pooling_mode": "mean"} or, if several are put side by side, a list of them; of older versions
/// a flag for each: {"pooling_mode_mean_tokens": true}.
std::vector<std::string> pooling_modes(const Json& json) {
  std::vector<std::string> modes;
  if (json.contains("pooling_mode")) {
    const Json& said = json.at("pooling_mode");
    if (!said.is_array()) return {mode_text(said)};
    std::ranges::transform(said, std::back_inserter(modes), mode_text);
    return modes;
  }
  for (const auto& [key, value] : json.items()) {
    if (key.starts_with("pooling_mode_") && value == true) modes.push_back(key);
  }
  return modes;
}

std::optional<Pooling> read_pooling(const std::string& folder) {
  const std::string path = path_in(folder, kPooling);
  const Json json = read_json_if_there(path, kRemedy);
  if (json.is_null()) return std::nullopt;
  std::vector<std::string> modes = pooling_modes(json);
  const auto is_only = [&](const char* name, const char* flag) {
    return modes.size() == 1 && (modes[0] == name || modes[0] == flag);
  };
  if (is_only("mean", "pooling_mode_mean_tokens")) return Pooling::kMean;
  if (is_only("cls", "pooling_mode_cls_token")) return Pooling::kFirst;
  for (std::string& mode : modes) mode = shown(mode);
  throw InputError(
      "{}: asks for {}, but only one of cls and mean is known here: put {{\"pooling_mode\": "
      "\"mean\"}} or \"cls\" there, whichever is to be taken",
      path, modes.empty() ? "nothing" : fmt::format("{}", fmt::join(modes, " and ")));
}

/// The module's class, wherever in their package it is by now; empty if there is none.
std::string class_of(const Json& module) {
  const std::string type = text_in(module, "type").value_or("");
  return type.substr(type.rfind('.') + 1);
}

bool is_normalize(const Json& module) { return class_of(module) == "Normalize"; }

std::vector<std::string> unknown_classes(const Json& modules) {
  std::vector<std::string> unknown;
  for (const Json& module : modules) {
    const std::string name = class_of(module);
    if (!name.empty() && name != "Transformer" && name != "Pooling" && name != "Normalize")
      unknown.push_back(name);
  }
  return unknown;
}

Json module_json(int index, const char* path, const char* type) {
  return {{"idx", index},
          {"name", std::to_string(index)},
          {"path", path},
          {"type", fmt::format("sentence_transformers.models.{}", type)}};
}

Json modules_json(bool unit) {
  Json modules = {module_json(0, "", "Transformer"), module_json(1, "1_Pooling", "Pooling")};
  if (unit) modules.push_back(module_json(2, "2_Normalize", "Normalize"));
  return modules;
}

/// In the older form, which newer versions read as well.
Json pooling_json(Pooling pooling, int64_t width) {
  return {{"word_embedding_dimension", width},
          {"pooling_mode_cls_token", pooling == Pooling::kFirst},
          {"pooling_mode_mean_tokens", pooling == Pooling::kMean},
          {"pooling_mode_max_tokens", false},
          {"pooling_mode_mean_sqrt_len_tokens", false}};
}

void write_json(const std::string& folder, const char* name, const Json& json) {
  const std::string path = path_in(folder, name);
  std::error_code told_by_the_file;
  fs::create_directories(fs::path(path).parent_path(), told_by_the_file);
  write_file(path, json.dump(2) + "\n");
}

}  // namespace

SentenceModules read_sentence_modules(const std::string& folder) {
  const Json modules = read_json_if_there(path_in(folder, kModules), kRemedy);
  Json sentences = read_json_if_there(path_in(folder, kSentences), kRemedy);
  if (sentences.is_null()) sentences = read_json_if_there(path_in(folder, kOldSentences), kRemedy);
  return {.pooling = read_pooling(folder),
          .unit = std::ranges::any_of(modules, is_normalize),
          .lowercase = flag_in(sentences, "do_lower_case").value_or(false),
          .max_length = whole_in(sentences, "max_seq_length"),
          .left_out = unknown_classes(modules)};
}

const std::vector<std::string>& sentence_files() {
  static const std::vector<std::string> kFiles = {kModules, kSentences, kPooling, kNormalize};
  return kFiles;
}

void write_sentence_modules(const std::string& folder, const SentenceModules& modules,
                            int64_t width) {
  write_json(folder, kModules, modules_json(modules.unit));
  // Old versions do not begin without it; new ones ask the tokeniser.
  write_json(folder, kSentences,
             {{"max_seq_length", modules.max_length.value()}, {"do_lower_case", false}});
  write_json(folder, kPooling, pooling_json(modules.pooling.value(), width));
  if (!modules.unit) return;
  // Old versions want the folder alone; new ones read what is in it.
  write_json(
      folder, kNormalize,
      {{"module_input_name", "sentence_embedding"}, {"module_output_name", "sentence_embedding"}});
}

}  // namespace elias
