#include "encoder/pretrained.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/atomic_file.h"
#include "encoder/transformer_file.h"
#include "tests/encoder/fixture.h"
#include "tests/ops/numbers.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All weights, one after the other.
std::vector<float> weights_of(const Pretrained& model) {
  std::vector<float> all;
  for_parts(model.weights, [&](const std::string&, const Tensor& part) {
    all.insert(all.end(), part.span<float>().begin(), part.span<float>().end());
  });
  return all;
}

// A copy of a fixture that a test may spoil.
class PretrainedTest : public testing::Test {
 protected:
  PretrainedTest() { use("bert"); }

  void use(const std::string& fixture) {
    fs::remove_all(root_);
    fs::create_directory(root_);
    for (const char* name : {"config.json", "model.safetensors", "vocab.txt"}) {
      fs::copy_file(fixture_folder(fixture) + "/" + name, path(name));
    }
  }

  std::string path(const std::string& name) const { return root_ + "/" + name; }

  void change_config(const std::string& from, const std::string& to) {
    std::string text = text_of(path("config.json"));
    ASSERT_NE(text.find(from), std::string::npos);
    write_file(path("config.json"), text.replace(text.find(from), from.size(), to));
  }

  // The weights again, each as `change` leaves it: its name and what is stored, or not at all.
  void rewrite(const std::function<bool(std::string& name, StoredTensor& tensor)>& change) {
    {
      const SafetensorsFile file(path("model.safetensors"));
      SafetensorsWriter writer;
      for (const auto& entry : file.tensors()) {
        std::string name = entry.first;
        StoredTensor tensor = entry.second;
        if (change(name, tensor)) writer.add(name, tensor);
      }
      writer.write(path("other"));
    }
    fs::rename(path("other"), path("model.safetensors"));
  }

  void expect_refused(const testing::Matcher<std::string>& message) const {
    EXPECT_THAT([&] { read_pretrained(root_); }, ThrowsMessage<InputError>(message));
  }

  TemporaryFolder folder_;
  std::string root_ = folder_ / "m";
};

TEST_F(PretrainedTest, WhatIsWrittenIsReadAgain) {
  for (const char* name : {"bert", "distilbert"}) {
    const Pretrained model = read_pretrained(fixture_folder(name));
    const std::string out = folder_ / name;
    auto weights = views_of<ConstTensorView>(model.weights);
    weights.shape.pooling = Pooling::kMean;
    write_pretrained(out, model.config, weights, model.tokens, /*max_length=*/9, /*unit=*/true);
    for (const std::string& file : pretrained_files()) EXPECT_TRUE(fs::exists(out + "/" + file));
    const Pretrained again = read_pretrained(out);
    EXPECT_EQ(again.pooling, Pooling::kMean);
    EXPECT_TRUE(again.unit);
    EXPECT_EQ(again.max_length, 9);
    EXPECT_EQ(again.config.architecture, model.config.architecture);
    EXPECT_EQ(again.config.shape, model.config.shape);
    EXPECT_EQ(weights_of(again), weights_of(model));
    EXPECT_EQ(again.tokens.tokens.bytes, model.tokens.tokens.bytes);
    EXPECT_EQ(again.tokens.before, model.tokens.before);
    EXPECT_EQ(again.tokens.after, model.tokens.after);
    EXPECT_EQ(SafetensorsFile(out + "/model.safetensors").metadata("format"), "pt");
  }
}

TEST_F(PretrainedTest, NamesOfOtherTimesAndOtherHeads) {
  const auto expected = weights_of(read_pretrained(root_));
  rewrite([](std::string& name, StoredTensor&) {
    for (const auto& [now, before] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                      std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
      const size_t at = name.find(now);
      if (at != std::string::npos) name.replace(at, std::string(now).size(), before);
    }
    name = "bert." + name;
    return true;
  });
  EXPECT_EQ(weights_of(read_pretrained(root_)), expected);
}

TEST_F(PretrainedTest, TheNameOfDistilBertStandsBeforeTensors) {
  use("distilbert");
  const auto expected = weights_of(read_pretrained(root_));
  rewrite([](std::string& name, StoredTensor&) {
    name = "distilbert." + name;
    return true;
  });
  EXPECT_EQ(weights_of(read_pretrained(root_)), expected);
}

TEST_F(PretrainedTest, WeightsOfSixteenBits) {
  const auto expected = weights_of(read_pretrained(root_));
  std::vector<std::vector<uint16_t>> kept;  // until it is written
  const auto store_as = [&](StoredType type, auto convert) {
    rewrite([&](std::string&, StoredTensor& tensor) {
      const auto* values = reinterpret_cast<const float*>(tensor.bytes.data());
      std::vector<uint16_t>& halves = kept.emplace_back();
      for (uint64_t i = 0; i < tensor.elements(); ++i) halves.push_back(convert(values[i]));
      tensor = {type, tensor.shape, std::as_bytes(std::span(halves))};
      return true;
    });
  };
  store_as(StoredType::kBf16, [](float value) { return to_bfloat16(value).bits; });
  const auto rounded = weights_of(read_pretrained(root_));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(rounded[i], to_float(to_bfloat16(expected[i])));
  }
}

// Zero, the smallest numbers, one and its neighbour, the largest.
TEST(CopyFloatsTest, HalvesOfAllKinds) {
  const std::vector<uint16_t> halves = {0x0000, 0x8000, 0x0001, 0x03FF, 0x0400,
                                        0x3C00, 0x3C01, 0xC000, 0x7BFF};
  const std::vector<float> expected = {
      0, -0.0F, 0x1p-24F, 1023 * 0x1p-24F, 0x1p-14F, 1, 1 + 0x1p-10F, -2, 65504};
  const TemporaryFolder folder;
  SafetensorsWriter writer;
  writer.add("x", {StoredType::kF16, {halves.size()}, std::as_bytes(std::span(halves))});
  writer.write(folder / "halves");
  const SafetensorsFile file(folder / "halves");
  Tensor values({std::ssize(halves)}, DType::kFloat32);
  copy_floats(file, "x", values);
  EXPECT_THAT(values.span<float>(), testing::ElementsAreArray(expected));
}

TEST(CopyFloatsTest, WhatIsNotFiniteIsRefused) {
  const TemporaryFolder folder;
  const auto complaint = [&](StoredType type, const auto& values) -> std::string {
    SafetensorsWriter writer;
    writer.add("x.weight", {type, {values.size()}, std::as_bytes(std::span(values))});
    writer.write(folder / "weights");
    Tensor to({std::ssize(values)}, DType::kFloat32);
    try {
      copy_floats(SafetensorsFile(folder / "weights"), "x.weight", to);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  using Halves = std::vector<uint16_t>;
  using Floats = std::vector<float>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kLargest = 3.4e38F;
  EXPECT_EQ(complaint(StoredType::kF32, Floats{1, -kLargest}), "none");
  EXPECT_THAT(complaint(StoredType::kF32, Floats{1, NAN}),
              AllOf(HasSubstr("/weights: tensor x.weight holds nan"), HasSubstr("finite")));
  EXPECT_THAT(complaint(StoredType::kF32, Floats{-kInfinity, 1}), HasSubstr("holds -inf"));
  EXPECT_THAT(complaint(StoredType::kBf16, Halves{0x3F80, 0x7F80}), HasSubstr("holds inf"));
  EXPECT_THAT(complaint(StoredType::kF16, Halves{0x3C00, 0xFC00}), HasSubstr("holds -inf"));
  EXPECT_THAT(complaint(StoredType::kF16, Halves{0x7C01}), HasSubstr("nan"));
}

TEST_F(PretrainedTest, ConfigsThatAreNotKnownAreRefused) {
  change_config("\"model_type\": \"bert\"", "\"model_type\": \"roberta\"");
  expect_refused(AllOf(HasSubstr("config.json"), HasSubstr("\"model_type\" is 'roberta'"),
                       HasSubstr("bert or distilbert")));
  change_config("\"roberta\"", "\"bert\"");
  change_config("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"");
  expect_refused(AllOf(HasSubstr("\"hidden_act\""), HasSubstr("gelu")));
  change_config("\"relu\"", "\"gelu\"");
  change_config("\"num_attention_heads\": 3", "\"num_attention_heads\": 5");
  expect_refused(HasSubstr("the width 12 is not a multiple of the 5 heads"));
  change_config("\"num_attention_heads\": 5", "\"num_attention_heads\": 3.5");
  expect_refused(HasSubstr("\"num_attention_heads\" is '3.5', but must be a whole number"));
  write_file(path("config.json"), "{");
  expect_refused(HasSubstr("is not the config.json of a model"));
}

TEST_F(PretrainedTest, TensorsThatDoNotFitAreNamed) {
  rewrite([](std::string& name, StoredTensor&) {
    return name != "encoder.layer.1.intermediate.dense.bias";
  });
  expect_refused(
      AllOf(HasSubstr("model.safetensors"), HasSubstr("encoder.layer.1.intermediate.dense.bias")));
  change_config("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  expect_refused(AllOf(HasSubstr("model.safetensors: has a tensor encoder.layer.1."),
                       HasSubstr("config.json says that there are 1 layers")));
  rewrite([](std::string& name, StoredTensor&) { return !name.starts_with("encoder.layer.1."); });
  EXPECT_NO_THROW(read_pretrained(root_));
  change_config("\"intermediate_size\": 20", "\"intermediate_size\": 21");
  expect_refused(AllOf(HasSubstr("encoder.layer.0.intermediate.dense.weight"),
                       HasSubstr("is [20, 12], but must be [21, 12]")));
}

TEST_F(PretrainedTest, FilesThatAreDamagedOrMissingAreRefused) {
  const std::string weights = path("model.safetensors");
  const std::string whole = text_of(weights);
  for (const size_t size :
       {size_t{0}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    fs::remove(weights);
    write_file(weights, whole.substr(0, size));
    expect_refused(HasSubstr("model.safetensors"));
  }
  fs::remove(weights);
  expect_refused(HasSubstr("has no model.safetensors"));
  write_file(path("pytorch_model.bin"), "");
  expect_refused(AllOf(HasSubstr("pytorch_model.bin"), HasSubstr("safe_serialization=True")));
  write_file(path("model.safetensors.index.json"), "{}");
  expect_refused(AllOf(HasSubstr("split into several files"), HasSubstr("max_shard_size")));
  fs::remove(path("config.json"));
  expect_refused(HasSubstr("has no config.json"));
  fs::remove_all(root_);
  expect_refused(HasSubstr("is not a folder"));
}

TEST_F(PretrainedTest, TokenisersThatDoNotFitAreRefused) {
  write_file(path("vocab.txt"), text_of(path("vocab.txt")) + "more\nthan\n");
  expect_refused(HasSubstr("its tokeniser has 55 tokens, but its embeddings are of 53"));
  fs::remove(path("vocab.txt"));
  expect_refused(
      AllOf(HasSubstr("has neither tokenizer.json nor vocab.txt"), HasSubstr("AutoTokenizer")));
}

// Beside a vocab.txt, which says nothing of it.
TEST_F(PretrainedTest, TextOptionsComeFromTheTokenisersConfig) {
  EXPECT_TRUE(read_pretrained(root_).tokens.text.lowercase);
  write_file(path("tokenizer_config.json"),
             R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false})");
  const BertTextOptions text = read_pretrained(root_).tokens.text;
  EXPECT_FALSE(text.lowercase);
  EXPECT_FALSE(text.handle_chinese_chars);
  EXPECT_EQ(text.strip_accents, true);
  write_file(path("tokenizer_config.json"), "[");
  expect_refused(HasSubstr("tokenizer_config.json: is not JSON"));
}

// Positions are 16; transformers writes 10^30 where there is no limit.
TEST_F(PretrainedTest, TextsAreAsLongAsTheFolderSays) {
  EXPECT_EQ(read_pretrained(root_).max_length, 16);
  const auto length = [&](const std::string& of_tokenizer, const std::string& of_sentences) {
    write_file(path("tokenizer_config.json"), R"({"model_max_length": )" + of_tokenizer + "}");
    write_file(path("sentence_bert_config.json"), R"({"max_seq_length": )" + of_sentences + "}");
    return read_pretrained(root_).max_length;
  };
  EXPECT_EQ(length("12", "10"), 10);
  EXPECT_EQ(length("9", "10"), 10);
  EXPECT_EQ(length("9", "null"), 9);
  EXPECT_EQ(length("512", "256"), 16);
  EXPECT_EQ(length("1000000000000000019884624838656", "null"), 16);
  EXPECT_EQ(length("-1", "\"10\""), 16);
  EXPECT_EQ(length("2", "3"), 3);  // where there is no room for a word, nothing is said
}

// sentence-transformers make texts lower case before a tokeniser that would not.
TEST_F(PretrainedTest, LowerCaseMayBeSaidBesideTheTokeniser) {
  fs::remove(path("tokenizer.json"));
  write_file(path("tokenizer_config.json"), R"({"do_lower_case": false})");
  const auto text = [&](const std::string& name, const std::string& said) {
    write_file(path(name), R"({"do_lower_case": )" + said + "}");
    const BertTextOptions read = read_pretrained(root_).tokens.text;
    fs::remove(path(name));
    return read;
  };
  EXPECT_FALSE(text("sentence_bert_config.json", "false").lowercase);
  EXPECT_TRUE(text("sentence_bert_config.json", "true").lowercase);
  EXPECT_EQ(text("sentence_bert_config.json", "true").strip_accents, false);
  EXPECT_TRUE(text("sentence_distilbert_config.json", "true").lowercase);
}

TEST_F(PretrainedTest, DamageIsSeenWhereEliasWroteTheWeights) {
  const Pretrained model = read_pretrained(root_);
  const std::string out = folder_ / "out";
  write_pretrained(out, model.config, views_of<ConstTensorView>(model.weights), model.tokens,
                   /*max_length=*/9, /*unit=*/false);
  std::string bytes = text_of(out + "/model.safetensors");
  bytes[bytes.size() - 5] ^= 1;
  write_file(out + "/model.safetensors", bytes);
  EXPECT_THAT([&] { read_pretrained(out); },
              testing::ThrowsMessage<InputError>(
                  HasSubstr("is damaged, or was changed since elias wrote it")));
}

// A tokeniser may well have other names than BERT's; they are kept in what is written again.
TEST_F(PretrainedTest, PadAndMaskHaveTheNamesOfTheirTokeniser) {
  Pretrained model = read_pretrained(root_);
  std::string text = tokenizer_json(model.tokens);
  for (const auto& [from, to] : {std::pair("[PAD]", "<pad>"), std::pair("[MASK]", "<mask>")}) {
    for (size_t at = 0; (at = text.find(from)) != text.npos;) {
      text.replace(at, std::string(from).size(), to);
    }
  }
  write_file(path("tokenizer.json"), text);
  write_file(path("special_tokens_map.json"),
             R"({"pad_token": "<pad>", "mask_token": {"content": "<mask>", "lstrip": true}})");
  model = read_pretrained(root_);
  const std::string out = folder_ / "out";
  const auto weights = views_of<ConstTensorView>(model.weights);
  write_pretrained(out, model.config, weights, model.tokens, /*max_length=*/9, /*unit=*/false);
  const auto json_of = [&](const std::string& name) {
    return nlohmann::json::parse(text_of(out + "/" + name));
  };
  EXPECT_EQ(json_of("config.json")["pad_token_id"], 0);
  EXPECT_EQ(json_of("tokenizer_config.json")["pad_token"], "<pad>");
  EXPECT_EQ(json_of("tokenizer_config.json")["mask_token"], "<mask>");
  EXPECT_EQ(read_pretrained(out).tokens.mask_token, "<mask>");
}

}  // namespace
}  // namespace elias
