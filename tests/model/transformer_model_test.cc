// Models whose encoder is a transformer: on disk, and in use.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/atomic_file.h"
#include "model/explain.h"
#include "model/model.h"
#include "tests/encoder/own_transformer.h"
#include "tests/model/config_text.h"
#include "tests/model/tiny_model.h"
#include "tests/temporary_folder.h"
#include "text/tfidf_fitter.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kTexts[] = {"a bird in the hand", "two birds", "", "the bush in a hand",
                                  "hand hand hand hand hand hand hand hand hand hand hand"};

TextRows some_texts() {
  TextRows texts;
  for (const char* text : kTexts) texts.add(text);
  return texts;
}

TokenInput some_tokens() {
  TokenInput tokens;
  tokens.words = parse_vocabulary(
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nbird\n##s\nin\nthe\nhand\ntwo\nbush\n", "words", {});
  tokens.transformer.shape = {.vocabulary = 13,
                              .positions = 16,
                              .types = 2,
                              .width = 12,
                              .heads = 3,
                              .inner = 20,
                              .layers = 2};
  tokens.max_length = 9;
  return tokens;
}

class TransformerModelTest : public testing::Test {
 protected:
  TransformerModelTest() {
    TfidfFitter fitter(TfidfOptions{}, pool_);
    fitter.add(some_texts());
    tfidf_.emplace(fitter.finish());
    const auto L = static_cast<uint64_t>(tiny_.sizes().L);
    labels_.fix_form(LabelForm::kIds, "here");
    labels_.cover_ids(L);
    counts_.assign(L, 3);
  }

  ModelParts parts() {
    PredictorWeights weights = tiny_.views();
    weights.features = static_cast<int64_t>(tfidf_->features());
    weights.encoder = TransformerEncoder{.weights = own_.views<ConstTensorView>(), .unit = unit_};
    return {.method = "elias",
            .members = {{.weights = weights,
                         .search = {.alpha = 10, .beam = 3, .shortlist = 17, .gamma = 0.25F},
                         .stage1_clusters = {}}},
            .fusion = {},
            .tfidf = &*tfidf_,
            .tokens = &tokens_,
            .labels = &labels_,
            .label_counts = counts_,
            .points = 5,
            .training = {}};
  }

  std::string folder(const std::string& name) const { return temporary_ / name; }

  void expect_refused(const std::string& name, const testing::Matcher<std::string>& what) {
    EXPECT_THAT([&] { Model::load(folder(name), context_); }, ThrowsMessage<InputError>(what));
  }

  ThreadPool pool_{2};
  Context context_{pool_};
  TinyModel tiny_{TinySizes{}};
  TokenInput tokens_ = some_tokens();
  OwnTransformer own_{tokens_.transformer.shape};
  bool unit_ = false;
  std::optional<Tfidf> tfidf_;
  LabelSpace labels_;
  std::vector<uint64_t> counts_;
  TemporaryFolder temporary_;
};

TEST_F(TransformerModelTest, PredictsFromDiskAsItDidInMemory) {
  for (const bool unit : {false, true}) {
    for (const Pooling pooling : {Pooling::kFirst, Pooling::kMean}) {
      unit_ = unit;
      own_.shape.pooling = pooling;
      tokens_.transformer.shape.pooling = pooling;
      write_model(folder("m"), parts(), LabelStorage::kFloat32);
      const Model model = Model::load(folder("m"), context_);
      ASSERT_NE(model.tokens(), nullptr);
      EXPECT_EQ(model.tokens()->transformer.shape, own_.shape);
      EXPECT_EQ(model.tokens()->max_length, 9);
      EXPECT_EQ(model.first().weights.encoder.transformer().unit, unit);
      const Points points = model.points_of(some_texts(), pool_);
      EXPECT_EQ(points.tokens.rows(), std::size(kTexts));
      EXPECT_EQ(points.tokens.row(4).size(), 9);  // cut
      const Predictor memory(context_, parts().members, {}, {});
      const Csr expected = predict_all(context_, memory, points, 10);
      const Csr actual = predict_all(context_, model.predictor(), points, 10);
      EXPECT_EQ(actual.columns, expected.columns);
      EXPECT_EQ(actual.values, expected.values);
      EXPECT_EQ(actual.rows(), std::size(kTexts));
    }
  }
}

// What a text's prediction is does not depend on the texts beside it.
TEST_F(TransformerModelTest, EveryPointIsAlone) {
  write_model(folder("m"), parts(), LabelStorage::kFloat32);
  const Model model = Model::load(folder("m"), context_);
  const Points all = model.points_of(some_texts(), pool_);
  const Csr together = predict_all(context_, model.predictor(), all, 5);
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    TextRows one;
    one.add(kTexts[i]);
    const Csr alone = predict_all(context_, model.predictor(), model.points_of(one, pool_), 5);
    EXPECT_THAT(alone.row(0).columns, testing::ElementsAreArray(together.row(i).columns));
    EXPECT_THAT(alone.row(0).values, testing::ElementsAreArray(together.row(i).values));
  }
}

TEST_F(TransformerModelTest, ExplainsItsPredictions) {
  write_model(folder("m"), parts(), LabelStorage::kFloat32);
  const Model model = Model::load(folder("m"), context_);
  const Points points = model.points_of(some_texts(), pool_);
  const Csr predicted = predict_all(context_, model.predictor(), points, 1);
  Explainer explainer(context_, model);
  const auto explained = explainer.explain(points, 3, 1);
  ASSERT_EQ(explained.size(), 1);
  EXPECT_EQ(explained[0].label, predicted.row(3).columns[0]);
  EXPECT_EQ(explained[0].score, predicted.row(3).values[0]);
}

// Loaded and written once more, as pruning does.
TEST_F(TransformerModelTest, IsWrittenAgainAsItWas) {
  write_model(folder("m"), parts(), LabelStorage::kFloat32);
  const Model model = Model::load(folder("m"), context_);
  const LabelSpace labels = model.label_space();
  write_model(folder("again"), parts_of(model, labels), LabelStorage::kFloat32);
  for (const auto& [name, bytes] : model.files()) {
    std::ifstream first(folder("m/" + name)), second(folder("again/" + name));
    const std::string one((std::istreambuf_iterator<char>(first)), {}),
        other((std::istreambuf_iterator<char>(second)), {});
    EXPECT_EQ(one, other) << name;
  }
}

TEST_F(TransformerModelTest, WhatDoesNotFitIsRefused) {
  write_model(folder("m"), parts(), LabelStorage::kFloat32);
  std::ifstream file(folder("m/config.json"));
  const std::string config((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(config, HasSubstr("\"version\": 4"));
  fs::create_directory(folder("both"));
  std::ofstream(folder("both/config.json"))
      << with_checksum("{\"encoder\": {}, " + config.substr(config.find('{') + 1));
  expect_refused("both", HasSubstr("has both an encoder and a transformer"));
  // Words of another tokeniser, in a model that was written so.
  tokens_.words.tokens.add("more");
  tokens_.words.in_model.push_back(true);
  write_model(folder("words"), parts(), LabelStorage::kFloat32);
  expect_refused("words", AllOf(HasSubstr("tokenizer.json"),
                                HasSubstr("14 tokens, but its embeddings are of 13")));
  tokens_ = some_tokens();
  tokens_.words.before.clear();
  write_model(folder("bare"), parts(), LabelStorage::kFloat32);
  expect_refused("bare", HasSubstr("puts no token before a text"));
  tokens_ = some_tokens();
  tokens_.max_length = 17;
  write_model(folder("long"), parts(), LabelStorage::kFloat32);
  expect_refused("long", HasSubstr("texts of 17 tokens for 16 positions cannot be"));
  tokens_ = some_tokens();
  tokens_.transformer.shape.inner = 21;
  write_model(folder("inner"), parts(), LabelStorage::kFloat32);
  expect_refused("inner", AllOf(HasSubstr("encoder.safetensors"),
                                HasSubstr("is [20, 12], but must be [21, 12]")));
  fs::remove(folder("m/tokenizer.json"));
  expect_refused("m", HasSubstr("tokenizer.json"));
}

}  // namespace
}  // namespace elias
