#include "base/json_log.h"

#include <nlohmann/json.hpp>

#include "base/errors.h"

namespace elias {

JsonLog::JsonLog(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "ab")), start_(std::chrono::steady_clock::now()) {
  if (!file_) {
    throw InputError("{}: the log cannot be opened ({}): check that the folder is writable", path,
                     system_error_text());
  }
}

void JsonLog::write(const std::string& event, const nlohmann::ordered_json& fields) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  nlohmann::ordered_json line = {{"event", event}, {"seconds", elapsed.count()}};
  line.update(fields);
  const std::string text = line.dump() + "\n";
  std::lock_guard lock(mutex_);
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0) {
    throw InputError("{}: the log cannot be written ({}): free space and start again", path_,
                     system_error_text());
  }
}

}  // namespace elias
