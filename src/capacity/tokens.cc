// Replicas that make tokens: runs that are looked at until the SLOs are decided, and gone on with whoever asks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "capacity/planner.h"

namespace rightsize::capacity {
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

double upper_end(const Assessment& a, const Slo& slo) {
  const double high = in_seconds(a.high(slo));
  return std::isfinite(high) ? high : in_seconds(a.value(slo));
}

// Requests that no cache of this size holds: more of the same do not help, nor do other limits.
bool turns_away(const Assessment& a, const Service& service) {
  return verdict(a, service) == Verdict::kBroken && a.rejected_share() > service.most_rejected;
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

std::vector<std::uint64_t> Planner::token_looks(const Configuration& c) const {
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

Planner::Watched Planner::watch(const Configuration& c) const {
  const std::vector<std::uint64_t> all = looks(c);
  const std::uint64_t settled = std::min(all.back(), warm_up(c) + settled_after(c));
  const auto decide = [&](std::uint64_t seed) {
    std::optional<Assessment> a;
    for (auto at = all.begin() + 1; at != all.end(); ++at) {
      a = look(c, *at, seed);
      const bool ended = a && a->profile.requests + warm_up(c) < *at;  // a trace may end before
      if (!a || ended || verdict(*a, service_) == Verdict::kBroken) break;
      const bool decided = verdict(*a, service_) == Verdict::kKept || a->least_excess(service_) > 1;
      if (*at >= settled && (decided || is_tight(*a, service_, kWellKnown))) break;
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
    if (!seen || !glance || turns_away(*seen, service_)) return std::nullopt;
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

bool Planner::tokens_may_do_with(const Assessment& kept, int fewer) const {
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

// The excess where a glance leaves no doubt whether it is above `aim`. TPOT is a mean over a request's tokens and is
// seen well in a short run, unless few requests lie beyond its percentile; TTFT is not, and other limits do not help
// it.
std::optional<double> Planner::clear_at_a_glance(Configuration c, double aim) const {
  constexpr double kFarAbove = 1.3, kFarBelow = 0.7, kEnoughBeyond = 50;
  const auto usual = look(c, looks(c)[0], seed_);
  if (!usual) return std::nullopt;
  if (usual->excess(service_) <= kFarBelow * aim) return usual->excess(service_);
  const auto tpot = std::find_if(service_.slos.begin(), service_.slos.end(),
                                 [](const Slo& slo) { return slo.quantity == Quantity::kTpot; });
  if (tpot == service_.slos.end()) return std::nullopt;
  const double beyond = static_cast<double>(usual->profile.requests) * share_beyond(tpot->at);
  if (beyond < kEnoughBeyond || usual->value(*tpot) <= tpot->limit * (kFarAbove * aim)) return std::nullopt;
  std::tie(c.engine.max_sequences, c.engine.token_budget) = kSmallSteps;
  const auto small = look(c, looks(c)[0], seed_);
  const double least = std::min(usual->value(*tpot), small ? small->value(*tpot) : usual->value(*tpot)) / tpot->limit;
  return least > kFarAbove * aim ? std::optional(least) : std::nullopt;
}

double Planner::excess_of_tokens(std::size_t replica, int count, double aim, bool at_best) const {
  Configuration c;
  c.groups = {{replica, count}};
  if (bound(c) > 1) return kInfinite;
  if (const auto clear = at_best ? clear_at_a_glance(c, aim) : std::nullopt) return *clear;
  const auto seen = look(c, looks(c)[1], seed_);
  if (!seen || turns_away(*seen, service_)) return kInfinite;
  const double usual = at_best ? seen->least_excess(service_) : seen->excess(service_);
  if (usual <= aim || !breaks_tpot(*seen, service_)) return usual;
  // Smaller steps may keep TPOT where the usual ones do not.
  std::tie(c.engine.max_sequences, c.engine.token_budget) = kSmallSteps;
  const auto other = look(c, looks(c)[1], seed_);
  if (!at_best) return other ? std::min(usual, other->excess(service_)) : usual;
  double worst = 0;
  for (const Slo& slo : service_.slos)
    worst = std::max(worst, std::min(seen->value(slo), other ? other->value(slo) : seen->value(slo)) / slo.limit);
  return std::min(usual, worst);
}

}  // namespace rightsize::capacity
