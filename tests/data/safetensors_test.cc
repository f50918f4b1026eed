#include "data/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

// A copy that is aligned and whose end a sanitizer knows.
std::vector<std::byte> image_of(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return {span.begin(), span.end()};
}

std::string complaint(const std::string& bytes) {
  const std::vector<std::byte> image = image_of(bytes);
  try {
    SafetensorsFile(image, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_sample(const std::string& path) {
  const std::vector<uint64_t> large = {1, 2, 3};
  const std::vector<float> weights = {0.5f, -1.0f};
  const std::string bytes = "abc";
  SafetensorsWriter writer;
  writer.add("bytes", std::span<const char>(bytes));
  writer.add("large", std::span<const uint64_t>(large));
  writer.add("weights", {StoredType::kF32, {1, 2}, std::as_bytes(std::span(weights))});
  writer.set_metadata("a", "0000000000000000");
  writer.set_metadata("note", "\"checksum\":\"no\"");
  writer.write(path);
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  TemporaryFolder folder;
  write_sample(folder / "f");
  const SafetensorsFile file(folder / "f");
  EXPECT_THAT(file.vector<uint64_t>("large"), ElementsAre(1, 2, 3));
  EXPECT_THAT(file.vector<char>("bytes"), ElementsAre('a', 'b', 'c'));
  const StoredTensor& weights = file.tensor("weights");
  EXPECT_THAT(weights.shape, ElementsAre(1, 2));
  EXPECT_EQ(weights.elements(), 2u);
  EXPECT_EQ(weights.type, StoredType::kF32);
  EXPECT_EQ(file.metadata("a"), "0000000000000000");
  EXPECT_EQ(file.metadata("none"), std::nullopt);
  file.verify_checksum();
  EXPECT_THROW(file.tensor("none"), InputError);
  EXPECT_THROW(file.vector<float>("large"), InputError);
  EXPECT_THROW(file.vector<float>("weights"), InputError);  // two dimensions
}

TEST(Safetensors, FilesOfOthersNeedNoChecksum) {
  const std::string header = R"({"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}} )";
  EXPECT_EQ(complaint(file_of(header, "abcd")), "none");
  EXPECT_EQ(complaint(file_of("{}", "")), "none");
  const std::string bytes = file_of("{}", "");
  EXPECT_THROW(SafetensorsFile(std::as_bytes(std::span(bytes)), "f").verify_checksum(), InputError);
}

TEST(Safetensors, ForgedHeadersAreRefused) {
  const auto tensor = [](const std::string& entry, size_t data) {
    std::string header = R"({"x":)" + entry + "}";
    while (header.size() % 8 != 0) header += ' ';
    return complaint(file_of(header, std::string(data, 'x')));
  };
  EXPECT_EQ(tensor(R"({"dtype":"U64","shape":[1],"data_offsets":[0,8]})", 8), "none");
  EXPECT_EQ(tensor(R"({"dtype":"U64","shape":[],"data_offsets":[0,8]})", 8), "none");
  EXPECT_THAT(tensor(R"({"dtype":"U64","shape":[1],"data_offsets":[0,8]})", 7),
              HasSubstr("claims"));
  EXPECT_THAT(tensor(R"({"dtype":"U64","shape":[1],"data_offsets":[0,8]})", 9),
              HasSubstr("after its last tensor"));
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[2],"data_offsets":[1,3]})", 3), HasSubstr("a gap"));
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[2],"data_offsets":[3,1]})", 3), HasSubstr("claims"));
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[3],"data_offsets":[0,2]})", 2), HasSubstr("claims"));
  // The product of the shape would be 0 in 64 bits.
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0),
              HasSubstr("claims"));
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[-1],"data_offsets":[0,0]})", 0),
              HasSubstr("whole number"));
  EXPECT_THAT(tensor(R"({"dtype":"U8","shape":[0.5],"data_offsets":[0,0]})", 0),
              HasSubstr("whole number"));
  EXPECT_THAT(tensor(R"({"dtype":"Q4","shape":[0],"data_offsets":[0,0]})", 0),
              HasSubstr("the type 'Q4'"));
  EXPECT_THAT(tensor(R"({"shape":[0],"data_offsets":[0,0]})", 0), HasSubstr("damaged header"));
  EXPECT_THAT(tensor(R"([[[[[[]]]]]])", 0), HasSubstr("nested too deep"));
  EXPECT_THAT(tensor(R"(7)", 0), HasSubstr("damaged header"));
  EXPECT_THAT(complaint(file_of("[]", "")), HasSubstr("damaged header"));
}

TEST(Safetensors, TwinsOverlapsAndMisalignmentAreRefused) {
  const std::string x = R"("x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  const std::string y = R"("y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]})";
  EXPECT_THAT(complaint(file_of("{" + x + "," + x + "}", "ab")), HasSubstr("'x' stands twice"));
  EXPECT_THAT(complaint(file_of("{" + x + "," + y + "}", "abc")), HasSubstr("overlap"));
  const std::string odd = R"({"x":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}})";
  EXPECT_THAT(complaint(file_of(odd + (odd.size() % 2 == 0 ? " " : ""), "ab")),
              HasSubstr("not aligned"));
}

TEST(Safetensors, CutsAndFlipsAreFoundByTheChecksum) {
  TemporaryFolder folder;
  write_sample(folder / "f");
  const std::string sound = read_bytes(folder / "f");
  const auto is_refused = [](const std::string& bytes) {
    const std::vector<std::byte> image = image_of(bytes);
    try {
      SafetensorsFile(image, "f").verify_checksum();
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < sound.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      ASSERT_TRUE(is_refused(bytes)) << "byte " << i << " bit " << bit;
    }
    ASSERT_TRUE(is_refused(sound.substr(0, i)));
  }
  EXPECT_FALSE(is_refused(sound));
}

TEST(Safetensors, TheChecksumDoesNotDependOnHowTheDataIsCut) {
  RandomSequence random(4, 1);
  std::string data;
  for (int i = 0; i < 300; ++i) data += static_cast<char>(random.below(256));
  const auto bytes = std::as_bytes(std::span(data));
  const std::string header = "\"checksum\":\"0000000000000000\"";
  const auto whole = safetensors_checksum(header, {bytes});
  for (int round = 0; round < 200; ++round) {
    std::vector<std::span<const std::byte>> pieces;
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = std::min<size_t>(random.below(70), bytes.size() - at);
      pieces.push_back(bytes.subspan(at, size));
      at += size;
    }
    EXPECT_EQ(safetensors_checksum(header, pieces), whole);
  }
}

}  // namespace
}  // namespace elias
