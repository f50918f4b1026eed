#include "train/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "base/errors.h"

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
  EXPECT_THAT(refusal("dropout", "auto"), HasSubstr("give a number"));
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
  for (const std::string& name : preset_names()) {
    set_preset(settings, name);
    const int64_t epochs = settings.warm_epochs + settings.stage1_epochs + settings.stage2_epochs;
    EXPECT_EQ(epochs, name == "wikipedia-500k" || name == "amazon-3m" ? 45 : 60) << name;
    // What the table gives stands in a run on that data set's sizes.
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

TEST(Settings, AsPublishedIsThePapersMethod) {
  Settings settings;
  set_as_published(settings);
  EXPECT_EQ(settings.logit_loss, LogitLoss::kNone);
  EXPECT_EQ(settings.gamma, 1);
  EXPECT_FALSE(settings.informed_edges);
  EXPECT_FALSE(settings.keep_classifiers);
  EXPECT_EQ(settings.kept_clusters, 0);
}

// What must hold for any data, whatever the rules.
void expect_sound(const Settings& settings, const DataSizes& sizes) {
  const auto json = to_json(settings);
  SCOPED_TRACE(
      fmt::format("N {} L {} V {}: {}", sizes.points, sizes.labels, sizes.features, json.dump()));
  for (const auto& [name, value] : json.items()) {
    if (name == "gamma") continue;  // chosen on held-out points
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

TEST(Settings, RulesGiveWhatWasMeasuredToWork) {
  Settings eurlex;
  resolve(eurlex, {45'000, 4'271, 5, 100'000, 200});
  EXPECT_EQ(eurlex.clusters, 128);
  EXPECT_EQ(eurlex.beam, 10);
  EXPECT_EQ(eurlex.shortlist, 1000);
  EXPECT_EQ(eurlex.width, 1024);
  EXPECT_EQ(eurlex.batch, 512);
  EXPECT_EQ(eurlex.held_out, 4000);
  Settings yso;
  resolve(yso, {590'716, 25'400, 4, 200'000, 10});
  EXPECT_EQ(yso.clusters, 512);
  EXPECT_EQ(yso.beam, 20);
  EXPECT_EQ(yso.shortlist, 1000);
  EXPECT_EQ(yso.width, 512);
  EXPECT_EQ(yso.batch, 1024);
  EXPECT_EQ(yso.stage1_epochs, 2);
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

TEST(Settings, TheMemoryEstimateCountsWhatIsLarge) {
  const DataSizes sizes{1'000'000, 500'000, 4, 200'000, 100};
  Settings settings;
  resolve(settings, sizes);
  const auto estimate = estimate_memory(settings, sizes);
  uint64_t sum = 0;
  for (const auto& [part, bytes] : estimate.parts) {
    sum += bytes;
  }
  using testing::Contains;
  using testing::Pair;
  EXPECT_THAT(estimate.parts, Contains(Pair("embedding table", 200'000ULL * 512 * 16)));
  EXPECT_THAT(estimate.parts, Contains(Pair("label classifiers", 500'000ULL * 512 * 22)));
  EXPECT_EQ(estimate.total(), sum);
  EXPECT_GT(sum, uint64_t{200'000 + 500'000} * 512 * 16);
  settings.method = Method::kOva;
  const auto parts = estimate_memory(settings, sizes).parts;
  EXPECT_THAT(parts, testing::Not(testing::Contains(testing::Key("label graph"))));
}

}  // namespace
}  // namespace elias
