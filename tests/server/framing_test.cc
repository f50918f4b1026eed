// Lines of heads, and chunks of bodies, however they are cut into pieces.
#include "server/framing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace elias::server {
namespace {

TEST(HeaderLineTest, IsANameAndAValue) {
  for (const char* line : {"Host: x\r\n", "Host:x\r\n", "A-b_1: \t\r\n", "A: \xc3\xa4 %41\r\n",
                           "Content-Length: 12\r\n", "\r\n"}) {
    EXPECT_TRUE(is_header_line(line)) << line;
  }
  for (const char* line :
       {"Host x\r\n", ": x\r\n", "Host : x\r\n", " Host: x\r\n", "\tx\r\n", "Host: x\n", "\n",
        "Host: x\ry\r\n", "H(st: x\r\n", "content-length: %31\r\n", "TRANSFER-ENCODING: \r\n"}) {
    EXPECT_FALSE(is_header_line(line)) << line;
  }
  EXPECT_FALSE(is_header_line(std::string_view("A: \0\r\n", 6)));
}

bool takes(std::string_view body, size_t piece) {
  ChunkFraming framing;
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
    if (!framing.takes(body.substr(0, piece))) return false;
  }
  return true;
}

TEST(ChunkFramingTest, DoesNotDependOnThePieces) {
  for (const size_t piece : {1, 2, 3, 7, 100}) {
    EXPECT_TRUE(takes("5\r\nab\r\nc\r\n0A\r\n0123456789\r\n0\r\n\r\n", piece));
    EXPECT_TRUE(takes("0\r\n\r\n", piece));
    EXPECT_FALSE(takes("5\r\nabcdef\r\n", piece));     // longer than it says
    EXPECT_FALSE(takes("5\r\nabcd\r\n0\r\n", piece));  // shorter
    EXPECT_FALSE(takes("\r\n", piece));
    EXPECT_FALSE(takes("-5\r\n", piece));
    EXPECT_FALSE(takes("5\n", piece));
    EXPECT_FALSE(takes("5;a\r\n", piece));
    EXPECT_FALSE(takes("0\r\nA: b\r\n\r\n", piece));  // trailers
  }
}

TEST(ChunkFramingTest, ASizeHasAtMostSoManyDigits) {
  EXPECT_TRUE(takes("fffffffffffffff\r\n", 1));
  EXPECT_FALSE(takes("ffffffffffffffff\r\n", 1));
  EXPECT_FALSE(takes("0000000000000001\r\n", 100));
}

}  // namespace
}  // namespace elias::server
