#include "server/label_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/text_model.h"
#include "tests/temporary_folder.h"

namespace elias::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LabelSearchTest : public testing::Test {
 protected:
  LabelSearchTest() {
    write_text_model(temporary_ / "m");
    ThreadPool pool(1);
    model_.emplace(Model::load(temporary_ / "m", Context(pool)));
    search_.emplace(*model_);
  }
  std::vector<std::string> find(const std::string& part, size_t most = 20) const {
    std::vector<std::string> names;
    for (const uint32_t label : search_->find(part, most))
      names.push_back(model_->label_name(label));
    return names;
  }
  TemporaryFolder temporary_;
  std::optional<Model> model_;
  std::optional<LabelSearch> search_;
};

TEST_F(LabelSearchTest, TheWholeNameComesFirstThenBeginningsThenTheRest) {
  EXPECT_THAT(find("TEA"), ElementsAre("tea", "teapot", "Green Tea"));
  EXPECT_THAT(find("tea", 2), ElementsAre("tea", "teapot"));
  EXPECT_THAT(find("en t"), ElementsAre("Green Tea"));
}

TEST_F(LabelSearchTest, EqualsAreOrderedByTheirPoints) {
  EXPECT_THAT(find("label 1"),
              ElementsAre("label 10", "label 11", "label 12", "label 13", "label 14", "label 15",
                          "label 16", "label 17", "label 18", "label 19"));
  EXPECT_THAT(find("", 3), ElementsAre("tea", "Green Tea", "teapot"));
}

TEST_F(LabelSearchTest, NamesAreSearchedOneByOne) {
  EXPECT_THAT(find("teagreen"), IsEmpty());
  EXPECT_THAT(find("tea\ngreen"), IsEmpty());
  EXPECT_THAT(find("\n"), IsEmpty());
  EXPECT_THAT(find("<img"), ElementsAre("<img onerror>"));
  EXPECT_THAT(find("label 39"), ElementsAre("label 39"));  // the last one
}

// A scan of every name by itself, as slow as it is plain.
TEST_F(LabelSearchTest, FindsAllThatAScanFinds) {
  for (const std::string part : {"a", "l 2", "e", "1", "ß", ",", "zz"}) {
    std::vector<std::string> wanted;
    for (const std::string& name : text_model_labels()) {
      if (name.find(part) != std::string::npos) wanted.push_back(name);
    }
    EXPECT_THAT(find(part, 1000), testing::IsSupersetOf(wanted)) << part;
  }
}

}  // namespace
}  // namespace elias::server
