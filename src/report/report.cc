#include "report/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "report/renderers.h"

namespace rightsize::report {

std::string exact_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string{}; }

Json json_number(double value) {
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53: beyond it, a double cannot represent every whole number
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::fabs(value) < kExactBelow) return static_cast<std::int64_t>(value);
  return value;
}

Cell text_cell(std::string_view text) { return {std::string(text), std::string(text)}; }
Cell number_cell(std::string shown, double exact) { return {std::move(shown), exact_number(exact)}; }
Cell unknown_cell() { return {"-", ""}; }

Result<Format> parse_format(std::string_view name) {
  static const std::vector<std::string> kNames{"text", "json", "csv", "md", "html"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Format>(i);
  }
  return fail(bad_input(fmt::format("unknown format '{}'", name))
                  .with_hint(did_you_mean(name, kNames))
                  .with_hint(fmt::format("formats are {}", fmt::join(kNames, ", "))));
}

namespace {

// Spreadsheets execute a cell that begins like a formula, and names in input files may.
std::string safe_cell(const std::string& exact) {
  const bool formula = !exact.empty() && std::string_view("=+-@\t\r").find(exact.front()) != std::string_view::npos;
  return csv_cell(formula && exact != "-" && !parse_number(exact) ? "'" + exact : exact);
}

void add_line(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + safe_cell(cells[i]);
  out += '\n';
}

std::string cell_of(const Json& value) {
  if (const std::string* text = value.text()) return *text;
  const std::string written = value.dump();
  return written == "null" ? "" : written;
}

bool is_list_of_objects(const Json& value) {
  const Json::Array* items = value.items();
  return items != nullptr && !items->empty() &&
         items->front().visit([]<class T>(const T&) { return std::is_same_v<T, Json::Object>; });
}

// The single values of an object, those inside other objects as a.b. Lists are left out.
void add_values(const Json& object, const std::string& prefix, std::vector<std::pair<std::string, std::string>>& all) {
  object.visit([&]<class T>(const T& members) {
    if constexpr (std::is_same_v<T, Json::Object>) {
      for (const auto& [name, value] : members) {
        const bool is_object = value.visit([]<class V>(const V&) { return std::is_same_v<V, Json::Object>; });
        if (is_object)
          add_values(value, prefix + name + ".", all);
        else if (value.items() == nullptr)
          all.emplace_back(prefix + name, cell_of(value));
      }
    }
  });
}

// Rows with the columns of all of them.
void add_table(std::string& out, const std::vector<const Json*>& objects) {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  std::vector<std::string> columns;
  for (const Json* object : objects) {
    add_values(*object, "", rows.emplace_back());
    for (const auto& [name, value] : rows.back()) {
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
    }
  }
  if (columns.empty()) return;
  if (!out.empty()) out += '\n';
  add_line(out, columns);
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto found = std::ranges::find_if(row, [&](const auto& one) { return one.first == column; });
      cells.push_back(found == row.end() ? "" : found->second);
    }
    add_line(out, cells);
  }
}

// For a report that shows no table: the values of its document, then each of its lists.
std::string document_as_csv(const Json& document) {
  std::string out;
  add_table(out, {&document});
  document.visit([&]<class T>(const T& members) {
    if constexpr (std::is_same_v<T, Json::Object>) {
      for (const auto& [name, value] : members) {
        if (!is_list_of_objects(value)) continue;
        std::vector<const Json*> objects;
        for (const Json& item : *value.items()) objects.push_back(&item);
        add_table(out, objects);
      }
    }
  });
  return out;
}

}  // namespace

std::string render_csv(const Report& report) {
  std::string out;
  for (const Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    if (!out.empty()) out += '\n';
    std::vector<std::string> names;
    for (const auto& column : table->columns) names.push_back(column.name);
    add_line(out, names);
    table->for_each_row([&out](const std::vector<Cell>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : ",") + safe_cell(row[i].exact);
      out += '\n';
    });
  }
  return out.empty() ? report.with_document(document_as_csv) : out;
}

std::string render(const Report& report, Format format, const Style& style) {
  switch (format) {
    case Format::kText:
      return render_text(report, style);
    case Format::kJson:
      return report.with_document([](const Json& document) { return document.dump() + '\n'; });
    case Format::kCsv:
      return render_csv(report);
    case Format::kMarkdown:
      return render_markdown(report);
    case Format::kHtml:
      return render_html(report);
  }
  return {};
}

}  // namespace rightsize::report
