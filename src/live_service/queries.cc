#include "live_service/queries.h"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "gpu_use/promql.h"

namespace rightsize::live_service {
namespace {

// The names of a signal in order; a later name only counts for replicas without an earlier one.
std::string either(const std::vector<PublishedMetric>& names, const std::string& on,
                   const std::function<std::string(const PublishedMetric&)>& text) {
  std::string all;
  for (const PublishedMetric& one : names) all += (all.empty() ? "" : fmt::format(" or on ({}) ", on)) + text(one);
  return all;
}

std::string scaled(const std::vector<PublishedMetric>& names, std::string_view part, std::string inner) {
  const double scale = names.front().metric->scale;
  return scale == 1 || part == "_bucket" || part == "_count" ? inner : fmt::format("{} * {}", inner, scale);
}

// A pod that publishes a metric once per model counts once.
std::string summed(const Selection& s, const std::vector<PublishedMetric>& names, std::string_view by,
                   const std::string& inner) {
  const std::string of = by.empty() ? "" : fmt::format(" by ({})", by);
  if (!names.front().metric->shared) return fmt::format("sum{} ({})", of, inner);
  const std::string each = by.empty() || by == s.id_label ? s.id_label : fmt::format("{}, {}", s.id_label, by);
  return fmt::format("sum{} (max by ({}) ({}))", of, each, inner);
}

std::string last_over_time(const Selection& s, const std::vector<PublishedMetric>& names, std::string_view part,
                           double range) {
  return either(names, s.id_label, [&](const PublishedMetric& one) {
    return fmt::format("last_over_time({}[{}])", series_of(s, one.name + std::string(part), one.metric->matcher),
                       gpu_use::duration_text(seconds(range)));
  });
}

}  // namespace

std::string any_of(const std::vector<std::string>& ids) {
  constexpr std::size_t kShort = 2'000;  // servers accept queries of 16 kB; a query names its replicas up to twice
  std::map<std::string, std::vector<std::string>> ends;
  std::string plain;
  for (const std::string& id : ids) {
    plain += (plain.empty() ? "" : "|") + gpu_use::escape_regex(id);
    const std::size_t dash = id.rfind('-');
    const std::size_t cut = dash == std::string::npos ? 0 : dash + 1;
    ends[id.substr(0, cut)].push_back(gpu_use::escape_regex(id.substr(cut)));
  }
  if (plain.size() <= kShort) return plain;
  std::string text;
  for (const auto& [begin, rest] : ends)
    text += fmt::format("{}{}({})", text.empty() ? "" : "|", gpu_use::escape_regex(begin), fmt::join(rest, "|"));
  return text;
}

std::string series_of(const Selection& s, const std::string& name, std::string_view matcher) {
  std::string all = s.matchers;
  auto add = [&](const std::string& text) { all += (all.empty() ? "" : ",") + text; };
  if (!s.space_label.empty()) add(fmt::format("{}=\"{}\"", s.space_label, gpu_use::escape_quoted(s.space)));
  if (!s.model_label.empty()) add(fmt::format("{}=\"{}\"", s.model_label, gpu_use::escape_quoted(s.model)));
  if (!s.id_label.empty()) add(fmt::format("{}=~\"{}\"", s.id_label, gpu_use::escape_quoted(any_of(s.ids))));
  if (!matcher.empty()) add(std::string(matcher));
  return fmt::format("{}{{{}}}", name, all);
}

std::string growth(const Selection& s, const std::vector<PublishedMetric>& names, std::string_view part, double range) {
  const bool bucket = part == "_bucket";
  const std::string on = bucket ? s.id_label + ", le" : s.id_label;
  const std::string inner = either(names, on, [&](const PublishedMetric& one) {
    return fmt::format("increase({}[{}])", series_of(s, one.name + std::string(part), one.metric->matcher),
                       gpu_use::duration_text(seconds(range)));
  });
  return scaled(names, part, summed(s, names, bucket ? "le" : "", inner));
}

std::string last_values(const Selection& s, const std::vector<PublishedMetric>& names, std::string_view part,
                        double range) {
  return summed(s, names, s.id_label, last_over_time(s, names, part, range));
}

std::string gauge_now(const Selection& s, const std::vector<PublishedMetric>& names, std::string_view how,
                      double range) {
  return fmt::format("{} ({})", how, last_over_time(s, names, "", range));
}

}  // namespace rightsize::live_service
