// A table of facts: the built-in file and the user's overlay, merged row by row before cells are parsed.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/csv.h"
#include "catalog/catalog.h"

namespace rightsize::catalog {

// The columns of a file.
struct FactSchema {
  // Comma-separated lists: all columns; those that identify a row, which every file needs; those that an overlay row
  // never inherits from the row it replaces; those that are part of the identity if present, such as a zone.
  FactSchema(std::string_view all, std::string_view identity, std::string_view never = {}, std::string_view also = {});
  FactSchema(std::vector<std::string> all, std::vector<std::string> identity, std::vector<std::string> never)
      : columns(std::move(all)), key(std::move(identity)), own(std::move(never)) {}
  std::vector<std::string> columns, key, own, part;
};

// One merged row: the overlay's cell if the overlay file has that column, otherwise the built-in one.
class FactRow {
 public:
  FactRow(const Csv& csv, const CsvRow& row, bool overlay) : csv_(&csv), row_(&row), overlay_(overlay) {}

  std::string_view cell(std::string_view column) const;
  Place place(std::string_view column) const;
  const std::string& file() const { return csv_->file(); }
  int line() const { return row_->line; }
  bool from_overlay() const { return overlay_; }
  // From now on, columns that this row's file lacks come from `built_in`, except the schema's `own` ones.
  void inherit(const FactRow& built_in, const FactSchema& schema);

 private:
  const Csv* csv_;
  const CsvRow* row_;
  bool inherits(std::string_view column) const;

  const Csv* inherited_csv_ = nullptr;
  const CsvRow* inherited_row_ = nullptr;
  const FactSchema* schema_ = nullptr;
  bool overlay_;
};

// Reads the files of one kind and merges them. Mistakes go to `errors`.
class FactTable {
 public:
  FactTable(const FactSchema& schema, Errors& errors) : schema_(schema), errors_(errors) {}

  // Adds a file. Rows of an overlay replace rows with the same key; a duplicate key inside one file is a mistake.
  void add(const std::string& file, std::string text, bool overlay);

  const std::vector<FactRow>& rows() const { return rows_; }

 private:
  void check_header(const Csv& csv);

  const FactSchema& schema_;
  Errors& errors_;
  std::deque<Csv> files_;  // rows point into these
  std::vector<FactRow> rows_;
  std::unordered_map<std::string, std::size_t> row_of_key_;
};

// Parses the cells of one row, collecting every mistake with its place.
class FactReader {
 public:
  FactReader(const FactRow& row, Errors& errors) : row_(row), errors_(errors) {}

  std::string text(std::string_view column) const { return std::string(row_.cell(column)); }
  std::string required_text(std::string_view column);
  // One of a few words; the first one is used after a mistake.
  std::string choice(std::string_view column, const std::vector<std::string>& words);
  std::vector<std::string> list(std::string_view column) const;
  std::optional<int> integer(std::string_view column, int least, int most);
  int required_integer(std::string_view column, int least, int most);
  std::optional<Date> date(std::string_view column);

  // A quantity between two bounds; empty if the cell is blank or wrong.
  template <class Q>
  std::optional<Q> quantity(std::string_view column, Result<Q> (*parse)(std::string_view), Q least, Q most,
                            std::string (*show)(Q)) {
    std::string_view cell = row_.cell(column);
    if (cell.empty()) return std::nullopt;
    Result<Q> value = parse(cell);
    if (!value) {
      mistake(column, std::move(value).error());
      return std::nullopt;
    }
    if (*value < least || *value > most) {
      mistake(column, bad_input(std::string(column) + " of " + show(*value) + " is not between " + show(least) +
                                " and " + show(most)));
      return std::nullopt;
    }
    return *value;
  }
  template <class Q>
  Q required_quantity(std::string_view column, Result<Q> (*parse)(std::string_view), Q least, Q most,
                      std::string (*show)(Q)) {
    if (row_.cell(column).empty()) missing(column);
    return quantity(column, parse, least, most, show).value_or(Q{});
  }

  Provenance provenance();
  void mistake(std::string_view column, Error error);
  void missing(std::string_view column);

 private:
  const FactRow& row_;
  Errors& errors_;
};

}  // namespace rightsize::catalog
