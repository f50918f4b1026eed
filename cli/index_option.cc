#include "cli/index_option.h"

#include <CLI/CLI.hpp>

namespace elias::cli {

void IndexOption::add_to(CLI::App& verb) {
  verb.add_option(
          "--index", text_,
          "own: find labels by what the model has for it; exact: score every label, also of "
          "a model that has a graph of neighbours")
      ->check(CLI::IsMember({"own", "exact"}).description(""))
      ->type_name("own|exact")
      ->capture_default_str();
}

Model IndexOption::load(const std::string& folder, const Context& context) const {
  return Model::load(folder, context, exact() ? IndexUse::kExact : IndexUse::kOwn);
}

}  // namespace elias::cli
