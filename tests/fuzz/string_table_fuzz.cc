// StringTable against its obvious twin, a std::map. The input is a list of strings, one a line;
// a line that starts with '+' is added even where an equal one is there, others are interned.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "data/string_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  elias::StringTable table;
  std::vector<std::string> rows;
  std::map<std::string, uint32_t> first;

  while (!input.empty()) {
    const std::string text(input.substr(0, input.find('\n')));
    input.remove_prefix(std::min(input.size(), text.size() + 1));

    const auto known = first.find(text);
    const auto found = table.find(text);
    ELIAS_ASSERT(found.has_value() == (known != first.end()));
    ELIAS_ASSERT(!found || *found == known->second);

    const bool repeat = text.starts_with('+');
    const bool is_new = repeat || known == first.end();
    const uint32_t wanted = is_new ? static_cast<uint32_t>(rows.size()) : known->second;
    ELIAS_ASSERT((repeat ? table.add(text) : table.intern(text)) == wanted);
    if (is_new) rows.push_back(text);
    first.emplace(text, wanted);
  }

  ELIAS_ASSERT(table.size() == rows.size());
  for (uint32_t id = 0; id < rows.size(); ++id) ELIAS_ASSERT(table[id] == rows[id]);
  return 0;
}
