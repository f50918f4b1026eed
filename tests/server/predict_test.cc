// POST /v1/predict with a body of JSON, over a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/explain_report.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class PredictThreadTest : public testing::Test {
 protected:
  /// What the model says with no server about.
  RankedRow truth(std::string_view text, int64_t k, const AllowedLabels& allowed = {}) const {
    ThreadPool pool(1);
    const Context context(pool);
    TextRows texts;
    texts.add(text);
    const Model& model = server_.model();
    const Csr scores =
        predict_all(context, model.predictor(), model.points_of(texts, pool), k, allowed);
    RankedRow row;
    for (size_t i = 0; i < scores.columns.size(); ++i) {
      row.push_back({.score = scores.values[i], .label = static_cast<int32_t>(scores.columns[i])});
    }
    std::ranges::stable_sort(row, std::ranges::greater(), &ScoredLabel::score);
    return row;
  }

  void expect_labels(const Json& labels, const RankedRow& wanted) const {
    ASSERT_EQ(labels.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(labels[i]["label"], server_.model().label_name(wanted[i].label));
      EXPECT_EQ(labels[i]["score"].get<float>(), wanted[i].score);
    }
  }

  RunningServer server_;
};

TEST_F(PredictThreadTest, AnswersAreThoseOfTheModelToTheBit) {
  const TextRows texts = known_texts();
  Json body{{"texts", Json::array()}, {"k", 7}};
  for (size_t i = 0; i < texts.rows(); ++i) body["texts"].push_back(texts.row(i));
  const Json answer = server_.ask(body.dump());
  EXPECT_EQ(answer["model"], "m");
  ASSERT_EQ(answer["predictions"].size(), texts.rows());
  for (size_t i = 0; i < texts.rows(); ++i) {
    expect_labels(answer["predictions"][i]["labels"], truth(texts.row(i), 7));
  }
}

TEST_F(PredictThreadTest, FiveLabelsAreTheDefault) {
  const Json answer = server_.ask(R"({"text": "a bird in the hand"})");
  expect_labels(answer["predictions"][0]["labels"], truth("a bird in the hand", 5));
  EXPECT_EQ(server_.ask(R"({"texts": []})")["predictions"], Json::array());
}

TEST_F(PredictThreadTest, AThresholdCutsTheList) {
  RankedRow wanted = truth("a bird in the hand", 100);
  const float score = wanted[wanted.size() / 2].score;
  std::erase_if(wanted, [&](const ScoredLabel& label) { return label.score < score; });
  const Json body{{"text", "a bird in the hand"}, {"threshold", score}};
  expect_labels(server_.ask(body.dump())["predictions"][0]["labels"], wanted);

  const Json chosen = server_.ask(R"({"text": "a bird in the hand", "threshold": "auto"})");
  RankedRow above = truth("a bird in the hand", 100);
  std::erase_if(above, [](const ScoredLabel& label) { return label.score < 0.25F; });
  expect_labels(chosen["predictions"][0]["labels"], above);
}

TEST_F(PredictThreadTest, CandidatesAreTheOnlyLabels) {
  std::vector<uint8_t> flags(server_.model().labels());
  flags[0] = flags[3] = 1;
  const Json body{{"text", "birds"}, {"candidates", {"tea", "grün, \"süß\""}}};
  expect_labels(server_.ask(body.dump())["predictions"][0]["labels"],
                truth("birds", 5, AllowedLabels(flags)));
}

TEST_F(PredictThreadTest, ExplanationsAreThoseOfTheReport) {
  const Json answer =
      server_.ask(R"({"text": "a bird in the hand", "k": 2, "explain": true, "words": 1})");
  ThreadPool pool(1);
  const Context context(pool);
  Explainer explainer(context, server_.model());
  TextRows texts;
  texts.add("a bird in the hand");
  const Points points = server_.model().points_of(texts, pool);
  const LabelSpace space;
  const PointExplanation wanted{.number = 1,
                                .line = 0,
                                .text = texts.row(0),
                                .features = 0,
                                .truth = {},
                                .space = space,
                                .labels = explainer.explain(points, 0, 2)};
  EXPECT_EQ(answer["predictions"][0]["labels"],
            Json::parse(explanation_json(server_.model(), wanted, 1)["labels"].dump()));
}

TEST_F(PredictThreadTest, NamedLabelsAreExplainedWhetherFoundOrNot) {
  const Json answer =
      server_.ask(R"({"texts": ["birds", "tea"], "explain": ["label 39", "tea"], "threshold": 1})");
  for (const Json& prediction : answer["predictions"]) {
    ASSERT_EQ(prediction["labels"].size(), 2U);
    EXPECT_EQ(prediction["labels"][0]["label"], "label 39");
    EXPECT_EQ(prediction["labels"][0]["rank"], nullptr);  // no cluster leads to it
    EXPECT_EQ(prediction["labels"][1]["label"], "tea");
  }
}

TEST_F(PredictThreadTest, WhatIsWrongIsToldWithItsField) {
  const std::tuple<int, const char*, const char*> cases[] = {
      {400, R"({"text": "a", "k": 0})", "[k] 'k' is the number 0"},
      {400, "", "the body is not JSON"},
      {404, R"({"text": "a", "model": "n"})", "[model] there is no model 'n': name one of 'm'"},
      {404, R"({"text": "a", "candidates": ["tea", "te"]})",
       "[candidates[1]] m: has no label 'te': the nearest are 'tea'"},
      {404, R"({"text": "a", "explain": ["green te"]})",
       "[explain[0]] m: has no label 'green te': the nearest are 'Green Tea'"},
      {400, R"({"text": "a", "candidates": []})", "[candidates] 'candidates' is empty"},
  };
  for (const auto& [status, body, wanted] : cases) {
    const auto response = server_.post("/v1/predict", body);
    EXPECT_EQ(response.status, status) << body;
    EXPECT_THAT(told(response), StartsWith(wanted));
    EXPECT_EQ(response.get_header_value("Content-Type"), "application/json");
  }
}

TEST_F(PredictThreadTest, TheBodyMustBeJsonAndSayIt) {
  const auto form = server_.post("/v1/predict", "text=a", "application/x-www-form-urlencoded");
  EXPECT_EQ(form.status, 415);
  EXPECT_THAT(told(form), HasSubstr("send the header 'Content-Type: application/json'"));
  const auto parts = server_.post("/v1/predict", "--x", "multipart/form-data; boundary=x");
  EXPECT_EQ(parts.status, 415);
  EXPECT_EQ(
      server_.post("/v1/predict", R"({"text": "a"})", "Application/JSON ; charset=utf-8").status,
      200);
  const auto query = server_.post("/v1/predict?k=3", R"({"text": "a"})");
  EXPECT_EQ(query.status, 400);
  EXPECT_THAT(told(query), StartsWith("[k] with a body of JSON 'k' stands in it"));
}

TEST_F(PredictThreadTest, APackedBodyIsUnpacked) {
  auto client = server_.client();
  client.set_compress(true);
  const auto result = client.Post("/v1/predict", R"({"text": "birds"})", "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  const auto unknown = client.Post("/v1/predict", {{"Content-Encoding", "zstd"}},
                                   R"({"text": "birds"})", "application/json");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 415);
}

TEST(PredictTwoModelsThreadTest, TheModelMustBeNamedWhereThereAreSeveral) {
  const RunningServer server(
      RunningServer::Setup{.models = {"m", "n"}, .model = {.threshold = false}});
  const auto unnamed = server.post("/v1/predict", R"({"text": "a"})");
  EXPECT_EQ(unnamed.status, 400);
  EXPECT_EQ(told(unnamed), "[model] 'model' is missing: name one of the models 'm', 'n'");
  EXPECT_EQ(server.ask(R"({"text": "a", "model": "n"})")["model"], "n");
  const auto automatic =
      server.post("/v1/predict", R"({"text": "a", "model": "n", "threshold": "auto"})");
  EXPECT_EQ(automatic.status, 400);
  EXPECT_THAT(told(automatic),
              StartsWith("[threshold] the model 'n' has no thresholds of its own"));
}

}  // namespace
}  // namespace elias::server
