#include "catalog/fact_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {

namespace {

std::vector<std::string> names_in(std::string_view list) {
  const std::vector<std::string_view> names = split_list(list, ',');
  return {names.begin(), names.end()};
}

}  // namespace

FactSchema::FactSchema(std::string_view all, std::string_view identity, std::string_view never, std::string_view also)
    : columns(names_in(all)), key(names_in(identity)), own(names_in(never)), part(names_in(also)) {}

void FactRow::inherit(const FactRow& built_in, const FactSchema& schema) {
  inherited_csv_ = built_in.csv_;
  inherited_row_ = built_in.row_;
  schema_ = &schema;
}

bool FactRow::inherits(std::string_view column) const {
  return inherited_csv_ != nullptr && !csv_->column(column) &&
         std::ranges::find(schema_->own, column) == schema_->own.end();
}

std::string_view FactRow::cell(std::string_view column) const {
  return inherits(column) ? inherited_csv_->cell(*inherited_row_, column) : csv_->cell(*row_, column);
}

Place FactRow::place(std::string_view column) const {
  return inherits(column) ? inherited_csv_->place(*inherited_row_, column) : csv_->place(*row_, column);
}

void FactTable::check_header(const Csv& csv) {
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string& name = csv.header()[i];
    if (std::ranges::find(schema_.columns, name) != schema_.columns.end()) continue;
    errors_.push_back(bad_input(fmt::format("unknown column '{}'", name))
                          .at(csv.header_place(i))
                          .with_hint(did_you_mean(name, schema_.columns))
                          .with_hint(fmt::format("columns are {}", fmt::join(schema_.columns, ", "))));
  }
  for (const std::string& name : schema_.key) {
    if (csv.column(name)) continue;
    errors_.push_back(bad_input(fmt::format("column '{}' is missing", name)).at(csv.header_place(0)));
  }
}

void FactTable::add(const std::string& file, std::string text, bool overlay) {
  Checked<Csv> parsed = Csv::parse(file, std::move(text));
  if (!parsed) {
    errors_.insert(errors_.end(), parsed.error().begin(), parsed.error().end());
    return;
  }
  const std::size_t mistakes_before = errors_.size();
  check_header(*parsed);
  if (errors_.size() != mistakes_before) return;

  const Csv& csv = files_.emplace_back(*std::move(parsed));
  const std::size_t already = rows_.size();
  for (const CsvRow& row : csv.rows()) {
    FactRow fact(csv, row, overlay);
    std::string key;
    for (const std::string& column : schema_.key) (key += fact.cell(column)) += '\n';
    for (const std::string& column : schema_.part) (key += fact.cell(column)) += '\n';
    auto [at, is_new] = row_of_key_.emplace(std::move(key), rows_.size());
    if (is_new) {
      rows_.push_back(fact);
    } else if (FactRow& other = rows_[at->second]; at->second < already && overlay) {
      fact.inherit(other, schema_);
      other = fact;
    } else {
      errors_.push_back(
          bad_input(fmt::format("the same {} is in line {} already", fmt::join(schema_.key, " and "), other.line()))
              .at(fact.place(schema_.key[0])));
    }
  }
}

void FactReader::mistake(std::string_view column, Error error) {
  errors_.push_back(std::move(error).at(row_.place(column)));
}

void FactReader::missing(std::string_view column) {
  mistake(column, bad_input(fmt::format("'{}' is missing", column)));
}

std::string FactReader::required_text(std::string_view column) {
  std::string value = text(column);
  if (value.empty()) missing(column);
  return value;
}

std::string FactReader::choice(std::string_view column, const std::vector<std::string>& words) {
  std::string value = required_text(column);
  if (!value.empty() && std::ranges::find(words, value) == words.end()) {
    mistake(column, bad_input(fmt::format("'{}' is not a known {}", value, column))
                        .with_hint(did_you_mean(value, words))
                        .with_hint(words.size() > 30 ? "" : fmt::format("known: {}", fmt::join(words, ", "))));
  }
  return value;
}

std::vector<std::string> FactReader::list(std::string_view column) const {
  std::vector<std::string> items;
  for (std::string_view item : split_list(row_.cell(column), '|')) items.emplace_back(item);
  return items;
}

std::optional<int> FactReader::integer(std::string_view column, int least, int most) {
  std::string_view cell = row_.cell(column);
  if (cell.empty()) return std::nullopt;
  Result<std::int64_t> value = parse_integer(cell);
  if (!value) {
    mistake(column, std::move(value).error());
    return std::nullopt;
  }
  if (*value < least || *value > most) {
    mistake(column, bad_input(fmt::format("{} of {} is not between {} and {}", column, *value, least, most)));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

int FactReader::required_integer(std::string_view column, int least, int most) {
  if (row_.cell(column).empty()) missing(column);
  return integer(column, least, most).value_or(least);
}

std::optional<Date> FactReader::date(std::string_view column) {
  if (row_.cell(column).empty()) return std::nullopt;
  Result<Date> value = parse_date(row_.cell(column));
  if (!value) {
    mistake(column, std::move(value).error());
    return std::nullopt;
  }
  return *value;
}

Provenance FactReader::provenance() {
  Provenance provenance;
  provenance.sources = list("source");
  provenance.date = date("date");
  provenance.unverified = list("unverified");
  provenance.note = text("note");
  provenance.file = row_.file();
  provenance.line = row_.line();
  // The user's rows need no source; ours must have one.
  if (!row_.from_overlay()) {
    if (provenance.sources.empty()) missing("source");
    if (!provenance.date) missing("date");
  }
  return provenance;
}

}  // namespace rightsize::catalog
