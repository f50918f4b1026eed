#include "text/normaliser.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/random.h"
#include "text/unicode.h"

namespace elias {
namespace {

using Form = NormaliserOptions::Form;

std::string normalise(const NormaliserOptions& options, std::string_view text) {
  std::string out;
  Normaliser(options).apply(text, out);
  return out;
}

TEST(Normaliser, Forms) {
  EXPECT_EQ(normalise({Form::kNfd}, "é"), "e\u0301");
  EXPECT_EQ(normalise({Form::kNfc}, "xe\u0301y"), "xéy");
  EXPECT_EQ(normalise({Form::kNfc}, "ﬁ"), "ﬁ");
  EXPECT_EQ(normalise({Form::kNfkc}, "ﬁ½"), "fi1\u20442");
  EXPECT_EQ(normalise({Form::kNfkd}, "Å"), "A\u030A");
  EXPECT_EQ(normalise({Form::kNfd}, "한"), "\u1112\u1161\u11AB");
  EXPECT_EQ(normalise({Form::kNfc}, "\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(normalise({Form::kNone}, "e\u0301"), "e\u0301");
}

TEST(Normaliser, MarksAreOrderedByClassAndOtherwiseKeepTheirOrder) {
  EXPECT_EQ(normalise({Form::kNfd}, "a\u0301\u0323"), "a\u0323\u0301");
  EXPECT_EQ(normalise({Form::kNfd}, "a\u0301\u0300"), "a\u0301\u0300");
  EXPECT_EQ(normalise({Form::kNfc}, "a\u0301\u0323"), "ạ\u0301");
}

TEST(Normaliser, StripsAccentsAndLowerCases) {
  EXPECT_EQ(normalise({Form::kNfd, true, true}, "Ünïcödé ÀÉ Ξ"), "unicode ae ξ");
  EXPECT_EQ(normalise({Form::kNone, false, true}, "İ ΟΣ"), "i\u0307 οσ");
  EXPECT_THROW(Normaliser({Form::kNfc, true, false}), InputError);
  EXPECT_THROW(Normaliser({Form::kNone, true, false}), InputError);
}

TEST(Normaliser, BytesThatAreNoTextBecomeReplacements) {
  EXPECT_EQ(normalise({Form::kNfc}, "a\xFF\xC3z"), "a\uFFFD\uFFFDz");
}

// Normal forms are idempotent, and composing what was decomposed comes to the same as composing.
TEST(Normaliser, FormsAgreeOnRandomText) {
  constexpr char32_t kPool[] = {'a',  'Z',  ' ',   U'é',   U'ạ',   0x301, 0x323,   0x300,
                                U'ﬁ', U'Å', U'한', 0x1161, 0x11A8, U'中', 0x1F600, 0x345};
  RandomSequence random(11, 1);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t i = random.below(12); i > 0; --i) {
      append_utf8(kPool[random.below(std::size(kPool))], text);
    }
    for (const Form form : {Form::kNfc, Form::kNfd, Form::kNfkc, Form::kNfkd}) {
      const std::string once = normalise({form}, text);
      EXPECT_EQ(normalise({form}, once), once);
    }
    EXPECT_EQ(normalise({Form::kNfc}, normalise({Form::kNfd}, text)),
              normalise({Form::kNfc}, text));
  }
}

TEST(Normaliser, AMegabyteOfMarksIsSortedInTime) {
  std::string text = "a";
  for (int i = 0; i < 250000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  EXPECT_EQ(normalise({Form::kNfd}, text).size(), text.size());
}

}  // namespace
}  // namespace elias
