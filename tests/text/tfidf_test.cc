#include "text/tfidf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/random.h"
#include "tests/text/tfidf_reference.h"
#include "text/tfidf_fitter.h"

namespace elias {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Tfidf fit(const TextRows& texts, const TfidfOptions& options, ThreadPool& pool) {
  TfidfFitter fitter(options, pool);
  fitter.add(texts);
  return fitter.finish();
}

TextRows rows_of(const std::vector<std::string>& texts) {
  TextRows rows;
  for (const std::string& text : texts) rows.add(text);
  return rows;
}

// Few characters, so that words repeat; some of them mean something to lower case or white space.
TextRows random_texts(uint64_t seed, size_t count) {
  constexpr char32_t kPool[] = {'a', 'b', 'B',   'c',    ' ',  ' ',     ' ',   '.',   '\'', '_',
                                '1', 0,   U'é',  U'É',   U'Σ', U'σ',    0x130, 0x301, '\n', 0x1D,
                                1,   'A', U'中', 0x3000, U'ß', 0x1F600, 0x23A, 'b',   'a',  '\t'};
  RandomSequence random(seed, 1);
  TextRows texts;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (uint64_t n = random.below(60); n > 0; --n) {
      append_utf8(kPool[random.below(std::size(kPool))], text);
    }
    texts.add(text);
  }
  return texts;
}

void expect_equal(const Tfidf& model, const Csr& matrix, const reference::Result& wanted) {
  ASSERT_EQ(model.features(), wanted.terms.size());
  ASSERT_EQ(matrix.cols, wanted.terms.size());
  for (size_t i = 0; i < wanted.terms.size(); ++i) ASSERT_EQ(model.term(i), wanted.terms[i]);
  ASSERT_EQ(matrix.rows(), wanted.rows.size());
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const CsrRow row = matrix.row(i);
    ASSERT_EQ(row.size(), wanted.rows[i].size()) << "row " << i;
    size_t at = 0;
    for (const auto& [column, value] : wanted.rows[i]) {
      ASSERT_EQ(row.columns[at], column);
      ASSERT_NEAR(row.values[at], value, 1e-6 * std::max(1.0, value));
      ++at;
    }
  }
}

TfidfOptions with(NgramRange words, NgramRange characters) {
  TfidfOptions options;
  options.words = words;
  options.characters = characters;
  return options;
}

TEST(Tfidf, AgreesWithTheReferenceOnRandomTexts) {
  ThreadPool pool(2);
  std::vector<TfidfOptions> all;
  for (const NgramRange words : {NgramRange{1, 1}, {1, 3}, {2, 2}, {0, 0}}) {
    for (const NgramRange characters : {NgramRange{0, 0}, {1, 2}, {3, 6}}) {
      if (words.any() || characters.any()) all.push_back(with(words, characters));
    }
  }
  for (const auto change : std::initializer_list<void (*)(TfidfOptions&)>{
           [](TfidfOptions& o) { o.opening = 3; },
           [](TfidfOptions& o) { o.opening = 4, o.max_features = 9, o.characters = {}; },
           [](TfidfOptions& o) { o.lowercase = false; }, [](TfidfOptions& o) { o.min_df = 3; },
           [](TfidfOptions& o) { o.min_df = 0.05, o.max_df = 0.9; },
           [](TfidfOptions& o) { o.max_df = 1; }, [](TfidfOptions& o) { o.max_features = 17; },
           [](TfidfOptions& o) { o.sublinear_tf = true, o.use_idf = false; },
           [](TfidfOptions& o) { o.normalise = false; }}) {
    all.push_back(with({1, 2}, {2, 3}));
    change(all.back());
  }
  uint64_t seed = 0;
  for (const TfidfOptions& options : all) {
    const TextRows texts = random_texts(++seed, 60);
    const Tfidf model = fit(texts, options, pool);
    expect_equal(model, model.transform(texts, pool), reference::fit_transform(texts, options));
  }
}

TfidfOptions options_of(const Json& json) {
  TfidfOptions options;
  const auto range = [&](const char* key, NgramRange& out) {
    if (json.contains(key)) out = {json[key][0].get<int>(), json[key][1].get<int>()};
  };
  range("words", options.words);
  range("characters", options.characters);
  options.lowercase = json.value("lowercase", true);
  options.strip_accents = json.value("strip_accents", false);
  options.min_df = json.value("min_df", 1.0);
  options.max_df = json.value("max_df", std::numeric_limits<double>::infinity());
  options.sublinear_tf = json.value("sublinear_tf", false);
  options.use_idf = json.value("use_idf", true);
  options.normalise = json.value("normalise", true);
  return options;
}

// make_fixtures.py wrote down what scikit-learn computes.
TEST(Tfidf, AgreesWithScikitLearn) {
  std::ifstream file(ELIAS_TEXT_CASES "/tfidf_fixture.json");
  const Json fixture = Json::parse(file);
  const TextRows texts = rows_of(fixture["texts"].get<std::vector<std::string>>());
  ThreadPool pool(2);
  for (const Json& entry : fixture["cases"]) {
    SCOPED_TRACE(entry["options"].dump());
    reference::Result wanted{entry["terms"].get<std::vector<std::string>>(), {}};
    wanted.rows.resize(texts.rows());
    for (const Json& cell : entry["entries"]) {
      wanted.rows[cell[0].get<size_t>()][cell[1].get<size_t>()] = cell[2].get<double>();
    }
    const Tfidf model = fit(texts, options_of(entry["options"]), pool);
    expect_equal(model, model.transform(texts, pool), wanted);
  }
}

TEST(Tfidf, ThreadsAndBatchesLeaveNoTrace) {
  // Long enough for several chunks of work.
  TextRows texts;
  for (uint64_t seed = 100; texts.bytes.size() < 3'000'000; ++seed) {
    const TextRows few = random_texts(seed % 7, 40);
    for (size_t i = 0; i < few.rows(); ++i) {
      texts.add(std::string(few.row(i)) + " w" + std::to_string(seed) + std::string(400, ' '));
    }
  }
  TfidfOptions options = with({1, 2}, {2, 3});
  options.opening = 2;
  ThreadPool one(1);
  const Tfidf expected = fit(texts, options, one);
  const Csr matrix = expected.transform(texts, one);
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    TfidfFitter fitter(options, pool);
    TextRows batch;
    for (size_t i = 0; i < texts.rows(); ++i) {
      batch.add(texts.row(i));
      if (i % 1000 == 999 || i + 1 == texts.rows()) {
        fitter.add(batch);
        batch = TextRows();
      }
    }
    const Tfidf model = fitter.finish();
    ASSERT_EQ(model.features(), expected.features());
    for (size_t i = 0; i < model.features(); ++i) {
      ASSERT_EQ(model.term(i), expected.term(i));
      ASSERT_EQ(model.idf(i), expected.idf(i));
    }
    const Csr same = model.transform(texts, pool);
    EXPECT_EQ(same.offsets, matrix.offsets);
    EXPECT_EQ(same.columns, matrix.columns);
    EXPECT_EQ(same.values, matrix.values);
  }
}

TEST(Tfidf, EmptyTextsAndUnknownWordsGiveEmptyRows) {
  ThreadPool pool(1);
  const Tfidf model = fit(rows_of({"alpha beta", ""}), {}, pool);
  const Csr matrix = model.transform(rows_of({"", "gamma", "beta", "a b c"}), pool);
  EXPECT_EQ(matrix.offsets, (std::vector<uint64_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(model.transform(TextRows(), pool).rows(), 0u);
  EXPECT_EQ(model.documents(), 2u);
}

TEST(Tfidf, TiesForMaxFeaturesGoToTheFirstInOrder) {
  ThreadPool pool(1);
  TfidfOptions options;
  options.max_features = 2;
  const Tfidf model = fit(rows_of({"dd cc bb aa dd"}), options, pool);
  ASSERT_EQ(model.features(), 2u);
  EXPECT_EQ(model.term(0), "aa");
  EXPECT_EQ(model.term(1), "dd");
}

TEST(Tfidf, AnOpeningIsTheFirstWordsOnceMore) {
  ThreadPool pool(1);
  TfidfOptions options = with({1, 2}, {});
  options.opening = 2;
  const Tfidf model = fit(rows_of({"aa bb cc"}), options, pool);
  const std::vector<std::string> terms = {"aa", "aa bb", "bb", "bb cc", "cc", "aa", "aa bb", "bb"};
  ASSERT_EQ(model.features(), terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    EXPECT_EQ(model.term(i), terms[i]);
    EXPECT_EQ(model.kind(i), i < 5 ? TermKind::kWord : TermKind::kOpening);
  }
  const Csr rows = model.transform(rows_of({"cc aa bb", "bb"}), pool);
  EXPECT_THAT(rows.row(0).columns, testing::ElementsAre(0, 1, 2, 4, 5));  // 'cc' opened no text
  EXPECT_THAT(rows.row(1).columns, testing::ElementsAre(2, 7));
  EXPECT_FLOAT_EQ(rows.row(1).values[1], 1);  // by itself of length 1
}

TEST(Tfidf, BytesThatAreNoTextDoNoHarm) {
  ThreadPool pool(1);
  RandomSequence random(3, 1);
  TextRows texts;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (uint64_t n = random.below(50); n > 0; --n) text += static_cast<char>(random.below(256));
    texts.add(text);
  }
  TfidfOptions options = with({1, 2}, {1, 3});
  options.strip_accents = true;
  EXPECT_EQ(fit(texts, options, pool).transform(texts, pool).rows(), 200u);
}

TEST(Tfidf, RefusesWhatCannotBe) {
  ThreadPool pool(1);
  const auto complaint = [&](TfidfOptions options, const TextRows& texts) -> std::string {
    try {
      fit(texts, options, pool);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  const TextRows texts = rows_of({"aa bb", "aa"});
  EXPECT_THAT(complaint({}, TextRows()), HasSubstr("there are no texts"));
  EXPECT_THAT(complaint({}, rows_of({"a b", "!"})), HasSubstr("no term is in"));
  EXPECT_THAT(complaint(with({2, 1}, {}), texts), HasSubstr("word n-grams from 2 to 1"));
  EXPECT_THAT(complaint(with({0, 2}, {}), texts), HasSubstr("word n-grams from 0 to 2"));
  EXPECT_THAT(complaint(with({0, 0}, {0, 0}), texts), HasSubstr("ask for one"));
  TfidfOptions options;
  options.opening = -1;
  EXPECT_THAT(complaint(options, texts), HasSubstr("an opening of -1 words cannot be"));
  options = with({0, 0}, {2, 2});
  options.opening = 3;
  EXPECT_THAT(complaint(options, texts), HasSubstr("cannot be without word n-grams"));
  options = {};
  options.min_df = -1;
  EXPECT_THAT(complaint(options, texts), HasSubstr("min_df is -1"));
  options.min_df = 3;
  EXPECT_THAT(complaint(options, texts), HasSubstr("at least 3"));
}

}  // namespace
}  // namespace elias
