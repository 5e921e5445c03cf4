#include "telemetry/formats/keyword_csv.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/csv_reader.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::telemetry {
namespace {

bool has_any(std::string_view text, std::string_view words) {
  for (const std::string_view word : split_list(words, ' ')) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// Bytes in the unit that a name contains; 0 if it contains none.
double bytes_in(std::string_view name) {
  if (has_any(name, "megabyte")) return 1e6;
  if (has_any(name, "byte")) return 1;
  if (has_any(name, "mib mb")) return 1024.0 * 1024.0;
  return has_any(name, "gib gb") ? 1024.0 * 1024.0 * 1024.0 : 0;
}

// The metric that the part of a name after the number of the GPU describes.
std::optional<MetricSpec> metric_of_words(std::string_view words) {
  if (has_any(words, "limit process __min __max /min /max /last")) return std::nullopt;
  const bool percent = has_any(words, "percent pct %");
  if (has_any(words, "power")) return percent ? std::nullopt : std::optional(MetricSpec{Metric::kPower});
  if (has_any(words, "temp")) return MetricSpec{Metric::kTemperature};
  if (has_any(words, "clock")) {
    return has_any(words, "sm graphics") ? std::optional(MetricSpec{Metric::kSmClock, 1e6}) : std::nullopt;
  }
  if (has_any(words, "mem vram")) {
    const double unit = bytes_in(words);
    if (unit > 0) return MetricSpec{has_any(words, "total") ? Metric::kMemoryTotal : Metric::kMemoryUsed, unit};
    // Weights & Biases: "memory" is the share of time with memory traffic, "memoryAllocated" the share in use.
    const bool traffic = words.ends_with("memory") || has_any(words, "util");
    return traffic ? std::optional(MetricSpec{Metric::kMemoryUtil, 1, true}) : std::nullopt;
  }
  const bool busy = has_any(words, "util busy load") || words.ends_with(".gpu") || words.ends_with("/gpu");
  return busy ? std::optional(MetricSpec{Metric::kGpuUtil, 1, true}) : std::nullopt;
}

constexpr int kRowGpu = -1;  // another column has the number, or there is only one GPU

struct Column {
  enum class Role : std::uint8_t { kNone, kTime, kGpu, kName, kMetric } role = Role::kNone;
  int rank = 0;  // of a time: the smallest is used
  int gpu = kRowGpu;
  MetricSpec spec = {};
  std::string name = {};
};

Column column_of(std::string_view header) {
  Column column;
  column.name = trim(header);
  std::string name = to_lower(column.name);
  if (const std::size_t run = name.rfind(" - "); run != std::string::npos) name.erase(0, run + 3);
  std::string letters = name;
  std::erase_if(letters, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  const auto is = [&](std::string_view names) {
    const std::vector<std::string_view> all = split_list(names, ' ');
    return std::ranges::find(all, letters) != all.end();
  };
  using Role = Column::Role;
  for (const auto& [rank, names] : {std::pair{0, "timestamp ts"},
                                    {1, "time datetime walltime date"},
                                    {2, "runtime relativetimeprocess relativetimewall relativetime elapsed seconds"}}) {
    if (is(names)) return column.role = Role::kTime, column.rank = rank, column;
  }
  if (is("gpu gpuid gpuindex index device deviceid localrank")) return column.role = Role::kGpu, column;
  if (is("name gpuname gpumodel")) return column.role = Role::kName, column;
  std::string_view words = name;
  for (std::size_t at = name.find("gpu"); at != std::string::npos; at = name.find("gpu", at + 1)) {
    const std::size_t first = name.find_first_not_of("._:/ -", at + 3);
    if (first == std::string::npos || std::isdigit(static_cast<unsigned char>(name[first])) == 0) continue;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", first), name.size());
    constexpr std::int64_t kMostGpus = 1024;
    const Result<std::int64_t> number = parse_integer(std::string_view(name).substr(first, end - first));
    if (!number || *number >= kMostGpus) continue;
    column.gpu = static_cast<int>(*number);
    words = std::string_view(name).substr(end);
    break;
  }
  if (const std::optional<MetricSpec> spec = metric_of_words(words)) column.role = Role::kMetric, column.spec = *spec;
  return column;
}

std::vector<Column> columns_of(std::string_view header) {
  std::vector<std::string_view> cells;
  split_csv(header, cells);
  std::vector<Column> columns;
  for (const std::string_view cell : cells) columns.push_back(column_of(cell));
  return columns;
}

std::optional<TimePoint> time_of(std::string_view cell) {
  constexpr double kMilliseconds = 1e11;  // larger numbers are no seconds
  if (const Result<double> number = parse_number(cell))
    return unix_seconds(*number > kMilliseconds ? *number / 1e3 : *number);
  if (const std::optional<TimePoint> time = parse_iso_time(cell)) return time;
  return parse_smi_time(cell);
}

class KeywordReader final : public LineReader {
 public:
  explicit KeywordReader(Intake& intake) : intake_(intake) {}

  void line(std::string_view text) override {
    if (text.empty()) return;
    if (columns_.empty()) {
      columns_ = columns_of(text);
      scales_.resize(columns_.size());
      return;
    }
    split_csv(text, cells_);
    if (cells_.size() != columns_.size())
      return intake_.refuse(text, text, fmt::format("{} cells instead of {}", cells_.size(), columns_.size()));
    int rank = 3, gpu = 0;
    std::string_view name;
    std::optional<TimePoint> time;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string_view cell = trim(cells_[i]);
      const Column& column = columns_[i];
      if (column.role == Column::Role::kTime && column.rank < rank && !cell.empty())
        time = time_of(cell), rank = column.rank;
      if (column.role == Column::Role::kGpu) gpu = static_cast<int>(leading_number(cell).value_or(0));
      if (column.role == Column::Role::kName) name = cell;
    }
    if (!time || gpu < 0) return intake_.refuse(text, text, "the row has no time that can be read");
    std::map<int, Sample> samples;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Column& column = columns_[i];
      const std::string_view cell = trim(cells_[i]);
      if (column.role != Column::Role::kMetric || is_blank(cell)) continue;
      const std::optional<double> raw = leading_number(cell);
      const std::optional<double> value = !raw                 ? std::nullopt
                                          : column.spec.unsure ? scales_[i].read(*raw)
                                                               : canonical(column.spec, *raw);
      if (value) samples[column.gpu == kRowGpu ? gpu : column.gpu].set(column.spec.metric, *value);
    }
    for (auto& [index, sample] : samples) {
      Device device;
      device.index = index;
      device.name = name;
      sample.time = *time;
      if (const int opened = intake_.open(device); opened >= 0) intake_.add(opened, sample);
    }
  }

 private:
  Intake& intake_;
  std::vector<Column> columns_;
  std::vector<ShareScale> scales_;
  std::vector<std::string_view> cells_;
};

}  // namespace

std::string keyword_columns(std::string_view header) {
  std::string text;
  std::set<Metric> seen;  // of the first GPU is enough
  bool time = false;
  for (const Column& column : columns_of(header)) {
    time = time || column.role == Column::Role::kTime;
    if (column.role != Column::Role::kMetric || !seen.insert(column.spec.metric).second) continue;
    text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", name_of(column.spec.metric), column.name);
  }
  return time && seen.contains(Metric::kGpuUtil) ? text : "";
}

std::unique_ptr<LineReader> make_keyword_reader(Intake& intake) { return std::make_unique<KeywordReader>(intake); }

}  // namespace rightsize::telemetry
