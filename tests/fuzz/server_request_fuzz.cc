// Bodies, lines, chunks and addresses of requests: the first byte says which.
#include "base/errors.h"
#include "data/io/utf8.h"
#include "server/api_error.h"
#include "server/framing.h"
#include "server/request_json.h"
#include "server/target.h"
#include "tests/fuzz/read_points.h"

namespace {

using namespace elias;
using namespace elias::server;

constexpr Limits kLimits{.body = 1 << 16, .text = 64, .texts = 8};

void check(const TextRows& texts) {
  ELIAS_ASSERT(texts.rows() <= kLimits.texts);
  ELIAS_ASSERT(find_invalid_utf8(texts.bytes) == std::string_view::npos);
  for (size_t i = 0; i < texts.rows(); ++i) ELIAS_ASSERT(texts.row(i).size() <= kLimits.text);
}

// However the bytes come, they are judged alike.
void follow_chunks(std::string_view bytes) {
  ChunkFraming whole, piecewise;
  bool fits = true;
  for (size_t i = 0; i < bytes.size() && fits; ++i) fits = piecewise.takes(bytes.substr(i, 1));
  ELIAS_ASSERT(whole.takes(bytes) == fits);
}

void read(char kind, std::string_view text) {
  switch (kind) {
    case 'p':
      return check(read_predict_body(text, kLimits).texts);
    case 'b': {
      TextRows texts;
      texts.add(read_bulk_line(text, kLimits).text);
      return check(texts);
    }
    case 'i':
      return check(read_infer_body(text, kLimits).texts);
    case 'c':
      return follow_chunks(text);
    case 'l':
      is_header_line(text);
      return;
    case 'e':
      return read_empty_body(text);
    case 'w': {
      const int64_t number = read_whole("k", std::string(text), 1, 100);
      ELIAS_ASSERT(number >= 1 && number <= 100);
      return;
    }
    case 'h': {
      const AskedThreshold threshold = read_threshold(std::string(text));
      ELIAS_ASSERT(threshold.score >= 0 && threshold.score <= 1);
      return;
    }
    default:
      Target::parse(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input = elias::as_text(data, size);
  try {
    read(input.front(), input.substr(1));
  } catch (const elias::server::ApiError& error) {
    ELIAS_ASSERT(error.status() == 400 || error.status() == 413);
  }
  return 0;
}
