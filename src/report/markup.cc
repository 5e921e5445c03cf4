// For documents and browsers.
#include <string>

#include "report/renderers.h"

namespace rightsize::report {
namespace {

// Line ends of a paragraph, kept.
std::string with_breaks(const std::string& html) {
  std::string out;
  for (char c : html) out += c == '\n' ? std::string("<br>\n") : std::string(1, c);
  return out;
}

std::string markdown_table(const Table& table) {
  std::string out = "|", rule = "|";
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
  constexpr std::size_t kSentence = 40;  // longer cells may break over lines, shorter ones never at their hyphens
  auto open = [](const char* tag, Align align, const std::string& text) {
    const char* kind = align == Align::kRight ? " class=\"n\">" : text.size() > kSentence ? " class=\"w\">" : ">";
    return std::string("<") + tag + kind;
  };
  std::string out = "<table>\n<thead><tr>";
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

// One block of a document, whatever its kind.
struct BlockMarkdown {
  std::string operator()(const Paragraph& paragraph) const { return paragraph.text + '\n'; }
  std::string operator()(const Heading& heading) const { return "## " + heading.text + '\n'; }
  std::string operator()(const Table& table) const { return title(table) + markdown_table(table); }
  std::string operator()(const StackedBar& bar) const { return title(bar) + markdown_stacked_bar(bar); }
  std::string operator()(const Bars& bars) const { return title(bars) + markdown_bars(bars); }
  std::string operator()(const LineChart& chart) const { return title(chart) + markdown_line_chart(chart); }
  std::string operator()(const Verbatim& verbatim) const { return title(verbatim) + "```\n" + verbatim.text + "```\n"; }
  std::string operator()(const Lanes& lanes) const { return title(lanes) + markdown_lanes(lanes); }

 private:
  template <class Titled>
  std::string title(const Titled& block) const {
    return block.title.empty() ? "" : "## " + block.title + "\n\n";
  }
};

// One block of a page.
struct BlockHtml {
  std::string operator()(const Paragraph& paragraph) const {
    return "<p>" + with_breaks(escape_html(paragraph.text)) + "</p>\n";
  }
  std::string operator()(const Heading& heading) const { return "<h2>" + escape_html(heading.text) + "</h2>\n"; }
  std::string operator()(const Table& table) const { return title(table) + html_table(table); }
  std::string operator()(const StackedBar& bar) const {
    const std::string drawn = svg_stacked_bar(bar);
    return drawn.empty() ? drawn : title(bar) + drawn;
  }
  std::string operator()(const Bars& bars) const { return title(bars) + svg_bars(bars); }
  std::string operator()(const LineChart& chart) const { return title(chart) + svg_line_chart(chart); }
  std::string operator()(const Verbatim& verbatim) const {
    return title(verbatim) + "<pre>" + escape_html(verbatim.text) + "</pre>\n";
  }
  std::string operator()(const Lanes& lanes) const { return title(lanes) + svg_lanes(lanes); }

 private:
  template <class Titled>
  std::string title(const Titled& block) const {
    return block.title.empty() ? "" : "<h2>" + escape_html(block.title) + "</h2>\n";
  }
};

}  // namespace

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

std::string render_markdown(const Report& report) {
  std::string out = report.title.empty() ? "" : "# " + report.title + "\n";
  for (const Block& block : report.record.empty() ? report.blocks : report.record) {
    if (!out.empty()) out += '\n';
    out += std::visit(BlockMarkdown{}, block);
  }
  return out;
}

std::string render_html(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      escape_html(report.title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body>\n<h1>" +
      escape_html(report.title) + "</h1>\n";
  for (const Block& block : report.blocks) out += std::visit(BlockHtml{}, block);
  for (const Block& block : report.pictures) out += std::visit(BlockHtml{}, block);
  return out + "</body>\n</html>\n";
}

}  // namespace rightsize::report
