// POST /v1/predict as application/x-ndjson: a line a text in, a line an answer out, in order.
//
// The body is worked on as it comes, in bounded memory. Answers wait on disk until the body is
// through: most clients send all they have before they read anything, and if answers were sent in
// between, client and server would end up waiting for each other with full buffers.
#include <deque>
#include <variant>

#include "base/errors.h"
#include "base/readable.h"
#include "server/answers.h"
#include "server/api_error.h"
#include "server/json_text.h"
#include "server/label_choice.h"
#include "server/routes.h"
#include "server/spool.h"

namespace elias::server {
namespace {

constexpr size_t kTextsAtOnce = 256;
constexpr size_t kBytesAtOnce = size_t{1} << 20;
constexpr size_t kBatchesAhead = 4;
// A line holds a text in JSON, where a byte may take six.
constexpr size_t kLongestPerTextByte = 6;
// Bulk work has no deadline of its own; this one is for a service that hangs.
constexpr std::chrono::hours kBatchTime{1};

/// What the answer to a line begins with; and that is all of it where the line is bad.
struct LineAnswer {
  std::string beginning;
  bool bad = false;
};

std::string bad_line(uint64_t line, const std::string& sentence) {
  std::string json = R"({"error": )";
  append_string(sentence, json);
  return json + fmt::format(R"(, "line": {}}})", line);
}

/// {"labels": ["x", ...], "scores": [0.98, ...]}, as `elias predict --format jsonl` has it.
void append_answer(const Model& model, const std::string& beginning, const RankedRow& row,
                   std::string& json) {
  std::string scores;
  json += beginning;
  json += R"("labels": [)";
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) json += ", ", scores += ", ";
    append_string(model.label_name(static_cast<uint32_t>(row[i].label)), json);
    append_number(row[i].score, scores);
  }
  json += R"(], "scores": [)" + scores + "]}";
}

class BulkRun {
 public:
  BulkRun(const ChosenModel& chosen, const LabelChoice& choice, const Limits& limits)
      : chosen_(chosen), choice_(choice), limits_(limits) {}

  void take(std::string_view bytes) {
    for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      add_to_line(bytes.substr(0, end));
      end_line();
      bytes.remove_prefix(end + 1);
    }
    add_to_line(bytes);
  }

  std::shared_ptr<Spool> finish() {
    if (!line_.empty() || line_is_too_long_) end_line();
    send();
    while (!ahead_.empty()) answer_first();
    spool_->rewind();
    return spool_;
  }

 private:
  struct Batch {
    std::vector<LineAnswer> lines;
    PendingAnswer answer;
  };

  void add_to_line(std::string_view bytes) {
    line_is_too_long_ = line_is_too_long_ ||
                        line_.size() + bytes.size() > kLongestPerTextByte * limits_.text + kSpare;
    if (line_is_too_long_) {
      line_.clear();
    } else {
      line_ += bytes;
    }
  }

  void end_line() {
    ++number_;
    try {
      if (line_is_too_long_) {
        throw ApiError(413, "",
                       "the line is longer than any text may be, which is {}: send less of it",
                       bytes_text(limits_.text));
      }
      BulkLine line = read_bulk_line(line_, limits_);
      lines_.push_back({line.id.empty() ? "{" : R"({"id": )" + line.id + ", "});
      texts_.add(line.text);
    } catch (const ApiError& error) {
      lines_.push_back({bad_line(number_, error.what()), true});
    }
    held_ += line_.size();
    line_.clear();
    line_is_too_long_ = false;
    if (lines_.size() >= kTextsAtOnce || held_ >= kBytesAtOnce) send();
  }

  void send() {
    if (lines_.empty()) return;
    if (ahead_.size() >= kBatchesAhead) answer_first();
    ahead_.push_back(
        {std::move(lines_),
         chosen_.service->predict(
             {.texts = std::exchange(texts_, {}), .k = choice_.k(), .allowed = nullptr},
             Job::Clock::now() + kBatchTime, PredictionService::WhenFull::kWait)});
    lines_.clear();
    held_ = 0;
  }

  void answer_first() {
    Batch batch = std::move(ahead_.front());
    ahead_.pop_front();
    auto rows = batch.answer.wait();
    auto row = rows.begin();
    std::string answers;
    for (const LineAnswer& line : batch.lines) {
      if (line.bad) {
        answers += line.beginning;
      } else {
        choice_.cut(*row);
        append_answer(chosen_.model(), line.beginning, *row++, answers);
      }
      answers += '\n';
    }
    spool_->write(answers);
  }

  static constexpr size_t kSpare = 4096;  // of a line, for what is not the text

  const ChosenModel& chosen_;
  const LabelChoice& choice_;
  const Limits& limits_;

  std::string line_;
  bool line_is_too_long_ = false;
  uint64_t number_ = 0;  // of the last line
  std::vector<LineAnswer> lines_;
  TextRows texts_;   // of the lines that are not bad
  size_t held_ = 0;  // bytes of all these lines
  std::deque<Batch> ahead_;
  std::shared_ptr<Spool> spool_ = std::make_shared<Spool>();
};

}  // namespace

void answer_bulk(Call& call, Api& api) {
  const AskedLabels asked = asked_by_query(call);
  const ChosenModel chosen = api.choose(asked.model, "model");
  const LabelChoice choice(asked, chosen);
  BulkRun run(chosen, choice, api.limits());
  call.body.stream([&](std::string_view bytes) { run.take(bytes); });
  const auto spool = run.finish();
  call.response.status = 200;
  call.response.set_chunked_content_provider("application/x-ndjson",
                                             [spool](size_t, httplib::DataSink& sink) {
                                               constexpr size_t kPiece = 65536;
                                               const auto piece = spool->read(kPiece);
                                               if (!piece) return false;  // cut off, not ended
                                               if (piece->empty()) {
                                                 sink.done();
                                               } else {
                                                 sink.write(piece->data(), piece->size());
                                               }
                                               return true;
                                             });
}

}  // namespace elias::server
