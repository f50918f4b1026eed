#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "data/io/byte_sink.h"
#include "data/io/byte_source.h"
#include "data/io/line_reader.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;

std::string gzip(const std::string& text) {
  TemporaryFolder folder;
  const auto sink = create_bytes(folder / "a.gz");
  sink->write(text);
  sink->commit();
  std::ifstream file(folder / "a.gz", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string inflate_all(std::string_view bytes) {
  return read_all(*bytes_in_memory(bytes, "f.gz"));
}

std::string error_of(std::string_view bytes) {
  try {
    inflate_all(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  return text;
}

TEST(ByteSource, PassesPlainBytesOn) {
  EXPECT_EQ(inflate_all(""), "");
  EXPECT_EQ(inflate_all("x"), "x");
  EXPECT_EQ(inflate_all("\x1f"), "\x1f");
  EXPECT_EQ(inflate_all(long_text()), long_text());
}

TEST(ByteSource, InflatesGzipOfOneAndSeveralMembers) {
  const std::string text = long_text();
  EXPECT_EQ(inflate_all(gzip(text)), text);
  EXPECT_EQ(inflate_all(gzip("a") + gzip("") + gzip("b")), "ab");
  EXPECT_EQ(inflate_all(gzip(text) + std::string(1000, '\0')), text);
}

TEST(ByteSource, RefusesDamagedGzip) {
  const std::string packed = gzip(long_text());
  EXPECT_THAT(error_of(packed.substr(0, packed.size() / 2)),
              HasSubstr("f.gz: the gzip data ends early"));
  EXPECT_THAT(error_of(packed.substr(0, packed.size() - 1)), HasSubstr("ends early"));
  EXPECT_THAT(error_of(packed.substr(0, 5)), HasSubstr("ends early"));
  EXPECT_THAT(error_of(packed + "tail"), HasSubstr("bytes that are not gzip follow"));
  std::string flipped = packed;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  EXPECT_THAT(error_of(flipped), HasSubstr("damaged"));
  std::string checksum = packed;
  checksum[checksum.size() - 6] = static_cast<char>(checksum[checksum.size() - 6] ^ 1);
  EXPECT_THAT(error_of(checksum), HasSubstr("damaged"));
}

TEST(ByteSource, SaysWhatIsWrongWithAPath) {
  TemporaryFolder folder;
  EXPECT_THROW(open_bytes(folder / "missing"), InputError);
  try {
    open_bytes(folder.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a directory"));
  }
}

TEST(ByteSink, WritesPlainAndGzipFiles) {
  TemporaryFolder folder;
  for (const char* name : {"a", "a.gz"}) {
    const auto sink = create_bytes(folder / name);
    sink->write("one\n");
    sink->write(long_text());
    sink->commit();
    EXPECT_EQ(read_all(*open_bytes(folder / name)), "one\n" + long_text());
  }
  { create_bytes(folder / "never")->write("x"); }
  EXPECT_FALSE(std::filesystem::exists(folder / "never"));
}

// All blocks put together, with a check that each holds whole lines and knows its line number.
std::string join_blocks(std::string_view bytes, size_t block_bytes) {
  LineReader reader(bytes_in_memory(bytes, "f.txt"), block_bytes);
  std::string joined;
  uint64_t line = 1;
  LineBlock block;
  while (reader.next(block)) {
    EXPECT_EQ(block.first_line, line);
    EXPECT_TRUE(joined.empty() || joined.back() == '\n');
    line += static_cast<uint64_t>(std::count(block.bytes.begin(), block.bytes.end(), '\n'));
    joined += block.bytes;
  }
  return joined;
}

TEST(LineReader, CutsOnlyAtLineEnds) {
  const std::string text = "a\n\nbb\r\n" + std::string(50, 'x') + "\nlast";
  for (size_t block = 1; block < 70; ++block) {
    EXPECT_EQ(join_blocks(text, block), text);
    EXPECT_EQ(join_blocks(text + "\n", block), text + "\n");
    EXPECT_EQ(join_blocks("\xef\xbb\xbf" + text, std::max<size_t>(block, 3)), text);
  }
  EXPECT_EQ(join_blocks("", 10), "");
  EXPECT_EQ(join_blocks(long_text(), 1000), long_text());
}

// Gives one piece a read; fails the test if it is asked for one that is not there yet.
class PieceSource : public ByteSource {
 public:
  explicit PieceSource(const std::vector<std::string>& pieces)
      : ByteSource("pieces"), pieces_(pieces) {}

  size_t read(char* into, size_t capacity) override {
    if (given_ == pieces_.size()) {
      ADD_FAILURE() << "waits for what is not there yet";
      return 0;
    }
    const std::string& piece = pieces_[given_++];
    EXPECT_LE(piece.size(), capacity);
    return piece.copy(into, capacity);
  }

 private:
  const std::vector<std::string>& pieces_;  // may grow
  size_t given_ = 0;
};

TEST(LineReader, HandsOutLinesAsTheyCome) {
  std::vector<std::string> pieces = {"a", "b\nc\nd"};
  LineReader reader(std::make_unique<PieceSource>(pieces), 1000, /*as_it_comes=*/true);
  LineBlock block;
  EXPECT_EQ(reader.peek().bytes, "ab\nc\n");
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.bytes, "ab\nc\n");
  pieces.insert(pieces.end(), {"e", "\n"});
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.bytes, "de\n");
  EXPECT_EQ(block.first_line, 3U);
  pieces.insert(pieces.end(), {"last", ""});
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.bytes, "last");
  EXPECT_FALSE(reader.next(block));
}

TEST(LineReader, PeekTakesNothing) {
  LineReader reader(bytes_in_memory("a\nb\n", "f"), 2);
  EXPECT_EQ(reader.peek().bytes, "a\n");
  EXPECT_EQ(reader.peek().bytes, "a\n");
  LineBlock block;
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.bytes, "a\n");
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.bytes, "b\n");
  EXPECT_FALSE(reader.next(block));
}

TEST(LineReader, TakeLineDropsLineEnds) {
  std::string_view text = "a\r\n\nb\rc\n";
  EXPECT_EQ(take_line(text), "a");
  EXPECT_EQ(take_line(text), "");
  EXPECT_EQ(take_line(text), "b\rc");
  EXPECT_TRUE(text.empty());
}

// A source that never ends and never ends a line.
class Endless : public ByteSource {
 public:
  Endless() : ByteSource("endless") {}
  size_t read(char* into, size_t capacity) override {
    std::fill_n(into, capacity, 'x');
    given_ += capacity;
    return capacity;
  }
  size_t given() const { return given_; }

 private:
  size_t given_ = 0;
};

TEST(LineReader, RefusesALineWithoutEndBeforeMemoryIsFull) {
  auto source = std::make_unique<Endless>();
  const Endless* watched = source.get();
  LineReader reader(std::move(source));
  LineBlock block;
  try {
    reader.next(block);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("endless:1: the line is longer than 64 MiB"));
    EXPECT_LE(watched->given(), kLongestLine + 1);
  }
}

TEST(LineReader, ALineOfJustTheLimitIsRead) {
  const std::string line(kLongestLine, 'x');
  for (const std::string& text : {line, line + "\n", "a\n" + line + "\nb\n"}) {
    LineReader reader(bytes_in_memory(text, "f"));
    LineBlock block;
    size_t size = 0;
    while (reader.next(block)) size += block.bytes.size();
    EXPECT_EQ(size, text.size());
  }
  const std::string longer = "a\n" + line + "x\nb\n";
  LineReader reader(bytes_in_memory(longer, "f"));
  LineBlock block;
  EXPECT_THROW(while (reader.next(block)){}, InputError);
}

TEST(LineReader, RefusesUtf16) {
  for (const char* text : {"\xff\xfe"
                           "a",
                           "\xfe\xff"
                           "a"}) {
    LineReader reader(bytes_in_memory(text, "f"));
    LineBlock block;
    EXPECT_THROW(reader.next(block), InputError);
  }
}

}  // namespace
}  // namespace elias
