#include "train/run_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace elias {

using nlohmann::ordered_json;

std::string RunPart::name() const { return fmt::format("{} {}/{}", kind, number + 1, of_kind); }

bool RunPart::owns(const SafetensorsFile& checkpoint) const {
  return checkpoint.tensors().contains(kind) &&
         std::ranges::equal(checkpoint.vector<uint64_t>(kind), std::span(&number, 1));
}

TrainingHooks RunPart::hooks_for(const TrainingHooks& run) const {
  TrainingHooks hooks = run;
  hooks.checkpoint = [part = *this, save = run.checkpoint](SafetensorsWriter state) {
    state.add(part.kind, std::span(&part.number, 1));
    save(state);
  };
  hooks.progress = [part = *this, tell = run.progress](TrainingProgress progress) {
    if (part.of_kind > 1) progress.stage = fmt::format("{}  {}", part.name(), progress.stage);
    progress.share =
        (static_cast<double>(part.before) + progress.share) / static_cast<double>(part.of_parts);
    tell(progress);
  };
  if (of_kind == 1) return hooks;
  hooks.log = [part = *this, log = run.log](const std::string& event, const ordered_json& fields) {
    ordered_json with_part = {{part.kind, part.name()}};
    with_part.update(fields);
    log(event, with_part);
  };
  return hooks;
}

}  // namespace elias
