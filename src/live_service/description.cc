#include "live_service/description.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rightsize::live_service {
namespace {

Percentiles spread_of(const Histogram* histogram) {
  if (histogram == nullptr) return {};
  return {histogram->mean(), histogram->quantile(0.5), histogram->quantile(0.95), histogram->quantile(0.99)};
}

// Only the mean, from totals.
Percentiles mean_of(std::optional<double> sum, double count) {
  Percentiles spread;
  if (sum && count > 0) spread.mean = *sum / count;
  return spread;
}

// An SLO on TPOT refers to the mean of a request. If that is not published, the inter-token latency or else the latency
// per token replaces it.
const Histogram* tpot_of(const ServiceReading& r, Signal& source) {
  for (Signal signal : {Signal::kTpot, Signal::kInterToken, Signal::kTokenTime}) {
    source = signal;
    if (const Histogram* one = r.histogram(signal)) return one;
  }
  return nullptr;
}

void describe_traffic(const ServiceReading& r, Description& d) {
  const double total = r.counter(Signal::kRequests).value_or(0);
  d.requests_per_second = total / r.seconds();
  double shape = 0;
  for (double count : r.finished) shape += count;
  // The total includes requests that the sampling grid misses, such as those in the minutes before a crash.
  const double scale = shape > 0 && total > 0 ? std::clamp(total / shape, 0.9, 1.1) : 1;
  d.by_hour.assign(24, 0.0);
  std::vector<double> seen(24, 0.0);
  for (std::size_t h = 0; h < r.hours.size(); ++h) {
    const double begin = r.from + kHour * static_cast<double>(h), length = std::min(kHour, r.until - begin);
    if (length < std::min(kHour, r.seconds()) / 2) continue;
    const double rate = scale * r.hours[h].requests / length;
    const auto of_day = static_cast<std::size_t>(std::fmod(begin / kHour, 24));
    d.by_hour[of_day] += rate, seen[of_day] += 1;
    if (rate > d.peak_hour) d.peak_hour = rate, d.peak_hour_begin = begin;
  }
  for (std::size_t h = 0; h < 24; ++h) d.by_hour[h] /= std::max(1.0, seen[h]);
  const auto each = std::max<std::size_t>(1, static_cast<std::size_t>(300 / r.step));
  double most = 0, sum = 0;
  for (std::size_t i = 0; i < r.finished.size(); ++i) {
    sum += r.finished[i] - (i >= each ? r.finished[i - each] : 0);
    if (i + 1 >= each) most = std::max(most, scale * sum / (r.step * static_cast<double>(each)));
  }
  if (d.peak_hour > 0) d.burst = std::max(1.0, most / d.peak_hour);
}

std::optional<double> share(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || !(*whole > 0)) return std::nullopt;
  return std::clamp(*part / *whole, 0.0, 1.0);
}

std::optional<double> prefix_hit_of(const ServiceReading& r) {
  if (auto cached = share(r.counter(Signal::kCachedTokens), r.counter(Signal::kPromptTokens))) return cached;
  std::optional<double> found = r.counter(Signal::kCacheHits);
  if (found) *found += r.counter(Signal::kExternalHits).value_or(0);
  if (auto hits = share(found, r.counter(Signal::kCacheQueries))) return hits;
  if (const GaugeUse* recent = r.gauge(Signal::kHitRate)) return recent->mean;
  return std::nullopt;
}

void describe_requests(const ServiceReading& r, Description& d) {
  const double total = r.counter(Signal::kRequests).value_or(0);
  d.isl = spread_of(r.histogram(Signal::kIsl));
  d.osl = spread_of(r.histogram(Signal::kOsl));
  if (!d.isl.mean) d.isl = mean_of(r.counter(Signal::kPromptTokens), total);
  if (!d.osl.mean) d.osl = mean_of(r.counter(Signal::kOutputTokens), total);
  d.ttft = spread_of(r.histogram(Signal::kTtft));
  d.tpot = spread_of(tpot_of(r, d.tpot_source));
  d.latency = spread_of(r.histogram(Signal::kLatency));
  if (!d.latency.mean) d.latency = mean_of(r.counter(Signal::kLatencyTotal), total);
  d.prefix_hit = prefix_hit_of(r);
  if (const std::optional<double> loaded = r.counter(Signal::kExternalHits)) {
    // Lookups, or else the prompts.
    const bool looked_up = r.counter(Signal::kCacheQueries).has_value();
    const std::optional<double> all = r.counter(looked_up ? Signal::kCacheQueries : Signal::kPromptTokens);
    const std::optional<double> cached = r.counter(Signal::kCachedTokens);
    d.external_hit = share(loaded, all);
    d.gpu_hit = looked_up ? share(r.counter(Signal::kCacheHits), all)
                : cached  ? share(std::max(0.0, *cached - *loaded), all)
                          : std::nullopt;
  }
  d.preemptions = r.counter(Signal::kPreemptions);
  d.output_tokens = r.counter(Signal::kOutputTokens).value_or(d.osl.mean.value_or(0) * total);
}

void describe_slos(const ServiceReading& r, const std::vector<capacity::Slo>& slos, Description& d) {
  bool unknown = slos.empty(), broken = false;
  for (const capacity::Slo& slo : slos) {
    d.slos.push_back(verdict_of(r, slo));
    unknown = unknown || !d.slos.back().kept;
    broken = broken || d.slos.back().kept == std::optional(false);
  }
  if (broken || !unknown) d.slo_kept = !broken;
}

void describe_gpus(const ServiceReading& r, const catalog::Catalog& catalog, const market::PriceBook& book,
                   const KnownGpus& known, Description& d) {
  d.replicas = r.replicas_now;
  d.gpu = known.gpu;
  double seconds = 0;
  Usd spend;
  bool priced = true;
  const auto pay = [&](const catalog::Gpu* gpu, double gpu_seconds) {
    seconds += gpu_seconds;
    const std::optional<market::GpuQuote> quote =
        gpu != nullptr ? book.gpu(*gpu, catalog::Purchase::kOnDemand) : std::nullopt;
    if (!quote) priced = false;
    if (quote) spend += quote->rate * rightsize::gpus(1) * rightsize::seconds(gpu_seconds);
    if (!d.price) d.price = quote;
  };
  for (const GpuReading& kind : r.gpus) {
    const Result<const catalog::Gpu*> gpu = catalog.find_gpu(kind.name);
    if (!gpu) d.notes.push_back(fmt::format("GPU '{}' is not in the catalogue; pass --gpu", kind.name));
    const catalog::Gpu* named = gpu ? *gpu : known.gpu;
    if (d.gpu == nullptr) d.gpu = named;
    pay(named, kind.gpu_seconds);
  }
  if (!r.gpus.empty()) d.gpus_per_replica = static_cast<int>(r.gpus.front().per_replica);
  if (r.gpus.size() > 1)
    d.notes.push_back(fmt::format("the service uses {} GPU types, mostly {}", r.gpus.size(), r.gpus.front().name));
  if (known.per_replica) d.gpus_per_replica = *known.per_replica;
  if (r.gpus.empty() && known.gpu != nullptr) pay(known.gpu, r.replica_seconds * d.gpus_per_replica);
  d.gpus = d.replicas * d.gpus_per_replica;
  if (!(seconds > 0)) return;
  if (r.timed) d.gpu_hours = seconds / kHour;
  double powered = 0, energy = 0;
  for (const GpuReading& kind : r.gpus) powered += kind.powered_seconds, energy += kind.joules;
  if (powered > 0) d.gpu_power = watts(energy / powered);
  if (!priced) return;
  d.month = spend * (kMonth / rightsize::seconds(r.seconds()));
  if (r.timed) d.spend = spend;
}

}  // namespace

SloVerdict verdict_of(const ServiceReading& r, const capacity::Slo& slo) {
  SloVerdict verdict{slo, {}, {}, false};
  Signal source{};
  const Histogram* histogram = slo.quantity == capacity::Quantity::kTpot   ? tpot_of(r, source)
                               : slo.quantity == capacity::Quantity::kTtft ? r.histogram(Signal::kTtft)
                                                                           : r.histogram(Signal::kLatency);
  if (histogram == nullptr) return verdict;
  verdict.over = histogram->share_over(in_seconds(slo.limit));
  if (slo.at == capacity::Statistic::kMean) {
    verdict.kept = histogram->mean() <= in_seconds(slo.limit), verdict.sure = true;
    return verdict;
  }
  const double allowed = capacity::share_beyond(slo.at);
  verdict.kept = verdict.over->value <= allowed;
  verdict.sure = verdict.over->high <= allowed || verdict.over->low > allowed;
  return verdict;
}

std::optional<Joules> Description::energy() const {
  return gpu_power && gpu_hours ? std::optional(*gpu_power * hours(*gpu_hours)) : std::nullopt;
}

std::optional<Joules> Description::energy_per_token() const {
  const std::optional<Joules> all = energy();
  return all && output_tokens > 0 ? std::optional(*all * (1 / output_tokens)) : std::nullopt;
}

Description describe(const ServiceReading& reading, const std::vector<capacity::Slo>& slos,
                     const catalog::Catalog& catalog, const market::PriceBook& book, const KnownGpus& known) {
  Description d;
  d.notes = reading.notes;
  if (reading.timed) describe_traffic(reading, d);
  describe_requests(reading, d);
  describe_slos(reading, slos, d);
  describe_gpus(reading, catalog, book, known, d);
  return d;
}

}  // namespace rightsize::live_service
