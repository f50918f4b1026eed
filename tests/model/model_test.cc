#include "model/model.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/atomic_file.h"
#include "model/model_folder.h"
#include "tests/model/config_text.h"
#include "tests/model/tiny_model.h"
#include "tests/model/tiny_ranker.h"
#include "tests/temporary_folder.h"
#include "text/tfidf_fitter.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replace_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

LabelSpace names_of(int64_t L) {
  LabelSpace labels;
  labels.set_form(LabelForm::kNames);
  for (int64_t l = 0; l < L; ++l) labels.resolve_name(fmt::format("label, {}", l), "here");
  return labels;
}

Tfidf some_tfidf(ThreadPool& pool) {
  TfidfFitter fitter(TfidfOptions{}, pool);
  TextRows texts;
  for (const char* text : {"a bird in the hand", "two birds in a bush", "öl ist teuer"}) {
    texts.add(text);
  }
  fitter.add(texts);
  return fitter.finish();
}

class ModelTest : public testing::Test {
 protected:
  // The parts of `model`, with names for its labels.
  ModelParts parts_of(const TinyModel& model) {
    labels_ = names_of(model.sizes().L);
    counts_.assign(static_cast<size_t>(model.sizes().L), 0);
    for (size_t l = 0; l < counts_.size(); ++l) counts_[l] = 3 * l + 1;
    stage1_.assign(model.sizes().C == 0 ? 0 : counts_.size(), 2);
    return {.method = model.sizes().C == 0 ? "ova" : "elias",
            .members = {{.weights = model.views(),
                         .search = {.alpha = 0.1F, .beam = 3, .shortlist = 17, .gamma = 0.25F},
                         .stage1_clusters = stage1_}},
            .fusion = {},
            .tfidf = nullptr,
            .labels = &labels_,
            .label_counts = counts_,
            .points = 1234,
            .training = {{"epochs", 3}, {"rates", {0.5, 1e-3}}}};
  }

  std::string folder(const std::string& name) const { return temporary_ / name; }

  void expect_refused(const std::string& path, const testing::Matcher<std::string>& message) {
    EXPECT_THAT([&] { Model::load(path, context_); }, ThrowsMessage<InputError>(message));
  }

  TemporaryFolder temporary_;
  ThreadPool pool_{2};
  Context context_{pool_};
  LabelSpace labels_;
  std::vector<uint64_t> counts_;
  std::vector<int32_t> stage1_;
};

TEST_F(ModelTest, AnEmbeddingClassifierKeepsTheFormOfItsEncoder) {
  const Csr points = random_points(50, 30, 6);
  for (const bool relu : {false, true}) {
    const TinyModel tiny({.C = 0, .form = {.layer_norm = false, .relu = relu, .unit = true}});
    ModelParts parts = parts_of(tiny);
    parts.method = "glas";
    write_model(folder("m"), parts, LabelStorage::kFloat32);
    EXPECT_THAT(content_of(folder("m/config.json")), HasSubstr("\"version\": 3"));
    const Model model = Model::load(folder("m"), context_);
    EXPECT_EQ(model.method(), "glas");
    const Predictor in_memory(context_, tiny.views(), {});
    const Csr expected = predict_all(context_, in_memory, points, 8);
    EXPECT_EQ(predict_all(context_, model.predictor(), points, 8).values, expected.values);
    const TinyModel usual({.C = 0});
    const Predictor without(context_, usual.views(), {});
    EXPECT_NE(predict_all(context_, without, points, 8).values, expected.values);
    const LabelSpace labels = model.label_space();
    write_model(folder("copy"), elias::parts_of(model, labels), LabelStorage::kFloat32);
    EXPECT_EQ(Model::load(folder("copy"), context_).first().weights.encoder.bag().form,
              tiny.sizes().form);
  }
}

TEST_F(ModelTest, IsReadAsItWasWritten) {
  for (const int64_t C : {0, 6}) {
    const TinyModel tiny({.C = C, .layers = 2});
    write_model(folder("m"), parts_of(tiny), LabelStorage::kFloat32);
    const Model model = Model::load(folder("m"), context_);
    EXPECT_EQ(model.method(), C == 0 ? "ova" : "elias");
    if (C > 0) {
      EXPECT_EQ(model.first().search.alpha, 0.1F);
      EXPECT_EQ(model.first().search.beam, 3);
      EXPECT_EQ(model.first().search.shortlist, 17);
      EXPECT_EQ(model.first().search.gamma, 0.25F);
    }
    EXPECT_EQ(model.training().dump(), R"({"epochs":3,"rates":[0.5,0.001]})");
    EXPECT_EQ(model.points(), 1234U);
    EXPECT_EQ(model.features(), 30U);
    EXPECT_EQ(model.labels(), 40U);
    EXPECT_EQ(model.label_name(7), "label, 7");
    EXPECT_EQ(model.find_label("label, 39"), 39U);
    EXPECT_EQ(model.find_label("label, 40"), std::nullopt);
    EXPECT_TRUE(std::ranges::equal(model.label_counts(), counts_));
    EXPECT_TRUE(std::ranges::equal(model.first().stage1_clusters, stage1_));
    EXPECT_EQ(model.tfidf(), nullptr);
    EXPECT_THAT(model.files().front(), Pair("config.json", testing::Gt(100U)));
    EXPECT_EQ(model.files().size(), 5U);

    const PredictorWeights weights = tiny.views();
    const Predictor in_memory(context_, weights, parts_of(tiny).members[0].search);
    const Csr points = random_points(50, 30, 6);
    const Csr expected = predict_all(context_, in_memory, points, 8);
    const Csr actual = predict_all(context_, model.predictor(), points, 8);
    EXPECT_EQ(actual.offsets, expected.offsets);
    EXPECT_EQ(actual.columns, expected.columns);
    EXPECT_EQ(actual.values, expected.values);
  }
}

TEST_F(ModelTest, CarriesItsRankerWithAnyMix) {
  const TinyModel tiny({});
  const Csr points = random_points(50, 30, 6);
  for (const MixKind mix : {MixKind::kProduct, MixKind::kTree, MixKind::kLearned}) {
    TinyRanker ranker({}, RankerParts::kBoth, mix, 9);
    if (mix == MixKind::kTree) ranker.weights() = by_feature(ranker.weights(), 30 + 12);
    ModelParts parts = parts_of(tiny);
    const RankerPart part = ranker.part();
    parts.ranker = &part;
    parts.label_counts = ranker.counts();
    write_model(folder("m"), parts, LabelStorage::kFloat32);
    const Model model = Model::load(folder("m"), context_);
    ASSERT_NE(model.ranker(), nullptr);
    EXPECT_EQ(model.ranker()->top, 9);
    EXPECT_EQ(model.ranker()->mix.kind, mix);
    EXPECT_EQ(model.ranker()->weights.layout, part.weights.layout);
    const PredictorWeights weights = tiny.views();
    const Predictor in_memory(context_, weights, parts.members[0].search, part);
    const Csr expected = predict_all(context_, in_memory, points, 8);
    const Csr actual = predict_all(context_, model.predictor(), points, 8);
    EXPECT_EQ(actual.columns, expected.columns);
    EXPECT_EQ(actual.values, expected.values);

    // A model is written again as it is.
    const LabelSpace labels = model.label_space();
    write_model(folder("again"), elias::parts_of(model, labels), LabelStorage::kFloat32);
    EXPECT_EQ(content_of(folder("again/config.json")), content_of(folder("m/config.json")));
  }
  // An older model's ranker does not stay.
  write_model(folder("m"), parts_of(tiny), LabelStorage::kFloat32);
  EXPECT_EQ(Model::load(folder("m"), context_).ranker(), nullptr);
  EXPECT_FALSE(fs::exists(folder("m/ranker.safetensors")));
}

TEST_F(ModelTest, ARankerThatLeadsAstrayIsRefused) {
  const TinyModel tiny({});
  const auto refused = [&](const std::string& message, const auto& spoil) {
    TinyRanker ranker({}, RankerParts::kWords, MixKind::kLearned, 9);
    spoil(ranker.weights());
    ModelParts parts = parts_of(tiny);
    const RankerPart part = ranker.part();
    parts.ranker = &part;
    write_model(folder("m"), parts, LabelStorage::kFloat32);
    expect_refused(folder("m"), AllOf(HasSubstr("ranker.safetensors"), HasSubstr(message)));
  };
  refused("features beyond its own",
          [](SparseRanker& weights) { weights.ids[weights.offsets[2] - 1] = 30; });
  refused("do not fit", [](SparseRanker& weights) { weights.offsets[2] = 1000; });
  refused("do not fit", [](SparseRanker& weights) { weights.bias.pop_back(); });
  const auto turn = [](SparseRanker& weights) { weights = by_feature(weights, 30); };
  refused("labels beyond its own", [&](SparseRanker& weights) {
    turn(weights);
    weights.ids[weights.offsets[1] - 1] = 40;
  });
  refused("do not fit", [&](SparseRanker& weights) {
    turn(weights);
    weights.offsets.pop_back();
  });
}

TEST_F(ModelTest, LabelWeightsInBFloat16TakeHalfTheBytes) {
  const TinyModel tiny({.D = 64, .L = 400});
  ModelParts parts = parts_of(tiny);
  const auto size = [&] { return fs::file_size(folder("m/classifiers.safetensors")); };
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  const auto whole = size();
  write_model(folder("m"), parts, LabelStorage::kBFloat16);
  EXPECT_EQ(whole - size(), 400U * 64 * 2);
  const Model model = Model::load(folder("m"), context_);
  const auto stored = model.first().weights.label_weights.span<BFloat16>();
  const auto given = tiny.label_weights.span<float>();
  for (size_t i = 0; i < stored.size(); ++i) {
    ASSERT_EQ(stored[i].bits, to_bfloat16(given[i]).bits);
  }
  // Those that are rounded already are written as they are.
  parts.members[0].weights.label_weights = model.first().weights.label_weights;
  write_model(folder("again"), parts, LabelStorage::kBFloat16);
  EXPECT_EQ(content_of(folder("again/classifiers.safetensors")),
            content_of(folder("m/classifiers.safetensors")));
}

TEST_F(ModelTest, CarriesTheVectorizerOfItsTexts) {
  const Tfidf tfidf = some_tfidf(pool_);
  const TinyModel tiny({.V = static_cast<int64_t>(tfidf.features())});
  ModelParts parts = parts_of(tiny);
  parts.tfidf = &tfidf;
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  {
    const Model model = Model::load(folder("m"), context_);
    ASSERT_NE(model.tfidf(), nullptr);
    TextRows text;
    text.add("teuer in the bush");
    EXPECT_EQ(model.tfidf()->transform(text, pool_).columns, tfidf.transform(text, pool_).columns);
  }
  const TinyModel other({.V = 5});
  ModelParts wrong = parts_of(other);
  wrong.tfidf = &tfidf;
  write_model(folder("wrong"), wrong, LabelStorage::kFloat32);
  expect_refused(folder("wrong"), HasSubstr("features.safetensors: has 10 features, but the "));
  // An older model's files do not stay.
  write_model(folder("m"), parts_of(other), LabelStorage::kFloat32);
  EXPECT_EQ(Model::load(folder("m"), context_).tfidf(), nullptr);
  EXPECT_FALSE(fs::exists(folder("m/features.safetensors")));
}

TEST_F(ModelTest, LabelsAreReadTheWayTheyWereInTraining) {
  const TinyModel tiny({});
  ModelParts parts = parts_of(tiny);
  write_model(folder("names"), parts, LabelStorage::kFloat32);
  LabelSpace space = Model::load(folder("names"), context_).label_space();
  EXPECT_FALSE(space.closed());
  EXPECT_EQ(space.resolve_name("label, 12", "here"), LabelId(12));
  EXPECT_EQ(space.resolve_name("not seen in training", "here"), LabelId(40));

  LabelSpace ids;
  ids.require_ids("here");
  ids.cover_ids(40);
  parts.labels = &ids;
  write_model(folder("ids"), parts, LabelStorage::kFloat32);
  const Model with_ids = Model::load(folder("ids"), context_);
  EXPECT_EQ(with_ids.label_space().form(), LabelForm::kIds);
  EXPECT_EQ(with_ids.label_space().size(), 40U);
  EXPECT_EQ(with_ids.label_name(7), "7");
  EXPECT_EQ(with_ids.find_label("39"), 39U);
  for (const char* no : {"40", "-1", "", "1x", "name"}) {
    EXPECT_EQ(with_ids.find_label(no), std::nullopt) << no;
  }

  std::string lines;
  for (int l = 0; l < 40; ++l) lines += fmt::format("twice {}\n", l / 2);
  const LabelSpace file = LabelSpace::read(bytes_in_memory(lines, "labels.txt"));
  parts.labels = &file;
  write_model(folder("file"), parts, LabelStorage::kFloat32);
  const Model with_file = Model::load(folder("file"), context_);
  EXPECT_TRUE(with_file.label_space().closed());
  EXPECT_EQ(with_file.label_space().size(), 40U);
  EXPECT_EQ(with_file.find_label("twice 3"), 6U);
}

TEST_F(ModelTest, NamesThatAreNotALineAreRefusedBeforeAnythingIsWritten) {
  const TinyModel tiny({.L = 2});
  ModelParts parts = parts_of(tiny);
  LabelSpace labels;
  labels.resolve_name("good", "here");
  labels.resolve_name("bad\nname", "here");
  parts.labels = &labels;
  EXPECT_THAT([&] { write_model(folder("m"), parts, LabelStorage::kFloat32); },
              ThrowsMessage<InputError>(HasSubstr("the name of label 1, 'bad\\x0aname', holds")));
  EXPECT_FALSE(fs::exists(folder("m")));
}

TEST_F(ModelTest, WhatIsNoModelIsRefusedWithASentence) {
  expect_refused(folder("nothing"), HasSubstr("nothing: there is no such folder"));
  fs::create_directories(folder("begun/run"));
  expect_refused(folder("begun"), HasSubstr("begun: has no config.json"));
  write_file(folder("begun/run/lock"), "");
  expect_refused(folder("begun"), HasSubstr("give the command that began it again"));
  expect_refused(folder("begun/run/lock"), HasSubstr("is a file: give the folder"));
  const TinyModel tiny({});
  write_model(folder("m"), parts_of(tiny), LabelStorage::kFloat32);
  const std::string path = folder("m/config.json");
  const std::string good = content_of(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    replace_content(path, text.replace(text.find(from), from.size(), to));
  };
  with("\"version\": 1", "\"version\": 5");
  expect_refused(folder("m"), AllOf(HasSubstr("config.json"), HasSubstr("version 5"),
                                    HasSubstr("up to 4: update elias")));
  with("elias-model", "other-model");
  expect_refused(folder("m"), HasSubstr("holds 'other-model'"));
  with("\"beam\": 3", "\"beam\": 2");
  expect_refused(folder("m"), HasSubstr("config.json: is damaged or was edited"));
  with("{", "");
  expect_refused(folder("m"), HasSubstr("config.json: is damaged, or not the config.json of"));
  replace_content(path, good);
  EXPECT_EQ(Model::load(folder("m"), context_).labels(), 40U);
}

TEST_F(ModelTest, NumbersThatAreNoneAreRefusedEvenWithTheRightChecksum) {
  const TinyModel tiny({});
  write_model(folder("m"), parts_of(tiny), LabelStorage::kFloat32);
  const std::string path = folder("m/config.json");
  const std::string good = content_of(path);
  EXPECT_EQ(with_checksum(good), good);
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& message) {
    std::string text = good;
    replace_content(path, with_checksum(text.replace(text.find(from), from.size(), to)));
    expect_refused(folder("m"), AllOf(HasSubstr("config.json: "), HasSubstr(message)));
  };
  refused("\"beam\": 3", "\"beam\": 2.5", "\"beam\" is '2.5', not a whole number");
  refused("\"labels\": 40", "\"labels\": 1e300", "not a whole number");
  refused("\"labels\": 40", "\"labels\": 18446744073709551615", "not a whole number");
  refused("\"labels\": 40", "\"labels\": 0", "a size of 0 cannot be");
  refused("\"alpha\": 0.1", "\"alpha\": 1e300", "\"alpha\" is '1e+300', not a number");
  refused("\"alpha\": 0.1", "\"alpha\": \"x\"", "not a number");
  refused("\"elias\"", "\"other\"", "of a kind that is not known here: update elias");
  refused("labels.txt", "../secret", "of a kind that is not known here");
}

// Bad content that was written so, checksums and all.
TEST_F(ModelTest, AGraphThatLeadsAstrayIsRefused) {
  const auto refused = [&](const std::string& message, const auto& spoil) {
    TinyModel tiny({});
    spoil(tiny);
    write_model(folder("m"), parts_of(tiny), LabelStorage::kFloat32);
    expect_refused(folder("m"), AllOf(HasSubstr("index.safetensors"), HasSubstr(message)));
  };
  refused("row 0 of its graph holds label 40 after -1, of 40 labels",
          [](TinyModel& m) { m.labels[0] = 40; });
  refused("row 0 of its graph holds label -1 after -1", [](TinyModel& m) { m.labels[0] = -1; });
  refused("after", [](TinyModel& m) { m.labels[1] = m.labels[0]; });
  refused("holds the score nan", [](TinyModel& m) { m.scores.back() = NAN; });
  refused("holds the score 1.5", [](TinyModel& m) { m.scores[3] = 1.5; });
  refused("do not fit", [](TinyModel& m) { std::swap(m.offsets[2], m.offsets[3]); });
  refused("do not fit", [](TinyModel& m) { m.offsets.back() += 1; });
  refused("do not fit", [](TinyModel& m) { m.scores.pop_back(); });
  refused("not one row for each cluster", [](TinyModel& m) { m.offsets.pop_back(); });
}

TEST_F(ModelTest, AnEnsembleIsLoadedAsItWasWritten) {
  const TinyModel first({}), second({.halves = true, .seed = 2});
  const Csr points = random_points(60, 30, 4);
  for (const FusionKind kind : {FusionKind::kMean, FusionKind::kRanks, FusionKind::kLearned}) {
    ModelParts parts = parts_of(first);
    const std::vector<int32_t> other_clusters(40, 3);
    parts.members.push_back(
        {second.views(), {.alpha = 2, .beam = 2, .shortlist = 9, .gamma = 1}, other_clusters});
    parts.fusion.kind = kind;
    if (kind == FusionKind::kLearned) {
      parts.fusion.learned = {.bias = 0.5F, .inputs = {{{-1, 2}, {1, 2, 0.5F}}, {{}, {1}}}};
    }
    write_model(folder("m"), parts, LabelStorage::kFloat32);
    const Model model = Model::load(folder("m"), context_);
    ASSERT_EQ(model.members().size(), 2U);
    EXPECT_EQ(model.fusion().kind, kind);
    EXPECT_EQ(model.members()[1].search.beam, 2);
    EXPECT_TRUE(std::ranges::equal(model.members()[1].stage1_clusters, other_clusters));
    EXPECT_TRUE(std::ranges::equal(model.label_counts(), counts_));
    const Predictor in_memory(context_, parts.members, parts.fusion, {});
    const Csr expected = predict_all(context_, in_memory, points, 8);
    const Csr actual = predict_all(context_, model.predictor(), points, 8);
    EXPECT_EQ(actual.columns, expected.columns);
    EXPECT_EQ(actual.values, expected.values);

    const LabelSpace labels = model.label_space();
    write_model(folder("again"), elias::parts_of(model, labels), LabelStorage::kFloat32);
    for (const auto& [name, bytes] : model.files()) {
      EXPECT_EQ(content_of(folder("m/" + name)), content_of(folder("again/" + name))) << name;
    }
  }
  // A model of one member leaves nothing of theirs behind.
  write_model(folder("m"), parts_of(first), LabelStorage::kFloat32);
  EXPECT_FALSE(std::filesystem::exists(folder("m/encoder.2.safetensors")));
  EXPECT_FALSE(std::filesystem::exists(folder("m/fusion.safetensors")));
  EXPECT_EQ(Model::load(folder("m"), context_).members().size(), 1U);
}

TEST_F(ModelTest, AFusionThatCannotBeIsRefused) {
  const TinyModel tiny({});
  ModelParts parts = parts_of(tiny);
  parts.members.push_back(parts.members[0]);
  parts.fusion = {.kind = FusionKind::kLearned,
                  .learned = {.bias = 0, .inputs = {{{2, 1}, {1, 1, 1}}, {{}, {1}}}}};
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  expect_refused(folder("m"), HasSubstr("fusion.safetensors"));
  parts.fusion.learned.inputs = {{{}, {1}}};
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  expect_refused(folder("m"), HasSubstr("inputs.1.knots"));
}

TEST_F(ModelTest, ThresholdsAreKeptAndReplaced) {
  const TinyModel model(TinySizes{});
  const std::string path = folder("m");
  write_model(path, parts_of(model), LabelStorage::kFloat32);
  const std::string encoder = content_of(path + "/encoder.safetensors");
  EXPECT_EQ(Model::load(path, context_).thresholds(), nullptr);

  Thresholds common{
      .goal = {ThresholdAim::kPrecision, 0.9}, .common = 0.3F, .own = 0, .by_label = {}};
  store_thresholds(path, Model::load(path, context_), common);
  const Model with_common = Model::load(path, context_);
  ASSERT_NE(with_common.thresholds(), nullptr);
  EXPECT_EQ(with_common.thresholds()->goal.aim, ThresholdAim::kPrecision);
  EXPECT_EQ(with_common.thresholds()->goal.share, 0.9);
  EXPECT_EQ(with_common.thresholds()->of(7), 0.3F);
  EXPECT_THAT(content_of(path + "/config.json"), HasSubstr("\"version\": 1"));

  Thresholds own{.goal = {}, .common = 0.25F, .own = 1, .by_label = std::vector<float>(40, 0.25F)};
  for (const float value : {0.5F, 0.75F, 1.0F}) {  // each under a name that the one before has not
    own.by_label[3] = value;
    store_thresholds(path, Model::load(path, context_), own);
    const Model with_own = Model::load(path, context_);
    EXPECT_EQ(with_own.thresholds()->of(3), value);
    EXPECT_EQ(with_own.thresholds()->of(4), 0.25F);
    size_t files = 0;
    for (const char* name : kThresholdFiles) files += fs::exists(fs::path(path) / name);
    EXPECT_EQ(files, 1u);
  }
  EXPECT_THAT(content_of(path + "/config.json"), HasSubstr("\"version\": 2"));

  // A copy has them, under the first of the names.
  const Model loaded = Model::load(path, context_);
  const LabelSpace labels = loaded.label_space();
  write_model(folder("copy"), elias::parts_of(loaded, labels), LabelStorage::kFloat32);
  EXPECT_EQ(Model::load(folder("copy"), context_).thresholds()->of(3), 1.0F);

  store_thresholds(path, Model::load(path, context_), common);
  EXPECT_EQ(Model::load(path, context_).thresholds()->own, 0u);
  for (const char* name : kThresholdFiles) EXPECT_FALSE(fs::exists(fs::path(path) / name));
  EXPECT_EQ(content_of(path + "/encoder.safetensors"), encoder);
}

TEST_F(ModelTest, ThresholdsThatCannotBeAreRefused) {
  const TinyModel model(TinySizes{});
  Thresholds own{.goal = {}, .common = 0.25F, .own = 1, .by_label = std::vector<float>(40, 0.25F)};
  own.by_label[5] = std::numeric_limits<float>::infinity();
  ModelParts parts = parts_of(model);
  parts.thresholds = &own;
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  expect_refused(folder("m"), AllOf(HasSubstr("thresholds-a.safetensors"), HasSubstr("40 labels")));
  own.by_label.assign(39, 0.25F);
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  expect_refused(folder("m"), HasSubstr("thresholds-a.safetensors"));
  // Another model has taken the place of the one that they were chosen for.
  own.by_label.assign(40, 0.25F);
  write_model(folder("m"), parts_of(model), LabelStorage::kFloat32);
  const Model before = Model::load(folder("m"), context_);
  write_model(folder("m"), parts_of(TinyModel({.seed = 5})), LabelStorage::kFloat32);
  EXPECT_THAT([&] { store_thresholds(folder("m"), before, own); },
              ThrowsMessage<InputError>(HasSubstr("another model")));
  EXPECT_EQ(Model::load(folder("m"), context_).thresholds(), nullptr);
}

TEST_F(ModelTest, SettingsThatCannotBeAreRefused) {
  const TinyModel tiny({});
  ModelParts parts = parts_of(tiny);
  parts.members[0].search.beam = 7;
  write_model(folder("m"), parts, LabelStorage::kFloat32);
  expect_refused(folder("m"), HasSubstr("the beam is 7, but must be in [1, 6]"));
}

// Damages one file of the model in one way, of which there are five.
void damage(const std::string& path, const std::string& of_other, RandomSequence& random) {
  std::string content = content_of(path);
  const uint64_t place = random.below(content.size());
  switch (random.below(5)) {
    case 0:
      content[place] = static_cast<char>(content[place] ^ (1 << random.below(8)));
      break;
    case 1:
      content.resize(place);
      break;
    case 2:
      content.insert(random.below(2) == 0 ? place : content.size(), 1 + random.below(100), '\0');
      break;
    case 3:
      content = content_of(of_other);
      break;
    default:
      fs::remove(path);
      return;
  }
  replace_content(path, content);
}

TEST_F(ModelTest, NoDamageGoesUnnoticed) {
  const Tfidf tfidf = some_tfidf(pool_);
  for (const uint64_t seed : {1, 2}) {
    const TinyModel tiny({.V = static_cast<int64_t>(tfidf.features()), .layers = 1, .seed = seed});
    ModelParts parts = parts_of(tiny);
    parts.tfidf = &tfidf;
    LabelSpace labels;
    for (int l = 0; l < 40; ++l) labels.resolve_name(fmt::format("{} {}", seed, l), "here");
    parts.labels = &labels;
    const TinyRanker ranker(tiny.sizes(), RankerParts::kWords, MixKind::kLearned, 9);
    const RankerPart part = ranker.part();
    parts.ranker = &part;
    write_model(folder(fmt::format("model{}", seed)), parts, LabelStorage::kFloat32);
  }
  const std::vector<std::string> names = {
      "config.json",        "encoder.safetensors", "index.safetensors",   "classifiers.safetensors",
      "ranker.safetensors", "labels.txt",          "features.safetensors"};
  RandomSequence random(1, 2);
  constexpr size_t kTrialsPerFile = 1000;
  for (size_t i = 0; i < kTrialsPerFile * names.size(); ++i) {
    const std::string& name = names[i % names.size()];
    const std::string path = folder("model1/" + name);
    const std::string good = content_of(path);
    damage(path, folder("model2/" + name), random);
    if (!fs::exists(path) || content_of(path) != good) {
      try {
        Model::load(folder("model1"), context_);
        FAIL() << name << " was damaged, trial " << i;
      } catch (const InputError& error) {
        // A config.json of another model makes every other file the wrong one.
        const bool of_other =
            name == "config.json" && content_of(path) == content_of(folder("model2/config.json"));
        EXPECT_THAT(error.what(), HasSubstr(of_other ? "" : name)) << "trial " << i;
      }
    }
    replace_content(path, good);
  }
  EXPECT_EQ(Model::load(folder("model1"), context_).label_name(3), "1 3");
}

}  // namespace
}  // namespace elias
