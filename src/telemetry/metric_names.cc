#include "telemetry/metric_names.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/text.h"

namespace rightsize::telemetry {
namespace {

struct NameTable {
  std::vector<MetricName> rows[kVocabularies];
  std::unordered_map<std::string, MetricSpec> by_name[kVocabularies];
};

// Case matters only in the names of exporters and stores.
bool is_exact(Vocabulary vocabulary) { return vocabulary == Vocabulary::kExporter || vocabulary == Vocabulary::kStore; }

std::optional<Metric> metric_called(std::string_view name) {
  if (name == "memory_free") return kMemoryFree;
  if (name == "memory_reserved") return kMemoryReserved;
  return metric_named(name);
}

double scale_of(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"percent", 0.01}, {"kB", 1e3},  {"MB", 1e6},  {"MiB", 1024.0 * 1024.0},
      {"MHz", 1e6},      {"mW", 1e-3}, {"uW", 1e-6}, {"mJ", 1e-3}};
  for (const auto& [name, scale] : kUnits) {
    if (name == unit) return scale;
  }
  return 1;
}

// data/metric_names.csv, which a test reads row by row.
const NameTable& table() {
  static const NameTable kTable = [] {
    static constexpr std::string_view kSources[kVocabularies] = {"recording", "nvidia-smi", "dmon", "dcgmi",
                                                                 "xml",       "exporter",   "store"};
    NameTable all;
    const Csv csv = *Csv::parse("data/metric_names.csv", std::string(embedded_file("metric_names.csv")));
    for (const CsvRow& row : csv.rows()) {
      const auto source = std::ranges::find(kSources, csv.cell(row, "source")) - std::begin(kSources);
      const std::optional<Metric> metric = metric_called(csv.cell(row, "metric"));
      if (source == static_cast<std::ptrdiff_t>(kVocabularies) || !metric) continue;
      const std::string_view unit = csv.cell(row, "unit"), only = csv.cell(row, "only");
      const std::size_t equals = std::min(only.find('='), only.size());
      MetricSpec spec{*metric, scale_of(unit), unit == "share-or-percent", csv.cell(row, "kind") == "counter"};
      spec.label = only.substr(0, equals);
      spec.label_value = only.substr(std::min(equals + 1, only.size()));
      const std::string name(csv.cell(row, "name"));
      all.rows[source].push_back({name, spec});
      all.by_name[source].emplace(is_exact(static_cast<Vocabulary>(source)) ? name : to_lower(name), spec);
    }
    return all;
  }();
  return kTable;
}

// Without the prefixes of DCGM and the unit nvidia-smi adds: "utilization.gpu [%]" -> "utilization.gpu".
std::string plain_name(Vocabulary vocabulary, std::string_view name) {
  if (vocabulary == Vocabulary::kSmiQuery) name = trim(name.substr(0, name.find('[')));
  for (std::string_view prefix : {"DCGM_FI_DEV_", "DCGM_FI_PROF_"}) {
    if (vocabulary == Vocabulary::kExporter && name.starts_with(prefix))
      return "DCGM " + std::string(name.substr(prefix.size()));
  }
  return is_exact(vocabulary) ? std::string(name) : to_lower(name);
}

}  // namespace

const std::vector<MetricName>& metric_names(Vocabulary vocabulary) {
  return table().rows[static_cast<std::size_t>(vocabulary)];
}

std::optional<MetricSpec> find_metric(Vocabulary vocabulary, std::string_view name) {
  const auto& names = table().by_name[static_cast<std::size_t>(vocabulary)];
  const auto found = names.find(plain_name(vocabulary, name));
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

bool is_blank(double raw) {
  constexpr double kBlankInt32 = 0x7ffffff0, kEndInt32 = 0x7fffffff;
  constexpr double kBlankFp64 = 140737488355328.0;
  return !std::isfinite(raw) || (raw >= kBlankInt32 && raw <= kEndInt32) || raw >= kBlankFp64;
}

bool is_blank(std::string_view text) {
  const std::string_view word = trim(text);
  if (word.empty() || word.front() == '[' || word == "-") return true;
  if (word.size() != 3 || (word[0] != 'n' && word[0] != 'N')) return false;
  return to_lower(word) == "n/a" || to_lower(word) == "nan";
}

std::optional<double> canonical(const MetricSpec& spec, double raw) {
  if (is_blank(raw) || raw < 0) return std::nullopt;
  const double value = raw * spec.scale;
  if (!is_share(spec.metric)) return value;
  if (value > kMostShare) return std::nullopt;
  return value < 1 ? value : 1;
}

std::optional<double> ShareScale::read(double raw) {
  if (is_blank(raw) || raw < 0 || raw > 105) return std::nullopt;
  if (raw > 1) scale_ = Scale::kPercent;
  if (scale_ == Scale::kUnknown && raw > 0 && raw < 1) scale_ = Scale::kShare;
  if (scale_ == Scale::kUnknown) return raw == 0 ? std::optional(0.0) : std::nullopt;
  const double share = scale_ == Scale::kPercent ? raw / 100 : raw;
  return share < 1 ? share : 1;
}

}  // namespace rightsize::telemetry
