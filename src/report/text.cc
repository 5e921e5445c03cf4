// For the terminal: aligned columns, wrapped sentences.
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/format.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

std::string bold(const std::string& text, const Style& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

// Breaks at spaces so that no line is longer than the width, unless a word is; lines keep the paragraph's indent.
std::string wrap(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    std::size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    const std::string indent(std::min(line.find_first_not_of(' '), line.size()), ' ');
    std::size_t column = indent.size();
    out += indent;
    bool first = true;
    for (std::string_view word : split_list(line, ' ')) {
      std::size_t size = display_width(word);
      if (!first && column + 1 + size > width) {
        out += '\n' + indent;
        column = indent.size();
        first = true;
      }
      if (!first) out += ' ', ++column;
      out += word;
      column += size;
      first = false;
    }
    out += '\n';
  }
  return out;
}

std::string padded(const std::string& text, std::size_t width, Align align, bool last) {
  std::size_t have = display_width(text);
  std::string space(width > have ? width - have : 0, ' ');
  if (align == Align::kRight) return space + text;
  return last ? text : text + space;
}

std::string render_table(const Table& table, const Style& style) {
  const bool all = table.most_shown == 0 || table.rows.size() <= table.most_shown;
  const std::span shown(table.rows.data(), all ? table.rows.size() : table.most_shown);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = display_width(table.columns[i].title);
    for (const auto& row : shown) width = std::max(width, display_width(row[i].shown));
    widths.push_back(width);
  }
  std::string out = table.title.empty() ? "" : bold(table.title, style) + '\n';
  std::string header;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    header += (i == 0 ? "" : "  ") +
              padded(table.columns[i].title, widths[i], table.columns[i].align, i + 1 == widths.size());
  }
  out += bold(header, style) + '\n';
  for (const auto& row : shown) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += (i == 0 ? "" : "  ") + padded(row[i].shown, widths[i], table.columns[i].align, i + 1 == row.size());
    }
    out += '\n';
  }
  if (shown.size() < table.rows.size()) {
    out += "... and " + format_count(static_cast<double>(table.rows.size() - shown.size())) + " more\n";
  }
  return out;
}

// One row a segment, each beginning where the last ended, over a ruler with the lines.
std::string render_bar(const StackedBar& bar, const Style& style) {
  double total = 0;
  std::size_t label_width = 0, shown_width = 0;
  for (const StackedBar::Segment& segment : bar.segments) {
    total += segment.value;
    label_width = std::max(label_width, display_width(segment.label));
    shown_width = std::max(shown_width, display_width(segment.shown));
  }
  double scale_end = total;
  for (const StackedBar::Line& line : bar.lines) scale_end = std::max(scale_end, line.value);
  const std::size_t left = label_width + shown_width + 4;
  const double room = static_cast<double>(style.width > left + 20 ? style.width - left - 2 : 20);
  if (!(scale_end > 0)) return {};
  auto column = [&](double value) { return static_cast<std::size_t>(std::lround(value / scale_end * room)); };

  std::string out = bar.title.empty() ? "" : bold(bar.title, style) + '\n';
  double begin = 0;
  for (const StackedBar::Segment& segment : bar.segments) {
    const std::size_t from = column(begin), to = std::max(column(begin + segment.value), from + 1);
    out += padded(segment.label, label_width, Align::kLeft, false) + "  " +
           padded(segment.shown, shown_width, Align::kRight, false) + "  " + std::string(from, ' ');
    for (std::size_t i = from; i < to; ++i) out += "█";
    out += '\n';
    begin += segment.value;
  }
  std::string ruler(static_cast<std::size_t>(room) + 1, ' ');
  std::vector<std::string> names;  // written in as many rows as they need
  for (const StackedBar::Line& line : bar.lines) {
    const std::size_t at = column(line.value);
    ruler[at] = '|';
    const std::size_t width = display_width(line.label);
    const std::size_t start = at + 1 >= width ? at + 1 - width : 0;
    auto fits = [&](const std::string& row) { return row.empty() || row.size() + 2 <= start; };
    auto row = std::find_if(names.begin(), names.end(), fits);
    if (row == names.end()) row = names.insert(names.end(), "");
    *row += std::string(start - row->size(), ' ') + line.label;
  }
  if (!bar.lines.empty()) out += std::string(left, ' ') + ruler + '\n';
  for (const std::string& row : names) out += std::string(left, ' ') + row + '\n';
  return out;
}

}  // namespace

std::string render_text(const Report& report, const Style& style) {
  std::string out = report.title.empty() ? "" : bold(report.title, style) + '\n';
  for (const Block& block : report.blocks) {
    if (!out.empty()) out += '\n';
    if (const Table* table = std::get_if<Table>(&block)) {
      out += render_table(*table, style);
    } else if (const StackedBar* bar = std::get_if<StackedBar>(&block)) {
      out += render_bar(*bar, style);
    } else if (const LineChart* chart = std::get_if<LineChart>(&block)) {
      out += (chart->title.empty() ? "" : bold(chart->title, style) + '\n') + text_line_chart(*chart, style.width);
    } else if (const Lanes* lanes = std::get_if<Lanes>(&block)) {
      out += (lanes->title.empty() ? "" : bold(lanes->title, style) + '\n') + text_lanes(*lanes, style.width);
    } else if (const Verbatim* verbatim = std::get_if<Verbatim>(&block)) {
      out += (verbatim->title.empty() ? "" : bold(verbatim->title, style) + '\n') + verbatim->text;
    } else {
      out += wrap(std::get<Paragraph>(block).text, style.width);
    }
  }
  return out;
}

}  // namespace rightsize::report
