#include "train/pretrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "tests/temporary_folder.h"
#include "train/encoder_start.h"
#include "train/masked_words.h"
#include "train/stages.h"
#include "train/training_points.h"

namespace elias {
namespace {

// Words that follow each other in pairs: whoever sees one knows the other.
constexpr const char* kPairs[][2] = {
    {"red", "apple"}, {"blue", "sky"}, {"green", "leaf"}, {"black", "cat"}, {"white", "snow"}};

WordPieceConfig vocabulary() {
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const auto& pair : kPairs) lines += std::string(pair[0]) + "\n" + pair[1] + "\n";
  return parse_vocabulary(lines, "words", {});
}

Pretrained tiny() {
  return make_transformer({.layers = 1, .width = 16, .heads = 2, .inner = 32, .positions = 12},
                          vocabulary(), 1);
}

TokenRows tokens_of(const TextRows& texts, ThreadPool& pool) {
  return WordPiece(vocabulary(), "words").encode_all(texts, 12, pool);
}

// Of two pairs each, or of one to five.
enum class Lengths : uint8_t { kSame, kAll };

TokenRows paired_texts(size_t count, ThreadPool& pool, Lengths lengths = Lengths::kSame) {
  TextRows texts;
  RandomSequence random(1, 0);
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    const uint64_t pairs = lengths == Lengths::kSame ? 2 : 1 + random.below(5);
    for (uint64_t j = 0; j < pairs; ++j) {
      const auto& pair = kPairs[random.below(std::size(kPairs))];
      text += std::string(pair[0]) + " " + pair[1] + " ";
    }
    texts.add(text);
  }
  return tokens_of(texts, pool);
}

PretrainSettings small_settings() {
  return {.seed = 3,
          .epochs = 100,
          .batch_tokens = 120,
          .rate = 3e-3F,
          .masked = 0.3F,
          .held_out = 40,
          .bf16 = false};
}

// What a run leaves behind: its log, and all weights of what it kept last.
struct OwnRun {
  std::vector<nlohmann::ordered_json> epochs;
  std::vector<float> kept;
  int64_t steps = 0;
  std::vector<int64_t> done;  // texts of the epoch, after each step

  Outcome go(const Context& context, const PretrainSettings& settings, const Pretrained& start,
             const TokenRows& texts, int64_t stop_after = -1, const std::string& checkpoint = "") {
    const PretrainHooks hooks{
        .stop = [&] { return steps == stop_after; },
        .progress =
            [&](const TrainingProgress& progress) {
              ++steps;
              done.push_back(progress.point);
            },
        .log = [&](const std::string&,
                   const nlohmann::ordered_json& fields) { epochs.push_back(fields); },
        .checkpoint_due = [] { return false; },
        .checkpoint = [&](const SafetensorsWriter& writer) { writer.write(checkpoint); },
        .keep =
            [&](const TransformerWeights<ConstTensorView>& weights) {
              kept.clear();
              for_parts(weights, [&](const std::string&, const ConstTensorView& part) {
                kept.insert(kept.end(), part.span<float>().begin(), part.span<float>().end());
              });
            }};
    std::optional<SafetensorsFile> resume;
    if (stop_after < 0 && !checkpoint.empty()) resume.emplace(checkpoint);
    const WordMasker masker(start.tokens, settings.masked, "words");
    return pretrain(context, settings, start, masker, texts, hooks, std::move(resume));
  }
};

TEST(Pretrain, LearnsWhichWordsGoTogether) {
  ThreadPool pool(2);
  OwnRun run;
  const Outcome outcome = run.go(Context(pool), small_settings(), tiny(), paired_texts(400, pool));
  EXPECT_EQ(outcome, Outcome::kFinished);

  ASSERT_EQ(run.epochs.size(), 100);
  const double before = run.epochs.front()["held_out_loss"];
  const double after = run.epochs.back()["held_out_loss"];
  EXPECT_GT(before, 0.8 * std::log(10.0));  // of ten words
  EXPECT_LT(after, 0.5 * before);           // log 5 if it had learned no more than whose turn it is
  // Where the other word of the pair is masked too, in a third of the cases, it can only guess.
  EXPECT_GT(run.epochs.back()["held_out_accuracy"].get<double>(), 0.55);
}

TEST(Pretrain, EndsInTheSameBitsHoweverOftenItWasStopped) {
  const TemporaryFolder folder;
  const std::string checkpoint = folder / "checkpoint";
  ThreadPool pool(2), other(3);
  const TokenRows texts = paired_texts(100, pool, Lengths::kAll);
  PretrainSettings settings = small_settings();
  settings.epochs = 3;
  const Pretrained start = tiny();
  OwnRun unbroken;
  unbroken.go(Context(pool), settings, start, texts);
  for (const int64_t stop : {int64_t{0}, int64_t{1}, unbroken.steps / 3, unbroken.steps - 1}) {
    OwnRun first, second;
    EXPECT_EQ(first.go(Context(pool), settings, start, texts, stop, checkpoint), Outcome::kStopped);
    EXPECT_EQ(second.go(Context(other), settings, start, texts, -1, checkpoint),
              Outcome::kFinished);
    EXPECT_EQ(second.kept.empty() ? first.kept : second.kept, unbroken.kept) << stop;
    EXPECT_EQ(second.epochs.back()["loss"], unbroken.epochs.back()["loss"]);
    EXPECT_EQ(first.steps + second.steps, unbroken.steps);
  }
  settings.seed = 4;
  OwnRun refused;
  EXPECT_THROW(refused.go(Context(pool), settings, start, texts, -1, checkpoint), InputError);
}

// [CLS] and [SEP] alone, in the place of the texts that are held out.
TEST(Pretrain, WithoutAWordToMeasureByTheLastWeightsAreKept) {
  ThreadPool pool(2);
  PretrainSettings settings = small_settings();
  settings.epochs = 3;
  settings.held_out = 5;
  TextRows texts;
  const auto out = held_out_points(60, 5, settings.seed);
  for (size_t i = 0; i < 60; ++i) {
    texts.add(std::ranges::binary_search(out, i) ? "" : "red apple blue sky");
  }
  OwnRun run;
  run.go(Context(pool), settings, tiny(), tokens_of(texts, pool));
  ASSERT_EQ(run.epochs.size(), 3);
  for (const auto& epoch : run.epochs) {
    EXPECT_TRUE(epoch.value("kept", false));
    EXPECT_FALSE(epoch.contains("held_out_loss"));
  }
}

// So few masks that by chance there would be none.
TEST(Pretrain, EveryHeldOutTextHasAWordToTell) {
  ThreadPool pool(2);
  PretrainSettings settings = small_settings();
  settings.epochs = 2;
  settings.masked = 1e-6F;
  OwnRun run;
  run.go(Context(pool), settings, tiny(), paired_texts(80, pool));
  ASSERT_EQ(run.epochs.size(), 2);
  for (const auto& epoch : run.epochs) {
    EXPECT_GT(epoch.value("held_out_loss", 0.0), 0.8 * std::log(10.0));
  }
}

TEST(Pretrain, TextsWithoutAWordAreLeftOut) {
  ThreadPool pool(1);
  const WordMasker masker(vocabulary(), 0.15F, "words");
  TextRows texts;
  for (const char* text : {"", "red apple", "zzz", "sky"}) texts.add(text);
  const TokenRows kept = texts_with_words(tokens_of(texts, pool), masker, "texts.txt");
  ASSERT_EQ(kept.rows(), 2);
  EXPECT_EQ(kept.row(0).size(), 4);
  EXPECT_EQ(kept.row(1).size(), 3);

  TextRows none;
  for (const char* text : {"", "zzz"}) none.add(text);
  EXPECT_THAT([&] { texts_with_words(tokens_of(none, pool), masker, "texts.txt"); },
              testing::ThrowsMessage<InputError>(
                  testing::AllOf(testing::HasSubstr("texts.txt: no text has a word to mask"),
                                 testing::HasSubstr("give other texts"))));
}

TEST(Pretrain, ABatchIsOfSoManyTokensOrOfOneText) {
  TokenRows texts;  // of 3, 5, 2 and 9 tokens
  for (const size_t length : {3, 5, 2, 9}) {
    texts.ids.insert(texts.ids.end(), length, 7);
    texts.offsets.push_back(texts.ids.size());
  }
  const std::vector<uint32_t> order = {1, 0, 2, 3};
  EXPECT_EQ(batch_size(texts, order, 7), 1);
  EXPECT_EQ(batch_size(texts, order, 8), 2);
  EXPECT_EQ(batch_size(texts, order, 9), 2);
  EXPECT_EQ(batch_size(texts, order, 10), 3);
  EXPECT_EQ(batch_size(texts, order, 1000), 4);
  EXPECT_EQ(batch_size(texts, order, 1), 1);
  EXPECT_EQ(batch_size(texts, {}, 1), 0);
}

TEST(Pretrain, AtMostHalfOfTheTextsAreHeldOut) {
  ThreadPool pool(1);
  const TokenRows texts = paired_texts(100, pool);
  PretrainSettings settings = small_settings();
  settings.held_out = 50;
  resolve(settings, texts, /*is_new=*/true);
  EXPECT_EQ(settings.held_out, 50);
  settings.held_out = 51;
  EXPECT_THAT([&] { resolve(settings, texts, /*is_new=*/true); },
              testing::ThrowsMessage<InputError>(
                  "--held-out 51: of 100 texts at most 50 may be held out: lower it"));
}

// All texts in one batch: the rate is not that of its last text.
TEST(Pretrain, ARunOfOneStepLearns) {
  ThreadPool pool(1);
  PretrainSettings settings = small_settings();
  settings.epochs = 1;
  settings.held_out = 0;
  settings.batch_tokens = 1 << 20;
  OwnRun run;
  const Pretrained start = tiny();
  run.go(Context(pool), settings, start, paired_texts(20, pool));
  EXPECT_EQ(run.steps, 1);
  std::vector<float> before;
  for_parts(start.weights, [&](const std::string&, const Tensor& part) {
    before.insert(before.end(), part.span<float>().begin(), part.span<float>().end());
  });
  double largest = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    largest = std::max(largest, std::abs(double{before[i]} - double{run.kept[i]}));
  }
  EXPECT_GT(largest, 0.3 * double{settings.rate});
}

TEST(Pretrain, FewTextsHaveShortSteps) {
  PretrainSettings settings;
  TokenRows texts;
  const auto steps_of = [&](size_t tokens) {
    texts.ids.resize(tokens);
    texts.offsets = {0, tokens};
    settings.batch_tokens = 0;
    resolve(settings, texts, /*is_new=*/true);
    return settings.batch_tokens;
  };
  EXPECT_EQ(steps_of(1000), 512);
  EXPECT_EQ(steps_of(64 * 1000), 1000);
  EXPECT_EQ(steps_of(10'000'000), 8192);
}

TEST(Pretrain, MemoryGrowsWithWeightsAndSteps) {
  PretrainSettings settings = small_settings();
  TransformerShape shape{.vocabulary = 30'000,
                         .positions = 512,
                         .types = 2,
                         .width = 768,
                         .heads = 12,
                         .inner = 3072,
                         .layers = 12};
  TokenRows texts;
  texts.ids.resize(20'000);
  for (size_t end = 100; end <= texts.ids.size(); end += 100) texts.offsets.push_back(end);
  const uint64_t base = pretraining_memory(settings, shape, texts);
  EXPECT_GT(base, 24 * uint64_t{108'000'000});  // the weights of a BERT-base
  EXPECT_LT(base, 26 * uint64_t{108'000'000});
  settings.batch_tokens += 10'000;
  const uint64_t longer = pretraining_memory(settings, shape, texts);
  const int64_t of_token = activation_bytes(shape, Precision::kFloat32);
  EXPECT_GT(longer, base + 10'000 * static_cast<uint64_t>(of_token));
  settings.batch_tokens = 20'000;
  const uint64_t longest = pretraining_memory(settings, shape, texts);
  settings.batch_tokens = int64_t{1} << 30;  // more than there are
  EXPECT_EQ(pretraining_memory(settings, shape, texts), longest);
}

TEST(Pretrain, NoStepHasMoreTokensThanItMay) {
  ThreadPool pool(2);
  PretrainSettings settings = small_settings();
  settings.epochs = 2;
  settings.held_out = 0;
  settings.batch_tokens = 50;
  const TokenRows texts = paired_texts(100, pool, Lengths::kAll);
  OwnRun run;
  run.go(Context(pool), settings, tiny(), texts);
  int64_t epoch = -1, before = 100;
  for (const int64_t done : run.done) {
    if (before == 100) {
      ++epoch;
      before = 0;
    }
    const auto order = epoch_order(100, settings.seed, 0, epoch);
    size_t tokens = 0;
    for (int64_t i = before; i < done; ++i)
      tokens += texts.row(order[static_cast<size_t>(i)]).size();
    EXPECT_GT(done, before);
    EXPECT_LE(tokens, 50);
    before = done;
  }
  EXPECT_EQ(epoch, 1);
  EXPECT_EQ(before, 100);
  EXPECT_LT(run.steps, 2 * 100 / 4);  // 12 tokens are the longest
}

TEST(MaskedWords, OneOfEachTextIsMaskedWhereItMustBe) {
  ThreadPool pool(1);
  TextRows texts;
  for (const char* text : {"red", "", "blue sky red apple", "zzz", "white snow"}) texts.add(text);
  const TokenRows rows = tokens_of(texts, pool);
  const std::vector<uint32_t> all = {0, 1, 2, 3, 4};
  const auto masks_of = [&](float share, FewestMasked fewest, uint64_t stream) {
    const MaskedWords masked =
        WordMasker(vocabulary(), share, "words").mask(rows, all, 1, stream, fewest);
    std::vector<int> counts(all.size());
    for (const int32_t place : masked.places) {
      const auto after = std::ranges::upper_bound(rows.offsets, static_cast<uint64_t>(place));
      ++counts[static_cast<size_t>(after - rows.offsets.begin()) - 1];
    }
    return counts;
  };
  for (uint64_t stream = 0; stream < 50; ++stream) {
    EXPECT_EQ(masks_of(1e-6F, FewestMasked::kOneOfEachText, stream),
              (std::vector<int>{1, 0, 1, 0, 1}));
    EXPECT_EQ(masks_of(1e-6F, FewestMasked::kNone, stream), std::vector<int>(5));
    // Where chance is enough it decides alone.
    const auto by_chance = masks_of(0.5F, FewestMasked::kNone, stream);
    const auto at_least = masks_of(0.5F, FewestMasked::kOneOfEachText, stream);
    for (const size_t text : {0, 2, 4}) EXPECT_EQ(at_least[text], std::max(1, by_chance[text]));
  }
}

TEST(MaskedWords, AShareIsChosenAndMostOfItMasked) {
  ThreadPool pool(1);
  const TokenRows texts = paired_texts(3'000, pool);
  std::vector<uint32_t> all(texts.rows());
  std::iota(all.begin(), all.end(), 0U);
  const WordMasker masker(vocabulary(), 0.15F, "words");
  const MaskedWords masked = masker.mask(texts, all, 1, 2);
  ASSERT_EQ(masked.inputs.offsets, texts.offsets);
  const auto chosen = static_cast<double>(masked.places.size());
  EXPECT_NEAR(chosen / (4.0 * 3'000), 0.15, 0.02);
  size_t next = 0;
  double is_mask = 0, is_same = 0;
  for (size_t i = 0; i < texts.ids.size(); ++i) {
    const uint32_t before = texts.ids[i], now = masked.inputs.ids[i];
    if (next == masked.places.size() || masked.places[next] != static_cast<int32_t>(i)) {
      ASSERT_EQ(now, before);
      continue;
    }
    ASSERT_GE(before, 5);  // no special token
    ASSERT_EQ(masked.words[next++], static_cast<int32_t>(before));
    is_mask += now == 4 ? 1 : 0;
    is_same += now == before ? 1 : 0;
    ASSERT_GE(now, 4);
  }
  EXPECT_EQ(next, masked.places.size());
  EXPECT_NEAR(is_mask / chosen, 0.8, 0.03);
  EXPECT_NEAR(is_same / chosen, 0.1 + 0.1 / 10, 0.03);
  EXPECT_EQ(masker.mask(texts, all, 1, 2).places, masked.places);
  EXPECT_NE(masker.mask(texts, all, 1, 3).places, masked.places);
}

TEST(MaskedWords, AVocabularyWithoutMaskIsRefused) {
  const WordPieceConfig tokens = parse_vocabulary("[UNK]\n[CLS]\n[SEP]\na\n", "words", {});
  EXPECT_THAT([&] { WordMasker(tokens, 0.15F, "words"); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("has no '[MASK]'")));
}

TEST(Encoders, AFolderHasOneName) {
  EXPECT_EQ(encoder_name("models/small//"), "models/small");
  EXPECT_EQ(encoder_name("./models/./small"), "models/small");
  EXPECT_EQ(encoder_name("link/../small"), "link/../small");
  EXPECT_EQ(encoder_name("./bag/"), "./bag");
  EXPECT_EQ(encoder_name("bag"), "bag");
  EXPECT_EQ(encoder_name("./new:er"), "./new:er");
  EXPECT_EQ(encoder_name("/"), "/");
  EXPECT_EQ(encoder_name("new:words=./a/"), "new:words=./a/");
  EXPECT_EQ(encoder_name(""), "");
}

TEST(NewTransformer, SizesAreReadAndCheckedByName) {
  const NewTransformer sizes =
      parse_new_transformer("new:layers=2,width=64,heads=8,vocabulary=500", "--x");
  EXPECT_EQ(sizes.layers, 2);
  EXPECT_EQ(sizes.inner, 256);
  EXPECT_EQ(sizes.vocabulary, 500);
  EXPECT_EQ(sizes.words, "");
  EXPECT_EQ(parse_new_transformer("new:words=t.json", "--x").words, "t.json");
  EXPECT_EQ(parse_new_transformer("new:", "--x").width, 256);
  const auto refusal = [](const std::string& encoder) {
    return [encoder] { parse_new_transformer(encoder, "--x"); };
  };
  using testing::HasSubstr;
  using testing::ThrowsMessage;
  EXPECT_THAT(refusal("new:depth=2"),
              ThrowsMessage<InputError>(HasSubstr("--x: a new transformer has no 'depth'")));
  EXPECT_THAT(refusal("new:layers=two"),
              ThrowsMessage<InputError>(HasSubstr("--x: layers cannot be 'two'")));
  EXPECT_THAT(refusal("new:layers=0"), ThrowsMessage<InputError>(HasSubstr("from 1 to")));
  EXPECT_THAT(refusal("new:layers=2,layers=3"),
              ThrowsMessage<InputError>("--x: 'layers' is given twice: leave one out"));
  EXPECT_THAT(refusal("new:positions=2"),
              ThrowsMessage<InputError>("--x: positions cannot be 2: give 3 or more"));
  EXPECT_THAT(
      [] {
        make_transformer({.layers = 900, .width = 16384, .heads = 8, .inner = 65536}, vocabulary(),
                         1);
      },
      ThrowsMessage<InputError>(HasSubstr("or more in training, the machine has")));
  EXPECT_THAT(refusal("new:words="), ThrowsMessage<InputError>(HasSubstr("words is empty")));
  EXPECT_THAT(refusal("new:words=t.json,vocabulary=500"),
              ThrowsMessage<InputError>(HasSubstr("leave one out")));
  EXPECT_THAT([] { make_transformer({.width = 10, .heads = 4, .inner = 8}, vocabulary(), 1); },
              ThrowsMessage<InputError>(HasSubstr("the width 10 is not a multiple")));
}

// Normal numbers of BERT's deviation, cut at twice of it; norms that change nothing.
TEST(NewTransformer, StartsAsBertDoes) {
  const Pretrained made = make_transformer(
      {.layers = 1, .width = 64, .heads = 2, .inner = 256, .positions = 12}, vocabulary(), 1);
  double square = 0;
  const auto values = made.weights.layers[0].up_weights.span<float>();
  for (const float value : values) {
    ASSERT_LE(std::abs(value), 0.04F);
    square += double{value} * double{value};
  }
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(values.size())), 0.02 * 0.88, 0.0005);
  EXPECT_THAT(made.weights.gain.span<float>(), testing::Each(1.0F));
  EXPECT_THAT(made.weights.shift.span<float>(), testing::Each(0.0F));
  EXPECT_NE(made.weights.layers[0].qkv_weights.span<float>()[0],
            make_transformer({.layers = 1, .width = 64, .heads = 2, .inner = 256, .positions = 12},
                             vocabulary(), 2)
                .weights.layers[0]
                .qkv_weights.span<float>()[0]);
}

}  // namespace
}  // namespace elias
