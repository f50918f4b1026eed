#include "server/request_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api_error.h"

namespace elias::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Limits kLimits{.body = 1 << 20, .text = 20, .texts = 3};

/// "400 [k] 'k' is ...".
template <typename Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const ApiError& error) {
    return fmt::format("{} [{}] {}", error.status(), error.field(), error.what());
  }
  return "it was accepted";
}
std::string predict_refusal(const std::string& body) {
  return refusal([&] { read_predict_body(body, kLimits); });
}
std::string infer_refusal(const std::string& body) {
  return refusal([&] { read_infer_body(body, kLimits); });
}
std::string bulk_refusal(const std::string& line) {
  return refusal([&] { read_bulk_line(line, kLimits); });
}

// --- POST /v1/predict ----------------------------------------------------------------------------

TEST(PredictBodyTest, HasEveryField) {
  const auto body = read_predict_body(
      R"({"texts": ["a", "b\u0000c"], "model": "m", "k": 7, "threshold": 0.25, "words": 3,
          "explain": ["x"]})",
      kLimits);
  EXPECT_EQ(body.texts.row(0), "a");
  EXPECT_EQ(body.texts.row(1), std::string_view("b\0c", 3));
  EXPECT_EQ(body.wanted.model, "m");
  EXPECT_EQ(body.wanted.k, 7);
  EXPECT_EQ(body.wanted.threshold->score, 0.25F);
  EXPECT_EQ(body.words, 3U);
  EXPECT_TRUE(body.explain);
  EXPECT_THAT(body.explained, ElementsAre("x"));
}

TEST(PredictBodyTest, HasDefaults) {
  const auto body =
      read_predict_body(R"({"text": "ä", "threshold": "auto", "explain": false})", kLimits);
  EXPECT_EQ(body.texts.rows(), 1U);
  EXPECT_FALSE(body.wanted.model);
  EXPECT_FALSE(body.wanted.k);
  EXPECT_TRUE(body.wanted.threshold->automatic);
  EXPECT_FALSE(body.candidates);
  EXPECT_FALSE(body.explain);
  EXPECT_EQ(body.words, 8U);
}

TEST(PredictBodyTest, TellsWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "400 [] the body is not JSON from byte 1 on"},
      {"[]", "400 [] the body is a list: give an object"},
      {"{}", "400 [texts] 'texts' is missing"},
      {R"({"texts": ["a", 3]})", "400 [texts[1]] 'texts[1]' is the number 3: give a string"},
      {R"({"texts": "a"})", "400 [texts] 'texts' is a string: give a list of strings"},
      {R"({"texts": null})", "400 [texts] 'texts' is null"},
      {R"({"texts": [{"a": 1}]})", "400 [texts[0]] 'texts[0]' is an object: give a string"},
      {R"({"text": "a", "texts": []})", "400 [texts] there are both 'text' and 'texts'"},
      {R"({"text": "a", "k": 0})",
       "400 [k] 'k' is the number 0: give a whole number from 1 to 1000"},
      {R"({"text": "a", "k": 1001})", "400 [k] 'k' is the number 1001"},
      {R"({"text": "a", "k": 5.0})", "400 [k] 'k' is the number 5.0"},
      {R"({"text": "a", "k": -1})", "400 [k] 'k' is the number -1"},
      {R"({"text": "a", "k": 18446744073709551615})",
       "400 [k] 'k' is the number 18446744073709551615"},
      {R"({"text": "a", "k": 1e999})", "400 [k] 'k' is a number out of all range"},
      {R"({"text": "a", "k": true})", "400 [k] 'k' is true"},
      {R"({"text": "a", "threshold": 1.5})",
       "400 [threshold] 'threshold' is the number 1.5: give a number"},
      {R"({"text": "a", "threshold": "much"})",
       "400 [threshold] 'threshold' is a string: give a number"},
      {R"({"text": "a", "words": -1})", "400 [words] 'words' is the number -1"},
      {R"({"text": "a", "model": 3})", "400 [model] 'model' is the number 3: give a string"},
      {R"({"text": "a", "candidates": ["x", null]})",
       "400 [candidates[1]] 'candidates[1]' is null"},
      {R"({"text": "a", "explain": "x"})",
       "400 [explain] 'explain' is a string: give true, false or"},
      {R"({"text": "a", "explain": []})", "400 [explain] 'explain' is an empty list"},
      {R"({"text": "a", "explain": true, "k": 101})", "400 [k] 'k' is 101: with 'explain' give"},
      {R"({"text": "a", "explain": true, "candidates": ["x"]})",
       "400 [candidates] labels among candidates"},
      {R"({"text": "a", "texst": 1})", "400 [texst] there is no field 'texst' here"},
      {R"({"text": "a", "text": "b"})", "400 [text] 'text' is given twice"},
      {R"({"text": "a", "k": })", "400 [k] 'k' is not JSON from byte 20 on"},
      {R"({"text": "\ud800"})", "400 [text] 'text' is not JSON from byte"},
      {R"({"text": "a"} x)", "400 [] the body is not JSON from byte 15 on"},
      {"{\"texts\": [\"a\", \"\xff\"]}",
       "400 [texts[1]] 'texts[1]' is not UTF-8 from byte 18 of the body on"},
      {R"({"text": "123456789012345678901"})", "413 [text] 'text' has more than the"},
      {R"({"texts": ["a", "b", "c", "d"]})",
       "413 [texts] 'texts' has 4 texts, but a request may have 3"},
  };
  for (const auto& [body, wanted] : cases) {
    EXPECT_THAT(predict_refusal(body), StartsWith(wanted)) << body;
  }
}

TEST(PredictBodyTest, LimitsAreMetExactly) {
  EXPECT_NO_THROW(read_predict_body(R"({"text": "12345678901234567890", "k": 1000})", kLimits));
  EXPECT_NO_THROW(read_predict_body(R"({"texts": ["a", "b", "c"], "words": 1000})", kLimits));
}

TEST(PredictBodyTest, DeepAndLargeBodiesAreRefusedBeforeTheyCost) {
  EXPECT_THAT(predict_refusal(std::string(1'000'000, '[')), HasSubstr("in each other"));
  std::string many = R"({"texts": [)";
  for (int i = 0; i < 1'000'001; ++i) many += "1,";
  EXPECT_THAT(predict_refusal(many), StartsWith("413 [] the body has more than 1000000 values"));
}

// --- a line of bulk ------------------------------------------------------------------------------

TEST(BulkLineTest, IsAnObjectOrAString) {
  EXPECT_EQ(read_bulk_line(R"("a")", kLimits).text, "a");
  const auto line = read_bulk_line(R"({"id": "x\n", "text": "a"})", kLimits);
  EXPECT_EQ(line.text, "a");
  EXPECT_EQ(line.id, R"("x\n")");
  EXPECT_EQ(read_bulk_line(R"({"text": "a", "id": 12})", kLimits).id, "12");
}

TEST(BulkLineTest, AnythingElseIsRefused) {
  EXPECT_THAT(bulk_refusal(""), HasSubstr("is not JSON"));
  EXPECT_THAT(bulk_refusal("3"), HasSubstr("give an object with \"text\", or a string"));
  EXPECT_THAT(bulk_refusal(R"({"id": 3})"), HasSubstr("'text' is missing"));
  EXPECT_THAT(bulk_refusal(R"({"text": "a", "k": 3})"), HasSubstr("there is no field 'k'"));
  EXPECT_THAT(bulk_refusal(R"({"text": "a", "id": [3]})"), HasSubstr("give a string or a number"));
  EXPECT_THAT(bulk_refusal(R"("123456789012345678901")"), StartsWith("413"));
}

// --- the Open Inference Protocol -----------------------------------------------------------------

TEST(InferBodyTest, HasEveryField) {
  const auto body = read_infer_body(
      R"({"id": "7", "parameters": {"k": 2, "threshold": 0.5}, "outputs": [{"name": "scores"}],
          "inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": ["a", "b"]}]})",
      kLimits);
  EXPECT_EQ(body.id, "7");
  EXPECT_EQ(body.wanted.k, 2);
  EXPECT_EQ(body.wanted.threshold->score, 0.5F);
  EXPECT_FALSE(body.labels);
  EXPECT_TRUE(body.scores);
  EXPECT_EQ(body.texts.rows(), 2U);
}

TEST(InferBodyTest, TellsWhatIsWrongAndWhere) {
  const auto input = [](const char* fields) {
    return fmt::format(R"({{"inputs": [{{{}}}]}})", fields);
  };
  EXPECT_THAT(infer_refusal("{}"), StartsWith("400 [inputs] 'inputs' is missing"));
  EXPECT_THAT(infer_refusal(R"({"inputs": []})"),
              StartsWith("400 [inputs] 'inputs' has 0 tensors"));
  EXPECT_THAT(infer_refusal(input(R"("name": "text", "datatype": "BYTES", "shape": [1])")),
              StartsWith("400 [inputs[0].data] 'inputs[0].data' is missing"));
  EXPECT_THAT(infer_refusal(input(R"("name": "image")")), StartsWith("400 [inputs[0].name]"));
  EXPECT_THAT(infer_refusal(input(R"("datatype": "FP32")")),
              StartsWith("400 [inputs[0].datatype]"));
  EXPECT_THAT(
      infer_refusal(input(R"("name": "text", "datatype": "BYTES", "shape": [2], "data": ["a"])")),
      StartsWith("400 [inputs[0].shape] 'inputs[0].shape' is [2], but there are 1 text"));
  EXPECT_THAT(infer_refusal(
                  input(R"("name": "text", "datatype": "BYTES", "shape": [1, 2], "data": ["a"])")),
              StartsWith("400 [inputs[0].shape]"));
  EXPECT_THAT(
      infer_refusal(input(R"("name": "text", "datatype": "BYTES", "shape": [1], "data": [["a"]])")),
      StartsWith("400 [inputs[0].data[0]] 'inputs[0].data[0]' is a list: give a string"));
  EXPECT_THAT(infer_refusal(R"({"parameters": {"n": 1}})"),
              StartsWith("400 [parameters.n] there is no field 'parameters.n'"));
  EXPECT_THAT(infer_refusal(R"({"outputs": [{"name": "logits"}]})"),
              StartsWith("400 [outputs[0].name]"));
}

// --- others --------------------------------------------------------------------------------------

TEST(EmptyBodyTest, IsNothingOrAnEmptyObject) {
  EXPECT_NO_THROW(read_empty_body(""));
  EXPECT_NO_THROW(read_empty_body("{}"));
  EXPECT_THAT(refusal([] { read_empty_body(R"({"force": true})"); }), StartsWith("400 [force]"));
}

TEST(QueryValueTest, NumbersAreWhole) {
  EXPECT_EQ(read_whole("k", "7", 1, 9), 7);
  for (const char* wrong : {"", "0", "10", "7x", " 7", "+7", "99999999999999999999"}) {
    EXPECT_THAT(refusal([&] { read_whole("k", wrong, 1, 9); }), StartsWith("400 [k] 'k' is '"));
  }
}

TEST(QueryValueTest, ThresholdsAreProbabilities) {
  EXPECT_EQ(read_threshold("0.5").score, 0.5F);
  EXPECT_TRUE(read_threshold("auto").automatic);
  for (const char* wrong : {"", "-0.1", "1.1", "nan", "inf", "0.5 "}) {
    EXPECT_THAT(refusal([&] { read_threshold(wrong); }), StartsWith("400 [threshold]")) << wrong;
  }
}

}  // namespace
}  // namespace elias::server
