#include "constant_table.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/parse_units.h"

namespace rightsize::fit {
namespace {

// "8.07us" -> 8.07 and "us".
std::pair<double, std::string> split_unit(const std::string& cell) {
  std::size_t used = 0;
  while (used < cell.size() &&
         (std::isdigit(static_cast<unsigned char>(cell[used])) != 0 || cell[used] == '.' || cell[used] == '-' ||
          cell[used] == '+' ||
          (cell[used] == 'e' && used + 1 < cell.size() && (cell[used + 1] == '-' || cell[used + 1] == '+'))))
    ++used;
  const Result<double> number = parse_number(cell.substr(0, used));
  return {number.value_or(std::nan("")), cell.substr(used)};
}

}  // namespace

std::string ConstantName::text() const {
  return kernel ? fmt::format("efficiency/{}/{}/{}", owner, row, column) : fmt::format("stacks/{}/{}", owner, row);
}

Checked<ConstantTable::Sheet> ConstantTable::read_sheet(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return fail(Errors{std::move(text).error()});
  Sheet sheet;
  for (std::size_t at = 0; at < text->size() && (*text)[at] == '#';) {
    const std::size_t end = text->find('\n', at);
    sheet.comments += text->substr(at, end - at + 1);
    at = end + 1;
  }
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(path, *std::move(text)));
  sheet.header = csv.header();
  for (const CsvRow& row : csv.rows()) sheet.rows.emplace_back(row.cells.begin(), row.cells.end());
  return sheet;
}

Checked<ConstantTable> ConstantTable::read(const std::string& folder) {
  ConstantTable table;
  RIGHTSIZE_TRY(table.efficiency_, read_sheet(folder + "/efficiency.csv"));
  RIGHTSIZE_TRY(table.stacks_, read_sheet(folder + "/stacks.csv"));
  return table;
}

std::string ConstantTable::Sheet::text(const std::vector<std::size_t>* only) const {
  std::string out;
  auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    out += '\n';
  };
  line(header);
  if (only != nullptr) {
    for (std::size_t i : *only) line(rows[i]);
  } else {
    for (const auto& row : rows) line(row);
  }
  return out;
}

std::optional<std::size_t> ConstantTable::Sheet::find(const std::string& owner, const std::string& row) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i][0] == owner && rows[i][1] == row) return i;
  }
  return std::nullopt;
}

std::size_t ConstantTable::Sheet::column(const std::string& name) const {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

std::string* ConstantTable::cell(const ConstantName& name, const std::string& column) {
  Sheet& sheet = name.kernel ? efficiency_ : stacks_;
  const auto row = sheet.find(name.owner, name.row);
  const std::size_t at = sheet.column(column);
  return row && at < sheet.header.size() ? &sheet.rows[*row][at] : nullptr;
}

std::optional<double> ConstantTable::get(const ConstantName& name) const {
  const std::string* found = const_cast<ConstantTable*>(this)->cell(name, name.column);
  if (found == nullptr) return std::nullopt;
  return found->empty() ? 0.0 : split_unit(*found).first;
}

void ConstantTable::set(const ConstantName& name, double value) {
  if (std::string* found = cell(name, name.column)) *found = fmt::format("{:.6g}", value) + split_unit(*found).second;
}

void ConstantTable::set_how(const ConstantName& name, const std::string& how) {
  if (std::string* found = cell(name, "how")) *found = how;
}

std::vector<std::string> ConstantTable::gpus_with(const std::string& kernel) const {
  std::vector<std::string> gpus;
  for (const auto& row : efficiency_.rows) {
    if (row[1] == kernel) gpus.push_back(row[0]);
  }
  return gpus;
}

void ConstantTable::remove_gpu(const std::string& gpu) {
  std::erase_if(efficiency_.rows, [&](const auto& row) {
    return row[0] == gpu || row[efficiency_.column("like")] == gpu;  // a GPU with the same chip would give it away
  });
}

Checked<perf::Constants> ConstantTable::constants() const {
  return perf::with_rows({}, efficiency_.text(), stacks_.text());
}

Checked<perf::Constants> ConstantTable::constants(const perf::Constants& base,
                                                  const std::vector<ConstantName>& changed) const {
  std::vector<std::size_t> kernels, habits;
  for (const ConstantName& name : changed) {
    const auto row = (name.kernel ? efficiency_ : stacks_).find(name.owner, name.row);
    std::vector<std::size_t>& list = name.kernel ? kernels : habits;
    if (row && std::find(list.begin(), list.end(), *row) == list.end()) list.push_back(*row);
  }
  return perf::with_rows(base, kernels.empty() ? "" : efficiency_.text(&kernels),
                         habits.empty() ? "" : stacks_.text(&habits));
}

Result<> ConstantTable::write(const std::string& folder) const {
  for (const auto& [sheet, name] : {std::pair{&efficiency_, "/efficiency.csv"}, {&stacks_, "/stacks.csv"}}) {
    std::ofstream out(folder + name);
    out << sheet->comments << sheet->text();
    if (!out) return fail(unreadable("cannot write " + folder + name));
  }
  return {};
}

}  // namespace rightsize::fit
