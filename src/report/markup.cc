// For documents and browsers.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report/renderers.h"

namespace rightsize::report {
namespace {

std::string escape_markdown(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '`') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string escape_html(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Line ends of a paragraph, kept.
std::string with_breaks(const std::string& html) {
  std::string out;
  for (char c : html) out += c == '\n' ? std::string("<br>\n") : std::string(1, c);
  return out;
}

std::string markdown_table(const Table& table) {
  std::string out = table.title.empty() ? "" : "## " + table.title + "\n\n";
  std::string rule = "|";
  out += "|";
  for (const Column& column : table.columns) {
    out += " " + escape_markdown(column.title) + " |";
    rule += column.align == Align::kRight ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const Cell& cell : row) out += " " + escape_markdown(cell.shown) + " |";
    out += "\n";
  }
  return out;
}

std::string html_table(const Table& table) {
  std::string out = table.title.empty() ? "" : "<h2>" + escape_html(table.title) + "</h2>\n";
  constexpr std::size_t kSentence = 40;  // longer cells may break over lines, shorter ones never at their hyphens
  auto open = [](const char* tag, Align align, const std::string& text) {
    const char* kind = align == Align::kRight ? " class=\"n\">" : text.size() > kSentence ? " class=\"w\">" : ">";
    return std::string("<") + tag + kind;
  };
  out += "<table>\n<thead><tr>";
  for (const Column& column : table.columns)
    out += open("th", column.align, column.title) + escape_html(column.title) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += open("td", table.columns[i].align, row[i].shown) + escape_html(row[i].shown) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

// A markdown reader sees the same parts as a list.
std::string markdown_bar(const StackedBar& bar) {
  std::string out = bar.title.empty() ? "" : "## " + bar.title + "\n\n";
  for (const StackedBar::Segment& segment : bar.segments) {
    out += "- " + escape_markdown(segment.label) + ": " + escape_markdown(segment.shown) + "\n";
  }
  return out;
}

// One horizontal bar with its lines, and a legend under it.
std::string svg_bar(const StackedBar& bar) {
  static constexpr const char* kColours[] = {"#2f6db5", "#e0823d", "#3d9a5f", "#b5483a",
                                             "#7d5fb2", "#8a6d4f", "#c76aa8", "#7a7f87"};
  constexpr double kWidth = 960, kBarTop = 60, kBarHeight = 44;
  double end = 0;
  for (const StackedBar::Segment& segment : bar.segments) end += segment.value;
  for (const StackedBar::Line& line : bar.lines) end = std::max(end, line.value);
  if (!(end > 0)) return {};
  const double scale = (kWidth - 20) / (end * 1.02);
  std::string shapes, legend;
  double at = 10;
  for (std::size_t i = 0; i < bar.segments.size(); ++i) {
    const StackedBar::Segment& segment = bar.segments[i];
    const char* colour = kColours[i % std::size(kColours)];
    const std::string name = escape_html(segment.label + " " + segment.shown);
    shapes +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
                    at, kBarTop, segment.value * scale, kBarHeight, colour, name);
    legend += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>\n", colour, name);
    at += segment.value * scale;
  }
  double row = 0;
  for (const StackedBar::Line& line : bar.lines) {  // labels in three rows so that near ones stay readable
    const double x = 10 + line.value * scale;
    shapes += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\" stroke-dasharray=\"3 3\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"{5}\" font-size=\"12\" fill=\"currentColor\">{4}</text>\n",
        x, 16 + 14 * row, kBarTop + kBarHeight + 8, 13 + 14 * row, escape_html(line.label),
        x > kWidth / 2 ? "end" : "start");
    row = row == 2 ? 0 : row + 1;
  }
  return (bar.title.empty() ? "" : "<h2>" + escape_html(bar.title) + "</h2>\n") +
         fmt::format("<svg viewBox=\"0 0 {} {}\" width=\"100%\" role=\"img\" font-family=\"system-ui,sans-serif\">\n",
                     kWidth, kBarTop + kBarHeight + 14) +
         shapes + "</svg>\n<p>" + legend + "</p>\n";
}

constexpr const char* kPageStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid "
    "#d8dee4;text-align:left;white-space:nowrap}td.w{white-space:normal}"
    "th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".key{margin-right:1.2rem;white-space:nowrap}.key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}"
    "thead th{border-bottom:2px solid #8c959f}tbody tr:hover{background:#f6f8fa}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td{border-color:#30363d}"
    "tbody tr:hover{background:#161b22}}";

}  // namespace

std::string render_markdown(const Report& report) {
  std::string out = report.title.empty() ? "" : "# " + report.title + "\n";
  for (const Block& block : report.blocks) {
    if (!out.empty()) out += '\n';
    if (const Table* table = std::get_if<Table>(&block)) {
      out += markdown_table(*table);
    } else if (const StackedBar* bar = std::get_if<StackedBar>(&block)) {
      out += markdown_bar(*bar);
    } else if (const LineChart* chart = std::get_if<LineChart>(&block)) {
      out += (chart->title.empty() ? "" : "## " + chart->title + "\n\n") + markdown_line_chart(*chart);
    } else if (const Lanes* lanes = std::get_if<Lanes>(&block)) {
      out += (lanes->title.empty() ? "" : "## " + lanes->title + "\n\n") + markdown_lanes(*lanes);
    } else if (const Verbatim* verbatim = std::get_if<Verbatim>(&block)) {
      out += (verbatim->title.empty() ? "" : "## " + verbatim->title + "\n\n") + "```\n" + verbatim->text + "```\n";
    } else {
      out += std::get<Paragraph>(block).text + '\n';
    }
  }
  return out;
}

std::string render_html(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      escape_html(report.title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body>\n<h1>" +
      escape_html(report.title) + "</h1>\n";
  for (const Block& block : report.blocks) {
    if (const Table* table = std::get_if<Table>(&block)) {
      out += html_table(*table);
    } else if (const StackedBar* bar = std::get_if<StackedBar>(&block)) {
      out += svg_bar(*bar);
    } else if (const LineChart* chart = std::get_if<LineChart>(&block)) {
      out += (chart->title.empty() ? "" : "<h2>" + escape_html(chart->title) + "</h2>\n") + svg_line_chart(*chart);
    } else if (const Lanes* lanes = std::get_if<Lanes>(&block)) {
      out += (lanes->title.empty() ? "" : "<h2>" + escape_html(lanes->title) + "</h2>\n") + svg_lanes(*lanes);
    } else if (const Verbatim* verbatim = std::get_if<Verbatim>(&block)) {
      out += (verbatim->title.empty() ? "" : "<h2>" + escape_html(verbatim->title) + "</h2>\n") + "<pre>" +
             escape_html(verbatim->text) + "</pre>\n";
    } else {
      out += "<p>" + with_breaks(escape_html(std::get<Paragraph>(block).text)) + "</p>\n";
    }
  }
  return out + "</body>\n</html>\n";
}

}  // namespace rightsize::report
