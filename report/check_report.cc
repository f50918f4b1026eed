#include "report/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable.h"

namespace elias {
namespace {

std::string count_and_share(uint64_t part, uint64_t whole) {
  if (part == 0) return "0";
  return fmt::format("{} ({:.2f} %)", grouped(part), 100 * ratio(part, whole));
}

// Adds a row with one cell a file.
template <typename Cell>
void add_row(Table& table, std::string title, const CheckReport& report, Cell cell) {
  std::vector<std::string> row = {std::move(title)};
  for (const FileReport& file : report.files) row.push_back(cell(file));
  table.add(std::move(row));
}

template <typename Test>
bool any_file(const CheckReport& report, Test test) {
  return std::any_of(report.files.begin(), report.files.end(), test);
}

void add_label_rows(Table& table, const CheckReport& report) {
  add_row(table, "labels used", report,
          [&](const FileReport& file) { return count_and_share(file.labels_used, report.labels); });
  add_row(table, "labels a point", report, [](const FileReport& file) {
    return fmt::format("{:.2f}", ratio(file.positives, file.points));
  });
  add_row(table, "most labels of a point", report,
          [](const FileReport& file) { return grouped(file.most_labels); });
  add_row(table, "points a label", report, [](const FileReport& file) {
    return fmt::format("{:.2f}", ratio(file.positives, file.labels_used));
  });
  add_row(table, "points without labels", report, [](const FileReport& file) {
    return count_and_share(file.without_labels.count, file.points);
  });
  if (report.files.size() < 2) return;
  add_row(table, "labels never in training", report, [](const FileReport& file) {
    return count_and_share(file.unseen_labels, file.labels_used);
  });
  add_row(table, "their share of the pairs", report, [](const FileReport& file) {
    return count_and_share(file.unseen_positives, file.positives);
  });
}

void add_content_rows(Table& table, const CheckReport& report) {
  if (any_file(report, [](const FileReport& file) { return file.info.has_text; })) {
    add_row(table, "text", report,
            [](const FileReport& file) { return grouped(file.text_bytes) + " B"; });
    add_row(table, "words a point", report, [](const FileReport& file) {
      return fmt::format("{:.1f}", ratio(file.words, file.points));
    });
    add_row(table, "longest text", report,
            [](const FileReport& file) { return grouped(file.longest_text) + " B"; });
    add_row(table, "points without text", report, [](const FileReport& file) {
      return count_and_share(file.without_text.count, file.points);
    });
  }
  if (any_file(report, [](const FileReport& file) { return file.info.has_features; })) {
    add_row(table, "features", report,
            [](const FileReport& file) { return grouped(file.features); });
    add_row(table, "features a point", report, [](const FileReport& file) {
      return fmt::format("{:.2f}", ratio(file.feature_values, file.points));
    });
    add_row(table, "points without features", report, [](const FileReport& file) {
      return count_and_share(file.without_features.count, file.points);
    });
  }
  add_row(table, "duplicates within the file", report, [](const FileReport& file) {
    return count_and_share(file.duplicates_within, file.points);
  });
  if (report.files.size() < 2) return;
  add_row(table, "duplicates of earlier files", report, [](const FileReport& file) {
    return count_and_share(file.duplicates_of_earlier_files, file.points);
  });
}

// Paths make wide columns; the file's own name will do.
std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void print_deciles(const CheckReport& report) {
  fmt::print("\nLabel frequency in {}, a tenth of the labels seen a row, most frequent first\n",
             report.files.front().info.name);
  Table table;
  table.add({"decile", "labels", "points a label", "share of the pairs"});
  for (size_t i = 1; i < LabelDeciles::kGroups; ++i) {
    const auto& group = report.deciles.groups[i];
    if (group.labels == 0) continue;
    table.add({group_name(i), grouped(group.labels),
               group.fewest == group.most
                   ? grouped(group.most)
                   : fmt::format("{} to {}", grouped(group.fewest), grouped(group.most)),
               fmt::format("{:.1f} %", 100 * group.share)});
  }
  if (report.labels_without_training > 0) {
    table.add({"none", grouped(report.labels_without_training), "0", "0.0 %"});
  }
  fmt::print("{}", table.text("  "));
}

void add_file_findings(const FileReport& file, std::vector<std::string>& findings) {
  const auto add = [&](const Finding& finding, const std::string& what) {
    if (finding.count == 0) return;
    findings.push_back(fmt::format("{}: {} {}, the first at line {}", file.info.name,
                                   counted(finding.count, "point"), what, finding.first));
  };
  add(file.without_labels, "without labels");
  add(file.without_text, "without text");
  add(file.without_features, "without features");
  for (size_t i = 0; i < kSuspicions; ++i) {
    add(file.suspicions[i], fmt::format("with {}", suspicion_name(static_cast<Suspicion>(i))));
  }
  if (file.duplicates_within > 0) {
    findings.push_back(fmt::format("{}: {} repeated within the file, for example lines {} and {}",
                                   file.info.name, counted(file.duplicates_within, "point"),
                                   file.duplicate_example[0], file.duplicate_example[1]));
  }
  if (file.duplicates_of_earlier_files > 0) {
    findings.push_back(
        fmt::format("{}: {} with the text or features of an earlier file: results on them say "
                    "nothing about new points",
                    file.info.name, counted(file.duplicates_of_earlier_files, "point")));
  }
  if (file.repeated_labels > 0) {
    findings.push_back(fmt::format("{}: {} given twice for the same point and merged",
                                   file.info.name, counted(file.repeated_labels, "label")));
  }
  if (file.repeated_features > 0) {
    findings.push_back(fmt::format("{}: {} given twice for the same point and added up",
                                   file.info.name, counted(file.repeated_features, "feature")));
  }
}

std::vector<std::string> findings_of(const CheckReport& report) {
  std::vector<std::string> findings;
  for (const FileReport& file : report.files) add_file_findings(file, findings);
  if (report.repeated_names > 0) {
    findings.push_back(
        fmt::format("{} in the label file repeated: by name, only the first of each "
                    "can be meant",
                    counted(report.repeated_names, "name")));
  }
  if (report.padded_names > 0) {
    findings.push_back(fmt::format("{} with a blank at either end, for example '{}'",
                                   counted(report.padded_names, "label name"),
                                   report.padded_example));
  }
  if (report.empty_names > 0) {
    findings.push_back(
        fmt::format("{} in the label file without a name", counted(report.empty_names, "label")));
  }
  return findings;
}

}  // namespace

void print_check_report(const CheckReport& report) {
  Table table;
  add_row(table, "", report, [](const FileReport& file) { return file_name(file.info.name); });
  add_row(table, "format", report, [](const FileReport& file) {
    return fmt::format("{}{}", format_name(file.info.format), file.graded ? ", graded" : "");
  });
  add_row(table, "points", report, [](const FileReport& file) { return grouped(file.points); });
  add_label_rows(table, report);
  add_content_rows(table, report);
  fmt::print("{}; training set: {}\n\n{}", counted(report.labels, "label"),
             report.files.front().info.name, table.text("  "));
  print_deciles(report);
  const auto findings = findings_of(report);
  fmt::print("\n{}\n", findings.empty() ? "Nothing odd was found." : "Worth a look:");
  for (const auto& finding : findings) fmt::print("  - {}\n", finding);
}

}  // namespace elias
