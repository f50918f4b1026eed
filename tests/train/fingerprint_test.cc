#include "train/fingerprint.h"

#include <gtest/gtest.h>

#include "train/encoder_start.h"

namespace elias {
namespace {

Pretrained tiny() {
  return make_transformer(
      {.layers = 1, .width = 16, .heads = 2, .inner = 32, .positions = 12},
      parse_vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nred\napple\n", "words", {}), 1);
}

TEST(Fingerprint, IsTheSameOfTheSameStart) {
  EXPECT_EQ(fingerprint_of(tiny()), fingerprint_of(tiny()));
  EXPECT_EQ(fingerprint_of(tiny()).size(), 16);
}

// Whatever a run of another start would do otherwise: it must not go on from a checkpoint of this.
TEST(Fingerprint, TellsStartsApartByAllThatTrainingTakesFromThem) {
  const std::string usual = fingerprint_of(tiny());
  const auto changed = [](const auto& change) {
    Pretrained other = tiny();
    change(other);
    return fingerprint_of(other);
  };
  EXPECT_NE(changed([](Pretrained& other) { other.config.shape.heads = 4; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.config.shape.epsilon = 1e-5F; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.config.hidden_dropout = 0.2F; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.config.attention_dropout = 0; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.config.shape.pooling = Pooling::kMean; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.unit = true; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.tokens.text.lowercase = false; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.tokens.continuing_subword_prefix = "@"; }),
            usual);
  EXPECT_NE(changed([](Pretrained& other) { other.tokens.pad_token = "red"; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.tokens.mask_token = "red"; }), usual);
  EXPECT_NE(changed([](Pretrained& other) { other.weights.table.span<float>()[5] += 1e-3F; }),
            usual);
  EXPECT_NE(
      changed([](Pretrained& other) { other.weights.layers[0].output_shift.span<float>()[3] = 1; }),
      usual);
}

}  // namespace
}  // namespace elias
