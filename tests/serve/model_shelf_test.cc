#include "serve/model_shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/serve/text_model.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Throws;
using testing::ThrowsMessage;

class ModelShelfThreadTest : public testing::Test {
 protected:
  ModelShelfThreadTest() { write_text_model(folder_); }

  float best_score(PredictionService& service) const {
    TextRows texts;
    texts.add("a bird in the hand");
    const auto until = Job::Clock::now() + std::chrono::hours(1);
    return service.predict({.texts = texts, .k = 1, .allowed = nullptr}, until).wait()[0][0].score;
  }

  TemporaryFolder temporary_;
  std::string folder_ = temporary_ / "m";
  ModelShelf shelf_{{.replicas = 1, .queue = {}}, IndexUse::kOwn};
};

TEST_F(ModelShelfThreadTest, FindsModelsByName) {
  shelf_.add("b", folder_);
  shelf_.add("a", folder_);
  EXPECT_THAT(shelf_.names(), ElementsAre("b", "a"));
  EXPECT_NE(shelf_.find("a"), nullptr);
  EXPECT_EQ(shelf_.find("c"), nullptr);
  EXPECT_THAT([&] { shelf_.add("a", folder_); },
              ThrowsMessage<InputError>(HasSubstr("two models have this name")));
  EXPECT_THROW(shelf_.add("d", temporary_ / "nothing"), InputError);
  EXPECT_EQ(shelf_.names().size(), 2U);
}

TEST_F(ModelShelfThreadTest, ReloadingPutsTheNewModelInPlaceAndTheOldOneStaysWithItsUsers) {
  shelf_.add("m", folder_);
  const auto old = shelf_.find("m");
  const float before = best_score(*old);
  write_text_model(folder_, {.seed = 2});
  shelf_.reload("m");
  const auto current = shelf_.find("m");
  EXPECT_NE(current, old);
  EXPECT_EQ(best_score(*old), before);
  EXPECT_NE(best_score(*current), before);
  EXPECT_EQ(current->counts().requests, 3U);  // the counts go on
}

TEST_F(ModelShelfThreadTest, AModelThatIsRefusedChangesNothing) {
  shelf_.add("m", folder_);
  const auto old = shelf_.find("m");
  write_file(folder_ + "/config.json", "{}");
  EXPECT_THROW(shelf_.reload("m"), InputError);
  EXPECT_EQ(shelf_.find("m"), old);
}

TEST_F(ModelShelfThreadTest, TheCheckMayRefuseAModel) {
  bool refuses = false;
  ModelShelf shelf({.replicas = 1, .queue = {}}, IndexUse::kOwn,
                   [&](const std::string& name, const auto& served) {
                     if (refuses)
                       throw InputError("{} has {} labels", name, served->model().labels());
                   });
  shelf.add("m", folder_);
  const auto old = shelf.find("m");
  refuses = true;
  EXPECT_THAT([&] { shelf.reload("m"); }, ThrowsMessage<InputError>("m has 40 labels"));
  EXPECT_EQ(shelf.find("m"), old);
}

TEST_F(ModelShelfThreadTest, NoRequestIsLostByReloading) {
  shelf_.add("m", folder_);
  std::atomic<bool> done{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      while (!done) {
        best_score(*shelf_.find("m"));
        ++answers;
      }
    });
  }
  for (int i = 0; i < 10; ++i) shelf_.reload("m");
  done = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(shelf_.find("m")->counts().answering.count(), static_cast<uint64_t>(answers));
  EXPECT_EQ(shelf_.find("m")->counts().failed, 0U);
}

}  // namespace
}  // namespace elias
