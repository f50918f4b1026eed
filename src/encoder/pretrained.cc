#include "encoder/pretrained.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "data/io/safetensors.h"
#include "encoder/transformer_file.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kTokenizer = "tokenizer.json";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kVocabulary = "vocab.txt";
constexpr const char* kModules = "modules.json";
constexpr const char* kPooling = "1_Pooling/config.json";
constexpr const char* kFirstMode = "pooling_mode_cls_token";
constexpr const char* kMeanMode = "pooling_mode_mean_tokens";

std::string path_in(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

bool has(const std::string& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(path_in(folder, name), ignored);
}

std::string text_of(const std::string& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void check_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(
        "{}: is not a folder: give one that save_pretrained of transformers wrote, with {}, {} "
        "and {} or {}",
        folder, kConfig, kWeights, kTokenizer, kVocabulary);
  }
  if (!has(folder, kConfig)) {
    throw InputError("{}: has no {}: give a folder that save_pretrained of transformers wrote",
                     folder, kConfig);
  }
  if (has(folder, kWeights)) return;
  if (has(folder, "model.safetensors.index.json")) {
    throw InputError(
        "{}: its weights are split into several files: save them as one, in Python: "
        "AutoModel.from_pretrained({}).save_pretrained(NEW_FOLDER, max_shard_size=\"100GB\")",
        folder, shown(folder));
  }
  if (has(folder, "pytorch_model.bin")) {
    throw InputError(
        "{}: has its weights in pytorch_model.bin, a program as much as a file, which is not read "
        "here: save them as {}, in Python: "
        "AutoModel.from_pretrained({}).save_pretrained(NEW_FOLDER, safe_serialization=True)",
        folder, kWeights, shown(folder));
  }
  throw InputError("{}: has no {}: give a folder that save_pretrained of transformers wrote",
                   folder, kWeights);
}

/// A vocab.txt says nothing of case and accents; the file beside it may.
BertTextOptions text_options(const std::string& folder) {
  BertTextOptions options;
  if (!has(folder, kTokenizerConfig)) return options;
  const std::string path = path_in(folder, kTokenizerConfig);
  try {
    const Json json = Json::parse(text_of(path));
    const auto flag = [&](const char* key, bool usual) {
      return json.contains(key) && json.at(key).is_boolean() ? json.at(key).get<bool>() : usual;
    };
    options.lowercase = flag("do_lower_case", true);
    options.handle_chinese_chars = flag("tokenize_chinese_chars", true);
    if (json.contains("strip_accents") && json.at("strip_accents").is_boolean()) {
      options.strip_accents = json.at("strip_accents").get<bool>();
    }
  } catch (const Json::exception&) {
    throw InputError("{}: is not JSON: save the tokeniser again", path);
  }
  return options;
}

WordPieceConfig read_tokens(const std::string& folder) {
  if (has(folder, kTokenizer)) return read_wordpiece(path_in(folder, kTokenizer));
  if (has(folder, kVocabulary)) {
    return read_wordpiece(path_in(folder, kVocabulary), text_options(folder));
  }
  throw InputError(
      "{}: has neither {} nor {}: save the model's tokeniser there, in Python: "
      "AutoTokenizer.from_pretrained(MODEL).save_pretrained({})",
      folder, kTokenizer, kVocabulary, shown(folder));
}

/// What sentence-transformers do with hidden states, if the folder is one of theirs.
std::optional<Pooling> read_pooling(const std::string& folder) {
  const std::string path = path_in(folder, kPooling);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::vector<std::string> modes;
  try {
    const Json json = Json::parse(text_of(path));
    for (const auto& [key, value] : json.items()) {
      if (key.starts_with("pooling_mode_") && value == true) modes.push_back(key);
    }
  } catch (const Json::exception&) {
    throw InputError("{}: is not JSON: copy the folder again", path);
  }
  if (modes == std::vector<std::string>{kMeanMode}) return Pooling::kMean;
  if (modes == std::vector<std::string>{kFirstMode}) return Pooling::kFirst;
  throw InputError(
      "{}: asks for {}, but only one of {} and {} is known here: remove the file, and say which by "
      "pooling",
      path, modes.empty() ? "nothing" : fmt::format("{}", fmt::join(modes, " and ")), kFirstMode,
      kMeanMode);
}

std::string pooling_text(const TransformerShape& shape) {
  const bool mean = shape.pooling == Pooling::kMean;
  const Json json = {{"word_embedding_dimension", shape.width},
                     {kFirstMode, !mean},
                     {kMeanMode, mean},
                     {"pooling_mode_max_tokens", false},
                     {"pooling_mode_mean_sqrt_len_tokens", false}};
  return json.dump(2) + "\n";
}

std::string modules_text() {
  const Json json = {{{"idx", 0},
                      {"name", "0"},
                      {"path", ""},
                      {"type", "sentence_transformers.models.Transformer"}},
                     {{"idx", 1},
                      {"name", "1"},
                      {"path", "1_Pooling"},
                      {"type", "sentence_transformers.models.Pooling"}}};
  return json.dump(2) + "\n";
}

std::optional<uint32_t> added_token(const WordPieceConfig& tokens, std::string_view content) {
  for (const WordPieceConfig::Added& added : tokens.added) {
    if (added.token.content == content) return added.token.id;
  }
  return std::nullopt;
}

std::string tokenizer_config_text(const WordPieceConfig& tokens, int64_t max_length) {
  Json json = {
      {"tokenizer_class", "BertTokenizer"},
      {"do_lower_case", tokens.text.lowercase},
      {"tokenize_chinese_chars", tokens.text.handle_chinese_chars},
      {"strip_accents", tokens.text.strip_accents ? Json(*tokens.text.strip_accents) : Json()},
      {"model_max_length", max_length},
      {"unk_token", tokens.unk_token}};
  // Of a token that is named and not there, theirs would make one beyond the embeddings.
  const auto token = [&](uint32_t id) { return std::string(tokens.tokens.row(id)); };
  json["cls_token"] = token(tokens.before.front());
  json["sep_token"] = tokens.after.empty() ? Json() : Json(token(tokens.after.front()));
  for (const auto& [key, content] : {std::pair("pad_token", "[PAD]"), {"mask_token", "[MASK]"}}) {
    json[key] = added_token(tokens, content) ? Json(content) : Json();
  }
  return json.dump(2) + "\n";
}

}  // namespace

void check_tokens(const WordPieceConfig& tokens, const TransformerShape& shape,
                  const std::string& name) {
  if (tokens.tokens.rows() > static_cast<size_t>(shape.vocabulary)) {
    throw InputError(
        "{}: its tokeniser has {} tokens, but its embeddings are of {}: give a model and the "
        "tokeniser that it was trained with",
        name, tokens.tokens.rows(), shape.vocabulary);
  }
  if (tokens.before.empty()) {
    throw InputError(
        "{}: its tokeniser puts no token before a text, where a BERT model has [CLS]: give the "
        "tokeniser that it was trained with",
        name);
  }
}

Pretrained read_pretrained(const std::string& folder) {
  check_folder(folder);
  Pretrained pretrained;
  const std::string config = path_in(folder, kConfig);
  pretrained.config = parse_transformer_config(text_of(config), config);
  pretrained.tokens = read_tokens(folder);
  check_tokens(pretrained.tokens, pretrained.config.shape, folder);
  pretrained.pooling = read_pooling(folder);
  pretrained.weights =
      read_transformer(SafetensorsFile(path_in(folder, kWeights)), pretrained.config);
  return pretrained;
}

const std::vector<std::string>& pretrained_files() {
  static const std::vector<std::string> kFiles = {kWeights, kTokenizer, kTokenizerConfig,
                                                  kModules, kPooling,   kConfig};
  return kFiles;
}

void write_pretrained(const std::string& folder, const TransformerConfig& config,
                      const TransformerWeights<ConstTensorView>& weights,
                      const WordPieceConfig& tokens, int64_t max_length) {
  std::error_code error;
  fs::create_directories(fs::path(path_in(folder, kPooling)).parent_path(), error);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError("{}: cannot be made ({}): name another folder", folder, error.message());
  }
  fs::remove(path_in(folder, kConfig), ignored);  // of an older one, as are the others
  SafetensorsWriter writer;
  add_transformer(weights, config.architecture, writer);
  writer.write(path_in(folder, kWeights));
  write_file(path_in(folder, kTokenizer), tokenizer_json(tokens));
  write_file(path_in(folder, kTokenizerConfig), tokenizer_config_text(tokens, max_length));
  write_file(path_in(folder, kModules), modules_text());
  write_file(path_in(folder, kPooling), pooling_text(weights.shape));
  write_file(path_in(folder, kConfig),
             transformer_config_text(config, added_token(tokens, "[PAD]")));
}

}  // namespace elias
