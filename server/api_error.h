// A request that is not answered as it was meant to be: the status, the sentence, and which part of
// the request is at fault. Routes throw it; the server makes an answer of it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace elias::server {

class ApiError : public std::runtime_error {
 public:
  template <typename... Args>
  ApiError(int status, std::string field, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)),
        status_(status),
        field_(std::move(field)) {}

  int status() const { return status_; }
  /// "texts[3]"; empty where no field is to blame.
  const std::string& field() const { return field_; }

 private:
  int status_;
  std::string field_;
};

}  // namespace elias::server
