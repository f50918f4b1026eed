#include "train/fingerprint.h"

#include <fmt/format.h>

#include <array>

namespace elias {

std::string fingerprint_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string fingerprint_of(const Pretrained& start) {
  // The texts of the two files have every setting there is, and will have those to come; but for
  // two names, and for what becomes of hidden states.
  const std::string config = transformer_config_text(start.config);
  const std::string tokens =
      tokenizer_json(start.tokens) + start.tokens.pad_token + "\n" + start.tokens.mask_token;
  const std::array<int, 2> ending = {static_cast<int>(start.config.shape.pooling), start.unit};
  uint64_t hash = mixed(0, std::span<const char>(config));
  hash = mixed(hash, std::span<const char>(tokens));
  hash = mixed(hash, std::span<const int>(ending));
  for_parts(start.weights, [&](const std::string&, const Tensor& part) {
    hash = mixed(hash, part.span<float>());
  });
  return fingerprint_text(hash);
}

nlohmann::ordered_json start_identity(const Pretrained* start) {
  auto identity = nlohmann::ordered_json::object();
  if (start != nullptr) identity["start"] = fingerprint_of(*start);
  return identity;
}

}  // namespace elias
