// Answers as HTTP has them.
#pragma once

#include <httplib.h>

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace elias::server {

void answer_json(httplib::Response& response, std::string json);
void answer_json(httplib::Response& response, const nlohmann::ordered_json& json);

/// What became of a request that failed with `error`: its status, the sentence, when to try again.
/// A bug of ours is told on standard error, and no more than that to the client.
void answer_error(httplib::Response& response, const std::exception_ptr& error);
void answer_error(httplib::Response& response, int status, const std::string& sentence,
                  const std::string& field = "");

/// The sentence that answer_error() would give.
std::string sentence_of(const std::exception_ptr& error);

}  // namespace elias::server
