// One Report value, written as text, JSON, CSV, Markdown or HTML.
//
// A report is what a person reads (a heading, sentences, tables) and, beside it, the JSON document that scripts read;
// commands fill both from the same values. Renderers know nothing of GPUs.
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
  std::size_t widest = 0;  // text cuts longer cells here; 0: never
  bool spare = false;      // left out first where a terminal is too narrow
};

// `shown` for people; `exact` for CSV (plain SI, full precision, empty when unknown).
struct Cell {
  std::string shown;
  std::string exact;
};
Cell text_cell(std::string_view text);
Cell number_cell(std::string shown, double exact);
Cell unknown_cell();

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::size_t most_shown = 0;  // text shows at most so many rows and counts the rest; 0 shows all
  // Rows after these, each made when a format shows it; text, which shows `most_shown`, never does.
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

// Begins a section: the blocks after it belong to it.
struct Heading {
  std::string text;
};

// Parts that add up to a total, drawn against lines it must stay under. Text draws each part where the last one ended;
// HTML one bar in colours. Values share one unit; `shown` is how a person reads them.
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

// Things compared by one number: a horizontal bar each, all from zero, in the order given. Values share one unit, named
// by `unit`; `shown` is how a person reads them. A value that is not finite or not above zero has no bar. Text cuts
// labels and details that would leave no room for bars; HTML shows them whole.
struct Bars {
  struct Row {
    std::string label;
    std::string shown;
    double value = 0;
    std::string detail = {};  // beside the number: what the bar stands on
  };
  std::string title, unit;
  std::vector<Row> rows;
};

// Curves over one axis. Text draws them with a letter each; HTML as SVG. Joined points ascend in x; values that are not
// finite are left out. A point's own label is drawn beside it in HTML where it hides no other, and named when the mouse
// is over it; text leaves it out.
struct LineChart {
  struct Point {
    double x = 0, y = 0;
    std::string label = {};
  };
  struct Series {
    std::string label;
    std::vector<Point> points;
    bool joined = true;  // false: points alone, in any order
  };
  std::string title, x_label, y_label;
  std::vector<Series> series;
  std::optional<double> y_limit;  // a line nothing should go above
  bool logarithmic = false;       // both axes; what is not above zero is left out
};

// Text that must keep its line breaks and spaces: a configuration file to copy.
struct Verbatim {
  std::string title, text;
};

// Things of equal length cut into units, each holding pieces side by side: what a GPU's slices are given to. Text draws
// a row a lane, HTML an SVG. Pieces ascend by start and do not overlap; units between them are free.
struct Lanes {
  struct Piece {
    std::string label, detail;  // the detail is drawn where there is room for it
    int start = 0, size = 1;
  };
  struct Lane {
    std::string label;
    std::vector<Piece> pieces;
  };
  std::string title;
  int units = 1;
  std::vector<Lane> lanes;
};

using Block = std::variant<Paragraph, Heading, Table, StackedBar, Bars, LineChart, Verbatim, Lanes>;

struct Report {
  std::string title;
  std::vector<Block> blocks;
  std::vector<Block> pictures = {};  // after the blocks, in HTML alone: more charts than a terminal should scroll past
  std::vector<Block> record = {};    // what Markdown shows instead of the blocks: a decision to keep with the project
  Json document = {};                // begins with "schema"
  // Adds what is long in the document; called when the document is asked for, as most readers of text never do.
  std::function<void(Json& document)> long_lists = {};

  // What `use` makes of the document with its long lists; a copy is made only where there are any.
  template <typename Use>
  auto with_document(Use&& use) const {
    if (!long_lists) return use(document);
    Json whole = document;
    long_lists(whole);
    return use(whole);
  }
};

enum class Format { kText, kJson, kCsv, kMarkdown, kHtml };

// "text", "json", "csv", "md", "html"; a wrong name gets a suggestion.
Result<Format> parse_format(std::string_view name);

struct Style {
  bool colour = false;
  std::size_t width = 100;  // paragraphs are wrapped to this
  bool fit_tables = false;  // tables too: text columns are cut, then columns left out, the least important first
  bool quiet = false;       // the first paragraph alone, in one line
};

// The whole report in one format, ending in a newline. CSV holds the tables only, a blank line between two.
std::string render(const Report& report, Format format, const Style& style = {});

// The picture of one lanes block as a file of its own.
std::string render_svg(const Lanes& lanes);

// A JSON number: whole values without a point, null for NaN and infinities.
Json json_number(double value);
template <class Quantity>
Json json_number(const std::optional<Quantity>& value, double (*reader)(Quantity)) {
  return value ? json_number(reader(*value)) : Json(nullptr);
}
template <class Number>
Json json_number(const std::optional<Number>& value) {
  return value ? json_number(static_cast<double>(*value)) : Json(nullptr);
}

// The shortest text that reads back as the same double; "" for NaN and infinities.
std::string exact_number(double value);

}  // namespace rightsize::report
