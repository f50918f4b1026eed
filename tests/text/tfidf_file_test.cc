#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/errors.h"
#include "base/random.h"
#include "tests/temporary_folder.h"
#include "text/tfidf_fitter.h"

namespace elias {
namespace {

using testing::HasSubstr;

TextRows small_texts() {
  TextRows texts;
  for (const char* text : {"the école of the law", "The law, a law", "", "日本語 text"}) {
    texts.add(text);
  }
  return texts;
}

Tfidf small_model(ThreadPool& pool, int64_t opening = 2) {
  TfidfOptions options;
  options.opening = opening;
  options.words = {1, 2};
  options.characters = {3, 3};
  options.min_df = 0.25;
  TfidfFitter fitter(options, pool);
  fitter.add(small_texts());
  return fitter.finish();
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A copy that is aligned and whose end a sanitizer knows.
std::vector<std::byte> image_of(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return {span.begin(), span.end()};
}

class TfidfFileOfAnOpening : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Openings, TfidfFileOfAnOpening, testing::Values(0, 2));

TEST_P(TfidfFileOfAnOpening, IsLoadedAsItWasSaved) {
  TemporaryFolder folder;
  ThreadPool pool(2);
  const Tfidf saved = small_model(pool, GetParam());
  saved.save(folder / "m.safetensors");
  const Tfidf loaded = Tfidf::load(folder / "m.safetensors");
  EXPECT_EQ(loaded.options(), saved.options());
  EXPECT_EQ(loaded.documents(), saved.documents());
  ASSERT_EQ(loaded.features(), saved.features());
  for (size_t i = 0; i < saved.features(); ++i) {
    EXPECT_EQ(loaded.term(i), saved.term(i));
    EXPECT_EQ(loaded.idf(i), saved.idf(i));
    EXPECT_EQ(loaded.kind(i), saved.kind(i));
  }
  EXPECT_EQ(loaded.kind(0), TermKind::kWord);
  EXPECT_EQ(loaded.kind(loaded.features() - 1), TermKind::kCharacters);
  const Csr a = saved.transform(small_texts(), pool), b = loaded.transform(small_texts(), pool);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
  loaded.save(folder / "again.safetensors");
  EXPECT_EQ(read_bytes(folder / "again.safetensors"), read_bytes(folder / "m.safetensors"));
}

TEST(TfidfFile, WithoutOpeningsOlderProgramsReadIt) {
  TemporaryFolder folder;
  ThreadPool pool(1);
  for (const int64_t opening : {0, 2}) {
    small_model(pool, opening).save(folder / "m.safetensors");
    const SafetensorsFile file(folder / "m.safetensors");
    EXPECT_EQ(file.metadata("version"), opening == 0 ? "1" : "2");
    EXPECT_EQ(file.tensors().contains("opening.idf"), opening > 0);
    EXPECT_EQ(file.metadata("options")->find("opening") != std::string::npos, opening > 0);
  }
}

TEST(TfidfFile, EveryFlippedByteAndEveryCutIsRefused) {
  TemporaryFolder folder;
  ThreadPool pool(1);
  small_model(pool).save(folder / "m.safetensors");
  const std::string sound = read_bytes(folder / "m.safetensors");
  const auto is_refused = [](const std::string& bytes) {
    const std::vector<std::byte> image = image_of(bytes);
    try {
      Tfidf::load(SafetensorsFile(image, "f"));
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  RandomSequence random(1, 1);
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string bytes = sound;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << random.below(8)));
    ASSERT_TRUE(is_refused(bytes)) << "byte " << i;
  }
  for (size_t size = 0; size < sound.size(); size += 13) {
    ASSERT_TRUE(is_refused(sound.substr(0, size))) << "cut at " << size;
  }
  ASSERT_TRUE(is_refused(sound + "x"));
  ASSERT_FALSE(is_refused(sound));
}

// With a checksum that fits, only the checks of the arrays stand between a file and a crash.
TEST(TfidfFile, ForgedFilesNeverCrash) {
  TemporaryFolder folder;
  ThreadPool pool(1);
  small_model(pool).save(folder / "m.safetensors");
  const std::string sound = read_bytes(folder / "m.safetensors");
  constexpr std::string_view kField = "\"checksum\":\"";
  RandomSequence random(2, 1);
  int loaded = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = sound;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    const auto checksum = safetensors_checksum(std::as_bytes(std::span(bytes)));
    const size_t field = bytes.find(kField);
    if (!checksum || field == std::string::npos) continue;
    bytes.replace(field + kField.size(), checksum->size(), *checksum);
    const std::vector<std::byte> image = image_of(bytes);
    try {
      const Tfidf model = Tfidf::load(SafetensorsFile(image, "forged"));
      EXPECT_EQ(model.transform(small_texts(), pool).rows(), 4u);
      for (size_t i = 0; i < model.features(); ++i) EXPECT_LE(model.term(i).size(), bytes.size());
      ++loaded;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(loaded, 0);  // an idf that changed is a sound file
}

TEST(TfidfFile, OtherFilesAreRefusedWithTheReason) {
  TemporaryFolder folder;
  const auto complaint = [&](const char* format, const char* version) -> std::string {
    SafetensorsWriter writer;
    if (format != nullptr) writer.set_metadata("format", format);
    writer.set_metadata("version", version);
    writer.write(folder / "f");
    try {
      Tfidf::load(folder / "f");
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(complaint(nullptr, "1"), HasSubstr("lacks 'format'"));
  EXPECT_THAT(complaint("elias-model", "1"), HasSubstr("holds 'elias-model', not elias-tfidf"));
  EXPECT_THAT(complaint("elias-tfidf", "3"), HasSubstr("has version '3'"));
  EXPECT_THAT(complaint("elias-tfidf", "1"), HasSubstr("lacks 'options'"));
}

TEST(TermTable, FaultsOfForgedArraysAreFound) {
  const std::string bytes("aabb\0\0\0\0\0\0\0\0", 12);
  const std::vector<uint64_t> offsets = {0, 2, 4};
  const std::vector<uint64_t> slots = TermTable::make_slots(bytes, offsets);
  EXPECT_FALSE(TermTable::find_fault(bytes, offsets, slots));
  const auto fault = [&](std::vector<uint64_t> o, std::vector<uint64_t> s) {
    return TermTable::find_fault(bytes, o, s).has_value();
  };
  EXPECT_TRUE(fault({}, slots));
  EXPECT_TRUE(fault({0, 2, 5}, slots));
  EXPECT_TRUE(fault({1, 2, 4}, slots));
  EXPECT_TRUE(fault({0, 9, 4}, slots));
  EXPECT_TRUE(fault({0, 4, 4}, slots));
  EXPECT_TRUE(fault(offsets, {}));
  EXPECT_TRUE(fault(offsets, {1, 2}));                        // full: a search would never end
  EXPECT_TRUE(fault(offsets, {1, 2, 0}));                     // no power of two
  EXPECT_TRUE(fault(offsets, {1, 3, 0, 0}));                  // a third term
  EXPECT_TRUE(fault(offsets, {1, 2, 1, 0}));                  // three slots for two terms
  EXPECT_TRUE(fault(offsets, {uint64_t{1} << 32, 1, 0, 0}));  // a hash without a term
}

}  // namespace
}  // namespace elias
