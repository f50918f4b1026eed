#include "server/json_document.h"

#include <vector>

#include "base/errors.h"
#include "data/io/utf8.h"
#include "server/api_error.h"

namespace elias::server {
namespace {

using nlohmann::json;

constexpr size_t kMostDepth = 8;
constexpr size_t kMostValues = 1'000'000;  // a small value in text can be a large one in memory

class DocumentBuilder : public nlohmann::json_sax<json> {
 public:
  explicit DocumentBuilder(std::string_view text) : text_(text) {}

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    key_ = std::move(name);
    if (open_.back()->contains(key_)) fail("is given twice: give it once");
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const size_t invalid = find_invalid_utf8(text_);
    if (invalid != std::string_view::npos) {
      fail(fmt::format("is not UTF-8 from byte {} of the body on: encode it as that", invalid + 1));
    }
    constexpr int kNumberOutOfRange = 406;
    if (error.id == kNumberOutOfRange) fail("is a number out of all range: give a smaller one");
    fail(fmt::format("is not JSON from byte {} on: mend it there", position));
  }

 private:
  json* add(json value) {
    if (++values_ > kMostValues) {
      throw ApiError(413, "", "the body has more than {} values: send less", kMostValues);
    }
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }

  bool open(json value) {
    json* const added = add(std::move(value));
    open_.push_back(added);
    if (open_.size() > kMostDepth) {
      throw ApiError(400, "", "the body has lists or objects in each other, {} deep: send it flat",
                     open_.size());
    }
    keys_.push_back(std::move(key_));
    key_.clear();
    return true;
  }

  bool close() {
    open_.pop_back();
    key_ = std::move(keys_.back());
    keys_.pop_back();
    return true;
  }

  /// The place of the value that comes next.
  std::string place() const {
    std::string place;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]->is_array()) {
        place += fmt::format("[{}]", open_[i]->size());
      } else {
        const std::string& name = i + 1 < open_.size() ? keys_[i + 1] : key_;
        if (!name.empty()) place += (place.empty() ? "" : ".") + name;
      }
    }
    return place;
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string where = place();
    throw ApiError(400, where, "{} {}", where.empty() ? "the body" : shown(where), what);
  }

  std::string_view text_;
  json root_;
  std::vector<json*> open_;
  std::vector<std::string> keys_;  // the key of each that is open, in its parent
  std::string key_;
  size_t values_ = 0;
};

}  // namespace

json parse_json(std::string_view text) {
  DocumentBuilder builder(text);
  json::sax_parse(text, &builder);
  return builder.take();
}

std::string kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case json::value_t::string:
      return "a string";
    case json::value_t::array:
      return "a list";
    case json::value_t::object:
      return "an object";
    default:
      return "the number " + value.dump();
  }
}

}  // namespace elias::server
