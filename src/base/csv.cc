#include "base/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/csv_reader.h"
#include "base/text.h"

namespace rightsize {
namespace {

// A record as a row; cells with doubled quotes are copied to `unescaped`.
CsvRow row_of(std::string_view text, std::string_view record, std::size_t columns, int line,
              std::vector<std::vector<char>>& unescaped) {
  CsvRow row;
  row.line = line;
  row.cells.reserve(columns);
  split_csv(record, row.cells);
  row.offsets.reserve(row.cells.size());
  for (std::string_view& cell : row.cells) {
    const auto offset = static_cast<std::size_t>(cell.data() - text.data());
    const bool quoted = offset > 0 && text[offset - 1] == '"';
    row.offsets.push_back(offset - (quoted ? 1 : 0));
    if (!quoted || cell.find('"') == std::string_view::npos) continue;
    std::vector<char>& copy = unescaped.emplace_back();
    for (std::size_t i = 0; i < cell.size(); ++i) {
      copy.push_back(cell[i]);
      if (cell[i] == '"') ++i;
    }
    cell = {copy.data(), copy.size()};
  }
  return row;
}

}  // namespace

Checked<Csv> Csv::parse(std::string file, std::string text) {
  Csv csv;
  csv.file_ = std::move(file);
  csv.text_.assign(text.begin(), text.end());
  const std::string_view all = csv.text();
  std::size_t pos = all.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  Errors errors;
  for (int line = 1; pos < all.size();) {
    if (csv.header_.empty() && all[pos] == '#') {  // quotes have no meaning in comments
      pos = std::min(all.find('\n', pos), all.size() - 1) + 1;
      ++line;
      continue;
    }
    CsvRecordEnd end;
    const bool whole = end.find(all.substr(pos));
    const std::size_t start = pos;
    const std::string_view record = all.substr(pos, whole ? end.seen - 1 : all.size() - pos);
    pos += whole ? end.seen : record.size();
    const int this_line = line;
    line += static_cast<int>(end.lines);
    if (trim(record).empty()) continue;
    CsvRow row = row_of(all, record, csv.header_.size(), this_line, csv.unescaped_);
    if (!whole && is_quote_open(record)) {
      const auto open = std::find_if(row.offsets.rbegin(), row.offsets.rend(),
                                     [&](std::size_t offset) { return offset < all.size() && all[offset] == '"'; });
      errors.push_back(bad_input("this quote is never closed")
                           .at(place_in(csv.file_, all, open == row.offsets.rend() ? start : *open))
                           .with_hint("a quote inside a quoted cell is written twice"));
      break;
    }
    if (csv.header_.empty()) {
      csv.header_.assign(row.cells.begin(), row.cells.end());
      csv.header_offsets_ = row.offsets;
      for (std::size_t i = 0; i < csv.header_.size(); ++i) {
        const auto here = csv.header_.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(csv.header_.begin(), here, *here) == here) continue;
        errors.push_back(bad_input(fmt::format("column '{}' is named twice", *here)).at(csv.header_place(i)));
      }
    } else if (row.cells.size() != csv.header_.size()) {
      errors.push_back(
          bad_input(fmt::format("{} cells in a table of {} columns", row.cells.size(), csv.header_.size()))
              .at(place_in(csv.file_, all, start,
                           record.find('\n') == std::string_view::npos ? record.size() : record.find('\n'))));
    } else {
      csv.rows_.push_back(std::move(row));
    }
  }
  if (csv.header_.empty() && errors.empty()) {
    errors.push_back(bad_input("no header row: the file is empty").at(Place{csv.file_, 1, 0, 1, {}}));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return csv;
}

std::optional<std::size_t> Csv::column(std::string_view name) const {
  auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

std::string_view Csv::cell(const CsvRow& row, std::string_view name) const {
  std::optional<std::size_t> at = column(name);
  return at ? trim(row.cells[*at]) : std::string_view{};
}

Place Csv::place(const CsvRow& row, std::string_view name) const {
  std::optional<std::size_t> at = column(name);
  std::size_t length = at ? std::max<std::size_t>(1, row.cells[*at].size()) : 1;
  return place_in(file_, text(), row.offsets[at.value_or(0)], length);
}

Place Csv::header_place(std::size_t column) const {
  return place_in(file_, text(), header_offsets_[column], std::max<std::size_t>(1, header_[column].size()));
}

std::string csv_cell(std::string_view value) {
  if (value.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(value);
  std::string quoted = "\"";
  for (char c : value) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace rightsize
