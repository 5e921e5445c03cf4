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
      // What is sorted by, where it is not what is shown.
      if (row[i].exact != row[i].shown) cell.insert(cell.size() - 1, " data-v=\"" + escape_html(row[i].exact) + "\"");
      out += cell + escape_html(row[i].shown) + "</td>";
    }
    out += "</tr>\n";
  });
  return out + "</tbody>\n</table></div>\n";
}

constexpr const char* kPageStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid "
    "#d8dee4;text-align:left;white-space:nowrap}td.w{white-space:normal}"
    "th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".key{margin-right:1.2rem;white-space:nowrap}.key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}"
    ".t{overflow-x:auto}pre{overflow-x:auto}.narrow{display:none}"
    "th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid}"
    "th[aria-sort=ascending] button:after{content:' \\25b4'}th[aria-sort=descending] button:after{content:' \\25be'}"
    "@media(max-width:40rem){body{margin:1rem auto;font-size:14px}.wide{display:none}.narrow{display:block}"
    "th,td{padding:.25rem .4rem}}"
    "thead th{border-bottom:2px solid #8c959f}tbody tr:hover{background:#f6f8fa}"
    "@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td{border-color:#30363d}"
    "tbody tr:hover{background:#161b22}"
    // The darkest series, lighter on black.
    "svg [fill='#0072b2']{fill:#3d9be0}svg [stroke='#0072b2']{stroke:#3d9be0}"
    ".key i[style*='#0072b2']{background:#3d9be0!important}}";

// Sorts a table by the column whose heading is pressed; numbers as numbers, what is unknown last.
constexpr const char* kSortScript =
    "document.querySelectorAll('th button').forEach(b=>b.onclick=()=>{const h=b.parentNode,r=h.parentNode,"
    "i=[...r.children].indexOf(h),t=r.closest('table').tBodies[0],"
    "d=h.ariaSort=='ascending'?-1:1;[...r.children].forEach(o=>o.removeAttribute('aria-sort'));"
    "h.setAttribute('aria-sort',d>0?'ascending':'descending');"
    "const k=x=>{const c=x.children[i];return c?(c.dataset.v??c.textContent):''};"
    "[...t.rows].map(x=>[k(x),x]).sort(([a],[b])=>{if(a==''||b=='')return (a=='')-(b=='');"
    "const n=a-b;return d*(isNaN(n)?a.localeCompare(b,undefined,{numeric:true}):n)}).forEach(([,x])=>t.append(x))})";

// A picture for wide windows and one for phones.
template <class Draw>
std::string both_widths(Draw draw) {
  const std::string wide = draw(kWidePicture);
  if (wide.empty()) return {};
  return "<div class=\"wide\">" + wide + "</div>\n<div class=\"narrow\">" + draw(kNarrowPicture) + "</div>\n";
}

// One block of a document, whatever its kind.
struct BlockMarkdown {
  bool in_section = false;  // behind a heading, titles are one level lower

  std::string operator()(const Paragraph& paragraph) const { return paragraph.text + '\n'; }
  std::string operator()(const Heading& heading) {
    in_section = true;
    return "## " + heading.text + '\n';
  }
  std::string operator()(const Table& table) const { return title(table) + markdown_table(table); }
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

// One block of a page.
struct BlockHtml {
  std::string operator()(const Paragraph& paragraph) const {
    return "<p>" + with_breaks(escape_html(paragraph.text)) + "</p>\n";
  }
  std::string operator()(const Heading& heading) const { return "<h2>" + escape_html(heading.text) + "</h2>\n"; }
  std::string operator()(const Table& table) const { return title(table) + html_table(table); }
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
  BlockMarkdown markdown;
  for (const Block& block : report.record.empty() ? report.blocks : report.record) {
    if (!out.empty()) out += '\n';
    out += std::visit(markdown, block);
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
  return out + "<script>" + kSortScript + "</script>\n</body>\n</html>\n";
}

}  // namespace rightsize::report
