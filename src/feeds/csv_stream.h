// CSV of any length, a record at a time: price lists of a cloud are gigabytes of which a few thousand lines matter.
//
//   CsvStream csv(source, "prices.csv");
//   for (std::string_view record; csv.next(record);) { split_csv(record, cells); ... }
//   if (csv.failed()) return fail(csv.error());
//
// Memory is one block and the longest record. A record ends at a line end outside quotes; splitting it is the caller's
// choice, so that lines which do not matter cost one look for the line end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "telemetry/byte_source.h"

namespace rightsize::feeds {

class CsvStream {
 public:
  // The source must outlive the stream. `file` is used in errors only.
  CsvStream(telemetry::ByteSource& source, std::string file);

  // The next record without its line end, valid until the next call; blank lines are skipped. False at the end or after
  // a failure: a source that cannot be read, a record over 1 MiB (a quote that is never closed).
  bool next(std::string_view& record);
  long line() const { return line_; }  // where the record began, from 1

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  bool more();

  telemetry::ByteSource& source_;
  std::string file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  long line_ = 0, next_line_ = 1;
  bool exhausted_ = false;
  std::optional<Error> error_;
};

// The cells of a record, at most `most` of them, without their quotes; doubled quotes inside are kept doubled, which no
// column of a price list needs undone.
void split_csv(std::string_view record, std::vector<std::string_view>& cells, std::size_t most = SIZE_MAX);

// Columns by name, whatever their order; names without regard to case.
class CsvColumns {
 public:
  CsvColumns() = default;
  explicit CsvColumns(std::string_view header);

  bool has(std::string_view name) const { return of(name) != std::string_view::npos; }
  // npos where there is no such column.
  std::size_t of(std::string_view name) const;
  std::string_view cell(const std::vector<std::string_view>& cells, std::string_view name) const;
  std::size_t count() const { return index_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace rightsize::feeds
