// The table of settings: all that is known of each, from which reading, writing and help follow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "train/settings.h"

namespace elias {

struct Setting {
  /// Where the value lies; its type is the setting's kind.
  using Place =
      std::variant<int*, int64_t*, uint64_t*, float*, double*, bool*, std::string*, Method*,
                   LogitLoss*, PoolingChoice*, LabelStart*, Schedule*, EmbeddingLoss*,
                   Normalisation*, BagActivation*, IndexChoice*, Regulariser*, RegularisedLabels*,
                   Similarity*, RankerChoice*, RankerLoss*, MixKind*, FusionKind*>;

  std::string_view name;
  Place (*place)(Settings&);
  std::string_view meaning;
  double low = 0, high = 0;         // of numbers; both are allowed
  std::optional<double> open = {};  // the value that stands for "to be derived"
  bool power_of_two = false;
};

std::span<const Setting> all_settings();

/// The names of the values of an enumeration, in their order.
std::span<const std::string_view> names_of(const Method*);
std::span<const std::string_view> names_of(const LogitLoss*);
std::span<const std::string_view> names_of(const LabelStart*);
std::span<const std::string_view> names_of(const Schedule*);
std::span<const std::string_view> names_of(const EmbeddingLoss*);
std::span<const std::string_view> names_of(const Normalisation*);
std::span<const std::string_view> names_of(const BagActivation*);
std::span<const std::string_view> names_of(const PoolingChoice*);
std::span<const std::string_view> names_of(const IndexChoice*);
std::span<const std::string_view> names_of(const Regulariser*);
std::span<const std::string_view> names_of(const RegularisedLabels*);
std::span<const std::string_view> names_of(const Similarity*);
std::span<const std::string_view> names_of(const RankerChoice*);
std::span<const std::string_view> names_of(const RankerLoss*);
std::span<const std::string_view> names_of(const MixKind*);
std::span<const std::string_view> names_of(const FusionKind*);

/// What values it takes, in words: "a whole number from 1 to 65536, or auto".
std::string allowed_values(const Setting& setting);

}  // namespace elias
