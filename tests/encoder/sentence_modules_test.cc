#include "encoder/sentence_modules.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class SentenceModulesTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    write_file(path.string(), text);
  }

  SentenceModules read() const { return read_sentence_modules(folder_.path()); }

  std::optional<Pooling> pooling(const std::string& config) const {
    write("1_Pooling/config.json", config);
    return read().pooling;
  }

  std::string complaint() const {
    try {
      read();
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

  std::string pooling_complaint(const std::string& config) const {
    write("1_Pooling/config.json", config);
    return complaint();
  }

  TemporaryFolder folder_;
};

TEST_F(SentenceModulesTest, AFolderWithoutThemSaysNothing) {
  EXPECT_EQ(read().pooling, std::nullopt);
  EXPECT_EQ(read().max_length, std::nullopt);
  EXPECT_FALSE(read().unit);
}

TEST_F(SentenceModulesTest, PoolingIsReadInBothForms) {
  EXPECT_EQ(pooling(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})"),
            Pooling::kMean);
  EXPECT_EQ(pooling(R"({"pooling_mode_cls_token": true})"), Pooling::kFirst);
  EXPECT_EQ(
      pooling(R"({"embedding_dimension": 8, "pooling_mode": "mean", "include_prompt": true})"),
      Pooling::kMean);
  EXPECT_EQ(pooling(R"({"pooling_mode": "cls"})"), Pooling::kFirst);
  EXPECT_EQ(pooling(R"({"pooling_mode": ["cls"]})"), Pooling::kFirst);
}

TEST_F(SentenceModulesTest, OtherPoolingIsNamedAndRefused) {
  EXPECT_THAT(pooling_complaint(R"({"pooling_mode": "lasttoken"})"),
              AllOf(HasSubstr("1_Pooling/config.json: asks for 'lasttoken'"),
                    HasSubstr("only one of cls and mean"), HasSubstr("put {\"pooling_mode\"")));
  EXPECT_THAT(pooling_complaint(R"({"pooling_mode": ["cls", "mean"]})"),
              HasSubstr("asks for 'cls' and 'mean'"));
  EXPECT_THAT(pooling_complaint(R"({"pooling_mode": []})"), HasSubstr("asks for nothing"));
  EXPECT_THAT(pooling_complaint(R"({"pooling_mode": 3})"), HasSubstr("asks for '3'"));
  EXPECT_THAT(
      pooling_complaint(R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})"),
      HasSubstr("asks for 'pooling_mode_cls_token' and 'pooling_mode_max_tokens'"));
  EXPECT_THAT(pooling_complaint("{}"), HasSubstr("asks for nothing"));
  EXPECT_THAT(pooling_complaint("["), HasSubstr("is not JSON: copy the folder again"));
}

TEST_F(SentenceModulesTest, UnitLengthIsAModule) {
  write("modules.json", R"([{"type": "sentence_transformers.models.Transformer"}])");
  EXPECT_FALSE(read().unit);
  write("modules.json", R"([{"type": "sentence_transformers.base.modules.Normalize"}])");
  EXPECT_TRUE(read().unit);
  write("modules.json", R"([7, {"type": 3}, "Normalize"])");
  EXPECT_FALSE(read().unit);
}

TEST_F(SentenceModulesTest, OtherModulesAreNamed) {
  write("modules.json", R"([{"type": "sentence_transformers.models.Transformer"},
                            {"type": "sentence_transformers.models.Pooling"},
                            {"type": "sentence_transformers.models.Dense"}, 7])");
  EXPECT_THAT(read().left_out, testing::ElementsAre("Dense"));
}

TEST_F(SentenceModulesTest, WhatIsWrittenIsReadAgain) {
  for (const bool unit : {true, false}) {
    const TemporaryFolder folder;
    write_sentence_modules(folder.path(),
                           {.pooling = Pooling::kFirst, .unit = unit, .max_length = 77}, 8);
    const SentenceModules read = read_sentence_modules(folder.path());
    EXPECT_EQ(read.pooling, Pooling::kFirst);
    EXPECT_EQ(read.unit, unit);
    EXPECT_EQ(read.max_length, 77);
    EXPECT_EQ(fs::exists(folder / "2_Normalize"), unit);
  }
}

}  // namespace
}  // namespace elias
