// Comma-separated text (RFC 4180) of any length, a record at a time. base/csv.h reads small tables whole.
//
// Price lists of a cloud are gigabytes of which a few thousand lines matter, so that a record is found first and split
// only where the caller wants its cells:
//
//   CsvReader csv(source, "prices.csv");
//   for (std::string_view record; csv.next(record);) { split_csv(record, cells); ... }
//   if (csv.failed()) return fail(csv.error());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace rightsize {

// Records of a source. Memory is one block and the longest record. A record ends at a line end outside quotes.
class CsvReader {
 public:
  // The source must outlive the reader. `file` is used in errors only.
  CsvReader(ByteSource& source, std::string file);

  // The next record without its line end, valid until the next call; blank lines are skipped. False at the end or after
  // a failure: a source that cannot be read, a record over 1 MiB, a quote that is never closed.
  bool next(std::string_view& record);
  long line() const { return line_; }  // where the record began, from 1

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  bool more();

  ByteSource& source_;
  std::string file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  long line_ = 0, next_line_ = 1;
  bool exhausted_ = false;
  std::optional<Error> error_;
};

// The cells of a record, at most `most` of them, without their quotes; doubled quotes inside stay doubled.
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

// Finds where the record that a text begins with ends: at the first line end after an even number of quotes. Can go on
// where it stopped when more text has arrived.
struct CsvRecordEnd {
  std::size_t seen = 0, lines = 0;
  std::ptrdiff_t quotes = 0;

  // False when the text ends before; `seen` is then where to go on. Otherwise `seen` is behind the line end.
  bool find(std::string_view text);
};
bool is_quote_open(std::string_view record);

}  // namespace rightsize
