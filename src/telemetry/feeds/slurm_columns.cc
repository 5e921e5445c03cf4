#include "telemetry/feeds/slurm_columns.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "telemetry/times.h"

namespace rightsize::telemetry {
namespace {

struct ColumnName {
  std::string_view name;
  JobColumn column;
};
// Of two names for the same column the first counts.
constexpr ColumnName kNames[] = {
    {"jobid", JobColumn::kId},
    {"jobidraw", JobColumn::kId},
    {"user", JobColumn::kUser},
    {"account", JobColumn::kAccount},
    {"partition", JobColumn::kPartition},
    {"jobname", JobColumn::kName},
    {"state", JobColumn::kState},
    {"submit", JobColumn::kSubmit},
    {"eligible", JobColumn::kEligible},
    {"start", JobColumn::kStart},
    {"end", JobColumn::kEnd},
    {"elapsedraw", JobColumn::kElapsed},
    {"elapsed", JobColumn::kElapsedText},
    {"timelimit", JobColumn::kTimeLimit},
    {"timelimitraw", JobColumn::kTimeLimitRaw},
    {"alloctres", JobColumn::kAllocTres},
    {"reqtres", JobColumn::kReqTres},
    {"allocgres", JobColumn::kAllocGres},
    {"reqgres", JobColumn::kReqGres},
    {"nnodes", JobColumn::kNodeCount},
    {"allocnodes", JobColumn::kNodeCount},
    {"nodelist", JobColumn::kNodes},
    {"tresusageinave", JobColumn::kUsage},
    {"admincomment", JobColumn::kComment},
};

constexpr std::string_view kStates[] = {"COMPLETED", "FAILED",        "TIMEOUT",   "CANCELLED", "RUNNING",  "PENDING",
                                        "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REQUEUED",  "DEADLINE", "BOOT_FAIL",
                                        "SUSPENDED", "COMPLETING",    "RESIZING",  "REVOKED"};

bool is_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// "4001", "4001_3", "4001_[1-9]", "4001+0", each perhaps with a step: ".batch".
bool is_job_id(std::string_view text) {
  const std::string_view number = text.substr(0, text.find_first_of("_+."));
  return is_digits(number) && text.size() < 64 && text.find_first_of(" =:|;,\t") == text.npos;
}

bool is_time(std::string_view text) { return parse_iso_time(text).has_value(); }
bool is_no_time(std::string_view text) { return text == "Unknown" || text == "None" || text.empty(); }

bool is_duration(std::string_view text) {
  return text.size() >= 8 && std::ranges::count(text, ':') == 2 && text.find_first_not_of("0123456789:-.") == text.npos;
}

bool is_state(std::string_view text) {
  return std::ranges::find(kStates, text.substr(0, text.find(' '))) != std::end(kStates);
}

bool is_tres(std::string_view text) {
  return text.find("cpu=") != text.npos || text.find("gres/gpu") != text.npos || text.find("billing=") != text.npos;
}

std::vector<std::string_view> cells_of(std::string_view line, char delimiter) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t end = line.find(delimiter);
    cells.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

// Whether all texts of a column are of one kind or empty, and at least one is of the kind.
template <class Is, class IsNone>
bool all_are(const std::vector<std::string_view>& values, const Is& is, const IsNone& is_none) {
  bool any = false;
  for (std::string_view value : values) {
    if (is(value)) {
      any = true;
    } else if (!is_none(value)) {
      return false;
    }
  }
  return any;
}
bool is_blank_cell(std::string_view text) { return text.empty(); }

}  // namespace

bool JobColumns::read_header(std::string_view line) {
  for (const char delimiter : {'|', '\t', ';', ','}) {
    const std::vector<std::string_view> names = cells_of(line, delimiter);
    where_.fill(-1);
    for (const ColumnName& known : kNames) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        int& at = where_[static_cast<std::size_t>(known.column)];
        if (at < 0 && to_lower(trim(names[i])) == known.name) at = static_cast<int>(i);
      }
    }
    if (!has(JobColumn::kId) || names.size() < 3) continue;
    delimiter_ = delimiter;
    count_ = names.size();
    header_ = line;
    return true;
  }
  return false;
}

// Recognizes columns by the values of the first rows.
bool JobColumns::guess(std::string_view lines) {
  constexpr std::size_t kRows = 500;
  const std::string_view first = lines.substr(0, lines.find('\n'));
  for (const char delimiter : {'|', '\t', ';'}) {
    const std::size_t count = cells_of(first, delimiter).size();
    if (count < 4 || !is_job_id(cells_of(first, delimiter).front())) continue;
    std::vector<std::vector<std::string_view>> values(count);
    std::size_t rows = 0;
    for (std::string_view line : split_list(lines.substr(0, lines.rfind('\n')), '\n')) {
      const std::vector<std::string_view> cells = cells_of(line, delimiter);
      if (cells.size() != count || ++rows > kRows) continue;
      for (std::size_t i = 0; i < count; ++i) values[i].push_back(trim(cells[i]));
    }
    delimiter_ = delimiter;
    count_ = count;
    where_.fill(-1);
    const auto take = [&](JobColumn column, std::size_t at) {
      int& where = where_[static_cast<std::size_t>(column)];
      if (where < 0) where = static_cast<int>(at);
    };
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::string_view>& column = values[i];
      if (all_are(column, is_time, is_no_time)) {
        times.push_back(i);
      } else if (all_are(column, is_job_id, is_blank_cell) && i == 0) {
        take(JobColumn::kId, i);
      } else if (all_are(column, is_state, is_blank_cell)) {
        take(JobColumn::kState, i);
      } else if (all_are(
                     column, [](auto v) { return v.find("gres/gpuutil") != v.npos; },
                     [](auto v) { return v.empty() || v.find('=') != v.npos; })) {
        take(JobColumn::kUsage, i);
      } else if (all_are(column, is_tres, is_blank_cell)) {
        take(JobColumn::kAllocTres, i);
      } else if (all_are(column, is_duration,
                         [](auto v) { return v.empty() || v == "UNLIMITED" || v == "Partition_Limit"; })) {
        take(has(JobColumn::kElapsedText) ? JobColumn::kTimeLimit : JobColumn::kElapsedText, i);
      } else if (all_are(
                     column, [](auto v) { return v.starts_with("JS1:"); }, [](auto) { return true; })) {
        take(JobColumn::kComment, i);
      } else if (all_are(
                     column, [](auto v) { return v == "None assigned" || v.find('[') != v.npos; },
                     [](auto v) { return v.find_first_of("=: ") == v.npos; })) {
        take(JobColumn::kNodes, i);
      }
    }
    // Submission comes before the start, and the start before the end.
    if (times.size() >= 3) take(JobColumn::kSubmit, times[times.size() - 3]);
    if (times.size() >= 2) {
      take(JobColumn::kStart, times[times.size() - 2]);
      take(JobColumn::kEnd, times.back());
    } else if (times.size() == 1) {
      take(JobColumn::kStart, times.front());
    }
    return has(JobColumn::kId) && has(JobColumn::kStart) && has(JobColumn::kAllocTres);
  }
  return false;
}

std::optional<JobColumns> JobColumns::find(std::string_view beginning) {
  if (beginning.starts_with("\xEF\xBB\xBF")) beginning.remove_prefix(3);
  while (!beginning.empty() && (beginning.front() == '\n' || beginning.front() == '\r')) beginning.remove_prefix(1);
  std::string_view line = beginning.substr(0, beginning.find('\n'));
  while (line.ends_with('\r')) line.remove_suffix(1);
  JobColumns columns;
  columns.where_.fill(-1);
  if (columns.read_header(line) || columns.guess(beginning)) return columns;
  return std::nullopt;
}

bool JobColumns::split(std::string_view line) {
  cells_.clear();
  while (true) {
    // "\"a, b\"": quoted cells of a CSV made from the table.
    if (delimiter_ != '|' && line.starts_with('"')) {
      const std::size_t close = line.find('"', 1);
      if (close == std::string_view::npos) return false;
      cells_.push_back(line.substr(1, close - 1));
      if (close + 1 >= line.size()) break;
      line.remove_prefix(close + 2);
      continue;
    }
    std::size_t end = line.find(delimiter_);
    if (delimiter_ == ',') {
      const auto is_at = [&](JobColumn column) {
        return where_[static_cast<std::size_t>(column)] == static_cast<int>(cells_.size());
      };
      const bool list = is_at(JobColumn::kAllocTres) || is_at(JobColumn::kReqTres) || is_at(JobColumn::kUsage);
      // A list continues if another "name=value" follows; a node list continues until its bracket closes.
      const auto goes_on = [&](std::size_t comma) {
        const std::string_view after = line.substr(comma + 1);
        if (list) return after.substr(0, after.find(',')).find('=') != std::string_view::npos;
        const std::string_view before = line.substr(0, comma);
        return is_at(JobColumn::kNodes) && before.rfind('[') != before.npos &&
               (before.rfind(']') == before.npos || before.rfind(']') < before.rfind('['));
      };
      while (end != std::string_view::npos && goes_on(end)) end = line.find(',', end + 1);
    }
    cells_.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  if (cells_.size() == count_ + 1 && cells_.back().empty()) cells_.pop_back();  // -p ends lines with a delimiter
  return cells_.size() == count_;
}

}  // namespace rightsize::telemetry
