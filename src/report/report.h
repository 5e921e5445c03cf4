// One Report value, written as text, JSON, CSV, Markdown or HTML.
//
// A report has the text for people (a heading, sentences, tables) and the JSON document for scripts. Commands derive
// the document and the tables from field tables (report/fields.h). Renderers know nothing about GPUs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rightsize::report {

using rightsize::Json;

enum class Align { kLeft, kRight };

struct Column {
  std::string title;  // for people: "$/GPU-h"
  std::string name;   // for CSV: "usd_per_gpu_hour"
  Align align = Align::kLeft;
  std::size_t widest = 0;  // text output cuts longer cells; 0: never
  bool spare = false;      // omitted first if the terminal is too narrow
};

// `shown` for people; `exact` for CSV (plain SI, full precision, empty if unknown).
struct Cell {
  std::string shown;
  std::string exact;
};
Cell text_cell(std::string_view text);
Cell number_cell(std::string shown, double exact);
Cell unknown_cell();

struct Table {
  std::string title = {};
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::size_t most_shown = 0;  // text shows at most this many rows and counts the rest; 0 shows all
  // Further rows, created only if a format needs them. Text shows only `most_shown` rows and never needs them.
  std::size_t later_rows = 0;
  std::function<std::vector<Cell>(std::size_t index)> later_row = {};

  std::size_t size() const { return rows.size() + later_rows; }

  template <typename Use>
  void for_each_row(Use&& use) const {
    for (const std::vector<Cell>& row : rows) use(row);
    for (std::size_t i = 0; i < later_rows; ++i) use(later_row(i));
  }
};

struct Paragraph {
  std::string text;
};

// Begins a section, which contains the blocks up to the next heading.
struct Heading {
  std::string text;
};

// Parts that add up to a total, drawn against limits. Text starts each part where the last one ended; HTML draws one
// coloured bar. All values have the same unit; `shown` is the text for people.
struct StackedBar {
  struct Segment {
    std::string label;
    std::string shown;
    double value = 0;
  };
  struct Line {
    std::string label;
    double value = 0;
  };
  std::string title;
  std::vector<Segment> segments;
  std::vector<Line> lines;  // in ascending order
};

// One horizontal bar per row, starting at zero, in the order given. All values have the unit `unit`; `shown` is the
// text for people. A value that is not finite or not positive has no bar. Text cuts labels and details that would leave
// no room for bars; HTML shows them in full.
struct Bars {
  struct Row {
    std::string label;
    std::string shown;
    double value = 0;
    std::string detail = {};  // next to the number
  };
  std::string title = {}, unit = {};
  std::vector<Row> rows = {};
};

// Curves over one axis. Text draws each with a letter; HTML draws an SVG. Joined points ascend in x; values that are
// not finite are omitted. HTML draws the label of a point next to it if there is room, and shows it as a tooltip; text
// omits it.
struct LineChart {
  struct Point {
    double x = 0, y = 0;
    std::string label = {};
  };
  struct Series {
    std::string label;
    std::vector<Point> points;
    bool joined = true;  // false: only points, in any order
  };
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<Series> series = {};
  std::optional<double> y_limit = {};  // drawn as a line
  bool logarithmic = false;            // both axes; values that are not positive are omitted
};

// Text with preserved line breaks and spaces, such as a configuration file.
struct Verbatim {
  std::string title, text;
};

// Lanes of equal length, cut into units, with pieces side by side: a GPU's slices and their workloads. Text draws one
// row per lane, HTML an SVG. Pieces ascend by start and do not overlap; units between them are free.
struct Lanes {
  struct Piece {
    std::string label, detail;  // the detail is drawn if there is room
    int start = 0, size = 1;
  };
  struct Lane {
    std::string label;
    std::vector<Piece> pieces;
  };
  std::string title = {};
  int units = 1;
  std::vector<Lane> lanes = {};
};

using Block = std::variant<Paragraph, Heading, Table, StackedBar, Bars, LineChart, Verbatim, Lanes>;

struct Report {
  std::string title;
  std::vector<Block> blocks = {};
  std::vector<Block> pictures = {};  // after the blocks, only in HTML: too many charts for a terminal
  std::vector<Block> record = {};    // Markdown shows this instead of the blocks: a decision to keep with the project
  Json document = {};                // begins with "schema"
  // Adds the long lists of the document; called only when the document is written.
  std::function<void(Json& document)> long_lists = {};

  // Adds a paragraph unless the text is empty.
  void say(std::string text) {
    if (!text.empty()) blocks.emplace_back(Paragraph{std::move(text)});
  }
  // `most` as in Table::most_shown.
  void show(std::string heading, Table table, std::size_t most = 0) {
    table.title = std::move(heading);
    if (most > 0) table.most_shown = most;
    blocks.emplace_back(std::move(table));
  }

  // Calls `use` with the document and its long lists. Copies the document only if it has any.
  template <typename Use>
  auto with_document(Use&& use) const {
    if (!long_lists) return use(document);
    Json whole = document;
    long_lists(whole);
    return use(whole);
  }
};

enum class Format { kText, kJson, kCsv, kMarkdown, kHtml };

// "text", "json", "csv", "md", "html". The error for an unknown name suggests one of them.
Result<Format> parse_format(std::string_view name);

struct Style {
  bool colour = false;
  std::size_t width = 100;  // paragraphs are wrapped to this
  bool fit_tables = false;  // tables too: cuts text columns, then omits spare columns
  bool quiet = false;       // only the first paragraph, on one line
};

// The report in one format, ending in a newline. CSV contains only the tables, separated by blank lines.
std::string render(const Report& report, Format format, const Style& style = {});

// One lanes block as an SVG file.
std::string render_svg(const Lanes& lanes);

// A JSON number: whole values without a point, null for NaN and infinities.
Json json_number(double value);

// The shortest text that reads back as the same double; "" for NaN and infinities.
std::string exact_number(double value);

}  // namespace rightsize::report
