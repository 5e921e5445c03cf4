// Comma-separated text (RFC 4180) of any length, one record at a time. base/csv.h reads small tables as a whole.
//
// A cloud's price list is gigabytes long, and only a few thousand of its lines matter. The reader therefore finds
// records, and the caller splits those it needs:
//
//   CsvReader csv(source, "prices.csv");
//   std::vector<std::string_view> cells;
//   for (std::string_view record; csv.next(record);)
//     if (record.find("H100") != record.npos) split_csv(record, cells);
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

// The records of a source. Memory holds one block and the longest record. A record ends at a line end outside quotes.
class CsvReader {
 public:
  // The source must outlive the reader. `file` is only used in errors.
  CsvReader(ByteSource& source, std::string file);

  // The next record without its line end, valid until the next call. Blank lines are skipped. False at the end and
  // after a failure: a source that cannot be read, a record over 1 MiB, or a quote that is never closed.
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

// The cells of a record, at most `most` of them, without their quotes. Doubled quotes inside a cell stay doubled.
void split_csv(std::string_view record, std::vector<std::string_view>& cells, std::size_t most = SIZE_MAX);

// Finds columns by name, in any order and ignoring case.
class CsvColumns {
 public:
  CsvColumns() = default;
  explicit CsvColumns(std::string_view header);

  bool has(std::string_view name) const { return of(name) != std::string_view::npos; }
  // npos if there is no such column.
  std::size_t of(std::string_view name) const;
  std::string_view cell(const std::vector<std::string_view>& cells, std::string_view name) const;
  std::size_t count() const { return index_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

// Finds the end of the first record of a text: the first line end after an even number of quotes. The search can
// continue when more text has arrived.
struct CsvRecordEnd {
  std::size_t seen = 0, lines = 0;
  std::ptrdiff_t quotes = 0;

  // False if the text ends first; the next call continues at `seen`. Otherwise `seen` is the position after the line
  // end.
  bool find(std::string_view text);
};
bool is_quote_open(std::string_view record);

}  // namespace rightsize
