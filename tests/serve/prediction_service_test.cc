#include "serve/prediction_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/errors.h"
#include "serve/refusal.h"
#include "tests/serve/text_model.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using std::chrono::hours;

Job::Clock::time_point later() { return Job::Clock::now() + hours(1); }

bool operator==(const RankedRow& a, const RankedRow& b) {
  return std::ranges::equal(a, b, [](const ScoredLabel& x, const ScoredLabel& y) {
    return x.label == y.label && x.score == y.score;
  });
}

class PredictionServiceThreadTest : public testing::Test {
 protected:
  PredictionServiceThreadTest() {
    write_text_model(temporary_ / "m");
    served_ = ServedModel::load(temporary_ / "m", 1);
  }

  PredictionService service(int replicas, const RequestQueue::Settings& queue = {}) {
    return {served_, {.replicas = replicas, .queue = queue}, statistics_};
  }

  /// What a predictor says of one text, with nobody else about.
  RankedRow alone(std::string_view text, int64_t k, const AllowedLabels& allowed = {}) const {
    const Model& model = served_->model();
    ThreadPool pool(1);
    const Context context(pool);
    TextRows texts;
    texts.add(text);
    std::vector<int32_t> labels(static_cast<size_t>(k));
    std::vector<float> scores(labels.size());
    const auto state = model.predictor().make_state();
    model.predictor().predict(context, model.points_of(texts, pool), 0, 1, k, allowed, *state,
                              {labels, scores});
    RankedRow row;
    for (size_t i = 0; i < labels.size() && labels[i] >= 0; ++i) {
      row.push_back({.score = scores[i], .label = labels[i]});
    }
    return row;
  }

  /// Keeps the only replica of a service busy until it is let go of.
  class Busy {
   public:
    explicit Busy(PredictionService& service)
        : answer_(service.run(
              [this](Replica&) {
                begun_.set_value();
                go_on_.get_future().wait();
              },
              later())) {
      begun_.get_future().wait();
    }
    void end() {
      go_on_.set_value();
      answer_.wait();
    }

   private:
    std::promise<void> begun_, go_on_;
    PendingAnswer answer_;
  };

  TemporaryFolder temporary_;
  std::shared_ptr<const ServedModel> served_;
  std::shared_ptr<ServiceStatistics> statistics_ = std::make_shared<ServiceStatistics>();
};

TEST_F(PredictionServiceThreadTest, AnswersAreThoseOfAPredictorAloneToTheBit) {
  auto service = this->service(3);
  const TextRows texts = known_texts();
  std::vector<std::thread> clients;
  for (int client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      for (int round = 0; round < 20; ++round) {
        TextRows own;
        const auto size = static_cast<size_t>(1 + (client + round) % 7);
        for (size_t i = 0; i < size; ++i) own.add(texts.row((i + client) % texts.rows()));
        const int64_t k = 1 + (client * 5 + round) % 9;
        const auto rows =
            service.predict({.texts = own, .k = k, .allowed = nullptr}, later()).wait();
        ASSERT_EQ(rows.size(), size);
        for (size_t i = 0; i < size; ++i) EXPECT_TRUE(rows[i] == alone(own.row(i), k));
      }
    });
  }
  for (auto& client : clients) client.join();
  const ServiceCounts counts = service.counts();
  EXPECT_EQ(counts.requests, 120U);
  EXPECT_EQ(counts.texts, counts.predicted_texts);
  EXPECT_EQ(counts.answering.count(), 120U);
  EXPECT_EQ(counts.waiting_texts, 0U);
}

TEST_F(PredictionServiceThreadTest, AllowedLabelsAreThoseOfTheRequestAlone) {
  auto service = this->service(1);
  std::vector<uint8_t> flags(served_->model().labels());
  flags[3] = flags[17] = 1;
  const auto allowed = std::make_shared<const AllowedLabels>(flags);
  TextRows texts;
  texts.add("a bird in the hand");
  auto some = service.predict({.texts = texts, .k = 5, .allowed = allowed}, later());
  auto all = service.predict({.texts = texts, .k = 5, .allowed = nullptr}, later());
  EXPECT_TRUE(some.wait()[0] == alone("a bird in the hand", 5, *allowed));
  EXPECT_TRUE(all.wait()[0] == alone("a bird in the hand", 5));
}

TEST_F(PredictionServiceThreadTest, NoTextsAreAnsweredByNothing) {
  auto service = this->service(1);
  EXPECT_TRUE(service.predict({}, later()).wait().empty());
}

TEST_F(PredictionServiceThreadTest, RefusesWhatIsTooMuch) {
  auto service = this->service(1, {.capacity = 2, .batch = 1, .batch_wait = {}});
  Busy busy(service);
  TextRows two;
  two.add("a");
  two.add("b");
  auto waiting = service.predict({.texts = two, .k = 1, .allowed = nullptr}, later());
  EXPECT_THROW(service.predict({.texts = two, .k = 1, .allowed = nullptr}, later()), Refusal);
  EXPECT_EQ(service.counts().full, 1U);
  EXPECT_EQ(service.counts().waiting_texts, 2U);
  busy.end();
  EXPECT_EQ(waiting.wait().size(), 2U);
}

TEST_F(PredictionServiceThreadTest, WhatIsOverdueIsToldSo) {
  auto service = this->service(1);
  Busy busy(service);
  TextRows texts;
  texts.add("a");
  auto late = service.predict({.texts = texts, .k = 1, .allowed = nullptr},
                              Job::Clock::now() + std::chrono::milliseconds(1));
  try {
    late.wait();
    ADD_FAILURE() << "an answer came from a replica that is busy";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.kind(), RefusalKind::kOverdue);
  }
  EXPECT_EQ(service.counts().overdue, 1U);
  busy.end();
}

TEST_F(PredictionServiceThreadTest, WhoeverLetsGoOfAnAnswerCancelsIt) {
  auto service = this->service(1);
  Busy busy(service);
  TextRows texts;
  texts.add("a");
  { const auto gone = service.predict({.texts = texts, .k = 1, .allowed = nullptr}, later()); }
  busy.end();
  service.run([](Replica&) {}, later()).wait();  // comes after it
  EXPECT_EQ(service.counts().cancelled, 1U);
  EXPECT_EQ(service.counts().predicted_texts, 0U);
}

TEST_F(PredictionServiceThreadTest, AFailureIsThatOfItsRequestAlone) {
  auto service = this->service(1);
  auto bad = service.run([](Replica&) { throw InputError("no"); }, later());
  TextRows texts;
  texts.add("a");
  auto good = service.predict({.texts = texts, .k = 1, .allowed = nullptr}, later());
  EXPECT_THROW(bad.wait(), InputError);
  EXPECT_EQ(good.wait().size(), 1U);
  EXPECT_EQ(service.counts().failed, 1U);
}

TEST_F(PredictionServiceThreadTest, WhatWaitsIsAnsweredWhenTheServiceEnds) {
  std::vector<PendingAnswer> answers;
  {
    auto service = this->service(2);
    for (int i = 0; i < 50; ++i) {
      answers.push_back(
          service.predict({.texts = known_texts(), .k = 2, .allowed = nullptr}, later()));
    }
    service.stop();
    EXPECT_THROW(service.predict({.texts = known_texts(), .k = 2, .allowed = nullptr}, later()),
                 Refusal);
  }
  for (PendingAnswer& answer : answers) EXPECT_EQ(answer.wait().size(), known_texts().rows());
}

}  // namespace
}  // namespace elias
