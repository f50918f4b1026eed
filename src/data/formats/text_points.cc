#include "data/formats/text_points.h"

#include "base/errors.h"
#include "data/formats/block_parser.h"
#include "data/formats/line_point_reader.h"
#include "data/formats/recognise.h"

namespace elias {
namespace {

// What the labels of a file are, where that does not depend on what it holds; else kUnknown, and
// its first label will tell.
LabelForm known_label_form(Format format, const ReadOptions& options, LabelSpace& labels,
                           const std::string& name) {
  const bool ids_only = format == Format::kSparse || format == Format::kMatrix;
  if (ids_only) labels.require_ids(name);
  LabelForm form = ids_only ? LabelForm::kIds : options.label_form;
  if (form == LabelForm::kUnknown && !labels.closed()) form = labels.form();
  if (form == LabelForm::kUnknown && format == Format::kFastText && !labels.closed()) {
    form = LabelForm::kNames;  // fastText itself knows names only
  }
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
  rules.labels = options.labels;
  rules.label_form_owner = labels.form_owner();
  // Lines without labels are a format of their own where no labels are needed.
  if (!options.format && options.labels != ReadOptions::Labels::kNeeded) {
    rules.lines_argument = options.lines_argument;
  }
  if (labels.closed()) {
    rules.label_limit = labels.size();
    rules.label_limit_source = labels.path();
  }
  if (info.promised_labels) {
    labels.require_size(*info.promised_labels, info.name);
    rules.label_limit = *info.promised_labels;
    rules.label_limit_source = "the header";
  }
  if (info.promised_features) {
    if (*info.promised_features > kFeatureIdLimit) {
      throw InputError("{}: the header promises {} features, more than the {} that are supported",
                       info.name, *info.promised_features, kFeatureIdLimit);
    }
    rules.feature_limit = *info.promised_features;
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
      no_labels ? LabelForm::kIds : known_label_form(format, options, labels, info.name);
  auto parser = parser_for(format, rules_for(info, options, labels), as_labels);
  return std::make_unique<LinePointReader>(std::move(info), std::move(lines), std::move(parser),
                                           form, header.has_value(), options.as_it_comes, labels,
                                           pool);
}

std::unique_ptr<LineReader> open_non_empty(std::unique_ptr<ByteSource> source,
                                           const ReadOptions& options) {
  auto lines =
      std::make_unique<LineReader>(std::move(source), options.block_bytes, options.as_it_comes);
  if (lines->peek().bytes.empty() && options.labels == ReadOptions::Labels::kNeeded) {
    throw InputError("{}: is empty: give a file with at least one line", lines->name());
  }
  return lines;
}

}  // namespace elias
