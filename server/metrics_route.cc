// GET /metrics: what the server counts of itself, as Prometheus reads it.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "server/routes.h"

namespace elias::server {
namespace {

/// A label's value, which may hold anything.
std::string label_value(std::string_view text) {
  std::string value = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') value += '\\';
    if (c == '\n') {
      value += "\\n";
    } else {
      value += c;
    }
  }
  return value + '"';
}

class Exposition {
 public:
  void head(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void sample(std::string_view name, const std::string& labels, double value) {
    text_ += labels.empty() ? fmt::format("{} {}\n", name, value)
                            : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  void histogram(const std::string& name, const std::string& labels,
                 const Histogram::Counts& counts) {
    uint64_t sum = 0;
    for (size_t b = 0; b < counts.buckets.size(); ++b) {
      sum += counts.buckets[b];
      const std::string bound =
          b < Histogram::kBounds.size() ? fmt::format("{}", Histogram::kBounds[b]) : "+Inf";
      sample(name + "_bucket", fmt::format("{},le=\"{}\"", labels, bound),
             static_cast<double>(sum));
    }
    sample(name + "_sum", labels, counts.sum);
    sample(name + "_count", labels, static_cast<double>(sum));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct ModelCounts {
  std::string label;  // model="m"
  ServiceCounts counts;
  double loaded_at;
};

std::vector<ModelCounts> counts_of(const ModelShelf& shelf) {
  std::vector<ModelCounts> all;
  for (const std::string& name : shelf.names()) {
    const auto service = shelf.find(name);
    const auto loaded = service->served().loaded_at().time_since_epoch();
    all.push_back({"model=" + label_value(name), service->counts(),
                   std::chrono::duration<double>(loaded).count()});
  }
  return all;
}

void add_services(const std::vector<ModelCounts>& models, Exposition& metrics) {
  const auto each = [&](const char* name, const char* type, const char* help, const auto& value) {
    metrics.head(name, type, help);
    for (const ModelCounts& model : models) {
      metrics.sample(name, model.label, static_cast<double>(value(model.counts)));
    }
  };
  each("elias_requests_total", "counter", "Requests to the model.",
       [](const ServiceCounts& counts) { return counts.requests; });
  each("elias_texts_total", "counter", "Texts of these requests.",
       [](const ServiceCounts& counts) { return counts.texts; });
  metrics.head("elias_refused_total", "counter", "Requests without an answer, by reason.");
  for (const auto& [label, counts, _] : models) {
    for (const auto& [reason, count] : {std::pair{"full", counts.full},
                                        {"overdue", counts.overdue},
                                        {"cancelled", counts.cancelled},
                                        {"failed", counts.failed}}) {
      metrics.sample("elias_refused_total", fmt::format("{},reason=\"{}\"", label, reason),
                     static_cast<double>(count));
    }
  }
  each("elias_batches_total", "counter", "Batches that replicas worked on.",
       [](const ServiceCounts& counts) { return counts.batches; });
  each("elias_batch_texts_total", "counter", "Texts of these batches.",
       [](const ServiceCounts& counts) { return counts.predicted_texts; });
  each("elias_waiting_texts", "gauge", "Texts that wait for a replica.",
       [](const ServiceCounts& counts) { return counts.waiting_texts; });
  metrics.head("elias_waiting_seconds", "histogram", "From a request to a replica.");
  for (const auto& [label, counts, _] : models) {
    metrics.histogram("elias_waiting_seconds", label, counts.waiting);
  }
  metrics.head("elias_answering_seconds", "histogram", "From a request to its answer.");
  for (const auto& [label, counts, _] : models) {
    metrics.histogram("elias_answering_seconds", label, counts.answering);
  }
}

void add_server(const Api& api, const std::vector<ModelCounts>& models, Exposition& metrics) {
  metrics.head("elias_model_loaded_timestamp_seconds", "gauge", "When the model was loaded.");
  for (const ModelCounts& model : models) {
    metrics.sample("elias_model_loaded_timestamp_seconds", model.label, model.loaded_at);
  }
  metrics.head("elias_reloads_total", "counter", "Models that were to be loaded again.");
  const auto [done, refused] = api.reloads();
  metrics.sample("elias_reloads_total", R"(outcome="done")", static_cast<double>(done));
  metrics.sample("elias_reloads_total", R"(outcome="refused")", static_cast<double>(refused));
  metrics.head("elias_http_responses_total", "counter", "Answers by status.");
  for (const auto& [status, count] : api.statuses()->counts()) {
    metrics.sample("elias_http_responses_total", fmt::format("code=\"{}\"", status),
                   static_cast<double>(count));
  }
  metrics.head("elias_build_info", "gauge", "Always 1; the version is its label.");
  metrics.sample("elias_build_info", "version=\"" ELIAS_VERSION "\"", 1);
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void add_metrics_route(Router& router, Api& api) {
  router.add("GET", "/metrics", {}, [&api](Call& call) {
    Exposition metrics;
    const auto models = counts_of(api.shelf());
    add_services(models, metrics);
    add_server(api, models, metrics);
    metrics.head("process_resident_memory_bytes", "gauge",
                 "Memory of the process, models as far as "
                 "they were touched.");
    metrics.sample("process_resident_memory_bytes", "", resident_bytes());
    call.response.status = 200;
    call.response.set_content(metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

}  // namespace elias::server
