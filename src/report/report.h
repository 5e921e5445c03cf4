// One Report value, written as text, JSON, CSV, Markdown or HTML.
//
// A report is what a person reads (a heading, sentences, tables) and, beside it, the JSON document that scripts read;
// commands fill both from the same values. Renderers know nothing of GPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace rightsize::report {

using Json = nlohmann::ordered_json;

enum class Align { kLeft, kRight };

struct Column {
  std::string title;  // for people: "$/GPU-h"
  std::string name;   // for CSV: "usd_per_gpu_hour"
  Align align = Align::kLeft;
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
};

struct Paragraph {
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

using Block = std::variant<Paragraph, Table, StackedBar>;

struct Report {
  std::string title;
  std::vector<Block> blocks;
  Json document;  // begins with "schema"
};

enum class Format { kText, kJson, kCsv, kMarkdown, kHtml };

// "text", "json", "csv", "md", "html"; a wrong name gets a suggestion.
Result<Format> parse_format(std::string_view name);

struct Style {
  bool colour = false;
  std::size_t width = 100;  // paragraphs are wrapped to this
};

// The whole report in one format, ending in a newline. CSV holds the tables only, a blank line between two.
std::string render(const Report& report, Format format, const Style& style = {});

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
