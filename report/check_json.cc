#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/check_report.h"

namespace elias {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Finding& finding) {
  Json json = {{"count", finding.count}};
  if (finding.count > 0) json["first_line"] = finding.first;
  return json;
}

Json to_json(const FileReport& file) {
  Json json = {{"name", file.info.name},
               {"format", format_name(file.info.format)},
               {"points", file.points},
               {"pairs", file.positives},
               {"graded", file.graded},
               {"labels_used", file.labels_used},
               {"labels_per_point", ratio(file.positives, file.points)},
               {"most_labels_of_a_point", file.most_labels},
               {"points_per_label", ratio(file.positives, file.labels_used)},
               {"without_labels", to_json(file.without_labels)},
               {"repeated_labels", file.repeated_labels},
               {"labels_never_in_training", file.unseen_labels},
               {"pairs_never_in_training", file.unseen_positives},
               {"duplicates_within", file.duplicates_within},
               {"duplicates_of_earlier_files", file.duplicates_of_earlier_files}};
  if (file.info.has_text) {
    json["text_bytes"] = file.text_bytes;
    json["words_per_point"] = ratio(file.words, file.points);
    json["longest_text_bytes"] = file.longest_text;
    json["without_text"] = to_json(file.without_text);
    for (size_t i = 0; i < kSuspicions; ++i) {
      json["suspicious"][std::string(suspicion_name(static_cast<Suspicion>(i)))] =
          to_json(file.suspicions[i]);
    }
  }
  if (file.info.has_features) {
    json["features"] = file.features;
    json["features_per_point"] = ratio(file.feature_values, file.points);
    json["without_features"] = to_json(file.without_features);
    json["repeated_features"] = file.repeated_features;
  }
  return json;
}

}  // namespace

void print_check_json(const CheckReport& report) {
  Json json = {{"labels", report.labels},
               {"labels_without_training_points", report.labels_without_training},
               {"repeated_label_names", report.repeated_names},
               {"empty_label_names", report.empty_names},
               {"padded_label_names", report.padded_names},
               {"files", Json::array()},
               {"label_frequency_deciles", Json::array()}};
  for (const FileReport& file : report.files) json["files"].push_back(to_json(file));
  for (size_t i = 1; i < LabelDeciles::kGroups; ++i) {
    const auto& group = report.deciles.groups[i];
    json["label_frequency_deciles"].push_back({{"decile", i},
                                               {"labels", group.labels},
                                               {"fewest_points", group.fewest},
                                               {"most_points", group.most},
                                               {"pairs", group.positives},
                                               {"share_of_pairs", group.share}});
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace elias
