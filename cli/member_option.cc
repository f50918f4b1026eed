#include "cli/member_option.h"

#include <CLI/CLI.hpp>

#include "base/errors.h"
#include "base/readable.h"
#include "cli/number_range.h"
#include "model/model_folder.h"

namespace elias::cli {

void MemberOption::add_to(CLI::App& verb) {
  verb.add_option("--member", number_, "Of an ensemble, the member whose encoder it is")
      ->check(number_range(int64_t{1}, int64_t{kMostMembers}))
      ->type_name("N")
      ->capture_default_str();
}

const Member& MemberOption::of(const Model& model) const {
  const auto& members = model.members();
  if (number_ <= std::ssize(members)) return members[static_cast<size_t>(number_ - 1)];
  throw InputError("--member {}: the model has {}: give one of them", number_,
                   counted(members.size(), "member"));
}

}  // namespace elias::cli
