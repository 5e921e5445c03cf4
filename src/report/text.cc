// Text for the terminal: aligned columns, wrapped sentences.
#include "base/text.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include "base/format.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

std::string bold(const std::string& text, const Style& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

// Breaks lines at spaces to the width; a longer word gets its own line. Lines keep the indent of the paragraph.
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
    const auto words = split_list(line, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      const std::size_t size = display_width(word);
      // A percent sign stays with its number.
      const bool percent = i + 1 < words.size() && words[i + 1].starts_with('%');
      const std::size_t together = size + (percent ? 1 + display_width(words[i + 1]) : 0);
      if (!first && !word.starts_with('%') && column + 1 + together > width) {
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

std::string shown_in(const Column& column, const Cell& cell) {
  const bool cut = column.widest > 0 && display_width(cell.shown) > column.widest;
  return cut ? fitted(cell.shown, column.widest) : cell.shown;
}

struct ColumnLayout {
  std::vector<std::size_t> columns, widths;  // those shown, in order

  std::size_t total() const {
    std::size_t sum = columns.empty() ? 0 : 2 * (columns.size() - 1);
    for (std::size_t width : widths) sum += width;
    return sum;
  }
  void leave_out(std::size_t place) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(place));
    widths.erase(widths.begin() + static_cast<std::ptrdiff_t>(place));
  }
};

// Drops spare columns from the right, then shortens text columns, the longest first. Numbers, and flags that users type,
// are never cut, so a table may stay too wide.
void fit(ColumnLayout& layout, const Table& table, std::size_t width) {
  constexpr std::size_t kShortest = 12;
  for (std::size_t i = layout.columns.size(); i-- > 0 && layout.total() > width;) {
    if (table.columns[layout.columns[i]].spare) layout.leave_out(i);
  }
  while (layout.total() > width) {
    std::size_t* longest = nullptr;
    for (std::size_t i = 0; i < layout.widths.size(); ++i) {
      const Column& column = table.columns[layout.columns[i]];
      const bool words = column.align == Align::kLeft && column.title != "flags";
      if (words && layout.widths[i] > kShortest && (longest == nullptr || layout.widths[i] > *longest))
        longest = &layout.widths[i];
    }
    if (longest == nullptr) return;
    --*longest;
  }
}

std::string render_row(const ColumnLayout& layout, const Table& table,
                       const std::function<std::string(std::size_t)>& cell) {
  std::string line;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    std::string text = cell(layout.columns[i]);
    if (display_width(text) > layout.widths[i]) text = fitted(text, layout.widths[i]);
    line += (i == 0 ? "" : "  ") +
            padded(text, layout.widths[i], table.columns[layout.columns[i]].align, i + 1 == layout.columns.size());
  }
  return line;
}

std::string render_table(const Table& table, const Style& style) {
  const std::size_t most = table.most_shown == 0 ? table.rows.size() : table.most_shown;
  const std::span shown(table.rows.data(), std::min(table.rows.size(), most));
  ColumnLayout layout;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = display_width(table.columns[i].title);
    for (const auto& row : shown) width = std::max(width, display_width(shown_in(table.columns[i], row[i])));
    layout.columns.push_back(i);
    layout.widths.push_back(width);
  }
  if (style.fit_tables) fit(layout, table, style.width);
  std::string out;
  const bool titled = std::ranges::any_of(table.columns, [](const Column& column) { return !column.title.empty(); });
  if (titled)
    out = bold(render_row(layout, table, [&](std::size_t i) { return table.columns[i].title; }), style) + '\n';
  for (const auto& row : shown)
    out += render_row(layout, table, [&](std::size_t i) { return shown_in(table.columns[i], row[i]); }) + '\n';
  if (shown.size() < table.size())
    out += "... and " + format_count(static_cast<double>(table.size() - shown.size())) + " more\n";
  return out;
}

// One block as text.
struct BlockText {
  const Style& style;

  std::string operator()(const Paragraph& paragraph) const { return wrap(paragraph.text, style.width); }
  std::string operator()(const Heading& heading) const { return bold(heading.text, style) + '\n'; }
  // A header without rows says nothing.
  std::string operator()(const Table& table) const {
    return table.size() == 0 ? "" : title(table) + render_table(table, style);
  }
  std::string operator()(const StackedBar& bar) const {
    const std::string drawn = text_stacked_bar(bar, style.width);
    return drawn.empty() ? drawn : title(bar) + drawn;
  }
  std::string operator()(const Bars& bars) const { return title(bars) + text_bars(bars, style.width); }
  std::string operator()(const LineChart& chart) const { return title(chart) + text_line_chart(chart, style.width); }
  std::string operator()(const Verbatim& verbatim) const { return title(verbatim) + verbatim.text; }
  std::string operator()(const Lanes& lanes) const { return title(lanes) + text_lanes(lanes, style.width); }

 private:
  template <class Titled>
  std::string title(const Titled& block) const {
    return block.title.empty() ? "" : bold(block.title, style) + '\n';
  }
};

}  // namespace

std::string padded(const std::string& text, std::size_t width, Align align, bool last) {
  std::size_t have = display_width(text);
  std::string space(width > have ? width - have : 0, ' ');
  if (align == Align::kRight) return space + text;
  return last ? text : text + space;
}

std::string fitted(const std::string& text, std::size_t width) {
  std::size_t have = display_width(text);
  if (have <= width) return text + std::string(width - have, ' ');
  if (width == 0) return {};
  std::string out;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size() && columns + 1 < width; ++columns) {
    std::size_t next = i + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    out += text.substr(i, next - i);
    i = next;
  }
  return out + "…";
}

// The names in the first column of a table, each once.
std::string names_in(const Table& table) {
  std::string names;
  std::set<std::string> seen;
  table.for_each_row([&](const std::vector<Cell>& row) {
    if (!row.empty() && seen.insert(row.front().shown).second) names += (names.empty() ? "" : ", ") + row.front().shown;
  });
  return names;
}

// The answer is the first paragraph. If a table comes first, it is the names in the table, because a paragraph after a
// table only explains it. A file is the whole answer.
std::string render_quiet(const Report& report) {
  std::string text = report.title;
  for (const Block& block : report.blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
      text = paragraph->text;
      break;
    }
    if (const auto* table = std::get_if<Table>(&block); table != nullptr && !table->rows.empty()) {
      text = names_in(*table);
      break;
    }
    if (const auto* verbatim = std::get_if<Verbatim>(&block)) return verbatim->text;
  }
  text = text.substr(0, text.find('\n'));
  return text + '\n';
}

std::string render_text(const Report& report, const Style& style) {
  if (style.quiet) return render_quiet(report);
  std::string out = report.title.empty() ? "" : bold(report.title, style) + '\n';
  for (const Block& block : report.blocks) {
    const std::string text = std::visit(BlockText{style}, block);
    if (!out.empty() && !text.empty()) out += '\n';
    out += text;
  }
  return out;
}

}  // namespace rightsize::report
