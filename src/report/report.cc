#include "report/report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/suggest.h"
#include "report/renderers.h"

namespace rightsize::report {

std::string exact_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string{}; }

Json json_number(double value) {
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53: beyond it a double is no longer every whole number
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

std::string render_csv(const Report& report) {
  std::string out;
  for (const Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    if (!out.empty()) out += '\n';
    for (std::size_t i = 0; i < table->columns.size(); ++i) {
      out += (i == 0 ? "" : ",") + csv_cell(table->columns[i].name);
    }
    out += '\n';
    table->for_each_row([&out](const std::vector<Cell>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(row[i].exact);
      out += '\n';
    });
  }
  return out;
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
