#include "cli/prediction_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/errors.h"
#include "data/io/byte_sink.h"
#include "data/io/npz.h"

namespace elias::cli {
namespace {

struct Scored {
  float score;
  uint32_t label;
};

// A row best first; of equal scores the lower label.
void best_first(const CsrRow& row, std::vector<Scored>& order) {
  order.clear();
  for (size_t i = 0; i < row.size(); ++i) order.push_back({row.values[i], row.columns[i]});
  std::stable_sort(order.begin(), order.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
}

// One line a point.
class LineWriter : public PredictionWriter {
 public:
  LineWriter(const std::string& path, const Model& model)
      : model_(model), sink_(create_bytes(path)) {}

  void write(const Csr& scores) override {
    std::string lines;
    for (size_t row = 0; row < scores.rows(); ++row) {
      best_first(scores.row(row), order_);
      add_line(order_, lines);
      lines += '\n';
    }
    sink_->write(lines);
  }
  void flush() override { sink_->flush(); }
  void commit() override { sink_->commit(); }

 protected:
  virtual void add_line(const std::vector<Scored>& labels, std::string& lines) = 0;
  const Model& model() const { return model_; }

 private:
  const Model& model_;
  std::unique_ptr<ByteSink> sink_;
  std::vector<Scored> order_;
};

// name::score,name::score
class TsvLines : public LineWriter {
 public:
  TsvLines(const std::string& path, const Model& model) : LineWriter(path, model) {
    for (uint32_t label = 0; label < model.labels(); ++label) {
      const std::string name = model.label_name(label);
      if (fits_into_tsv(name)) continue;
      throw InputError(
          "the name of label {}, {}, holds a comma or TAB, which tsv cannot: use --format jsonl",
          label, shown(name));
    }
  }

 private:
  void add_line(const std::vector<Scored>& labels, std::string& lines) override {
    const char* separator = "";
    for (const auto [score, label] : labels) {
      lines += fmt::format("{}{}::{}", separator, model().label_name(label), score);
      separator = ",";
    }
  }
};

// {"labels": [...], "scores": [...]}
class JsonLines : public LineWriter {
 public:
  using LineWriter::LineWriter;

 private:
  void add_line(const std::vector<Scored>& labels, std::string& lines) override {
    std::string names, scores;
    const char* separator = "";
    for (const auto [score, label] : labels) {
      const std::string name = model().label_name(label);
      names += separator;
      names += model().has_names() ? nlohmann::json(name).dump() : name;
      scores += fmt::format("{}{}", separator, score);
      separator = ", ";
    }
    lines += fmt::format(R"({{"labels": [{}], "scores": [{}]}})", names, scores);
  }
};

// N x L, columns in the order of the model's labels.
class NpzWriter : public PredictionWriter {
 public:
  NpzWriter(const std::string& path, const Model& model) : path_(path) {
    if (path.ends_with(".gz")) {
      throw InputError("{}: npz is compressed as it is: name the file .npz", path);
    }
    all_.cols = model.labels();
  }

  void write(const Csr& scores) override { all_.append(scores); }
  void flush() override {}
  void commit() override { write_npz(path_, all_); }

 private:
  std::string path_;
  Csr all_;
};

}  // namespace

bool fits_into_tsv(std::string_view name) {
  return name.find_first_of(",\t") == std::string_view::npos;
}

std::unique_ptr<PredictionWriter> create_predictions(const std::string& path,
                                                     const std::string& format,
                                                     const Model& model) {
  if (format == "npz") return std::make_unique<NpzWriter>(path, model);
  if (format == "jsonl") return std::make_unique<JsonLines>(path, model);
  ELIAS_ASSERT(format == "tsv");
  return std::make_unique<TsvLines>(path, model);
}

}  // namespace elias::cli
