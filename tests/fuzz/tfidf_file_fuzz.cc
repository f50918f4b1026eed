// Any bytes as a tf-idf file. The checksum is made to fit first, as it would keep everything that
// is not a copy of a seed from the checks behind it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.h"
#include "text/tfidf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kField = "\"checksum\":\"";
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto checksum = elias::safetensors_checksum(std::as_bytes(std::span(bytes)));
  if (!checksum) return 0;
  bytes.replace(bytes.find(kField) + kField.size(), checksum->size(), *checksum);
  const auto span = std::as_bytes(std::span(bytes));
  const std::vector<std::byte> image(span.begin(), span.end());
  static elias::ThreadPool pool(1);
  static const elias::TextRows texts = [] {
    elias::TextRows rows;
    rows.add("the law of the sea, the law");
    rows.add(
        "\xC3\x89"
        "cole \xE4\xB8\xAD\xE6\x96\x87 \xFF");
    return rows;
  }();
  try {
    const elias::Tfidf model = elias::Tfidf::load(elias::SafetensorsFile(image, "fuzzed"));
    const elias::Csr matrix = model.transform(texts, pool);
    ELIAS_ASSERT(matrix.rows() == texts.rows());
    for (const uint32_t column : matrix.columns) ELIAS_ASSERT(column < matrix.cols);
  } catch (const elias::InputError&) {
  }
  return 0;
}
