#include "base/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize {
namespace {

// Reads the cells of one record from `pos`; leaves `pos` after its line end. False when a quote is never closed.
bool read_record(std::string_view text, std::size_t& pos, CsvRow& row, std::vector<std::vector<char>>& unescaped) {
  while (true) {
    row.offsets.push_back(pos);
    std::size_t begin = pos;
    if (pos < text.size() && text[pos] == '"') {
      bool doubled = false;
      std::size_t end = pos + 1;
      while (true) {
        end = text.find('"', end);
        if (end == std::string_view::npos) return false;
        if (end + 1 < text.size() && text[end + 1] == '"') {
          doubled = true;
          end += 2;
        } else {
          break;
        }
      }
      std::string_view inside = text.substr(begin + 1, end - begin - 1);
      if (doubled) {
        std::vector<char>& copy = unescaped.emplace_back();
        copy.reserve(inside.size());
        for (std::size_t i = 0; i < inside.size(); ++i) {
          copy.push_back(inside[i]);
          if (inside[i] == '"') ++i;
        }
        inside = {copy.data(), copy.size()};
      }
      row.cells.push_back(inside);
      pos = text.find_first_of(",\n", end + 1);  // anything between the closing quote and the separator is ignored
    } else {
      pos = text.find_first_of(",\n", begin);
      row.cells.push_back(trim(text.substr(begin, pos == std::string_view::npos ? pos : pos - begin)));
    }
    if (pos == std::string_view::npos) {
      pos = text.size();
      return true;
    }
    if (text[pos++] == '\n') return true;
  }
}

bool is_blank(std::string_view line) { return trim(line).empty(); }

}  // namespace

Checked<Csv> Csv::parse(std::string file, std::string text) {
  Csv csv;
  csv.file_ = std::move(file);
  csv.text_.assign(text.begin(), text.end());
  std::string_view all = csv.text();
  std::size_t pos = all.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  int line = 1;
  bool have_header = false;
  Errors errors;

  while (pos < all.size()) {
    std::size_t end = std::min(all.find('\n', pos), all.size());
    std::string_view this_line = all.substr(pos, end - pos);
    if (is_blank(this_line) || (!have_header && this_line.starts_with('#'))) {
      pos = end + 1;
      ++line;
      continue;
    }
    CsvRow row;
    row.line = line;
    row.cells.reserve(csv.header_.size());
    row.offsets.reserve(csv.header_.size());
    const std::size_t start = pos;
    if (!read_record(all, pos, row, csv.unescaped_)) {
      errors.push_back(bad_input("this quote is never closed")
                           .at(place_in(csv.file_, all, row.offsets.back()))
                           .with_hint("a quote inside a quoted cell is written twice"));
      break;
    }
    line += static_cast<int>(std::count(all.begin() + static_cast<std::ptrdiff_t>(start),
                                        all.begin() + static_cast<std::ptrdiff_t>(pos), '\n'));
    if (!have_header) {
      have_header = true;
      csv.header_.assign(row.cells.begin(), row.cells.end());
      csv.header_offsets_ = row.offsets;
      for (std::size_t i = 0; i < csv.header_.size(); ++i) {
        if (std::find(csv.header_.begin(), csv.header_.begin() + static_cast<std::ptrdiff_t>(i), csv.header_[i]) !=
            csv.header_.begin() + static_cast<std::ptrdiff_t>(i)) {
          errors.push_back(
              bad_input(fmt::format("column '{}' is named twice", csv.header_[i])).at(csv.header_place(i)));
        }
      }
    } else if (row.cells.size() != csv.header_.size()) {
      errors.push_back(bad_input(fmt::format("{} cells in a table of {} columns", row.cells.size(), csv.header_.size()))
                           .at(place_in(csv.file_, all, start, end - start)));
    } else {
      csv.rows_.push_back(std::move(row));
    }
  }
  if (!have_header && errors.empty()) {
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
