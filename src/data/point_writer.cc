#include "data/point_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "base/errors.h"
#include "base/readable.h"
#include "data/io/byte_sink.h"
#include "data/io/npz.h"

namespace elias {
namespace {

// A text as it can stand on one line: line ends become blanks.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

[[noreturn]] void fail_graded(const std::string& path) {
  throw InputError(
      "{}: graded labels cannot be written in this format: use --to tsv, jsonl, matrix or "
      "npz",
      path);
}

// Formats that hold texts: one line a point, written as it comes.
class TextWriter : public PointWriter {
 public:
  TextWriter(const std::string& path, const LabelSpace& labels)
      : path_(path), labels_(labels), sink_(create_bytes(path)) {}

  void write(const PointBatch& batch) override {
    std::string lines;
    for (size_t row = 0; row < batch.rows(); ++row) {
      const CsrRow labels = batch.labels.row(row);
      add_line(labels, batch.texts.row(row), lines);
      lines += '\n';
    }
    sink_->write(lines);
  }
  void commit() override { sink_->commit(); }

 protected:
  virtual void add_line(const CsrRow& labels, std::string_view text, std::string& out) = 0;

  /// The label's name, which must not hold any of `forbidden`.
  std::string name_of(uint32_t label, std::string_view forbidden) const {
    std::string name = labels_.name(LabelId(label));
    if (name.empty() || name.find_first_of(forbidden) != std::string::npos) {
      throw InputError("{}: the label name {} cannot be written in this format: use --to jsonl",
                       path_, shown(name));
    }
    if (labels_.has_names() && labels_.names().find(name) != label) {
      throw InputError(
          "{}: the name {} stands for more than one label of {}: leave out --labels to write ids",
          path_, shown(name), labels_.path());
    }
    return name;
  }
  bool named() const { return labels_.has_names(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const LabelSpace& labels_;
  std::unique_ptr<ByteSink> sink_;
};

class TsvWriter : public TextWriter {
 public:
  using TextWriter::TextWriter;

  void add_line(const CsrRow& labels, std::string_view text, std::string& out) override {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i > 0) out += ',';
      const std::string name = name_of(labels.columns[i], ",\t\r\n");
      out += name;
      // A name that holds "::" needs a grade behind it, or its end would be taken for one.
      if (labels.values[i] != 1.0f || name.find("::") != std::string::npos) {
        out += fmt::format("::{}", labels.values[i]);
      }
    }
    out += '\t';
    out += one_line(text);
  }
};

// fastText ends a label at a blank and takes any word with its prefix for a label.
class FastTextWriter : public TextWriter {
 public:
  using TextWriter::TextWriter;

  void add_line(const CsrRow& labels, std::string_view text, std::string& out) override {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels.values[i] != 1.0f) fail_graded(path());
      out += fmt::format("__label__{} ", word_of(labels.columns[i]));
    }
    if (text.starts_with("__label__") || text.find(" __label__") != std::string_view::npos) {
      throw InputError(
          "{}: a text holds a word that starts with __label__, which fastText would take for a "
          "label: use --to tsv or jsonl",
          path());
    }
    std::string words = one_line(text);
    std::replace(words.begin(), words.end(), '\t', ' ');  // all blanks are the same to fastText
    out += words;
  }

 private:
  // The name with blanks as underscores, as long as no other label then looks the same.
  std::string word_of(uint32_t label) {
    std::string word = name_of(label, "\t\r\n");
    std::replace(word.begin(), word.end(), ' ', '_');
    const auto [known, added] = words_.emplace(word, label);
    if (!added && known->second != label) {
      throw InputError(
          "{}: the labels {} and {} look the same without blanks: use --to tsv or jsonl", path(),
          shown(name_of(known->second, "")), shown(name_of(label, "")));
    }
    return word;
  }

  std::unordered_map<std::string, uint32_t> words_;
};

class JsonLinesWriter : public TextWriter {
 public:
  using TextWriter::TextWriter;

  void add_line(const CsrRow& labels, std::string_view text, std::string& out) override {
    bool graded = false;
    for (float value : labels.values) graded |= value != 1.0f;
    nlohmann::ordered_json line = {{"text", text}, {"labels", nlohmann::ordered_json::array()}};
    for (uint32_t label : labels.columns) {
      if (named()) {
        line["labels"].push_back(name_of(label, ""));
      } else {
        line["labels"].push_back(label);
      }
    }
    if (graded) {
      for (float value : labels.values) line["scores"].push_back(shortest(value));
    }
    out += line.dump();
  }
};

// Formats that start with counts or are written column by column: all rows are gathered first.
class MatrixWriter : public PointWriter {
 public:
  explicit MatrixWriter(const LabelSpace& labels) : labels_(labels) {}

  void write(const PointBatch& batch) override {
    features_.append(batch.features);
    y_.append(batch.labels);
  }

 protected:
  const Csr& features() const { return features_; }
  /// The label matrix, as wide as the label space has become by now.
  const Csr& y() {
    y_.cols = labels_.size();
    return y_;
  }

  static void add_pairs(const CsrRow& row, std::string& out) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      out += fmt::format("{}:{}", row.columns[i], row.values[i]);
    }
  }

 private:
  const LabelSpace& labels_;
  Csr features_, y_;
};

class SparseWriter : public MatrixWriter {
 public:
  SparseWriter(const std::string& path, const LabelSpace& labels)
      : MatrixWriter(labels), path_(path), sink_(create_bytes(path)) {}

  void commit() override {
    sink_->write(fmt::format("{} {} {}\n", y().rows(), features().cols, y().cols));
    for (size_t row = 0; row < y().rows(); ++row) {
      std::string line;
      const CsrRow labels = y().row(row);
      for (size_t i = 0; i < labels.size(); ++i) {
        if (labels.values[i] != 1.0f) fail_graded(path_);
        line += fmt::format("{}{}", i > 0 ? "," : "", labels.columns[i]);
      }
      if (line.empty()) line = " ";  // a row without labels starts with a blank
      add_pairs(features().row(row), line);
      sink_->write(line + "\n");
    }
    sink_->commit();
  }

 private:
  std::string path_;
  std::unique_ptr<ByteSink> sink_;
};

// X and Y in two files, put in place together. Texts, where there are any, make X one text a line.
class PairWriter : public MatrixWriter {
 public:
  PairWriter(const std::string& x_path, const std::string& y_path, Format format, bool with_text,
             const LabelSpace& labels)
      : MatrixWriter(labels),
        x_sink_(create_bytes(x_path)),
        y_sink_(create_bytes(y_path)),
        format_(format),
        with_text_(with_text) {}

  void write(const PointBatch& batch) override {
    MatrixWriter::write(batch);
    if (!with_text_) return;
    std::string lines;
    for (size_t row = 0; row < batch.rows(); ++row) lines += one_line(batch.texts.row(row)) + "\n";
    x_sink_->write(lines);
  }

  void commit() override {
    if (!with_text_) write_matrix(*x_sink_, features());
    write_matrix(*y_sink_, y());
    x_sink_->commit();
    y_sink_->commit();
  }

 private:
  void write_matrix(ByteSink& sink, const Csr& matrix) const {
    if (format_ == Format::kNpz) return write_npz(sink, matrix);
    sink.write(fmt::format("{} {}\n", matrix.rows(), matrix.cols));
    for (size_t row = 0; row < matrix.rows(); ++row) {
      std::string line;
      add_pairs(matrix.row(row), line);
      sink.write(line + "\n");
    }
  }

  std::unique_ptr<ByteSink> x_sink_, y_sink_;
  Format format_;
  bool with_text_;
};

}  // namespace

std::unique_ptr<PointWriter> create_points(const std::string& path, Format format,
                                           const SourceInfo& source, const LabelSpace& labels) {
  const bool pair = format == Format::kMatrix || format == Format::kNpz;
  if (!pair && format != Format::kSparse && !source.has_text) {
    throw InputError(
        "{}: has features and no text, which {} cannot hold: use --to sparse, matrix or "
        "npz",
        source.name, format_name(format));
  }
  if (format == Format::kSparse && !source.has_features) {
    throw InputError(
        "{}: has text and no features, which sparse cannot hold: make features with "
        "elias tfidf first",
        source.name);
  }
  const size_t comma = path.find(',');
  if (pair && comma == std::string::npos) {
    throw InputError("{}: {} writes two files: name them as X,Y", path, format_name(format));
  }
  switch (format) {
    case Format::kTsv:
      return std::make_unique<TsvWriter>(path, labels);
    case Format::kFastText:
      return std::make_unique<FastTextWriter>(path, labels);
    case Format::kJsonLines:
      return std::make_unique<JsonLinesWriter>(path, labels);
    case Format::kSparse:
      return std::make_unique<SparseWriter>(path, labels);
    case Format::kMatrix:
    case Format::kNpz:
      if (source.has_text && path.substr(0, comma).ends_with(".npz")) {
        throw InputError(
            "{}: X is one text a line here, not npz: name it .txt, or make features "
            "with elias tfidf",
            path);
      }
      return std::make_unique<PairWriter>(path.substr(0, comma), path.substr(comma + 1), format,
                                          source.has_text, labels);
    case Format::kLines:
      break;
  }
  throw InputError("lines holds no labels: choose another format to write");
}

}  // namespace elias
