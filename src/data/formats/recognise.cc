#include "data/formats/recognise.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "data/formats/json_lines.h"
#include "data/io/line_reader.h"
#include "data/io/numbers.h"

namespace elias {
namespace {

struct FormatName {
  Format format;
  std::string_view name;
};
constexpr std::array kFormatNames = {
    FormatName{Format::kTsv, "tsv"},         FormatName{Format::kFastText, "fasttext"},
    FormatName{Format::kJsonLines, "jsonl"}, FormatName{Format::kSparse, "sparse"},
    FormatName{Format::kMatrix, "matrix"},   FormatName{Format::kNpz, "npz"},
    FormatName{Format::kLines, "lines"},
};

// A sign does not make it a name: -1 is a wrong id, and refused as such.
LabelForm form_of_label(std::string_view label) {
  if (label.starts_with('-')) label.remove_prefix(1);
  const bool digits = !label.empty() && std::all_of(label.begin(), label.end(),
                                                    [](char c) { return c >= '0' && c <= '9'; });
  return digits ? LabelForm::kIds : LabelForm::kNames;
}

LabelForm form_of_tsv(std::string_view sample) {
  while (!sample.empty()) {
    const std::string_view line = take_line(sample);
    const std::string_view field = line.substr(0, line.find('\t'));
    const std::string_view first = field.substr(0, field.find(','));
    if (!first.empty()) return form_of_label(first.substr(0, first.rfind("::")));
  }
  return LabelForm::kUnknown;
}

LabelForm form_of_fasttext(std::string_view sample) {
  constexpr std::string_view kPrefix = "__label__";
  const size_t at = sample.find(kPrefix);
  if (at == std::string_view::npos) return LabelForm::kUnknown;
  sample.remove_prefix(at + kPrefix.size());
  return form_of_label(sample.substr(0, sample.find_first_of(" \t\r\n")));
}

// "id:value", or "id,id" and then "id:value".
bool is_sparse_line(std::string_view line) {
  const char* p = line.data();
  const char* const end = p + line.size();
  const auto skip_blanks = [&] {
    while (p < end && *p == ' ') ++p;
  };
  // Two colons would be the grade of a tsv label.
  const auto at_colon = [&] { return p < end && *p == ':' && (p + 1 == end || p[1] != ':'); };
  uint64_t id = 0;
  skip_blanks();
  while (parse_integer(p, end, id) && p < end && *p == ',') ++p;
  if (at_colon()) return true;
  if (p == end || *p != ' ') return false;
  skip_blanks();
  return parse_integer(p, end, id) && at_colon();
}

// The first line that holds more than blanks, without those in front; empty if there is none.
std::string_view first_filled_line(std::string_view sample) {
  while (!sample.empty()) {
    const std::string_view line = take_line(sample);
    const size_t start = line.find_first_not_of(' ');
    if (start != std::string_view::npos) return line.substr(start);
  }
  return {};
}

}  // namespace

std::string_view format_name(Format format) {
  for (const auto& entry : kFormatNames) {
    if (entry.format == format) return entry.name;
  }
  throw InternalError("a format without a name");
}

Format format_from_name(std::string_view name) {
  std::string known;
  for (const auto& entry : kFormatNames) {
    if (entry.name == name) return entry.format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw InputError("there is no format {}: use one of {}", shown(name), known);
}

std::optional<std::vector<uint64_t>> header_of(std::string_view sample, size_t count) {
  const std::string_view line = take_line(sample);
  std::vector<uint64_t> numbers;
  const char* p = line.data();
  const char* const end = p + line.size();
  while (true) {
    while (p < end && (*p == ' ' || *p == '\t')) ++p;
    if (p == end) break;
    uint64_t number = 0;
    if (!parse_integer(p, end, number) || (p < end && *p != ' ' && *p != '\t')) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers.size() == count ? std::optional(numbers) : std::nullopt;
}

bool looks_sparse(std::string_view sample) { return is_sparse_line(first_filled_line(sample)); }

bool looks_like_matrix(std::string_view sample) {
  const std::string_view line = first_filled_line(sample);
  const char* p = line.data();
  const char* const end = p + line.size();
  while (p < end) {
    uint64_t id = 0;
    float value = 0;
    if (!parse_integer(p, end, id) || p == end || *p++ != ':') return false;
    if (!parse_real(p, end, value) || (p < end && *p != ' ')) return false;
    while (p < end && *p == ' ') ++p;
  }
  return !line.empty();
}

std::optional<Format> find_format(std::string_view sample) {
  if (sample.starts_with("PK\x03\x04") || sample.starts_with("PK\x05\x06")) return Format::kNpz;
  if (sample.starts_with("{")) return Format::kJsonLines;
  std::string_view left = sample;
  const std::string_view first = take_line(left);
  // Anywhere in the sample: the first points may have no labels.
  if (sample.starts_with("__label__") || sample.find("\n__label__") != std::string_view::npos) {
    return Format::kFastText;
  }
  if (first.find('\t') != std::string_view::npos) return Format::kTsv;
  if (header_of(sample, 3)) return Format::kSparse;
  if (header_of(sample, 2)) return Format::kMatrix;
  if (looks_sparse(sample)) return Format::kSparse;
  return std::nullopt;
}

void fail_format(std::string_view sample, const std::string& name, std::string_view option) {
  throw InputError(
      "{}: the first line, {}, shows none of the known formats: mend it, or name the format with "
      "{}",
      name, shown(take_line(sample)), option);
}

LabelForm recognise_label_form(std::string_view sample, Format format) {
  switch (format) {
    case Format::kTsv:
      return form_of_tsv(sample);
    case Format::kFastText:
      return form_of_fasttext(sample);
    case Format::kJsonLines:
      return json_label_form(sample);
    default:
      return LabelForm::kIds;
  }
}

}  // namespace elias
