// For documents and browsers.
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
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
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
  auto open = [](const char* tag, Align align) {
    return std::string("<") + tag + (align == Align::kRight ? " class=\"n\">" : ">");
  };
  out += "<table>\n<thead><tr>";
  for (const Column& column : table.columns) out += open("th", column.align) + escape_html(column.title) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += open("td", table.columns[i].align) + escape_html(row[i].shown) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

constexpr const char* kPageStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid #d8dee4;text-align:left}"
    "th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}"
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
    } else {
      out += std::get<Paragraph>(block).text + '\n';
    }
  }
  return out;
}

std::string render_html(const Report& report) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
                    escape_html(report.title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body>\n<h1>" +
                    escape_html(report.title) + "</h1>\n";
  for (const Block& block : report.blocks) {
    if (const Table* table = std::get_if<Table>(&block)) {
      out += html_table(*table);
    } else {
      out += "<p>" + escape_html(std::get<Paragraph>(block).text) + "</p>\n";
    }
  }
  return out + "</body>\n</html>\n";
}

}  // namespace rightsize::report
