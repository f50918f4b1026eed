#include "server/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "serve/refusal.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

struct Failure {
  int status;
  std::string sentence, field;
};

int status_of(RefusalKind kind) { return kind == RefusalKind::kQueueFull ? 429 : 503; }

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& refused) {
    return {refused.status(), refused.what(), refused.field()};
  } catch (const Refusal& refusal) {
    return {status_of(refusal.kind()), refusal.what(), ""};
  } catch (const InputError& wrong) {
    return {400, wrong.what(), ""};
  } catch (const std::bad_alloc&) {
    return {503, "the server is out of memory: ask for less, or later", ""};
  } catch (const std::exception& bug) {
    fmt::print(stderr, "elias: {}\nelias: this is a bug in elias; please report it\n", bug.what());
    return {500, "the server failed: what it wrote on standard error says why", ""};
  }
}

}  // namespace

void answer_json(httplib::Response& response, std::string json) {
  response.status = 200;
  response.body = std::move(json);
  response.set_header("Content-Type", "application/json");
}

void answer_json(httplib::Response& response, const nlohmann::ordered_json& json) {
  answer_json(response, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void answer_error(httplib::Response& response, int status, const std::string& sentence,
                  const std::string& field) {
  nlohmann::ordered_json json{{"error", sentence}};
  if (!field.empty()) json["field"] = field;
  answer_json(response, json);
  response.status = status;
  if (status == 401) response.set_header("WWW-Authenticate", "Bearer");
  if (status == 429 || status == 503) response.set_header("Retry-After", "1");
}

void answer_error(httplib::Response& response, const std::exception_ptr& error) {
  const Failure failure = failure_of(error);
  answer_error(response, failure.status, failure.sentence, failure.field);
}

std::string sentence_of(const std::exception_ptr& error) { return failure_of(error).sentence; }

}  // namespace elias::server
