#include "capacity/service.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/random.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::capacity {
namespace {

constexpr std::string_view kStatisticNames[] = {"mean", "p50", "p90", "p95", "p99"};
constexpr const char* kExamples = "write a statistic and a time: p99=100ms, mean=20ms, ttft=500ms, tpot-p95=40ms";

std::optional<Statistic> statistic_named(std::string_view name) {
  const auto found = std::find(std::begin(kStatisticNames), std::end(kStatisticNames), name);
  if (found == std::end(kStatisticNames)) return std::nullopt;
  return static_cast<Statistic>(found - std::begin(kStatisticNames));
}

// "p99", "ttft", "tpot-p95".
std::optional<Slo> slo_named(std::string_view name, Statistic default_percentile) {
  if (const auto statistic = statistic_named(name)) return Slo{Quantity::kLatency, *statistic, {}};
  const std::string_view head = name.substr(0, 4);
  if (head != "ttft" && head != "tpot") return std::nullopt;
  const Quantity quantity = head == "ttft" ? Quantity::kTtft : Quantity::kTpot;
  if (name.size() == head.size()) return Slo{quantity, default_percentile, {}};
  if (name[head.size()] != '-') return std::nullopt;
  const auto statistic = statistic_named(name.substr(head.size() + 1));
  return statistic ? std::optional(Slo{quantity, *statistic, {}}) : std::nullopt;
}

Result<Slo> parse_slo(std::string_view text, Statistic default_percentile) {
  const std::size_t equals = text.find('=');
  const std::string name = to_lower(trim(text.substr(0, equals)));
  std::optional<Slo> slo = slo_named(name, default_percentile);
  if (equals == std::string_view::npos || !slo) {
    const std::vector<std::string> names{"mean", "p50", "p90", "p95", "p99", "ttft", "tpot"};
    return fail(bad_input(fmt::format("'{}' is not an SLO", text))
                    .with_hint(slo ? "" : did_you_mean(name, names))
                    .with_hint(kExamples));
  }
  RIGHTSIZE_TRY(slo->limit, parse_duration(text.substr(equals + 1)));
  if (!(slo->limit > seconds(0))) return fail(bad_input(fmt::format("'{}': an SLO must be longer than 0 s", text)));
  return *slo;
}

}  // namespace

std::string_view name_of(Statistic statistic) { return kStatisticNames[static_cast<std::size_t>(statistic)]; }

std::string_view name_of(Quantity quantity) {
  static constexpr std::string_view kNames[] = {"latency", "TTFT", "TPOT"};
  return kNames[static_cast<std::size_t>(quantity)];
}

std::string describe(const Slo& slo) { return fmt::format("{} {}", name_of(slo.at), name_of(slo.quantity)); }

Result<Statistic> parse_percentile(std::string_view text) {
  const std::string_view digits = text.starts_with('p') ? text.substr(1) : text;
  for (Statistic statistic : {Statistic::kP50, Statistic::kP90, Statistic::kP95, Statistic::kP99}) {
    if (name_of(statistic).substr(1) == digits) return statistic;
  }
  return fail(bad_input(fmt::format("unknown percentile '{}'; use 50, 90, 95 or 99", text)));
}

double share_beyond(Statistic at) {
  constexpr double kShares[] = {0.5, 0.5, 0.1, 0.05, 0.01};
  return kShares[static_cast<std::size_t>(at)];
}

Result<std::vector<Slo>> parse_slos(std::string_view text, Statistic default_percentile) {
  std::vector<Slo> slos;
  for (std::string_view part : split_list(text, ',')) {
    RIGHTSIZE_TRY(const Slo slo, parse_slo(part, default_percentile));
    slos.push_back(slo);
  }
  if (slos.empty()) return fail(bad_input("no SLO given").with_hint(kExamples));
  return slos;
}

sim::RequestShape mean_of(const Service& service) {
  if (service.mean_lengths) return *service.mean_lengths;
  sim::RequestShape mean = sim::mean_shape(service.arrivals, service.lengths);
  if (service.cache_block == 0) mean.cached = 0;
  return mean;
}

sim::ArrivalProcess mixed_arrivals(double requests_per_second, const std::vector<RequestSize>& mix,
                                   std::uint64_t seed) {
  constexpr std::size_t kRequests = 1 << 16;  // as many as the longest run of the planner
  auto trace = std::make_shared<sim::Trace>();
  trace->has_tokens = true;
  std::vector<sim::Arrival> arrivals(kRequests);
  arrivals.resize(sim::open_stream(sim::Poisson{requests_per_s(requests_per_second)}, seed)->fill(arrivals));
  Random random(~seed);
  for (sim::Arrival& arrival : arrivals) {
    double left = random.uniform();
    auto size = mix.begin();
    while (size + 1 != mix.end() && (left -= size->share) >= 0) ++size;
    arrival.size = static_cast<std::int32_t>(size->isl);
    arrival.output = static_cast<std::int32_t>(std::max<std::int64_t>(1, size->osl));
    arrival.kind = static_cast<std::int32_t>(size - mix.begin()) + 1;
  }
  trace->arrivals = arrivals;
  return std::shared_ptr<const sim::Trace>(std::move(trace));
}

}  // namespace rightsize::capacity
