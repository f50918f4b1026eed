#include "encoder/pretrained.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "base/mapped_file.h"
#include "data/io/safetensors.h"
#include "encoder/sentence_modules.h"
#include "encoder/transformer_file.h"
#include "text/tokenizer_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";

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
  if (!has(folder, kConfig) && has(folder, "run/lock")) {
    throw InputError(
        "{}: holds a run that is not finished, or whose config.json is gone: give the command that "
        "began it again (with --overwrite if it was finished)",
        folder);
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

/// What the folder says of it, as long as that can be: transformers writes 10^30 for "no limit".
int64_t max_length_of(const Pretrained& pretrained, const std::optional<int64_t>& said) {
  const auto least =
      static_cast<int64_t>(pretrained.tokens.before.size() + pretrained.tokens.after.size() + 1);
  const int64_t positions = pretrained.config.shape.positions;
  return said && *said >= least ? std::min(positions, *said) : positions;
}

/// As sentence-transformers do before the tokeniser sees a text: accents stay what they were.
void make_lowercase(BertTextOptions& text) {
  if (text.lowercase) return;
  text.strip_accents = text.strip_accents.value_or(false);
  text.lowercase = true;
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
  TokenizerFolder tokenizer = read_tokenizer_folder(folder);
  pretrained.tokens = std::move(tokenizer.words);
  check_tokens(pretrained.tokens, pretrained.config.shape, folder);
  const SentenceModules modules = read_sentence_modules(folder);
  pretrained.pooling = modules.pooling;
  pretrained.unit = modules.unit;
  pretrained.left_out = modules.left_out;
  pretrained.max_length =
      max_length_of(pretrained, modules.max_length ? modules.max_length : tokenizer.max_length);
  if (modules.lowercase) make_lowercase(pretrained.tokens.text);
  const SafetensorsFile weights(path_in(folder, kWeights));
  // Of those that elias wrote.
  if (weights.metadata("checksum") && !weights.has_right_checksum()) {
    throw InputError(
        "{}: is damaged, or was changed since elias wrote it: copy it again, or save it without "
        "the "
        "checksum in its metadata",
        weights.name());
  }
  pretrained.weights = read_transformer(weights, pretrained.config);
  return pretrained;
}

const std::vector<std::string>& pretrained_files() {
  static const auto kFiles = [] {
    std::vector<std::string> files = {kWeights, kTokenizer, kTokenizerConfig};
    files.insert(files.end(), sentence_files().begin(), sentence_files().end());
    files.emplace_back(kConfig);
    return files;
  }();
  return kFiles;
}

void write_pretrained(const std::string& folder, const TransformerConfig& config,
                      const TransformerWeights<ConstTensorView>& weights,
                      const WordPieceConfig& tokens, int64_t max_length, bool unit) {
  std::error_code error;
  fs::create_directories(folder, error);
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
  write_sentence_modules(folder,
                         {.pooling = weights.shape.pooling, .unit = unit, .max_length = max_length},
                         weights.shape.width);
  write_file(path_in(folder, kConfig),
             transformer_config_text(config, find_token(tokens, tokens.pad_token)));
}

}  // namespace elias
