#include "train/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "base/errors.h"
#include "train/network.h"

namespace elias {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& name, const std::string& value) {
  Settings settings;
  try {
    set(settings, name, value, "--set");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, AreSetByName) {
  Settings settings;
  set(settings, "width", "256", "--set");
  set(settings, "method", "ova", "--set");
  set(settings, "logit_loss", "none", "--set");
  set(settings, "informed_edges", "false", "--set");
  set(settings, "stage2_edges_rate", "1e-3", "--set");
  set(settings, "min_df", "0.25", "--set");
  EXPECT_EQ(settings.width, 256);
  EXPECT_EQ(settings.method, Method::kOva);
  EXPECT_EQ(settings.logit_loss, LogitLoss::kNone);
  EXPECT_FALSE(settings.informed_edges);
  EXPECT_EQ(settings.stage2_rates.edges, 1e-3F);
  EXPECT_EQ(settings.min_df, 0.25);
  set(settings, "width", "auto", "--set");
  EXPECT_EQ(settings.width, 0);
}

TEST(Settings, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(refusal("widht", "1"), AllOf(HasSubstr("--set: there is no setting 'widht'"),
                                           HasSubstr("the nearest is width")));
  EXPECT_THAT(refusal("stage1_label_rate", "1"), HasSubstr("stage1_labels_rate"));
  EXPECT_THAT(refusal("", "1"), HasSubstr("there is no setting ''"));
}

TEST(Settings, ValuesOutOfRangeAreRefusedAndChangeNothing) {
  EXPECT_EQ(refusal("width", "0"),
            "--set: width cannot be '0': give a whole number from 1 to 65536, or auto");
  EXPECT_THAT(refusal("width", "12.5"), HasSubstr("a whole number"));
  EXPECT_THAT(refusal("width", "12x"), HasSubstr("cannot be '12x'"));
  EXPECT_THAT(refusal("width", ""), HasSubstr("cannot be ''"));
  EXPECT_THAT(refusal("width", "-1"), HasSubstr("from 1"));
  EXPECT_THAT(refusal("width", "99999999999999999999"), HasSubstr("to 65536"));
  EXPECT_THAT(refusal("seed", "-1"), HasSubstr("from 0"));
  EXPECT_THAT(refusal("clusters", "100"), HasSubstr("a power of two"));
  EXPECT_EQ(refusal("clusters", "128"), "");
  EXPECT_THAT(refusal("dropout", "1"), HasSubstr("to 0.99"));
  EXPECT_THAT(refusal("warm_up", "auto"), HasSubstr("give a number"));
  for (const char* value : {"nan", "inf", "-inf", "1e999"}) {
    EXPECT_NE(refusal("lambda", value), "") << value;
  }
  EXPECT_THAT(refusal("bf16", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("logit_loss", "some"), HasSubstr("none or shortlist or all"));
  Settings settings;
  settings.width = 7;
  EXPECT_THROW(set(settings, "width", "0", "--set"), InputError);
  EXPECT_EQ(settings.width, 7);
}

TEST(Settings, JsonIsWhatItReads) {
  Settings settings;
  settings.seed = 3;
  settings.width = 96;
  settings.word_dropout = 0.1F;
  settings.logit_loss = LogitLoss::kAll;
  const auto json = to_json(settings);
  EXPECT_EQ(json["width"], 96);
  EXPECT_EQ(json["clusters"], "auto");
  EXPECT_EQ(json["word_dropout"].dump(), "0.1");
  Settings again;
  set_all(again, nlohmann::ordered_json::parse(json.dump()), "settings.json");
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.word_dropout, settings.word_dropout);
}

TEST(Settings, AJsonFileMustHoldAnObjectOfKnownSettings) {
  Settings settings;
  EXPECT_THROW(set_all(settings, nlohmann::ordered_json::parse("[1]"), "f.json"), InputError);
  EXPECT_THROW(set_all(settings, {{"bean", 3}}, "f.json"), InputError);
  EXPECT_THROW(set_all(settings, {{"beam", nullptr}}, "f.json"), InputError);
  EXPECT_THROW(set_all(settings, {{"beam", {1, 2}}}, "f.json"), InputError);
}

TEST(Settings, HelpNamesEverySetting) {
  const std::string help = settings_help();
  const auto json = to_json(Settings{});
  for (const auto& [name, value] : json.items()) {
    EXPECT_THAT(help, HasSubstr("  " + name + " ")) << name;
  }
}

TEST(Settings, PresetsAreTheRowsOfTable4) {
  Settings settings;
  set_preset(settings, "amazon-3m");
  EXPECT_EQ(settings.clusters, 32768);
  EXPECT_EQ(settings.alpha, 20);
  EXPECT_EQ(settings.beta, 150);
  EXPECT_EQ(settings.edges, 1000);
  EXPECT_EQ(settings.shortlist, 2000);
  EXPECT_EQ(settings.beam, 20);
  EXPECT_EQ(settings.batch, 64);
  EXPECT_EQ(settings.stage1_rates.labels, 0.002F);
  EXPECT_EQ(settings.stage2_rates.labels, 0.002F);
  EXPECT_EQ(settings.stage2_rates.edges, 0.002F);
  EXPECT_EQ(settings.weight_decay, 0.01F);
  EXPECT_EQ(settings.accumulation, 10);
  for (const std::string& name : preset_names()) {
    settings = {};
    set_preset(settings, name);
    if (settings.method == Method::kElias) {
      const int64_t epochs = settings.warm_epochs + settings.stage1_epochs + settings.stage2_epochs;
      EXPECT_EQ(epochs, name == "wikipedia-500k" || name == "amazon-3m" ? 45 : 60) << name;
    }
    // What a paper gives stands in a run on that data set's sizes.
    const auto before = to_json(settings);
    resolve(settings, {2'000'000, 3'000'000, 5, 130'000, 100});
    const auto after = to_json(settings);
    for (const auto& [key, value] : before.items()) {
      if (value == "auto") continue;
      EXPECT_EQ(after[key], value) << key;
    }
  }
  try {
    set_preset(settings, "amazon-671k");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("amazon-670k"));
  }
}

TEST(Settings, GlasHasAPresetOfItsBase) {
  Settings settings;
  set_preset(settings, "amazoncat-13k");
  resolve(settings, {1'186'239, 13'330, 5, 203'882, 71});
  EXPECT_EQ(settings.method, Method::kGlas);
  EXPECT_EQ(settings.loss, EmbeddingLoss::kMargin);
  EXPECT_EQ(settings.mined, 0);
  EXPECT_EQ(settings.normalisation, Normalisation::kWeight);
  EXPECT_EQ(settings.activation, BagActivation::kRelu);
  EXPECT_EQ(settings.regulariser, Regulariser::kGlas);
  EXPECT_EQ(settings.regulariser_weight, 10);
  EXPECT_EQ(settings.batch, 4096);
  EXPECT_EQ(settings.width, 1024);
  EXPECT_EQ(settings.word_dropout, 0.2F);
  EXPECT_EQ(settings.stage1_epochs, 10);
}

TEST(Settings, EmbeddingsLearnToRejectAllLabelsWhereThatIsAffordable) {
  const auto resolved = [](int64_t labels, EmbeddingLoss loss) {
    Settings settings;
    settings.method = Method::kGlas;
    settings.loss = loss;
    resolve(settings, {100'000, labels, 5, 50'000, 50});
    return settings;
  };
  const Settings few = resolved(50'000, EmbeddingLoss::kAuto);
  EXPECT_EQ(few.loss, EmbeddingLoss::kOva);
  EXPECT_EQ(to_json(few)["margin"], "auto");
  EXPECT_TRUE(labels_go_by_blocks(few, 50'000));
  EXPECT_EQ(few.word_dropout, 0.4F);
  EXPECT_EQ(few.dropout, 0);
  EXPECT_EQ(few.regulariser, Regulariser::kNone);
  const Settings many = resolved(50'001, EmbeddingLoss::kAuto);
  EXPECT_EQ(many.loss, EmbeddingLoss::kSoftmax);
  EXPECT_EQ(many.mined, 0);
  EXPECT_EQ(many.regulariser, Regulariser::kGlas);
  EXPECT_FALSE(labels_go_by_blocks(many, 50'001));
  const Settings margin = resolved(50'000, EmbeddingLoss::kMargin);
  EXPECT_EQ(margin.mined, 10);
  EXPECT_EQ(margin.scale, 1);
  EXPECT_EQ(margin.margin, 0.3F);
}

TEST(Settings, WhatWouldHaveNoEffectIsRefused) {
  const auto refusal = [](std::vector<std::pair<const char*, const char*>> given) {
    Settings settings;
    for (const auto& [name, value] : given) set(settings, name, value, "--set");
    try {
      resolve(settings, {10'000, 1000, 5, 5000, 50});
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal({{"loss", "softmax"}}),
            "loss softmax: is of method glas alone: leave loss out, or set it to auto");
  EXPECT_THAT(refusal({{"method", "ova"}, {"scale", "8"}}), HasSubstr("of method glas alone"));
  EXPECT_THAT(refusal({{"method", "ova"}, {"mined", "0"}}), HasSubstr("mined 0"));
  EXPECT_THAT(refusal({{"method", "glas"}, {"mined", "5"}}), HasSubstr("margin and softmax"));
  EXPECT_THAT(refusal({{"method", "glas"}, {"loss", "softmax"}, {"margin", "0.2"}}),
              HasSubstr("margin 0.2: is of the loss margin alone"));
  EXPECT_THAT(refusal({{"method", "glas"}, {"ef", "200"}}), HasSubstr("add index=hnsw"));
  EXPECT_EQ(refusal({{"method", "glas"}, {"index", "hnsw"}, {"ef", "200"}}), "");
  EXPECT_EQ(refusal({{"method", "glas"}, {"loss", "margin"}, {"mined", "5"}, {"margin", "1"}}), "");
}

TEST(Settings, ATransformerHasRulesOfItsOwn) {
  const DataSizes sizes{
      .points = 50'000,
      .labels = 4'000,
      .labels_per_point = 3,
      .features = 60'000,
      .features_per_point = 40,
      .transformer =
          TransformerShape{
              .vocabulary = 1000, .width = 384, .heads = 12, .inner = 1536, .layers = 6},
      .tokens_per_point = 20};
  const auto resolved = [&](std::vector<std::pair<const char*, const char*>> given) {
    Settings settings;
    settings.encoder = "somewhere";
    settings.max_length = 128;
    for (const auto& [name, value] : given) set(settings, name, value, "--set");
    resolve(settings, sizes);
    return settings;
  };
  const Settings usual = resolved({});
  EXPECT_EQ(usual.width, 384);
  EXPECT_EQ(usual.word_dropout, 0);
  EXPECT_EQ(usual.normalisation, Normalisation::kLayer);
  EXPECT_EQ(resolved({{"method", "glas"}}).normalisation, Normalisation::kLayer);
  EXPECT_LT(usual.stage1_rates.encoder, 1e-3F);
  const auto refusal = [&](const char* name, const char* value) {
    return [&, name, value] { resolved({{name, value}}); };
  };
  using testing::ThrowsMessage;
  for (const auto& [name, value] : {std::pair("layers", "1"),
                                    {"word_dropout", "0.2"},
                                    {"normalisation", "weight"},
                                    {"activation", "linear"}}) {
    EXPECT_THAT(refusal(name, value), ThrowsMessage<InputError>(HasSubstr("of a bag alone")));
  }
  EXPECT_THAT(refusal("width", "512"),
              ThrowsMessage<InputError>("width 512: the transformer has vectors of 384: leave "
                                        "width out"));
  EXPECT_THAT(refusal("batch", "20000000"), testing::Throws<InputError>());
  Settings bag;
  bag.pooling = PoolingChoice::kMean;
  EXPECT_THAT(
      [&] {
        resolve(bag, {50'000, 4'000, 3, 60'000, 40});
      },
      ThrowsMessage<InputError>(HasSubstr("pooling: is of a transformer alone")));
}

// Of a bag they would have no meaning.
TEST(Settings, PresetsHaveTextsAndRatesOfTransformers) {
  Settings bag, transformer;
  transformer.encoder = "somewhere";
  set_preset(bag, "amazon-3m");
  set_preset(transformer, "amazon-3m");
  EXPECT_EQ(bag.max_length, 0);
  EXPECT_EQ(bag.stage1_rates.encoder, 0);
  EXPECT_EQ(transformer.max_length, 128);
  EXPECT_EQ(transformer.stage1_rates.encoder, 2e-5F);
}

TEST(Settings, AsPublishedIsThePapersMethod) {
  Settings settings;
  set_as_published(settings);
  const auto ours = to_json(Settings{});
  nlohmann::ordered_json changed;
  const auto published = to_json(settings);
  for (const auto& [name, value] : published.items()) {
    if (ours[name] != value) changed[name] = value;
  }
  // lambda is published too, and the same.
  EXPECT_EQ(changed, nlohmann::ordered_json::parse(R"({
      "opening": 0, "labels_per_cluster": 100, "beam": 20, "shortlist": 2000, "edges": 1000,
      "beta": 150.0,
      "kept_clusters": 0, "informed_edges": false, "keep_classifiers": false,
      "keep_warm_classifiers": false, "label_start": "published", "logit_loss": "none",
      "gamma": 1.0, "stage2_labels_rate": 0.005, "stage2_edges_rate": 0.005, "accumulation": 10,
      "weight_decay": 0.01, "schedule": "stages", "ranker": "both", "ranker_words": 1000000000,
      "ranker_positive_weight": 1.0, "ranker_least_weight": 0.1, "ranker_dropped": 0.0, "mix": "tree"})"));
  EXPECT_EQ(settings.lambda, 0.05F);
}

// C = 2^ceil(log2(L / 100)): what the paper has on its four data sets.
TEST(Settings, AsPublishedHasThePapersClusters) {
  const std::pair<int64_t, int64_t> expected[] = {
      {131'073, 2048}, {670'091, 8192}, {501'070, 8192}, {2'812'281, 32768}};
  for (const auto& [labels, clusters] : expected) {
    Settings settings;
    set_as_published(settings);
    resolve(settings, {500'000, labels, 4, 100'000, 50});
    EXPECT_EQ(settings.clusters, clusters) << labels;
  }
}

TEST(Settings, AsPublishedLeavesAPresetAsItIs) {
  for (const std::string& name : preset_names()) {
    Settings preset;
    set_preset(preset, name);
    Settings both = preset;
    set_as_published(both);
    const auto before = to_json(preset), after = to_json(both), ours = to_json(Settings{});
    for (const auto& [key, value] : before.items()) {
      if (value == ours[key]) continue;
      EXPECT_EQ(after[key], value) << name << " " << key;
    }
  }
}

TEST(Settings, LabelClassifiersStartAsTheySay) {
  ThreadPool pool(1);
  Settings settings;
  settings.width = 24;
  settings.shortlist = 50;
  const auto ranges = [&] {
    const Context context(pool);
    Network network(context, settings, 10, 200);
    const PredictorWeights weights = network.predictor_weights(context, Weights::kCurrent);
    const auto [low, high] = std::ranges::minmax(weights.label_weights.span<float>());
    const auto [bias_low, bias_high] = std::ranges::minmax(weights.label_bias.span<float>());
    return std::array{low, high, bias_low, bias_high};
  };
  // 4,800 uniform weights and 200 biases come near the ends of their range.
  const float narrow = 1 / std::sqrt(24.0F);
  EXPECT_THAT(ranges(), testing::Pointwise(testing::FloatNear(1e-3F),
                                           {-narrow, narrow, -std::log(50.0F), -std::log(50.0F)}));
  settings.label_start = LabelStart::kPublished;
  const auto published = ranges();
  EXPECT_THAT(published, testing::Pointwise(testing::FloatNear(0.03F), {-0.5F, 0.5F, 0.0F, 1.0F}));
  EXPECT_GE(published[2], 0);
  EXPECT_LT(published[3], 1);
}

// What must hold for any data, whatever the rules.
void expect_sound(const Settings& settings, const DataSizes& sizes) {
  const auto json = to_json(settings);
  SCOPED_TRACE(
      fmt::format("N {} L {} V {}: {}", sizes.points, sizes.labels, sizes.features, json.dump()));
  for (const auto& [name, value] : json.items()) {
    if (name == "gamma" || name == "ef") continue;  // chosen on held-out points
    if (name == "index" && settings.method == Method::kElias) continue;  // it learns its own
    // Of embedding classifiers, or transformers, alone.
    if (name == "loss" || name == "margin" || name == "mined" || name == "scale" ||
        name == "pooling" || name == "max_length") {
      EXPECT_EQ(value, "auto") << name;
      continue;
    }
    EXPECT_NE(value, "auto") << name;
  }
  Settings again;
  EXPECT_NO_THROW(set_all(again, json, "itself"));  // every value is in its range
  EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(settings.clusters)));
  EXPECT_LE(settings.clusters, sizes.labels);
  EXPECT_LE(settings.beam, settings.clusters);
  EXPECT_LE(settings.shortlist, sizes.labels);
  EXPECT_LE(settings.edges, sizes.labels);
  EXPECT_GE(settings.clusters * settings.edges, sizes.labels);  // room for every label
  EXPECT_LE(settings.batch, sizes.points);
  EXPECT_LT(settings.held_out, sizes.points);
  const uint64_t table = static_cast<uint64_t>(settings.max_features) * settings.width * 16;
  EXPECT_LE(table, uint64_t{4} << 30);
}

TEST(Settings, ResolvedOnesAreSoundForAnySizes) {
  std::mt19937_64 random(1);
  const auto up_to = [&](double most) {
    return static_cast<int64_t>(
        std::exp(std::uniform_real_distribution(0.0, std::log(most))(random)));
  };
  for (int i = 0; i < 2000; ++i) {
    const DataSizes sizes{up_to(1e8), 1 + up_to(1e8), 3, up_to(1e8), 50};
    Settings settings;
    if (i % 3 == 0) settings.method = Method::kOva;
    if (i % 5 == 0) set_preset(settings, preset_names()[i % 4]);
    resolve(settings, sizes);
    if (i % 5 != 0) expect_sound(settings, sizes);
    EXPECT_LE(settings.clusters, sizes.labels);
    EXPECT_LE(settings.beam, settings.clusters);
    const auto once = to_json(settings);
    resolve(settings, sizes);
    EXPECT_EQ(to_json(settings), once);
  }
}

// The rows of the table of examples in the manual.
TEST(Settings, RulesAreThoseOfTheManual) {
  std::ifstream file(ELIAS_TEST_DATA "/../../docs/training.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  const DataSizes examples[] = {
      {1000, 200, 2, 3000, 20}, {45'000, 4'271, 5, 98'000, 200}, {590'716, 25'400, 4, 200'000, 10}};
  for (const DataSizes& sizes : examples) {
    Settings s;
    resolve(s, sizes);
    EXPECT_THAT(manual, HasSubstr(fmt::format(
                            "\n| {} | {} | {} | {} | {} | {} | {} | {} + {} + {} | {} |\n",
                            sizes.points - s.held_out, sizes.labels, s.clusters, s.beam,
                            s.shortlist, s.edges, s.batch, s.warm_epochs, s.stage1_epochs,
                            s.stage2_epochs, s.evaluate_every)));
    EXPECT_EQ(s.held_out, std::min<int64_t>(4000, sizes.points / 10));
    EXPECT_EQ(s.width, sizes.labels < 10'000 ? 1024 : 512);
    EXPECT_EQ(s.ranker_dropped, sizes.labels < 10'000 ? 0.15F : 0.4F);
  }
}

TEST(Settings, LongTextsHavePairsOfWords) {
  const auto longest = [](int64_t bytes, const Settings& given) {
    Settings settings = given;
    resolve_features(settings, {.texts = 100, .bytes = bytes, .labels = 50});
    return settings.words_high;
  };
  EXPECT_EQ(longest(49'999, {}), 1);
  EXPECT_EQ(longest(50'000, {}), 2);
  Settings given;
  given.words_high = 1;
  EXPECT_EQ(longest(50'000, given), 1);
  given = {};
  given.words_low = 0;
  EXPECT_EQ(longest(50'000, given), 0);
  given.words_low = 3;
  EXPECT_EQ(longest(50'000, given), 3);
}

TEST(Settings, LongTextsHaveAnOpening) {
  const auto opening = [](int64_t bytes, Settings settings) {
    resolve_features(settings, {.texts = 100, .bytes = bytes, .labels = 50});
    return settings.opening;
  };
  EXPECT_EQ(opening(199'999, {}), 0);
  EXPECT_EQ(opening(200'000, {}), 100);
  Settings given;
  given.words_low = 0;
  EXPECT_EQ(opening(200'000, given), 0);
  given = {};
  given.opening = 30;
  EXPECT_EQ(opening(199'999, given), 30);
}

TEST(Settings, ShortTextsHaveCharacters) {
  using Range = std::pair<int, int>;
  const auto range = [](int64_t bytes, int low, int high) {
    Settings settings;
    settings.characters_low = low;
    settings.characters_high = high;
    resolve_features(settings, {.texts = 100, .bytes = bytes, .labels = 50});
    return Range(settings.characters_low, settings.characters_high);
  };
  EXPECT_EQ(range(49'999, -1, -1), Range(4, 4));
  EXPECT_EQ(range(50'000, -1, -1), Range(0, 0));
  for (const int64_t bytes : {49'999, 50'000}) {
    EXPECT_EQ(range(bytes, 0, -1), Range(0, 0));
    EXPECT_EQ(range(bytes, -1, 0), Range(0, 0));
    EXPECT_EQ(range(bytes, 3, -1), Range(3, 4));
    EXPECT_EQ(range(bytes, 5, -1), Range(5, 5));
    EXPECT_EQ(range(bytes, -1, 3), Range(3, 3));
    EXPECT_EQ(range(bytes, -1, 6), Range(4, 6));
    EXPECT_EQ(range(bytes, 2, 3), Range(2, 3));
  }
}

TEST(Settings, TheFeaturesOfFewLabelsAreForAWideVector) {
  for (const int64_t labels : {9'999, 10'000}) {
    Settings settings;
    resolve_features(settings, {.texts = 100'000, .bytes = 1'000'000, .labels = labels});
    resolve(settings, {100'000, labels, 3, settings.max_features, 50});
    EXPECT_EQ(settings.width, labels < 10'000 ? 1024 : 512);
    const int kinds = 2;  // of terms: words and characters
    EXPECT_EQ(settings.max_features * settings.width * 16 * kinds, int64_t{3} << 29);
  }
}

TEST(Settings, KindsOfTermsShareTheTable) {
  const auto terms = [](Settings settings) {
    resolve_features(settings, {.texts = 1000, .bytes = 2'000'000, .labels = 50});
    return settings.max_features;
  };
  EXPECT_EQ(terms({}), 49'152);  // words and openings
  Settings given;
  given.opening = 0;
  EXPECT_EQ(terms(given), 98'304);
  given = {};
  given.characters_low = 3;
  EXPECT_EQ(terms(given), 32'768);
}

TEST(Settings, PointsOfManyLabelsAreSearchedWider) {
  const auto resolved = [](double labels_per_point) {
    Settings settings;
    resolve(settings, {50'000, 40'000, labels_per_point, 10'000, 50});
    return std::pair(settings.beam, settings.shortlist);
  };
  EXPECT_EQ(resolved(20), std::pair(int64_t{20}, int64_t{1000}));
  EXPECT_EQ(resolved(200), std::pair(int64_t{200}, int64_t{4000}));
}

TEST(Settings, MoreLabelsNeverHaveFewerClusters) {
  int64_t fewest = 1;
  for (int64_t labels = 2; labels < 20'000; ++labels) {
    Settings settings;
    resolve(settings, {10'000, labels, 3, 1000, 50});
    ASSERT_GE(settings.clusters, fewest) << labels;
    ASSERT_LE(settings.clusters, 2 * fewest) << labels;
    fewest = settings.clusters;
  }
}

TEST(Settings, WhatCannotBeNumberedIsRefused) {
  const DataSizes sizes{10'000'000, 4'000'000, 3, 100'000, 50};
  const auto refusal_of = [&](const std::vector<std::pair<const char*, const char*>>& given) {
    Settings settings;
    for (const auto& [name, value] : given) set(settings, name, value, "--set");
    try {
      resolve(settings, sizes);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(
      refusal_of({{"clusters", "65536"}, {"edges", "32768"}, {"kept_clusters", "0"}}),
      AllOf(HasSubstr("edges 32768 times clusters 65536, and 0 "), HasSubstr("lower edges")));
  EXPECT_EQ(refusal_of({{"clusters", "65536"}, {"edges", "32767"}, {"kept_clusters", "0"}}), "");
  EXPECT_NE(refusal_of({{"clusters", "65536"}, {"edges", "32767"}}), "");
  EXPECT_EQ(refusal_of({{"clusters", "65536"}, {"edges", "32768"}, {"stage2_epochs", "0"}}), "");
  EXPECT_THAT(refusal_of({{"batch", "1024"}, {"shortlist", "2097152"}}),
              HasSubstr("batch 1024: with a shortlist of 2097152"));
  EXPECT_EQ(refusal_of({{"batch", "1024"}, {"shortlist", "2097151"}}), "");
  EXPECT_EQ(refusal_of({{"batch", "1024"}, {"shortlist", "2097152"}, {"method", "ova"}}), "");
}

TEST(Settings, FoldsAreOfPointsAndForARanker) {
  const auto resolved = [](int64_t folds, int64_t points) {
    Settings settings;
    settings.ranker_folds = folds;
    resolve(settings, {.points = points, .labels = 30, .labels_per_point = 2, .features = 90});
    return settings.ranker_folds;
  };
  EXPECT_EQ(resolved(0, 100), 0);
  EXPECT_EQ(resolved(1, 100), 0);  // it would have no points outside
  EXPECT_EQ(resolved(3, 100), 3);
  EXPECT_EQ(resolved(16, 5), 5);
  EXPECT_EQ(resolved(2, 1), 0);
  EXPECT_THAT(refusal("ranker_folds", "17"), HasSubstr("a whole number from 0 to 16"));
  Settings off;
  off.ranker_folds = 2;
  off.ranker = RankerChoice::kOff;
  EXPECT_THROW(resolve(off, {.points = 100, .labels = 30}), InputError);
}

TEST(Settings, TheSmallestDataIsRankedWhole) {
  Settings settings;
  const DataSizes sizes{10, 2, 1, 20, 5};
  resolve(settings, sizes);
  expect_sound(settings, sizes);
  EXPECT_EQ(settings.clusters, 1);
  EXPECT_EQ(settings.held_out, 1);
  EXPECT_EQ(settings.warm_epochs, 0);
  EXPECT_EQ(settings.stage2_epochs, 0);
  EXPECT_GE(settings.stage1_epochs, 30);
  EXPECT_EQ(settings.min_df, 1);
}

TEST(Settings, GivenOnesStandUnlessTheDataIsTooSmall) {
  Settings settings;
  settings.width = 33;
  settings.clusters = 4096;
  settings.beam = 7;
  settings.stage2_epochs = 0;
  settings.warm_epochs = 0;
  settings.held_out = 0;
  resolve(settings, {1000, 300, 2, 500, 5});
  EXPECT_EQ(settings.width, 33);
  EXPECT_EQ(settings.clusters, 256);
  EXPECT_EQ(settings.beam, 7);
  EXPECT_EQ(settings.stage2_epochs, 0);
  EXPECT_EQ(settings.warm_epochs, 0);
  EXPECT_EQ(settings.held_out, 0);
}

}  // namespace
}  // namespace elias
