// Loading by the C interface, what it says of a model, and how it refuses.
#include <filesystem>
#include <fstream>

#include "tests/capi/capi_test.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

elias_status try_to_load(const std::string& path, const elias_load_options* options = nullptr) {
  elias_model* model = nullptr;
  const elias_status status = elias_load(path.c_str(), options, &model);
  EXPECT_EQ(model == nullptr, status != ELIAS_OK);
  elias_free(model);
  return status;
}

TEST(CapiLoadTest, AModelSaysWhatItIs) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(written.path());
  EXPECT_EQ(elias_label_count(model.get()), 40U);
  EXPECT_EQ(elias_takes_texts(model.get()), 1);
  EXPECT_EQ(elias_vector_width(model.get()), 12U);
  EXPECT_EQ(elias_member_count(model.get()), 1U);
  const WrittenModel of_features(WrittenModel::Kind::kFeatures);
  const ModelHandle other = load(of_features.path());
  EXPECT_EQ(elias_takes_texts(other.get()), 0);
  EXPECT_EQ(elias_feature_count(other.get()), elias_feature_count(model.get()));
  EXPECT_GT(elias_feature_count(other.get()), 5U);
}

TEST(CapiLoadTest, NamesAreFoundBothWays) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(written.path());
  for (uint32_t label = 0; label < 40; ++label) {
    size_t length = 0;
    const char* const name = elias_label_name(model.get(), label, &length);
    EXPECT_EQ(std::string(name, length), fmt::format("grün, {}", label));
    EXPECT_EQ(name[length], '\0');
    uint32_t found = 99;
    EXPECT_EQ(elias_find_label(model.get(), name, length, &found), ELIAS_OK);
    EXPECT_EQ(found, label);
  }
  EXPECT_STREQ(elias_label_name(model.get(), 7, nullptr), "grün, 7");
  uint32_t found = 99;
  expect_refused(elias_find_label(model.get(), "grün, 40", 9, &found),
                 HasSubstr("has no label 'grün, 40': the nearest are"));
  EXPECT_EQ(found, 99U);
  EXPECT_EQ(elias_label_name(model.get(), 40, nullptr), nullptr);
  EXPECT_THAT(elias_last_error(), StartsWith("label 40 is beyond the 40 labels"));
}

TEST(CapiLoadTest, AWrongFolderIsRefused) {
  const TemporaryFolder folder;
  expect_refused(try_to_load(folder / "nothing"), HasSubstr("there is no such folder"));
  expect_refused(try_to_load(folder.path()), HasSubstr("has no config.json: it is not a model"));
  expect_refused(try_to_load(""), HasSubstr("no such folder"));
}

TEST(CapiLoadTest, ADamagedModelIsRefused) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const std::string path = written.path() + "/classifiers.safetensors";
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  expect_refused(try_to_load(written.path()),
                 AllOf(StartsWith(path), HasSubstr("its checksum is not that in config.json")));
  fs::resize_file(path, fs::file_size(path) - 1);
  expect_refused(try_to_load(written.path()), HasSubstr("where config.json says"));
}

TEST(CapiLoadTest, NullIsRefused) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  const ModelHandle model = load(written.path());
  elias_model* other = nullptr;
  uint32_t label = 0;
  expect_refused(elias_load(nullptr, nullptr, &other), StartsWith("folder is NULL"));
  expect_refused(elias_load("model", nullptr, nullptr), StartsWith("model is NULL"));
  expect_refused(elias_find_label(nullptr, "", 0, &label), StartsWith("model is NULL"));
  expect_refused(elias_find_label(model.get(), nullptr, 0, &label), StartsWith("name is NULL"));
  expect_refused(elias_find_label(model.get(), "", 0, nullptr), StartsWith("label is NULL"));
  EXPECT_EQ(elias_label_name(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(elias_label_count(nullptr), 0U);
  EXPECT_EQ(elias_takes_texts(nullptr), 0);
  EXPECT_EQ(elias_feature_count(nullptr), 0U);
  EXPECT_EQ(elias_vector_width(nullptr), 0U);
  EXPECT_EQ(elias_member_count(nullptr), 0U);
  elias_free(nullptr);
}

TEST(CapiLoadTest, OptionsOutOfRangeAreRefused) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  elias_load_options options{.size = sizeof options, .threads = 1025, .exact = 0};
  expect_refused(try_to_load(written.path(), &options), HasSubstr("options.threads is 1025"));
  options = {.size = sizeof options, .threads = 1, .exact = 2};
  expect_refused(try_to_load(written.path(), &options), HasSubstr("options.exact is 2"));
  options.exact = 1;
  expect_refused(try_to_load(written.path(), &options), HasSubstr("finds labels by clusters"));
  options = {};
  expect_refused(try_to_load(written.path(), &options), HasSubstr("options.size is 0"));
  options.size = size_t{1} << 40;
  expect_refused(try_to_load(written.path(), &options), HasSubstr("options.size is 1099511627776"));
}

TEST(CapiLoadTest, OptionsOfOlderAndNewerHeadersAreRead) {
  const WrittenModel written(WrittenModel::Kind::kTexts);
  // Of an older header: what lies behind its last field is not looked at.
  elias_load_options older{.size = offsetof(elias_load_options, exact), .threads = 1, .exact = 7};
  EXPECT_EQ(try_to_load(written.path(), &older), ELIAS_OK) << elias_last_error();

  struct {
    elias_load_options known;
    uint64_t unknown;
  } newer{.known = {.size = sizeof newer, .threads = 1, .exact = 0}, .unknown = 0};
  EXPECT_EQ(try_to_load(written.path(), &newer.known), ELIAS_OK) << elias_last_error();
  newer.unknown = 1;
  expect_refused(try_to_load(written.path(), &newer.known),
                 AllOf(HasSubstr("does not know"), EndsWith("that the header is of")));
}

}  // namespace
}  // namespace elias
