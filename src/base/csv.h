// Comma-separated text (RFC 4180) with a header row. Cells are not copied, and each one knows its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize {

// One row. Cells are views into the text, or into storage of the Csv if a quoted cell contained doubled quotes.
struct CsvRow {
  int line = 0;  // in the text, from 1
  std::vector<std::string_view> cells;
  std::vector<std::size_t> offsets;  // of each cell in the text
};

// A parsed table that keeps its text. Lines before the header that begin with '#' are comments; blank lines are
// skipped; a byte-order mark is ignored.
class Csv {
 public:
  // Parses the whole text. Fails with every row that does not have as many cells as the header, every unclosed quote,
  // and every duplicate column. `file` is only used in places.
  static Checked<Csv> parse(std::string file, std::string text);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }
  const std::vector<CsvRow>& rows() const { return rows_; }

  // The index of a column; empty if there is no such column.
  std::optional<std::size_t> column(std::string_view name) const;

  // The cell of a named column, trimmed; empty if the column is missing.
  std::string_view cell(const CsvRow& row, std::string_view column) const;

  // The place of that cell; the start of the row if the column is missing.
  Place place(const CsvRow& row, std::string_view column) const;

  // The place of a column's name in the header.
  Place header_place(std::size_t column) const;

 private:
  // The text is on the heap: views must stay valid when the Csv moves.
  std::string file_;
  std::vector<char> text_;
  std::vector<std::vector<char>> unescaped_;
  std::vector<std::string> header_;
  std::vector<std::size_t> header_offsets_;
  std::vector<CsvRow> rows_;

  std::string_view text() const { return {text_.data(), text_.size()}; }
};

// A cell for CSV output, quoted if necessary.
std::string csv_cell(std::string_view value);

}  // namespace rightsize
