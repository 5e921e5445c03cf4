#include "rightsize/typed/aliases.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {

std::span<const NameRow> names_of(std::string_view kind) {
  static const Csv kTable = *Csv::parse("data/other_names.csv", std::string(embedded_file("other_names.csv")));
  static const auto kRows = [] {
    std::map<std::string_view, std::vector<NameRow>> rows;
    for (const CsvRow& row : kTable.rows()) rows[row.cells[0]].push_back({row.cells[1], row.cells[2], row.cells[3]});
    return rows;
  }();
  const auto found = kRows.find(kind);
  return found == kRows.end() ? std::span<const NameRow>() : found->second;
}

const NameRow* row_of(std::string_view kind, std::string_view name) {
  const std::span<const NameRow> rows = names_of(kind);
  const auto found = std::ranges::find_if(rows, [&](const NameRow& row) { return lists_word(row.names, name); });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view listed(std::string_view name) {
  const std::span<const NameRow> rows = names_of("list");
  const auto row = std::ranges::find(rows, name, &NameRow::meant);
  return row == rows.end() ? std::string_view() : row->names;
}

std::string meant_value(std::string_view flag, const std::string& typed) {
  const std::string folded = fold_name(typed);
  for (const NameRow& row : names_of("value")) {
    if (!lists_word(row.names, flag)) continue;
    for (const std::string_view pair : split_list(row.meant, ' ')) {
      const std::size_t equals = pair.find('=');
      if (pair.substr(0, equals) == folded) return std::string(pair.substr(equals + 1));
    }
  }
  return flag == "--format" ? to_lower(typed) : typed;
}

}  // namespace rightsize::app
