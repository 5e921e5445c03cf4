#include "rightsize/commit/usage.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Checked<Usage> read_table(const std::string& path, std::string text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(path, std::move(text)));
  const bool in_use = csv.column("gpus").has_value(), daily = csv.column("date").has_value();
  if (!in_use && !csv.column("gpu_hours")) {
    return fail(Errors(bad_input("a column gpus or gpu_hours is missing")
                           .at(csv.header_place(0))
                           .with_hint("one row per step: gpus in use, or gpu_hours of an hour or a date")));
  }
  Usage usage;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const char* column = in_use ? "gpus" : "gpu_hours";
    Result<double> value = parse_number(csv.cell(row, column));
    if (value && *value < 0) value = fail(bad_input("GPUs in use cannot be negative"));
    if (value) {
      usage.gpus.push_back(*value / (in_use || !daily ? 1 : 24));
    } else {
      errors.push_back(std::move(value).error().at(csv.place(row, column)));
    }
  }
  if (errors.empty() && usage.gpus.empty()) errors.push_back(bad_input(path + ": no rows"));
  if (!errors.empty()) return fail(std::move(errors));
  usage.source = fmt::format("{} ({} {}, {:.4g} GPUs on average)", path, usage.gpus.size(),
                             daily && !in_use ? "days" : "steps", mean_of(usage.gpus));
  return usage;
}

Checked<Usage> read_fleet(const std::string& path, std::string text) {
  RIGHTSIZE_TRY(const LocatedJson json, LocatedJson::parse(path, std::move(text)));
  const auto number = [](const JsonValue& object, const char* name) -> std::optional<double> {
    const JsonMember* member = object.find(name);
    if (member == nullptr || member->value.type != JsonType::kNumber) return std::nullopt;
    return member->value.number;
  };
  const JsonMember* totals = json.root().find("totals");
  const std::optional<double> used = totals == nullptr ? std::nullopt : number(totals->value, "gpu_hours");
  const std::optional<double> window = totals == nullptr ? std::nullopt : number(totals->value, "window_seconds");
  if (!used || !window || *window <= 0) {
    return fail(Errors(bad_input(path + ": no totals with gpu_hours and window_seconds, as 'rightsize fleet' writes")));
  }
  const double gpus = *used / in_hours(seconds(*window));
  return Usage{
      {gpus}, fmt::format("{} ({:.4g} GPUs on average; its hours are unknown, so demand is assumed even)", path, gpus)};
}

}  // namespace

Checked<Usage> read_usage(const std::string& path) {
  RIGHTSIZE_TRY(std::string text, read_file(path));
  return trim(text).starts_with('{') ? read_fleet(path, std::move(text)) : read_table(path, std::move(text));
}

Result<Usage> parse_base(const std::string& text) {
  double base = -1, peak = 0, share = 0;
  for (std::string_view part : split_list(text, ',')) {
    double* into = &base;
    if (part.starts_with("peak=")) into = &peak;
    if (part.starts_with("share=")) into = &share;
    const std::size_t equals = part.find('=');
    const Result<double> value = parse_number(equals == std::string_view::npos ? part : part.substr(equals + 1));
    const bool known = equals == std::string_view::npos || into != &base;
    if (!value || *value < 0 || !known) {
      return fail(bad_input(fmt::format("--base '{}': GPUs expected", text))
                      .with_hint("for example --base 8, or --base 8,peak=20,share=0.3"));
    }
    *into = *value;
  }
  if (base < 0 || share > 1) return fail(bad_input(fmt::format("--base '{}': GPUs expected", text)));
  constexpr int kSteps = 1000;
  Usage usage;
  const int high = peak > 0 ? static_cast<int>(std::lround(share * kSteps)) : 0;
  for (int i = 0; i < kSteps; ++i) usage.gpus.push_back(i < high ? peak : base);
  usage.source = fmt::format("{:g} GPUs stated{}", base,
                             high > 0 ? fmt::format(", {:g} during {:.0f} % of the time", peak, 100 * share) : "");
  return usage;
}

}  // namespace rightsize::app
