#include "gpu_use/promql.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rightsize::gpu_use {

std::string escape_quoted(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '"' || c == '\n') out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
  }
  return out;
}

std::string escape_regex(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::optional<Metric> activity_of(const Sources& sources) {
  for (Metric metric : kActivityMetrics) {
    if (sources.contains(metric)) return metric;
  }
  return std::nullopt;
}

std::string duration_text(Seconds time) {
  const auto whole = static_cast<long long>(std::llround(std::max(in_seconds(time), 1.0)));
  for (const auto& [unit, size] : {std::pair{'d', 86400LL}, {'h', 3600LL}, {'m', 60LL}}) {
    if (whole % size == 0) return fmt::format("{}{}", whole / size, unit);
  }
  return fmt::format("{}s", whole);
}

std::string selector(std::string_view name, std::string_view matchers, const Shard& shard) {
  std::string all(matchers);
  auto add = [&](std::string_view matcher) {
    if (!matcher.empty()) all.append(all.empty() ? "" : ",").append(matcher);
  };
  if (!shard.label.empty()) {
    std::vector<std::string> values;
    for (const std::string& value : shard.values) values.push_back(escape_regex(value));
    add(fmt::format("{}=~\"{}\"", shard.label, escape_quoted(fmt::format("{}", fmt::join(values, "|")))));
  }
  add(shard.only);
  return all.empty() ? std::string(name) : fmt::format("{}{{{}}}", name, all);
}

std::string by(const LabelList& labels) { return fmt::format("by ({})", fmt::join(labels, ", ")); }

LabelList joined(LabelList a, const LabelList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

namespace {

// One expression per source; the first that has a value counts.
template <class Source, class Write>
std::string first_of(const std::vector<Source>& sources, const Write& write) {
  std::vector<std::string> parts;
  for (const Source& source : sources) parts.push_back(write(source));
  return fmt::format("({})", fmt::join(parts, " or "));
}

}  // namespace

std::string present(const std::vector<std::string>& selectors, Seconds range, const LabelList& labels) {
  return first_of(selectors, [&](const std::string& one) {
    return fmt::format("count {} (count_over_time({}[{}]))", by(labels), one, duration_text(range));
  });
}

std::string activity(const std::vector<Gauge>& sources, const Grain& grain, const LabelList& labels) {
  return first_of(sources, [&](const Gauge& source) {
    std::string last = fmt::format("last_over_time({}[{}])", source.selector, duration_text(grain.lookback));
    if (grain.dirty) last = fmt::format("(({} >= 0) <= {})", last, source.most / source.scale);
    const std::string scaled = source.scale == 1 ? "" : fmt::format(" * {}", source.scale);
    return fmt::format("max {} ({}){}", by(labels), last, scaled);
  });
}

// At least one reading is not too large, and at least one is not negative; they are assumed to be the same reading.
std::string plausible(const std::vector<Gauge>& sources, Seconds range, const LabelList& labels) {
  return first_of(sources, [&](const Gauge& source) {
    return fmt::format("count {} ((min_over_time({}[{}]) <= {}) and (max_over_time({}[{}]) >= 0))", by(labels),
                       source.selector, duration_text(range), source.most / source.scale, source.selector,
                       duration_text(range));
  });
}

// Grouped by `part` alone, a row has exactly the labels of the row without an owner, which "unless" removes.
std::string shares(const std::string& owners, const LabelList& part) {
  const std::string on = fmt::format("on ({})", fmt::join(part, ", "));
  const std::string all = fmt::format("count {} ({})", by(part), owners);
  const std::string named = fmt::format("({} unless {})", owners, all);
  return fmt::format("(({} > bool 0) / {} group_left () count {} {} or ({} > bool 0) unless {} {})", named, on,
                     by(part), named, all, on, named);
}

// The window is a second shorter, because servers disagree about whether its first moment belongs to it.
std::string over_moments(OfMoments what, const std::string& inner, Seconds width, Seconds step) {
  static constexpr std::string_view kFunctions[] = {"count_over_time", "sum_over_time", "avg_over_time",
                                                    "max_over_time"};
  return fmt::format("{}({}[{}:{}])", kFunctions[static_cast<std::size_t>(what)], inner,
                     duration_text(width - seconds(1)), duration_text(step));
}

std::string over_time(std::string_view function, const std::string& selector, Seconds range) {
  const std::string_view closing = function.ends_with(' ') ? "" : "(";
  return fmt::format("{}{}{}[{}])", function, closing, selector, duration_text(range));
}

}  // namespace rightsize::gpu_use
