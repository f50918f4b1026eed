#include "data/formats/text_points.h"

#include <algorithm>

#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/formats/line_point_reader.h"
#include "data/formats/recognise.h"

namespace elias {
namespace {

LabelForm choose_label_form(Format format, std::string_view sample, const ReadOptions& options,
                            LabelSpace& labels, const std::string& name) {
  const bool ids_only = format == Format::kSparse || format == Format::kMatrix;
  if (ids_only && !labels.closed() && labels.form() == LabelForm::kNames) {
    throw InputError(
        "{}: holds label ids where the files before it hold names: say which id is "
        "which name with --labels",
        name);
  }
  LabelForm form = ids_only ? LabelForm::kIds : options.label_form;
  if (form == LabelForm::kUnknown && !labels.closed()) form = labels.form();
  if (form == LabelForm::kUnknown && format == Format::kFastText && !labels.closed()) {
    form = LabelForm::kNames;  // fastText itself knows names only
  }
  if (form == LabelForm::kUnknown) form = recognise_label_form(sample, format);
  if (form == LabelForm::kUnknown) form = LabelForm::kNames;
  if (!labels.closed()) labels.set_form(form);
  return form;
}

void apply_header(const std::vector<uint64_t>& header, Format format, bool matrix_as_labels,
                  SourceInfo& info) {
  info.promised_rows = header[0];
  if (format == Format::kSparse) {
    info.promised_features = header[1];
    info.promised_labels = header[2];
  } else if (matrix_as_labels) {
    info.promised_labels = header[1];
  } else {
    info.promised_features = header[1];
  }
}

ParseRules rules_for(const SourceInfo& info, const ReadOptions& options, LabelSpace& labels) {
  ParseRules rules;
  rules.name = info.name;
  rules.values = options.values;
  rules.text_optional = options.values == ReadOptions::Values::kScore;
  if (labels.closed()) {
    rules.label_limit = labels.size();
    rules.label_limit_source = labels.path();
  }
  if (info.promised_labels) {
    if (labels.closed() && *info.promised_labels != labels.size()) {
      throw InputError(
          "{}: the header promises {} labels, {} names {}: these do not belong together", info.name,
          *info.promised_labels, labels.path(), labels.size());
    }
    if (*info.promised_labels > kLabelIdLimit) {
      throw InputError("{}: the header promises {} labels, more than the {} that are supported",
                       info.name, *info.promised_labels, kLabelIdLimit);
    }
    rules.label_limit = *info.promised_labels;
    rules.label_limit_source = "the header";
    labels.cover_ids(*info.promised_labels);
  }
  if (info.promised_features) {
    rules.feature_limit = std::min(*info.promised_features, kFeatureIdLimit);
    rules.feature_limit_from_header = true;
  }
  return rules;
}

std::unique_ptr<BlockParser> parser_for(Format format, ParseRules rules, bool matrix_as_labels) {
  switch (format) {
    case Format::kTsv:
      return make_tsv_parser(std::move(rules));
    case Format::kFastText:
      return make_fasttext_parser(std::move(rules));
    case Format::kJsonLines:
      return make_json_lines_parser(std::move(rules));
    case Format::kSparse:
      return make_sparse_parser(std::move(rules));
    case Format::kLines:
      return make_lines_parser(std::move(rules));
    default:
      return make_matrix_parser(std::move(rules), matrix_as_labels);
  }
}

}  // namespace

std::unique_ptr<PointReader> open_text(std::unique_ptr<LineReader> lines, Format format,
                                       MatrixRole role, const ReadOptions& options,
                                       LabelSpace& labels, ThreadPool& pool) {
  const std::string_view sample = lines->peek().bytes;
  const bool as_labels = role == MatrixRole::kLabels;
  SourceInfo info;
  info.name = lines->name();
  info.format = format;
  info.has_features = format == Format::kSparse || (format == Format::kMatrix && !as_labels);
  info.has_text = format != Format::kSparse && format != Format::kMatrix;
  std::optional<std::vector<uint64_t>> header;
  if (format == Format::kSparse) header = header_of(sample, 3);
  if (format == Format::kMatrix) header = header_of(sample, 2);
  if (header) apply_header(*header, format, as_labels, info);
  const bool no_labels = format == Format::kLines || (format == Format::kMatrix && !as_labels);
  const LabelForm form =
      no_labels ? LabelForm::kIds : choose_label_form(format, sample, options, labels, info.name);
  ParseRules rules = rules_for(info, options, labels);
  rules.form = form;
  auto parser = parser_for(format, std::move(rules), as_labels);
  return std::make_unique<LinePointReader>(std::move(info), std::move(lines), std::move(parser),
                                           form, header.has_value(), labels, pool);
}

std::unique_ptr<LineReader> open_non_empty(std::unique_ptr<ByteSource> source) {
  auto lines = std::make_unique<LineReader>(std::move(source));
  if (lines->peek().bytes.empty()) {
    throw InputError("{}: is empty: give a file with at least one line", lines->name());
  }
  return lines;
}

}  // namespace elias
