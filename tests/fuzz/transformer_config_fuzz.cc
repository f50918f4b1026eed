// Any bytes as the config.json of a transformer: sizes that go together, or refused with an
// InputError; and what is written of them is read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/errors.h"
#include "encoder/transformer_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const auto config = elias::parse_transformer_config(json, "config.json");
    elias::check_shape(config.shape, "config.json");
    const auto again =
        elias::parse_transformer_config(elias::transformer_config_text(config), "again");
    ELIAS_ASSERT(again.architecture == config.architecture && again.shape == config.shape);
  } catch (const elias::InputError&) {
  }
  return 0;
}
