// GET /metrics, read as Prometheus reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/server/running_server.h"

namespace elias::server {
namespace {

/// Samples by name and labels. Checks that each belongs to a metric with help and type.
std::map<std::string, double> samples_of(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> described;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("# TYPE ")) {
      described.insert(line.substr(7, line.find(' ', 7) - 7));
    } else if (!line.starts_with("#")) {
      const size_t value = line.rfind(' ');
      std::string name = line.substr(0, line.find_first_of("{ "));
      for (const char* part : {"_bucket", "_sum", "_count"}) {
        if (name.ends_with(part)) name.erase(name.size() - std::string(part).size());
      }
      EXPECT_TRUE(described.contains(name)) << line;
      EXPECT_TRUE(samples.emplace(line.substr(0, value), std::stod(line.substr(value + 1))).second)
          << "twice: " << line;
    }
  }
  return samples;
}

TEST(MetricsThreadTest, CountWhatHappened) {
  const RunningServer server;
  server.ask(R"({"texts": ["a", "b", "c"]})");
  server.ask(R"({"text": "a"})");
  EXPECT_EQ(server.post("/v1/predict", "{}").status, 400);
  EXPECT_EQ(server.post("/v1/models/m/reload", "").status, 200);
  const auto response = server.get("/metrics");
  EXPECT_EQ(response.get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const auto samples = samples_of(response.body);
  EXPECT_EQ(samples.at("elias_requests_total{model=\"m\"}"), 2);
  EXPECT_EQ(samples.at("elias_texts_total{model=\"m\"}"), 4);
  EXPECT_EQ(samples.at("elias_batch_texts_total{model=\"m\"}"), 4);
  EXPECT_EQ(samples.at("elias_waiting_texts{model=\"m\"}"), 0);
  EXPECT_EQ(samples.at("elias_refused_total{model=\"m\",reason=\"full\"}"), 0);
  EXPECT_EQ(samples.at("elias_answering_seconds_count{model=\"m\"}"), 2);
  EXPECT_EQ(samples.at("elias_answering_seconds_bucket{model=\"m\",le=\"+Inf\"}"), 2);
  EXPECT_GT(samples.at("elias_answering_seconds_sum{model=\"m\"}"), 0);
  EXPECT_EQ(samples.at("elias_http_responses_total{code=\"200\"}"), 3);
  EXPECT_EQ(samples.at("elias_http_responses_total{code=\"400\"}"), 1);
  EXPECT_EQ(samples.at("elias_reloads_total{outcome=\"done\"}"), 1);
  EXPECT_GT(samples.at("elias_model_loaded_timestamp_seconds{model=\"m\"}"), 1.7e9);
  EXPECT_GT(samples.at("process_resident_memory_bytes"), 1e6);
}

TEST(MetricsThreadTest, NamesOfModelsMayHoldAnything) {
  const RunningServer server(RunningServer::Setup{.models = {"a\"b\\c"}});
  EXPECT_TRUE(
      samples_of(server.get("/metrics").body).contains(R"(elias_requests_total{model="a\"b\\c"})"));
}

}  // namespace
}  // namespace elias::server
