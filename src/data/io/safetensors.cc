#include "data/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"

namespace elias {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kLongestHeader = 100'000'000;  // the format's own bound
constexpr size_t kHeaderAlignment = 64;         // so that the first tensor starts a cache line
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kNoChecksum = "0000000000000000";

struct TypeEntry {
  StoredType type;
  std::string_view name;
  size_t size;
};

constexpr std::array<TypeEntry, 13> kTypes = {{{StoredType::kF64, "F64", 8},
                                               {StoredType::kF32, "F32", 4},
                                               {StoredType::kF16, "F16", 2},
                                               {StoredType::kBf16, "BF16", 2},
                                               {StoredType::kI64, "I64", 8},
                                               {StoredType::kI32, "I32", 4},
                                               {StoredType::kI16, "I16", 2},
                                               {StoredType::kI8, "I8", 1},
                                               {StoredType::kU64, "U64", 8},
                                               {StoredType::kU32, "U32", 4},
                                               {StoredType::kU16, "U16", 2},
                                               {StoredType::kU8, "U8", 1},
                                               {StoredType::kBool, "BOOL", 1}}};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes that `shape` takes; empty if that is no number of 64 bits.
std::optional<uint64_t> byte_count(const std::vector<uint64_t>& shape, StoredType type) {
  uint64_t count = stored_type_size(type);
  for (const uint64_t dimension : shape) {
    if (__builtin_mul_overflow(count, dimension, &count)) return std::nullopt;
  }
  return count;
}

// Parses the header. Keys that stand twice, which JSON libraries merge in silence, and nesting
// deeper than the format's are refused while it is read.
Json parse_strictly(std::string_view header, const std::string& name) {
  constexpr int kDeepest = 3;
  std::array<std::set<std::string>, kDeepest + 2> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= kDeepest) {
      throw InputError("{}: is nested too deep for a safetensors header: write it again", name);
    }
    if (event == Json::parse_event_t::object_start) keys[static_cast<size_t>(depth) + 1].clear();
    if (event == Json::parse_event_t::key &&
        !keys[static_cast<size_t>(depth)].insert(value.get<std::string>()).second) {
      throw InputError("{}: the name {} stands twice in the header: write the file again", name,
                       shown(value.get<std::string>()));
    }
    return true;
  };
  return Json::parse(header, check);
}

uint64_t whole_number(const Json& value, const std::string& tensor, const std::string& name) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  throw InputError("{}: tensor {} has {} where a whole number must stand: write the file again",
                   name, shown(tensor), shown(value.dump()));
}

}  // namespace

std::string_view stored_type_name(StoredType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

size_t stored_type_size(StoredType type) { return kTypes[static_cast<size_t>(type)].size; }

void SafetensorsWriter::add(const std::string& name, StoredTensor tensor) {
  ELIAS_ASSERT(name != kMetadata);
  ELIAS_ASSERT(byte_count(tensor.shape, tensor.type) == tensor.bytes.size());
  // Large elements first: then every tensor is aligned although there are no gaps between them.
  const auto place = std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& other) {
    return stored_type_size(other.second.type) < stored_type_size(tensor.type);
  });
  tensors_.insert(place, {name, std::move(tensor)});
}

std::string SafetensorsWriter::header() const {
  nlohmann::ordered_json root;
  root[std::string(kMetadata)] = metadata_;
  root[std::string(kMetadata)]["checksum"] = kNoChecksum;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors_) {
    const uint64_t end = offset + tensor.bytes.size();
    root[name] = {{"dtype", stored_type_name(tensor.type)},
                  {"shape", tensor.shape},
                  {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = root.dump();
  while ((kLengthBytes + text.size()) % kHeaderAlignment != 0) text += ' ';
  uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text;
}

void SafetensorsWriter::write(const std::string& path) const {
  std::string start = header();
  std::vector<std::span<const std::byte>> data;
  for (const auto& [name, tensor] : tensors_) data.push_back(tensor.bytes);
  const auto checksum = safetensors_checksum(start, data);
  ELIAS_ASSERT(checksum.has_value());
  const std::string field = fmt::format("\"checksum\":\"{}\"", kNoChecksum);
  start.replace(start.find(field) + field.size() - 1 - kNoChecksum.size(), kNoChecksum.size(),
                *checksum);
  AtomicFile file(path);
  file.write(start);
  for (const auto piece : data) file.write(text_of(piece));
  file.commit();
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : mapped_(path), name_(path), bytes_(mapped_->bytes()) {
  parse();
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, const std::string& name)
    : name_(name), bytes_(bytes) {
  parse();
}

void SafetensorsFile::parse() try {
  uint64_t length = 0;
  if (bytes_.size() >= kLengthBytes) std::memcpy(&length, bytes_.data(), kLengthBytes);
  if (length < 2 || length > kLongestHeader || length > bytes_.size() - kLengthBytes) {
    throw InputError(
        "{}: is not a safetensors file, or is cut short: its header would take {} of "
        "{} bytes; write or copy it again",
        name_, length, bytes_.size());
  }
  const auto data = bytes_.subspan(kLengthBytes + length);
  parse_header(text_of(bytes_.subspan(kLengthBytes, length)), data);
  check_layout(data.size());
} catch (const Json::exception& error) {
  throw InputError("{}: has a damaged header ({}): write or copy the file again", name_,
                   error.what());
}

void SafetensorsFile::parse_header(std::string_view header, std::span<const std::byte> data) {
  const Json root = parse_strictly(header, name_);
  for (const auto& [name, entry] : root.get_ref<const Json::object_t&>()) {
    if (name == kMetadata) {
      metadata_ = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    const auto type_name = entry.at("dtype").get<std::string>();
    const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeEntry& known) {
      return known.name == type_name;
    });
    if (type == kTypes.end()) {
      throw InputError("{}: tensor {} has the type {}, which is not known here: convert it", name_,
                       shown(name), shown(type_name));
    }
    StoredTensor tensor{type->type, {}, {}};
    for (const Json& dimension : entry.at("shape")) {
      tensor.shape.push_back(whole_number(dimension, name, name_));
    }
    const uint64_t begin = whole_number(entry.at("data_offsets").at(0), name, name_);
    const uint64_t end = whole_number(entry.at("data_offsets").at(1), name, name_);
    if (begin > end || end > data.size() ||
        byte_count(tensor.shape, tensor.type) != std::optional(end - begin)) {
      throw InputError(
          "{}: tensor {} claims the bytes {} to {} of {}, which its shape or the file's "
          "size does not allow: write or copy the file again",
          name_, shown(name), begin, end, data.size());
    }
    tensor.bytes = data.subspan(begin, end - begin);
    if (reinterpret_cast<uintptr_t>(tensor.bytes.data()) % type->size != 0) {
      throw InputError("{}: tensor {} is not aligned to its elements: write the file again", name_,
                       shown(name));
    }
    tensors_.emplace(name, std::move(tensor));
  }
}

void SafetensorsFile::check_layout(size_t data_size) const {
  std::vector<std::pair<const std::byte*, const std::byte*>> ranges;
  for (const auto& [name, tensor] : tensors_) {
    ranges.emplace_back(tensor.bytes.data(), tensor.bytes.data() + tensor.bytes.size());
  }
  std::sort(ranges.begin(), ranges.end());
  const std::byte* expected = bytes_.data() + (bytes_.size() - data_size);
  for (const auto& [begin, end] : ranges) {
    if (begin != expected) {
      throw InputError("{}: its tensors overlap or leave a gap: write the file again", name_);
    }
    expected = end;
  }
  if (expected != bytes_.data() + bytes_.size()) {
    throw InputError("{}: has bytes after its last tensor: write or copy the file again", name_);
  }
}

const StoredTensor& SafetensorsFile::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw InputError("{}: has no tensor {}: it is not the file that is needed here", name_, name);
  }
  return found->second;
}

void SafetensorsFile::require_vector(const std::string& name, const StoredTensor& tensor,
                                     StoredType type) const {
  if (tensor.type == type && tensor.shape.size() == 1) return;
  throw InputError("{}: tensor {} has {} dimensions of {}, not one of {}: write the file again",
                   name_, shown(name), tensor.shape.size(), stored_type_name(tensor.type),
                   stored_type_name(type));
}

std::optional<std::string> SafetensorsFile::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? std::nullopt : std::optional(found->second);
}

bool SafetensorsFile::has_right_checksum() const {
  return safetensors_checksum(bytes_) == metadata("checksum");
}

void SafetensorsFile::verify_checksum() const {
  if (!metadata("checksum")) {
    throw InputError("{}: has no checksum: it was not written by elias, or is damaged", name_);
  }
  if (!has_right_checksum()) {
    throw InputError("{}: is damaged: its checksum does not match; write or copy it again", name_);
  }
}

}  // namespace elias
