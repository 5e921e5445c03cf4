// Our recordings and nvidia-smi's csv: a header, then one row per GPU and time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/cell_scan.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/labels.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct RowState {
  Sample sample;
  std::uint32_t unusable = 0;  // metrics with impossible values
  bool has_time = false;
  std::string_view index, uuid, bus, name, host, owner;
};

enum class ColumnRole : std::uint8_t { kText, kTime, kMetric };

struct CsvColumn {
  ColumnRole role = ColumnRole::kText;
  std::string_view RowState::*text = nullptr;  // null: ignored
  MetricSpec spec = {};
  double most = -1;  // raw values up to this need no further check
  // The last short cell of this column and its value: clocks, limits and idle pipes often repeat row after row.
  std::uint64_t cell = 0;
  double value = 0;

  bool is_number() const { return role != ColumnRole::kText; }
};

// Blanks begin above 2^31 - 16, and shares end at 1; larger values are checked one by one.
double plain_limit(const MetricSpec& spec) {
  constexpr double kBelowBlanks = 2e9;
  return std::min(kBelowBlanks, canonical(spec, 1.02 / spec.scale) == 1.0 ? 1 / spec.scale : kBelowBlanks);
}

// nvidia-smi's times: usually only the seconds differ from the previous row.
class SmiTimes {
 public:
  std::optional<TimePoint> read(std::string_view text) {
    constexpr std::size_t kMinutes = 17;  // "2026/11/15 00:35:"
    double second = 0;
    if (text.size() >= kMinutes + 2 && text.substr(0, kMinutes) == before_ &&
        plain_number(text.data() + kMinutes, text.data() + text.size(), second) != nullptr && second < 61) {
      return day_ + (time_of_day_ + seconds(second));
    }
    const std::optional<TimePoint> time = parse_smi_time(text);
    if (time && text[13] == ':' && text[16] == ':') remember(text.substr(0, kMinutes));
    return time;
  }

 private:
  void remember(std::string_view minutes) {
    const std::string begin(minutes.substr(0, 11));
    const auto day = parse_smi_time(begin + "00:00:00"), whole = parse_smi_time(std::string(minutes) + "00");
    before_.clear();
    if (!day || !whole) return;
    before_ = minutes;
    day_ = *day;
    time_of_day_ = *whole - *day;
  }

  std::string before_;
  TimePoint day_;
  Seconds time_of_day_;
};

// The label of a column that someone added to say whose work it was: "user", "job_id"; empty for other columns.
std::string_view owner_label(std::string_view name) {
  if (name == "team" || name == "project") return "account";
  const auto in = [&](const auto& labels) { return std::ranges::find(labels, name) != std::end(labels); };
  const bool known = in(kTeamLabels) || in(kUserLabels) || in(kPodLabels) || in(kJobLabels) || in(kJobNameLabels);
  return known ? name : std::string_view();
}

class SampleCsvReader final : public LineReader {
 public:
  SampleCsvReader(Intake& intake, bool recording) : intake_(intake), recording_(recording) {}

  void line(std::string_view text) override {
    if (text.empty() || text.front() == '#') return;
    if (columns_.empty() || is_header(text)) return read_header(text);
    if (recording_) {
      row(text);
    } else {
      padded_row(text);
    }
  }

  void finish() override {
    if (crowded_ * 5 <= unnamed_ || crowded_ == 0) return;
    intake_.give_up(
        bad_input("the log has several rows for one moment, but no column that names the GPU")
            .with_hint("record it with nvidia-smi --query-gpu=timestamp,index,uuid,name,utilization.gpu,... "
                       "--format=csv -l 30"));
  }

 private:
  // A device as rows identify it: by uuid, or by host and index or bus address. Each owner has a separate series.
  struct DeviceCells {
    std::string identity, host, owner;
    int device = 0;
  };
  Vocabulary vocabulary() const { return recording_ ? Vocabulary::kRecording : Vocabulary::kSmiQuery; }

  // Several runs are often appended to one file: a header between rows starts over and may differ.
  bool is_header(std::string_view text) const {
    const char first = text.front();
    return text == header_ || (first >= 'a' && first <= 'z' && text.find(header_.substr(0, header_.find(','))) == 0);
  }

  void read_header(std::string_view text) {
    header_ = std::string(text);
    columns_.clear();
    std::string_view rest = text;
    bool any = false;
    named_ = false;
    owner_label_.clear();
    for (;;) {
      const std::size_t comma = rest.find(',');
      columns_.push_back(column(trim(rest.substr(0, comma))));
      const auto text_column = columns_.back().text;
      named_ =
          named_ || text_column == &RowState::index || text_column == &RowState::uuid || text_column == &RowState::bus;
      any = any || columns_.back().role == ColumnRole::kMetric;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (!any) {
      intake_.refuse(text, text, "this header has no column with a known metric");
      columns_.clear();
    }
  }

  CsvColumn column(std::string_view name) {
    if (auto spec = find_metric(vocabulary(), name)) {
      return {.role = ColumnRole::kMetric, .spec = *spec, .most = plain_limit(*spec)};
    }
    if (name == "t_s" || name == "timestamp") return {.role = ColumnRole::kTime};
    if (name == "gpu" || name == "index") return {.text = &RowState::index};
    if (name == "uuid" || name == "gpu_uuid") return {.text = &RowState::uuid};
    if (name == "pci.bus_id" || name == "gpu_bus_id") return {.text = &RowState::bus};
    if (name == "name" || name == "gpu_name") return {.text = &RowState::name};
    if (name == "host") return {.text = &RowState::host};
    if (const std::string_view label = owner_label(name); !label.empty() && owner_label_.empty()) {
      owner_label_ = label;
      return {.text = &RowState::owner};
    }
    return {};
  }

  // Our recordings have plain numbers without spaces, read in one pass over the characters.
  void row(std::string_view text) {
    RowState state;
    const char* at = text.data();
    const char* last = at + text.size();
    std::size_t number = 0;
    for (; number < columns_.size(); ++number) {
      CsvColumn& column = columns_[number];
      const char* cell = at;
      double value = kMissing;
      if (column.is_number()) {
        const std::uint64_t key = column.role == ColumnRole::kMetric ? short_cell(at, last) : 0;
        if (key != 0 && key == column.cell) {
          state.sample.set(column.spec.metric, column.value);
          at += short_cell_size(key);
          continue;
        }
        const char* behind = number_cell(at, last, value);
        // Nearly every other cell: a number in the usual range.
        if (behind != nullptr && column.role == ColumnRole::kMetric && value <= column.most) {
          column.cell = key;
          column.value = value * column.spec.scale;
          state.sample.set(column.spec.metric, column.value);
          at = behind;
          if (at == last) break;
          ++at;
          continue;
        }
        if (behind != nullptr) {
          at = behind;
        } else {
          value = leading_number(at, last, at).value_or(kMissing);
        }
      }
      if (at == last || *at != ',') {
        const char* end = find_comma(at, last);
        const std::string_view behind(at, static_cast<std::size_t>(end - at));
        if (column.is_number() && !behind.empty() && !is_blank(behind)) value = kMissing;
        at = end;
      }
      if (!take(column, {cell, static_cast<std::size_t>(at - cell)}, value, state)) {
        return intake_.refuse(text, {cell, static_cast<std::size_t>(at - cell)}, "the time is not a number");
      }
      if (at == last) break;
      ++at;
    }
    finish_row(text, number + 1, at != last, state);
  }

  static bool take(const CsvColumn& column, std::string_view cell, double value, RowState& state) {
    if (column.role == ColumnRole::kMetric) {
      if (auto known = canonical(column.spec, value)) {
        state.sample.set(column.spec.metric, *known);
      } else if (!std::isnan(value)) {
        state.unusable |= 1U << static_cast<unsigned>(column.spec.metric);
      }
    } else if (column.role == ColumnRole::kTime) {
      if (is_blank(value)) return false;
      state.sample.time = unix_seconds(value);
      state.has_time = true;
    } else if (column.text != nullptr) {
      state.*column.text = cell;
    }
    return true;
  }

  // nvidia-smi: ", " between cells, units after numbers, "[N/A]" for missing values.
  void padded_row(std::string_view text) {
    RowState state;
    const char* at = text.data();
    const char* last = at + text.size();
    std::size_t number = 0;
    bool more = true;
    for (; number < columns_.size() && more; ++number) {
      const CsvColumn& column = columns_[number];
      while (at != last && *at == ' ') ++at;
      double value = kMissing;
      const char* behind = column.role == ColumnRole::kMetric ? plain_number(at, last, value) : nullptr;
      const bool plain = behind != nullptr && value <= column.most;
      const char* end = find_comma(behind != nullptr ? behind : at, last);
      if (plain) {
        state.sample.set(column.spec.metric, value * column.spec.scale);
      } else {
        std::string_view cell(at, static_cast<std::size_t>(end - at));
        if (!cell.empty() && (cell.front() <= ' ' || cell.back() <= ' ')) cell = trim(cell);
        if (column.role == ColumnRole::kMetric) value = padded_number(cell);
        if (column.role == ColumnRole::kTime)
          value = in_unix_seconds(times_.read(cell).value_or(unix_seconds(kMissing)));
        if (!take(column, cell, value, state))
          return intake_.refuse(text, cell, "this is not a time that nvidia-smi writes");
      }
      more = end != last;
      at = more ? end + 1 : last;
    }
    finish_row(text, number, more, state);
  }

  static double padded_number(std::string_view cell) {
    return cell.empty() || cell.front() == '[' ? kMissing : leading_number(cell).value_or(kMissing);
  }

  void finish_row(std::string_view text, std::size_t cells, bool more, RowState& state) {
    if (cells < columns_.size() || more) {
      return intake_.refuse(text, text,
                            fmt::format("{} than the header's {} columns", more ? "more" : "fewer", columns_.size()));
    }
    const int device = device_of(state);
    if (device < 0) return intake_.refuse(text, text, "the GPU's index is not a number");
    if (!state.has_time) state.sample.time = intake_.untimed(device);
    if (!named_ && state.has_time) count_unnamed(state.sample.time);
    intake_.add(device, state.sample, state.unusable);
  }

  // nvidia-smi writes the rows of all GPUs within milliseconds; one GPU is not read that often.
  void count_unnamed(TimePoint time) {
    const Seconds gap = time - last_time_;
    last_time_ = time;
    ++unnamed_;
    if (gap == Seconds{} || (!recording_ && gap > Seconds{} && gap <= seconds(0.02))) ++crowded_;
  }

  // Rows of several GPUs take turns, so the expected next one is compared first.
  int device_of(const RowState& state) {
    const std::string_view identity = !state.uuid.empty() ? state.uuid : !state.index.empty() ? state.index : state.bus;
    if (next_ < devices_.size() && devices_[next_].identity == identity && devices_[next_].host == state.host &&
        devices_[next_].owner == state.owner) {
      return devices_[std::exchange(next_, next_ + 1 < devices_.size() ? next_ + 1 : 0)].device;
    }
    key_.assign(identity).append(1, '\n').append(state.host).append(1, '\n').append(state.owner);
    if (const auto found = by_cells_.find(key_); found != by_cells_.end()) {
      next_ = found->second + 1 < devices_.size() ? found->second + 1 : 0;
      return devices_[found->second].device;
    }
    Device device;
    if (!state.index.empty()) {
      auto index = leading_number(state.index);
      if (!index || *index < 0 || *index > 1e6) return -1;
      device.index = static_cast<int>(*index);
    } else if (!state.bus.empty()) {
      device.index = static_cast<int>(devices_.size());  // bus addresses are unique within a host only
    }
    device.uuid = std::string(trim(state.uuid));
    device.name = std::string(trim(state.name));
    device.host = std::string(trim(state.host));
    if (const std::string_view owner = trim(state.owner); !owner.empty()) device.labels.emplace(owner_label_, owner);
    const int opened = owner_label_.empty() ? intake_.open(device) : intake_.open_series(device);
    if (opened >= 0) {
      by_cells_.emplace(key_, devices_.size());
      devices_.push_back({std::string(identity), std::string(state.host), std::string(state.owner), opened});
      next_ = 0;
    }
    return opened;
  }

  Intake& intake_;
  bool recording_;
  std::string header_, owner_label_;  // the label of the column that names owners; empty: none
  std::vector<CsvColumn> columns_;
  std::vector<DeviceCells> devices_;
  std::unordered_map<std::string, std::size_t> by_cells_;
  std::string key_;
  std::size_t next_ = 0;  // the device after the last one: rows take turns
  bool named_ = false;    // a column names the GPU
  std::size_t unnamed_ = 0, crowded_ = 0;
  TimePoint last_time_ = unix_seconds(-1);
  SmiTimes times_;
};

}  // namespace

std::unique_ptr<LineReader> make_csv_reader(Intake& intake, bool recording) {
  return std::make_unique<SampleCsvReader>(intake, recording);
}

}  // namespace rightsize::telemetry
