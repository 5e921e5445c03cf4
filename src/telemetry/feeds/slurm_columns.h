// The form of a table from sacct: its delimiter and its columns.
//
// sacct -P writes '|', --delimiter any other text; tabs, semicolons and commas are recognized. If commas are the
// delimiter, the entries of TRES lists and node lists are joined again. Without a header (-n) the columns are
// recognized by their values; those that could be anything (user, account, partition, name) then stay unknown.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rightsize::telemetry {

enum class JobColumn {
  kId,
  kUser,
  kAccount,
  kPartition,
  kName,
  kState,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsed,  // seconds
  kElapsedText,
  kTimeLimit,
  kTimeLimitRaw,
  kAllocTres,
  kReqTres,
  kAllocGres,
  kReqGres,
  kNodeCount,
  kNodes,
  kUsage,
  kComment,
};
inline constexpr std::size_t kJobColumns = 22;

class JobColumns {
 public:
  // From the first line, or without a header from the first lines. Empty if it is not such a table.
  static std::optional<JobColumns> find(std::string_view beginning);

  // Splits a line; false if the number of cells differs from the header.
  bool split(std::string_view line);
  // A cell of the last line; empty if the table has no such column.
  std::string_view operator[](JobColumn column) const {
    const int at = where_[static_cast<std::size_t>(column)];
    return at < 0 ? std::string_view() : cells_[static_cast<std::size_t>(at)];
  }
  bool has(JobColumn column) const { return where_[static_cast<std::size_t>(column)] >= 0; }
  bool has_header() const { return !header_.empty(); }
  // Whether a line repeats the header, as in joined logs.
  bool is_header(std::string_view line) const { return has_header() && line == header_; }

 private:
  bool read_header(std::string_view line);
  bool guess(std::string_view lines);

  char delimiter_ = '|';
  std::string header_;
  std::size_t count_ = 0;
  std::array<int, kJobColumns> where_{};
  std::vector<std::string_view> cells_;
};

}  // namespace rightsize::telemetry
