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

// The label form is told from this many lines; later ones must follow.
constexpr int kSampleLines = 1000;

bool is_integer(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Splits at `separator` and calls visit(part) until it returns false.
template <typename Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
  while (true) {
    const size_t end = text.find(separator);
    if (!visit(text.substr(0, end)) || end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

LabelForm form_of_tsv(std::string_view sample) {
  LabelForm form = LabelForm::kUnknown;
  for (int i = 0; i < kSampleLines && !sample.empty() && form != LabelForm::kNames; ++i) {
    const std::string_view line = take_line(sample);
    const std::string_view field = line.substr(0, line.find('\t'));
    if (field.empty()) continue;
    for_each_part(field, ',', [&](std::string_view label) {
      form = is_integer(label.substr(0, label.rfind("::"))) ? LabelForm::kIds : LabelForm::kNames;
      return form == LabelForm::kIds;
    });
  }
  return form;
}

LabelForm form_of_fasttext(std::string_view sample) {
  constexpr std::string_view kPrefix = "__label__";
  LabelForm form = LabelForm::kUnknown;
  for (int i = 0; i < kSampleLines && !sample.empty() && form != LabelForm::kNames; ++i) {
    for_each_part(take_line(sample), ' ', [&](std::string_view word) {
      if (!word.starts_with(kPrefix)) return true;
      form = is_integer(word.substr(kPrefix.size())) ? LabelForm::kIds : LabelForm::kNames;
      return form == LabelForm::kIds;
    });
  }
  return form;
}

// "id:" or "id,id" or "id" followed by a blank and "id:".
bool is_sparse_line(std::string_view line) {
  const char* p = line.data();
  const char* const end = p + line.size();
  const auto skip_blanks = [&] {
    while (p < end && *p == ' ') ++p;
  };
  uint64_t id = 0;
  skip_blanks();
  while (parse_integer(p, end, id) && p < end && *p == ',') ++p;
  if (p < end && *p == ':') return true;
  if (p == end || *p != ' ') return false;
  skip_blanks();
  return parse_integer(p, end, id) && p < end && *p == ':';
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

bool looks_sparse(std::string_view sample) {
  for (int i = 0; i < kSampleLines && !sample.empty(); ++i) {
    const std::string_view line = take_line(sample);
    if (line.find_first_not_of(' ') != std::string_view::npos) return is_sparse_line(line);
  }
  return false;
}

Format recognise_format(std::string_view sample, const std::string& name) {
  if (sample.starts_with("PK\x03\x04") || sample.starts_with("PK\x05\x06")) return Format::kNpz;
  if (sample.starts_with("{")) return Format::kJsonLines;
  if (header_of(sample, 3)) return Format::kSparse;
  if (header_of(sample, 2)) return Format::kMatrix;
  std::string_view left = sample;
  const std::string_view first = take_line(left);
  if (first.starts_with("__label__")) return Format::kFastText;
  if (first.find('\t') != std::string_view::npos) return Format::kTsv;
  if (looks_sparse(sample)) return Format::kSparse;
  throw InputError(
      "{}: the first line, {}, shows none of the known formats: mend it, or name the format with "
      "--format",
      name, shown(first));
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
