// Markdown and HTML.
#include <string>

#include <fmt/format.h>

#include "base/embedded.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

// Keeps the line breaks of a paragraph.
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
  table.for_each_row([&](const std::vector<Cell>& row) {
    out += "|";
    for (const Cell& cell : row) out += " " + escape_markdown(cell.shown) + " |";
    out += "\n";
  });
  return out;
}

std::string html_table(const Table& table) {
  constexpr std::size_t kSentence = 40;  // longer cells may break over lines, shorter ones never at their hyphens
  auto open = [](const char* tag, Align align, const std::string& text) {
    const char* kind = align == Align::kRight ? " class=\"n\">" : text.size() > kSentence ? " class=\"w\">" : ">";
    return std::string("<") + tag + kind;
  };
  std::string out = "<div class=\"t\"><table>\n<thead><tr>";
  for (const Column& column : table.columns)
    out += open("th", column.align, column.title) + "<button>" + escape_html(column.title) + "</button></th>";
  out += "</tr></thead>\n<tbody>\n";
  table.for_each_row([&](const std::vector<Cell>& row) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = open("td", table.columns[i].align, row[i].shown);
      // The sort key, if it differs from the shown text.
      if (row[i].exact != row[i].shown) cell.insert(cell.size() - 1, " data-v=\"" + escape_html(row[i].exact) + "\"");
      out += cell + escape_html(row[i].shown) + "</td>";
    }
    out += "</tr>\n";
  });
  return out + "</tbody>\n</table></div>\n";
}

// One picture for wide windows, one for phones.
template <class Draw>
std::string both_widths(Draw draw) {
  const std::string wide = draw(kWidePicture);
  if (wide.empty()) return {};
  return "<div class=\"wide\">" + wide + "</div>\n<div class=\"narrow\">" + draw(kNarrowPicture) + "</div>\n";
}

// One block as Markdown.
struct BlockMarkdown {
  bool in_section = false;  // after a heading, titles are one level lower

  std::string operator()(const Paragraph& paragraph) const { return paragraph.text + '\n'; }
  std::string operator()(const Heading& heading) {
    in_section = true;
    return "## " + heading.text + '\n';
  }
  std::string operator()(const Table& table) const {
    return table.size() == 0 ? "" : title(table) + markdown_table(table);
  }
  std::string operator()(const StackedBar& bar) const { return title(bar) + markdown_stacked_bar(bar); }
  std::string operator()(const Bars& bars) const { return title(bars) + markdown_bars(bars); }
  std::string operator()(const LineChart& chart) const { return title(chart) + markdown_line_chart(chart); }
  std::string operator()(const Verbatim& verbatim) const { return title(verbatim) + "```\n" + verbatim.text + "```\n"; }
  std::string operator()(const Lanes& lanes) const { return title(lanes) + markdown_lanes(lanes); }

 private:
  template <class Titled>
  std::string title(const Titled& block) const {
    return block.title.empty() ? "" : (in_section ? "### " : "## ") + block.title + "\n\n";
  }
};

// One block as HTML.
struct BlockHtml {
  std::string operator()(const Paragraph& paragraph) const {
    return "<p>" + with_breaks(escape_html(paragraph.text)) + "</p>\n";
  }
  std::string operator()(const Heading& heading) const { return "<h2>" + escape_html(heading.text) + "</h2>\n"; }
  std::string operator()(const Table& table) const { return table.size() == 0 ? "" : title(table) + html_table(table); }
  std::string operator()(const StackedBar& bar) const {
    const std::string drawn = both_widths([&](double width) { return svg_stacked_bar(bar, width); });
    return drawn.empty() ? drawn : title(bar) + drawn;
  }
  std::string operator()(const Bars& bars) const {
    return title(bars) + both_widths([&](double width) { return svg_bars(bars, width); });
  }
  std::string operator()(const LineChart& chart) const {
    return title(chart) + both_widths([&](double width) { return svg_line_chart(chart, width); });
  }
  std::string operator()(const Verbatim& verbatim) const {
    return title(verbatim) + "<pre>" + escape_html(verbatim.text) + "</pre>\n";
  }
  std::string operator()(const Lanes& lanes) const {
    return title(lanes) + both_widths([&](double width) { return svg_lanes(lanes, width); });
  }

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
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"')
      out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;";
    else
      out += c;
  }
  return out;
}

std::string svg(double width, double height, const std::string& shapes) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {:.0f}\" width=\"100%\" role=\"img\" "
      "font-family=\"system-ui,sans-serif\">\n{}</svg>\n",
      width, height, shapes);
}

std::string render_markdown(const Report& report) {
  std::string out = report.title.empty() ? "" : "# " + report.title + "\n";
  BlockMarkdown markdown;
  for (const Block& block : report.record.empty() ? report.blocks : report.record) {
    const std::string text = std::visit(markdown, block);
    if (!out.empty() && !text.empty()) out += '\n';
    out += text;
  }
  return out;
}

std::string render_html(const Report& report) {
  std::string body;
  for (const Block& block : report.blocks) body += std::visit(BlockHtml{}, block);
  for (const Block& block : report.pictures) body += std::visit(BlockHtml{}, block);
  // The page is split at its placeholders; inserted text is never searched for further ones.
  std::string_view page = embedded_file("report/page.html");
  std::string out;
  for (std::size_t open = page.find("{{"); open != std::string_view::npos; open = page.find("{{")) {
    out += page.substr(0, open);
    page.remove_prefix(open);
    out += page.starts_with("{{body}}") ? body : escape_html(report.title);
    page.remove_prefix(page.find("}}") + 2);
  }
  return out.append(page);
}

}  // namespace rightsize::report
