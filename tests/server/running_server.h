// A server in this process, on a port of its own, with models that it makes.
#pragma once

#include <httplib.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "server/api.h"
#include "server/http_server.h"
#include "tests/serve/text_model.h"
#include "tests/temporary_folder.h"

namespace elias::server {

using Json = nlohmann::json;

class RunningServer {
 public:
  struct Setup {
    ServerOptions options = {};
    ServiceSettings service = {.replicas = 2, .queue = {}};
    std::vector<std::string> models = {"m"};
    std::string test_file = "";  // of the first model
    TextModel model = {};
  };

  RunningServer() : RunningServer(Setup{}) {}
  explicit RunningServer(const Setup& setup)
      : options_(setup.options),
        api_(options_.limits,
             {.service = setup.service, .use = IndexUse::kOwn, .test_files = test_files(setup)}) {
    for (const std::string& name : setup.models) {
      write_text_model(folder(name), setup.model);
      api_.shelf().add(name, folder(name));
    }
    options_.port = 0;
    server_ = std::make_unique<HttpServer>(options_, api_.routes(), api_.statuses());
    port_ = server_->bind();
    listener_ = std::thread([this] { server_->serve(); });
  }
  ~RunningServer() { stop(); }

  void stop() {
    server_->stop();
    if (listener_.joinable()) listener_.join();
  }
  /// Nothing new is taken; does not wait until all has ended.
  void begin_to_stop() { server_->stop(); }

  int port() const { return port_; }
  Api& api() { return api_; }
  const Model& model() const { return api_.choose("m", "").model(); }
  std::string folder(const std::string& name) const { return temporary_ / name; }

  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_tcp_nodelay(true);
    client.set_keep_alive(true);
    client.set_read_timeout(60);
    return client;
  }

  // --- one request each, on a connection of its own ----------------------------------------------

  httplib::Response get(const std::string& path, const httplib::Headers& headers = {}) const {
    return taken(client().Get(path, headers));
  }
  httplib::Response post(const std::string& path, const std::string& body,
                         const std::string& type = "application/json") const {
    return taken(client().Post(path, body, type));
  }
  /// The answer to a request in good order.
  Json ask(const std::string& body) const {
    const auto response = post("/v1/predict", body);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }

 private:
  static httplib::Response taken(const httplib::Result& result) {
    if (!result) {
      ADD_FAILURE() << "no answer: " << to_string(result.error());
      return {};
    }
    return *result;
  }
  static std::map<std::string, std::string> test_files(const Setup& setup) {
    if (setup.test_file.empty()) return {};
    return {{setup.models.front(), setup.test_file}};
  }

  TemporaryFolder temporary_;
  ServerOptions options_;
  Api api_;
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread listener_;
};

/// The sentence, and the field before it in brackets where one is named: "[k] 'k' is ...".
inline std::string told(const httplib::Response& response) {
  const Json json = Json::parse(response.body);
  const std::string sentence = json.at("error").get<std::string>();
  return json.contains("field") ? "[" + json["field"].get<std::string>() + "] " + sentence
                                : sentence;
}

}  // namespace elias::server
