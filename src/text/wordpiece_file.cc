// Reading WordPiece vocabularies. What a tokenizer.json asks for and we cannot do is refused, never
// skipped: ids that are a little wrong would ruin a model without a word.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/mapped_file.h"
#include "data/io/utf8.h"
#include "text/wordpiece.h"

namespace elias {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostTokens = 1u << 28;  // a larger id is a mistake, not a vocabulary

[[noreturn]] void refuse_part(const std::string& name, std::string_view part, const Json& found,
                              std::string_view supported) {
  throw InputError("{}: {} is {}: only {} is supported; export the tokeniser of a BERT model", name,
                   part, shown(found.is_object() ? found.value("type", "") : found.dump()),
                   supported);
}

/// Collects tokens by id and knows which ids are taken.
class Vocabulary {
 public:
  explicit Vocabulary(const std::string& name) : name_(name) {}

  void add(const std::string& token, const Json& id, bool in_model) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= kMostTokens) {
      throw InputError("{}: token {} has the id {}: ids are whole numbers from 0", name_,
                       shown(token), shown(id.dump()));
    }
    const auto [entry, is_new] = entries_.try_emplace(id.get<uint32_t>(), token, in_model);
    if (!is_new && entry->second.first != token) {
      throw InputError("{}: the id {} stands for both {} and {}: give one of them another", name_,
                       entry->first, shown(entry->second.first), shown(token));
    }
  }

  void move_to(WordPieceConfig& config) const {
    for (const auto& [id, entry] : entries_) {
      if (id != config.tokens.rows()) {
        throw InputError("{}: no token has the id {}, but one has {}: ids must have no holes",
                         name_, config.tokens.rows(), id);
      }
      config.tokens.add(entry.first);
      config.in_model.push_back(entry.second);
    }
  }

 private:
  const std::string& name_;
  std::map<uint32_t, std::pair<std::string, bool>> entries_;  // token, and if it is of the model
};

void read_model(const Json& model, const std::string& name, Vocabulary& vocabulary,
                WordPieceConfig& config) {
  // Files from before the type was written are WordPiece's if they have its prefix.
  const bool untyped = !model.contains("type") && model.contains("continuing_subword_prefix");
  if (!untyped && model.value("type", "") != "WordPiece") {
    refuse_part(name, "the model", model, "'WordPiece'");
  }
  config.unk_token = model.value("unk_token", config.unk_token);
  config.continuing_subword_prefix =
      model.value("continuing_subword_prefix", config.continuing_subword_prefix);
  config.max_input_chars_per_word =
      model.value("max_input_chars_per_word", config.max_input_chars_per_word);
  for (const auto& [token, id] : model.at("vocab").items()) vocabulary.add(token, id, true);
}

void read_added_tokens(const Json& tokens, Vocabulary& vocabulary, WordPieceConfig& config) {
  for (const Json& entry : tokens) {
    WordPieceConfig::Added added;
    added.token.content = entry.at("content").get<std::string>();
    vocabulary.add(added.token.content, entry.at("id"), false);
    added.token.id = entry.at("id").get<uint32_t>();
    added.token.single_word = entry.value("single_word", false);
    added.token.lstrip = entry.value("lstrip", false);
    added.token.rstrip = entry.value("rstrip", false);
    added.special = entry.value("special", false);
    added.normalized = entry.value("normalized", !added.special);
    config.added.push_back(added);
  }
}

BertTextOptions read_normalizer(const Json& normalizer, const std::string& name) {
  if (normalizer.is_null()) return {false, false, false, false};
  if (normalizer.value("type", "") != "BertNormalizer") {
    refuse_part(name, "the normalizer", normalizer, "'BertNormalizer'");
  }
  BertTextOptions options;
  options.clean_text = normalizer.value("clean_text", true);
  options.handle_chinese_chars = normalizer.value("handle_chinese_chars", true);
  options.lowercase = normalizer.value("lowercase", true);
  const Json strip = normalizer.value("strip_accents", Json());
  if (!strip.is_null()) options.strip_accents = strip.get<bool>();
  return options;
}

void read_template(const Json& processor, const std::string& name, WordPieceConfig& config) {
  bool text_seen = false;
  for (const Json& item : processor.at("single")) {
    if (item.contains("Sequence")) {
      if (text_seen) refuse_part(name, "the post_processor", processor, "one text a template");
      text_seen = true;
      continue;
    }
    const auto token = item.at("SpecialToken").at("id").get<std::string>();
    for (const Json& id : processor.at("special_tokens").at(token).at("ids")) {
      (text_seen ? config.after : config.before).push_back(id.get<uint32_t>());
    }
  }
}

void read_post_processor(const Json& processor, const std::string& name, WordPieceConfig& config) {
  if (processor.is_null()) return;
  const std::string type = processor.value("type", "");
  if (type == "TemplateProcessing") {
    read_template(processor, name, config);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    config.before = {processor.at("cls").at(1).get<uint32_t>()};
    config.after = {processor.at("sep").at(1).get<uint32_t>()};
  } else {
    refuse_part(name, "the post_processor", processor, "'TemplateProcessing' or 'BertProcessing'");
  }
  for (const auto* ids : {&config.before, &config.after}) {
    for (const uint32_t id : *ids) {
      if (id < config.tokens.rows()) continue;
      throw InputError("{}: the post_processor adds the id {}, but there are {} tokens: correct it",
                       name, id, config.tokens.rows());
    }
  }
}

}  // namespace

std::optional<uint32_t> find_token(const WordPieceConfig& config, std::string_view token) {
  for (size_t id = 0; id < config.tokens.rows(); ++id) {
    if (config.tokens.row(id) == token) return static_cast<uint32_t>(id);
  }
  return std::nullopt;
}

double unknown_share(const WordPieceConfig& config, const TokenRows& texts) {
  const auto unknown = find_token(config, config.unk_token);
  if (!unknown || texts.ids.empty()) return 0;
  return static_cast<double>(std::ranges::count(texts.ids, *unknown)) /
         static_cast<double>(texts.ids.size());
}

WordPieceConfig parse_tokenizer_json(std::string_view json, const std::string& name) try {
  const Json root = Json::parse(json);
  WordPieceConfig config;
  Vocabulary vocabulary(name);
  read_model(root.at("model"), name, vocabulary, config);
  read_added_tokens(root.value("added_tokens", Json::array()), vocabulary, config);
  vocabulary.move_to(config);
  config.text = read_normalizer(root.value("normalizer", Json()), name);
  const Json pre_tokenizer = root.value("pre_tokenizer", Json());
  if (!pre_tokenizer.is_object() || pre_tokenizer.value("type", "") != "BertPreTokenizer") {
    refuse_part(name, "the pre_tokenizer", pre_tokenizer, "'BertPreTokenizer'");
  }
  read_post_processor(root.value("post_processor", Json()), name, config);
  return config;
} catch (const Json::exception& error) {
  throw InputError("{}: is not a tokenizer.json ({}): export it again", name, error.what());
}

WordPieceConfig parse_vocabulary(std::string_view lines, const std::string& name,
                                 const BertTextOptions& text) {
  WordPieceConfig config;
  config.text = text;
  for (uint64_t line = 1; !lines.empty(); ++line) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view token = lines.substr(0, end);
    if (token.ends_with('\r')) token.remove_suffix(1);
    require_utf8(token, fmt::format("{}:{}", name, line));
    config.tokens.add(token);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  config.in_model.assign(config.tokens.rows(), true);
  // A vocabulary says nothing of its special tokens, so they go by BERT's names.
  for (const std::string token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    const auto id = find_token(config, token);
    if (id) config.added.push_back({.token = {token, *id}});
    if (!id && token != "[PAD]" && token != "[MASK]") {
      throw InputError("{}: the vocabulary lacks {}: add it, or give the model's tokenizer.json",
                       name, shown(token));
    }
    if (token == "[CLS]") config.before = {*id};
    if (token == "[SEP]") config.after = {*id};
  }
  return config;
}

WordPieceConfig read_wordpiece(const std::string& path, const BertTextOptions& text) {
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  return path.ends_with(".json") ? parse_tokenizer_json(bytes, path)
                                 : parse_vocabulary(bytes, path, text);
}

}  // namespace elias
