// Our recordings and nvidia-smi's csv: a header that names the columns, then a row a GPU and moment.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

enum class Role : std::uint8_t { kIgnored, kTime, kIndex, kUuid, kName, kHost, kMetric, kMemoryPart };

struct Column {
  Role role = Role::kIgnored;
  MetricSpec spec = {};
  double most = -1;  // raw values up to this need no second look
};

// Blanks begin above 2^31 - 16, and shares end at 1; what lies above goes the careful way.
double plain_limit(const MetricSpec& spec) {
  constexpr double kBelowBlanks = 2e9;
  return std::min(kBelowBlanks, canonical(spec, 1.02 / spec.scale) == 1.0 ? 1 / spec.scale : kBelowBlanks);
}

class CsvReader final : public LineReader {
 public:
  CsvReader(Intake& intake, bool recording) : intake_(intake), recording_(recording) {}

  void line(std::string_view text) override {
    if (text.empty() || text.front() == '#') return;
    if (columns_.empty() || is_header(text)) return read_header(text);
    if (recording_) {
      row(text);
    } else {
      padded_row(text);
    }
  }

 private:
  struct Known {
    std::string identity;
    int device = 0;
  };
  struct RowState {
    Sample sample;
    bool has_time = false;
    std::string_view index, uuid, name, host;
  };

  Vocabulary vocabulary() const { return recording_ ? Vocabulary::kRecording : Vocabulary::kSmiQuery; }

  // Files of several runs are often one after the other: a header between rows begins anew, and may differ.
  bool is_header(std::string_view text) const {
    const char first = text.front();
    return text == header_ || (first >= 'a' && first <= 'z' && text.find(header_.substr(0, header_.find(','))) == 0);
  }

  void read_header(std::string_view text) {
    header_ = std::string(text);
    columns_.clear();
    std::string_view rest = text;
    bool any = false;
    for (;;) {
      const std::size_t comma = rest.find(',');
      columns_.push_back(column(trim(rest.substr(0, comma))));
      any = any || columns_.back().role == Role::kMetric;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (!any) {
      intake_.refuse(text, text, "no column of this header is a metric we know");
      columns_.clear();
    }
  }

  Column column(std::string_view name) const {
    if (auto spec = find_metric(vocabulary(), name)) return {Role::kMetric, *spec, plain_limit(*spec)};
    if (name == "t_s" || name == "timestamp") return {Role::kTime, {}, -1};
    if (name == "gpu" || name == "index") return {Role::kIndex, {}, -1};
    if (name == "uuid" || name == "gpu_uuid") return {Role::kUuid, {}, -1};
    if (name == "name" || name == "gpu_name") return {Role::kName, {}, -1};
    if (name == "host") return {Role::kHost, {}, -1};
    return {};
  }

  // Our own rows hold plain numbers without spaces: read in one pass over the characters.
  void row(std::string_view text) {
    RowState state;
    const char* at = text.data();
    const char* last = at + text.size();
    std::size_t number = 0;
    for (; number < columns_.size(); ++number) {
      const Column& column = columns_[number];
      const char* cell = at;
      double value = kMissing;
      if (column.role == Role::kMetric || column.role == Role::kTime) {
        if (const char* behind = plain_number(at, last, value)) {
          at = behind;
        } else {
          value = leading_number(at, last, at).value_or(kMissing);
        }
        // Nearly every cell: a number within what any source writes, and a comma.
        if (column.role == Role::kMetric && at != last && *at == ',' && value >= 0 && value <= column.most) {
          state.sample.set(column.spec.metric, value * column.spec.scale);
          ++at;
          continue;
        }
      }
      if (at == last || *at != ',') {
        const void* comma = std::char_traits<char>::find(at, static_cast<std::size_t>(last - at), ',');
        const char* end = comma != nullptr ? static_cast<const char*>(comma) : last;
        if (end != at && !is_blank(std::string_view(at, static_cast<std::size_t>(end - at)))) value = kMissing;
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

  static bool take(const Column& column, std::string_view cell, double value, RowState& state) {
    switch (column.role) {
      case Role::kMetric:
        if (auto known = canonical(column.spec, value)) state.sample.set(column.spec.metric, *known);
        return true;
      case Role::kTime:
        if (is_blank(value)) return false;
        state.sample.time = value;
        state.has_time = true;
        return true;
      case Role::kIndex:
        state.index = cell;
        return true;
      case Role::kUuid:
        state.uuid = cell;
        return true;
      case Role::kName:
        state.name = cell;
        return true;
      case Role::kHost:
        state.host = cell;
        return true;
      default:
        return true;
    }
  }

  // nvidia-smi: ", " between cells, units behind numbers, "[N/A]" where there is nothing.
  void padded_row(std::string_view text) {
    RowState state;
    std::string_view rest = text;
    std::size_t number = 0;
    bool more = true;
    for (; number < columns_.size() && more; ++number) {
      const void* end = std::memchr(rest.data(), ',', rest.size());
      const std::size_t comma = end == nullptr ? std::string_view::npos
                                               : static_cast<std::size_t>(static_cast<const char*>(end) - rest.data());
      const std::string_view cell = trim(rest.substr(0, comma));
      const Column& column = columns_[number];
      double value = kMissing;
      if (column.role == Role::kMetric && !cell.empty() && cell.front() != '[') {
        value = leading_number(cell).value_or(kMissing);
      }
      if (column.role == Role::kTime) value = parse_smi_time(cell).value_or(kMissing);
      if (!take(column, cell, value, state)) return intake_.refuse(text, cell, "this is no time nvidia-smi writes");
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
    }
    finish_row(text, number, more, state);
  }

  void finish_row(std::string_view text, std::size_t cells, bool more, RowState& state) {
    if (cells < columns_.size() || more) {
      return intake_.refuse(text, text,
                            fmt::format("{} than the header's {} columns", more ? "more" : "fewer", columns_.size()));
    }
    const int device = device_of(state);
    if (device < 0) return intake_.refuse(text, text, "the GPU's index is not a number");
    if (!state.has_time) state.sample.time = untimed(device);
    intake_.add(device, state.sample);
  }

  // Rows of a GPU that carry no time are one step apart.
  double untimed(int device) {
    const auto at = static_cast<std::size_t>(device);
    if (rows_.size() <= at) rows_.resize(at + 1, 0);
    return intake_.step() * static_cast<double>(rows_[at]++);
  }

  // Rows of several GPUs take turns: compared with the next one expected first.
  int device_of(const RowState& state) {
    const std::string_view identity = state.uuid.empty() ? state.index : state.uuid;
    for (std::size_t tried = 0; tried < known_.size(); ++tried) {
      const std::size_t at = (next_ + tried) % known_.size();
      if (known_[at].identity == identity) {
        next_ = (at + 1) % known_.size();
        return known_[at].device;
      }
    }
    Device device;
    if (!state.index.empty()) {
      auto index = leading_number(state.index);
      if (!index || *index < 0 || *index > 1e6) return -1;
      device.index = static_cast<int>(*index);
    }
    device.uuid = std::string(trim(state.uuid));
    device.name = std::string(trim(state.name));
    device.host = std::string(trim(state.host));
    const int opened = intake_.open(device);
    if (opened >= 0 && known_.size() < 1024) known_.push_back({std::string(identity), opened});
    return opened;
  }

  Intake& intake_;
  bool recording_;
  std::string header_;
  std::vector<Column> columns_;
  std::vector<Known> known_;
  std::vector<std::uint64_t> rows_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_csv_reader(Intake& intake, bool recording) {
  return std::make_unique<CsvReader>(intake, recording);
}

}  // namespace rightsize::telemetry
