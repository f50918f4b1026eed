// A log for machines: one JSON object a line, with the seconds since the log was opened.
//
// Lines are appended and flushed one by one, so a killed process loses none that was written and a
// resumed one goes on in the same file.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace elias {

class JsonLog {
 public:
  /// Throws InputError if `path` cannot be appended to.
  explicit JsonLog(const std::string& path);

  /// Appends {"event": event, "seconds": s, ...fields}. Safe to call from any thread.
  void write(const std::string& event, const nlohmann::ordered_json& fields);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace elias
