// Replicas that make tokens: runs that are looked at until the SLOs are decided, and gone on with whoever asks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "serving/planner.h"

namespace rightsize::serving {
namespace {

// Limits of an engine worth trying: the usual ones, then smaller steps and fewer sequences, which shorten TPOT and let
// others wait longer.
constexpr std::pair<std::int64_t, std::int64_t> kEngineLimits[] = {{256, 8192}, {256, 2048}, {256, 512},
                                                                   {128, 2048}, {64, 512},   {32, 512}};

constexpr std::pair<std::int64_t, std::int64_t> kSmallSteps = kEngineLimits[2];

bool breaks_tpot(const Assessment& a, const Service& service) {
  return std::any_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return slo.quantity == Quantity::kTpot && a.value(slo) > slo.limit; });
}

// Of requests, beyond a percentile.
double share_beyond(Statistic at) {
  switch (at) {
    case Statistic::kP90:
      return 0.1;
    case Statistic::kP95:
      return 0.05;
    case Statistic::kP99:
      return 0.01;
    case Statistic::kMean:
    case Statistic::kP50:
      break;
  }
  return 0.5;
}

double upper_end(const Assessment& a, const Slo& slo) {
  const double high = in_seconds(a.high(slo));
  return std::isfinite(high) ? high : in_seconds(a.value(slo));
}

// By the lower ends of what was seen: few answers of few tokens make a tail that jumps.
double least_excess(const Assessment& a, const Service& service) {
  double worst = 0;
  for (const Slo& slo : service.slos) {
    const double low = in_seconds(a.low(slo));
    worst = std::max(worst, (std::isfinite(low) ? low : in_seconds(a.value(slo))) / in_seconds(slo.limit));
  }
  return worst;
}

bool keeps_clearly(const Assessment& a, const Service& service) {
  constexpr double kClear = 0.9;
  return verdict(a, service) == Verdict::kKept &&
         std::all_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return upper_end(a, slo) <= kClear * in_seconds(slo.limit); });
}

// Whether limits that change a look by so much would have kept the SLOs a longer run has broken. Both looks are at the
// same requests, so that their ratio is far more certain than either.
bool would_keep(const Assessment& other, const Assessment& same, const Assessment& broken, const Service& service,
                double slack) {
  return std::all_of(service.slos.begin(), service.slos.end(), [&](const Slo& slo) {
    return upper_end(broken, slo) * (other.value(slo) / same.value(slo)) <= slack * in_seconds(slo.limit);
  });
}

}  // namespace

// A run that has been decided, and its looks on the way.
struct Planner::Watched {
  Assessment glance, first, last;
  std::optional<Assessment> kept;
};

// Requests that find a server emptier than it will be. A trace is taken as it is.
std::uint64_t Planner::warm_up(const Configuration& c) const {
  constexpr double kTurnovers = 2;
  const bool recorded = std::holds_alternative<std::shared_ptr<const sim::Trace>>(service_.arrivals);
  return recorded ? 0 : run_of(c, kTurnovers, 0);
}

std::vector<std::uint64_t> Planner::looks(const Configuration& c) const {
  constexpr double kGlanceTurnovers = 3, kTurnovers = 6, kAlike = 300;
  constexpr std::uint64_t kGlance = 1'000, kFirst = 8'000, kMost = 64'000, kLonger = 4;
  // Near capacity waits are alike over 1 / (1 - load)^2 requests: it takes many times that to see their spread.
  const double idle = 1 - std::min(0.999, mean_rate() / capacity(c));
  const auto alike = static_cast<std::uint64_t>(std::min<double>(kMost, kAlike / (idle * idle)));
  const std::uint64_t before = warm_up(c);
  std::vector<std::uint64_t> all{before + run_of(c, kGlanceTurnovers, kGlance)};
  for (std::uint64_t at = std::max(run_of(c, kTurnovers, kFirst), alike); at < kMost; at *= kLonger)
    all.push_back(before + at);
  all.push_back(before + kMost);
  if (const std::uint64_t settled = before + settled_after(c); settled > all[1] && settled < all.back()) {
    all.push_back(settled);
    std::sort(all.begin(), all.end());
  }
  return all;
}

// A burst that fills the cache is felt until those it brought have left, and a percentile stands on the requests beyond
// it: a run that keeps its limits is believed when it has seen many of both.
std::uint64_t Planner::settled_after(const Configuration& c) const {
  constexpr double kTurnovers = 40, kBeyond = 640;
  double rarest = 1;
  for (const Slo& slo : service_.slos) rarest = std::min(rarest, share_beyond(slo.at));
  return run_of(c, kTurnovers, static_cast<std::uint64_t>(kBeyond / rarest));
}

std::optional<Assessment> Planner::look(const Configuration& c, std::uint64_t requests, std::uint64_t seed) const {
  if (sim::overloads(service_.arrivals, requests_per_s(capacity(c)))) return std::nullopt;
  Findings::Key key = traffic_key_;
  const sim::ContinuousConfig& e = c.engine;
  for (double part :
       {static_cast<double>(seed), static_cast<double>(e.token_budget), static_cast<double>(e.max_sequences),
        static_cast<double>(e.kv_tokens), e.chunked_prefill ? 1.0 : 0.0})
    key.push_back(part);
  for (const Group& group : c.groups) {
    key.push_back(group.count);
    append_replica(replicas_[group.replica], key);
  }
  const std::shared_ptr<KeptRun> run = findings_->run(key, [&]() -> KeptRun::Begin {
    return [server = engine_of(c), arrivals = service_.arrivals, lengths = service_.lengths, seed,
            warm_up = warm_up(c)] { return sim::ContinuousRun(server, arrivals, lengths, seed, warm_up); };
  });
  return assessed(c, run->at(requests, looks(c)), service_.arrivals);
}

Planner::Watched Planner::watch(const Configuration& c) const {
  const std::vector<std::uint64_t> all = looks(c);
  const std::uint64_t settled = std::min(all.back(), warm_up(c) + settled_after(c));
  const auto decide = [&](std::uint64_t seed) {
    std::optional<Assessment> a;
    for (auto at = all.begin() + 1; at != all.end(); ++at) {
      a = look(c, *at, seed);
      const bool ended = a && a->profile.requests + warm_up(c) < *at;  // a trace may end before
      if (!a || ended || verdict(*a, service_) == Verdict::kBroken) break;
      if (verdict(*a, service_) == Verdict::kKept && *at >= settled) break;
    }
    return a;
  };
  Watched watched;
  const std::optional<Assessment> last = decide(seed_);
  if (!last) return watched;
  watched.glance = *look(c, all[0], seed_), watched.first = *look(c, all[1], seed_), watched.last = *last;
  if (!last->keeps(service_)) return watched;
  watched.kept = last;
  if (keeps_clearly(*last, service_)) return watched;
  // Tails of one run are alike, and a run that is looked at until it keeps its limits looks best just then: near a
  // limit another one must keep it too. The longer one is shown.
  const std::optional<Assessment> again = decide(seed_ + 1);
  if (again && !again->keeps(service_)) watched.last = *again;
  if (!again || !again->keeps(service_))
    watched.kept.reset();
  else if (again->profile.requests >= last->profile.requests)
    watched.kept = again;
  return watched;
}

std::optional<Assessment> Planner::confirm(const Configuration& c) const {
  return continuous(c) ? watch(c).kept : confirm_batches(c);
}

// `slack`: how far beyond a limit a look may point and the longer run still keep it. `glance_first`: less of a look may
// do; where the longer one has been taken already it says more.
bool Planner::may_do_better(const Configuration& c, const Watched& than, double slack, bool glance_first) const {
  constexpr double kGlanceSlack = 1.1;
  const std::vector<std::uint64_t> all = looks(c);
  if (glance_first) {
    const auto glance = look(c, all[0], seed_);
    if (!glance || !would_keep(*glance, than.glance, than.last, service_, slack * kGlanceSlack)) return false;
  }
  const auto first = look(c, all[1], seed_);
  return first && would_keep(*first, than.first, than.last, service_, slack);
}

std::optional<Assessment> Planner::kept_by_engine(std::size_t index, int count) const {
  constexpr double kBetter = 0.995;  // less of a gain is none
  constexpr double kDoubt = 1.3;     // how far a short run may be off
  Configuration c;
  c.groups = {{index, count}};
  std::optional<Watched> broken;
  Seconds shortest = seconds(std::numeric_limits<double>::infinity());  // TPOT of those looked at closely
  for (const auto& [sequences, budget] : kEngineLimits) {
    c.engine.max_sequences = sequences, c.engine.token_budget = budget;
    if (bound(c) > 1) return std::nullopt;
    const std::vector<std::uint64_t> all = looks(c);
    // The usual limits have mostly been looked at longer already, to find out how many it takes.
    const bool usual = sequences == kEngineLimits[0].first && budget == kEngineLimits[0].second;
    const auto seen = look(c, all[usual ? 1 : 0], seed_), glance = look(c, all[0], seed_);
    if (!seen || !glance) return std::nullopt;
    const Seconds tpot = glance->value(Quantity::kTpot, Statistic::kP99);
    if (tpot < shortest * kBetter && (broken ? may_do_better(c, *broken, 1) : seen->excess(service_) <= kDoubt)) {
      Watched watched = watch(c);
      if (watched.kept) return watched.kept;
      shortest = tpot;
      if (!broken) broken = std::move(watched);
    }
    // Others can only help TPOT; where that is near its limit a longer run may break it.
    if (!breaks_tpot(*seen, service_) && seen->excess(service_) > 1) return std::nullopt;
  }
  return std::nullopt;
}

// Whether fewer replicas than those that keep the SLOs may keep them too, with any limits of the engine.
bool Planner::may_do_with(const Assessment& kept, int fewer) const {
  if (!continuous(kept.configuration)) return true;
  const std::vector<std::uint64_t> all = looks(kept.configuration);
  const auto glance = look(kept.configuration, all[0], seed_), first = look(kept.configuration, all[1], seed_);
  if (!glance || !first) return true;
  constexpr double kSlack = 1.15;  // one replica too many costs more than a longer run
  const Watched than{*glance, *first, kept, {}};
  Configuration c = kept.configuration;
  c.groups.front().count = fewer;
  return std::any_of(std::begin(kEngineLimits), std::end(kEngineLimits), [&](const auto& limits) {
    std::tie(c.engine.max_sequences, c.engine.token_budget) = limits;
    return bound(c) <= 1 && may_do_better(c, than, kSlack, &limits != kEngineLimits);
  });
}

// The excess falls with some power of the number, which each look tells better.
std::pair<int, int> Planner::bracket(std::size_t replica, int step, const Steps& steps, double aim, int most_looks,
                                     bool at_best) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto excess_of = [&](int count) {
    Configuration c;
    c.groups = {{replica, count * step}};
    if (bound(c) > 1) return kInfinite;
    const auto seen = look(c, looks(c)[1], seed_);
    if (!seen) return kInfinite;
    const double usual = at_best ? least_excess(*seen, service_) : seen->excess(service_);
    if (!at_best || usual <= aim || !breaks_tpot(*seen, service_)) return usual;
    // Smaller steps may keep TPOT where the usual ones do not.
    std::tie(c.engine.max_sequences, c.engine.token_budget) = kSmallSteps;
    const auto other = look(c, looks(c)[1], seed_);
    double worst = 0;
    for (const Slo& slo : service_.slos)
      worst = std::max(worst, std::min(seen->value(slo), other ? other->value(slo) : seen->value(slo)) / slo.limit);
    return std::min(usual, worst);
  };
  int too_few = steps.least - 1, enough = steps.last + 1, at = steps.guess, before = 0;
  double power = 1.5, excess_before = 0;
  for (int i = 0; i < most_looks && enough - too_few > 1; ++i) {
    const double excess = excess_of(at);
    (excess <= aim ? enough : too_few) = at;
    const bool known = std::isfinite(excess) && excess > 0;
    if (known && before > 0)
      power = std::clamp(std::log(excess_before / excess) / std::log(static_cast<double>(at) / before), 0.3, 6.0);
    if (known) before = at, excess_before = excess;
    const double times = known ? std::clamp(std::pow(excess / aim, 1 / power), 0.5, 2.0) : excess > aim ? 1.25 : 0.5;
    const double next = std::min(std::ceil(at * times - 1e-9), static_cast<double>(enough - 1));
    at = std::max(too_few + 1, static_cast<int>(next));
  }
  return {too_few, enough};
}

int Planner::at_least(std::size_t replica, const Counts& counts, double doubt, int most_looks) const {
  const Steps steps = steps_of(replica, counts);
  if (!replicas_[replica].continuous || steps.least > steps.last) return steps.guess * counts.step;
  return std::min(bracket(replica, counts.step, steps, doubt, most_looks, true).first + 1, steps.last) * counts.step;
}

// The upper end of an interval must lie below a limit. Where more replicas do not help, as where one long prompt takes
// nearly what is allowed, the value itself must do.
int Planner::first_enough(std::size_t replica, int step, const Steps& steps) const {
  int enough = steps.last + 1;
  for (double aim : {0.97, 1.0}) {
    if (enough > steps.last) enough = bracket(replica, step, steps, aim, 6, false).second;
  }
  return std::min(enough, steps.last);
}

}  // namespace rightsize::serving
