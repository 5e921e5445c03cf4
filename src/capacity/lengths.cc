// Request lengths as users write them, and the variation assumed for a mean.
#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "capacity/service.h"

namespace rightsize::capacity {
namespace {

Error not_a_length(std::string_view text) {
  return bad_input(fmt::format("'{}' is not a length", text)).with_hint("for example 1024, 1024,fixed or 1k,p95=8k");
}

std::optional<double> share_named(std::string_view name) {
  if (name == "p90") return 0.9;
  if (name == "p95") return 0.95;
  if (name == "p99") return 0.99;
  return std::nullopt;
}

UsualVariation read_usual() {
  const Csv csv = *Csv::parse("data/request_lengths.csv", std::string(embedded_file("request_lengths.csv")));
  UsualVariation usual;
  for (const CsvRow& row : csv.rows()) {
    if (csv.cell(row, "trace") != "assumed") continue;
    (csv.cell(row, "what") == "prompt" ? usual.prompt : usual.answer) = *parse_number(csv.cell(row, "variation"));
  }
  return usual;
}

}  // namespace

Result<Length> parse_length(std::string_view text, bool may_cut) {
  std::vector<std::string_view> parts = split_list(text, ',');
  constexpr std::string_view kMost = "max=";
  if (may_cut && parts.size() > 1 && to_lower(parts.back()).starts_with(kMost)) {
    RIGHTSIZE_TRY(const double most, parse_count(parts.back().substr(kMost.size())));
    RIGHTSIZE_TRY(Length length, parse_length(text.substr(0, text.rfind(','))));
    if (!(most > length.mean)) return fail(bad_input(fmt::format("'{}': max must be above the mean", text)));
    length.most = most;
    return length;
  }
  if (parts.empty() || parts.size() > 2) return fail(not_a_length(text));
  RIGHTSIZE_TRY(const double first, parse_count(parts[0]));
  if (!(first >= 1)) return fail(bad_input(fmt::format("length '{}' must be at least 1 token", text)));
  if (parts.size() == 1) return Length{first, std::nullopt, {}};
  if (to_lower(parts[1]) == "fixed") return Length{first, 0, {}};
  const std::size_t equals = parts[1].find('=');
  const std::optional<double> share = share_named(to_lower(trim(parts[1].substr(0, equals))));
  if (equals == std::string_view::npos || !share) return fail(not_a_length(text));
  RIGHTSIZE_TRY(const double high, parse_count(parts[1].substr(equals + 1)));
  if (!(high > first))
    return fail(bad_input(fmt::format("'{}': {} must be above the median", text, parts[1].substr(0, equals))));
  constexpr double kWidest = 1000;  // beyond it the mean is that of a few requests, if any
  if (high > kWidest * first)
    return fail(
        bad_input(fmt::format("'{}': {} must be at most 1,000 times the median", text, parts[1].substr(0, equals))));
  const sim::LengthMean spread = sim::mean_of_spread(first, high, *share);
  return Length{spread.mean, spread.variation, {}};
}

const UsualVariation& usual_variation() {
  static const UsualVariation kUsual = read_usual();  // embedded data, checked by a test
  return kUsual;
}

}  // namespace rightsize::capacity
