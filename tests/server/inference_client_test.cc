// The Open Inference Protocol as its specification has it: a client that knows only that, and
// checks the names, types and shapes of every answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

/// The product of a shape: how many values a tensor has in row-major order.
size_t volume(const Json& shape) {
  size_t volume = 1;
  for (const Json& size : shape) volume *= size.get<size_t>();
  return volume;
}

class InferenceClientThreadTest : public testing::Test {
 protected:
  Json get(const std::string& path) const {
    const auto response = server_.get(path);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }

  /// $inference_request with its one input; `more` are further members of the object.
  Json infer(const std::vector<std::string>& texts, const Json& more = Json::object()) const {
    Json request{
        {"inputs",
         {{{"name", "text"}, {"shape", {texts.size()}}, {"datatype", "BYTES"}, {"data", texts}}}}};
    request.update(more);
    const auto response = server_.post("/v2/models/m/infer", request.dump());
    EXPECT_EQ(response.status, 200) << response.body;
    Json answer = Json::parse(response.body);
    EXPECT_EQ(answer["model_name"], "m");
    for (const Json& tensor : answer["outputs"]) {
      EXPECT_TRUE(tensor["name"].is_string());
      EXPECT_EQ(tensor["data"].size(), volume(tensor["shape"]));
      EXPECT_EQ(tensor["shape"][0], texts.size());
      for (const Json& value : tensor["data"]) {
        EXPECT_TRUE(tensor["datatype"] == "BYTES" ? value.is_string() : value.is_number());
      }
    }
    return answer;
  }

  static Json tensor(const Json& answer, const std::string& name) {
    for (const Json& output : answer["outputs"]) {
      if (output["name"] == name) return output;
    }
    ADD_FAILURE() << "there is no output " << name;
    return {};
  }

  RunningServer server_;
};

TEST_F(InferenceClientThreadTest, HealthIsToldByTheStatus) {
  EXPECT_EQ(server_.get("/v2/health/live").status, 200);
  EXPECT_EQ(server_.get("/v2/health/ready").status, 200);
  EXPECT_EQ(server_.get("/v2/models/m/ready").status, 200);
  EXPECT_EQ(server_.get("/v2/models/nobody/ready").status, 404);
}

TEST_F(InferenceClientThreadTest, TheServerDescribesItself) {
  const Json server = get("/v2");
  EXPECT_TRUE(server["name"].is_string());
  EXPECT_TRUE(server["version"].is_string());
  EXPECT_TRUE(server["extensions"].is_array());
}

TEST_F(InferenceClientThreadTest, TheModelDescribesItsTensors) {
  const Json model = get("/v2/models/m");
  EXPECT_EQ(model["name"], "m");
  EXPECT_TRUE(model["platform"].is_string());
  ASSERT_EQ(model["inputs"].size(), 1U);
  EXPECT_EQ(model["inputs"][0],
            Json::parse(R"({"name": "text", "datatype": "BYTES", "shape": [-1, 1]})"));
  ASSERT_EQ(model["outputs"].size(), 2U);
  EXPECT_EQ(model["outputs"][0]["name"], "labels");
  EXPECT_EQ(model["outputs"][0]["datatype"], "BYTES");
  EXPECT_EQ(model["outputs"][1]["name"], "scores");
  EXPECT_EQ(model["outputs"][1]["datatype"], "FP32");
}

TEST_F(InferenceClientThreadTest, InferenceGivesTheLabelsOfPrediction) {
  const Json answer = infer({"birds", "hand"}, {{"id", "42"}, {"parameters", {{"k", 3}}}});
  EXPECT_EQ(answer["id"], "42");
  EXPECT_EQ(tensor(answer, "labels")["datatype"], "BYTES");
  EXPECT_EQ(tensor(answer, "scores")["datatype"], "FP32");
  EXPECT_EQ(tensor(answer, "labels")["shape"], Json({2, 3}));
  const Json predictions = server_.ask(R"({"texts": ["birds", "hand"], "k": 3})")["predictions"];
  for (size_t i = 0; i < 6; ++i) {
    const Json& label = predictions[i / 3]["labels"][i % 3];
    EXPECT_EQ(tensor(answer, "labels")["data"][i], label["label"]);
    EXPECT_EQ(tensor(answer, "scores")["data"][i], label["score"]);
  }
}

TEST_F(InferenceClientThreadTest, PlacesWithoutALabelAreFilled) {
  const Json answer = infer({"birds"}, {{"parameters", {{"k", 4}, {"threshold", 1}}}});
  EXPECT_FALSE(answer.contains("id"));
  EXPECT_EQ(tensor(answer, "labels")["data"], Json({"", "", "", ""}));
  EXPECT_EQ(tensor(answer, "scores")["data"], Json({0, 0, 0, 0}));
}

TEST_F(InferenceClientThreadTest, OutputsAreChosenByName) {
  const Json answer = infer({"birds"}, {{"outputs", {{{"name", "scores"}}}}});
  ASSERT_EQ(answer["outputs"].size(), 1U);
  EXPECT_EQ(answer["outputs"][0]["name"], "scores");
  EXPECT_EQ(infer({"birds"}, {{"outputs", Json::array()}})["outputs"].size(), 2U);
}

TEST_F(InferenceClientThreadTest, ErrorsAreObjectsWithASentence) {
  for (const auto& [path, body, status] : {std::tuple{"/v2/models/nobody/infer", "{}", 404},
                                           {"/v2/models/m/infer", "{}", 400},
                                           {"/v2/models/m/infer", "no JSON", 400}}) {
    const auto response = server_.post(path, body);
    EXPECT_EQ(response.status, status);
    EXPECT_TRUE(Json::parse(response.body).at("error").is_string());
  }
}

}  // namespace
}  // namespace elias::server
