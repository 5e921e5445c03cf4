#include "plan/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "catalog/words.h"
#include "perf/benchmark.h"
#include "plan/startup.h"
#include "plan/stored_data.h"

namespace rightsize::plan {
namespace {

using model::Precision;

auto names_of(const PricedOption& c) {
  return std::tie(c.option->gpus, c.option->machines, c.offer->machine->provider, c.offer->machine->instance,
                  c.offer->price->region, c.offer->price->purchase);
}

// A limit that an option breaks, and by how much.
struct Broken {
  RejectionStage stage;
  double distance;
  Shortfall shortfall;
};

// All limits that the option breaks, at the stage of the first. One that breaks a single limit is closer to working
// than any that breaks several.
std::optional<Broken> broken_limit(const Request& request, const PricedOption& c) {
  constexpr double kUnknown = 1e5, kSeveral = 1e3;  // further from the limit than any figure
  const PlanLimits& limits = request.limits;
  std::optional<Broken> broken;
  const auto add = [&](RejectionStage stage, Shortfall::Kind kind, double distance) -> Shortfall& {
    if (broken)
      broken->distance *= kSeveral * distance;
    else
      broken = Broken{stage, distance, {.kind = kind, .at_least = !c.option->confirmed}};
    return broken->shortfall;
  };
  constexpr double kMostYears = 10;  // the most that --deadline accepts
  const Seconds elapsed = c.time.total() / c.day_share, latest = limits.deadline.value_or(kMostYears * kYear);
  if (elapsed > latest) {
    Shortfall& s = add(RejectionStage::kDeadline, Shortfall::Kind::kDeadline, elapsed / latest);
    s.need_time = elapsed, s.have_time = latest;
  }
  const Usd need = c.least_due(request);
  if (limits.budget && need > *limits.budget + kHalfACent) {
    Shortfall& s = add(RejectionStage::kBudget, Shortfall::Kind::kBudget, need / *limits.budget);
    s.need_cost = need, s.have_cost = *limits.budget;
  }
  const bool unknown = !(c.power > Watts{});
  if (limits.power && (unknown || c.power > *limits.power)) {
    Shortfall& s = add(RejectionStage::kPower, Shortfall::Kind::kPower, unknown ? kUnknown : c.power / *limits.power);
    s.need_power = c.power, s.have_power = *limits.power;
  }
  const double kg = limits.co2_kg ? co2_kg(request, c).value_or(0) : 0;
  if (limits.co2_kg && (!(kg > 0) || kg > *limits.co2_kg)) {
    Shortfall& s = add(RejectionStage::kCarbon, Shortfall::Kind::kCarbon, kg > 0 ? kg / *limits.co2_kg : kUnknown);
    s.need_kg = kg, s.have_kg = *limits.co2_kg;
  }
  return broken;
}

// The factor on the cost of the machines when the speed is off by a factor.
double machine_time_at(const Request& request, const PricedOption& c, double factor) {
  if (request.work.kind == WorkKind::kServing) return machines_at(request, *c.option, factor) / c.option->machines;
  // Start-up does not depend on the speed; saving and repeated work scale with the hours.
  const Seconds moving = c.time.total() - c.time.startup;
  return (c.time.startup + moving * factor) / c.time.total();
}

// Speed and price vary independently; storage and egress are fixed.
void set_cost(const Request& request, PricedOption& c) {
  const bool serving = request.work.kind == WorkKind::kServing;
  // A commitment is paid to its end even if the job is shorter.
  const Seconds term = serving ? Seconds{} : term_of(c.offer->price->purchase);
  const bool varies = term < c.time.total();
  const Usd machines = c.rate * rightsize::machines(c.option->machines) * std::max(c.time.total(), term);
  const auto off = [&](double speed, UsdPerMachineSecond price) {
    const double by_speed = varies ? std::log(machine_time_at(request, c, speed)) : 0;
    const bool paid_already = !(c.price->likely > UsdPerMachineSecond{});
    return paid_already ? by_speed : std::hypot(by_speed, std::log(price / c.price->likely));
  };
  c.cost = machines + c.side_cost;
  c.cost_low = machines * std::exp(-off(c.option->speed.low, c.price->low)) + c.side_cost;
  c.cost_high = machines * std::exp(off(c.option->speed.high, c.price->high)) + c.side_cost;
}

// Above every cost.
constexpr double kNever = 1e300;

// Machines on average over the range of the speed, over the planned number. Only slower GPUs count: a plan is ordered
// as it is, and grows if it has to.
double risk_of(const Request& request, Option option) {
  if (request.work.kind != WorkKind::kServing || !option.confirmed) return 1;
  option.machines_if_slow.reset();  // simulated only of plans that are shown, which must not change their rank
  constexpr double kQuantiles[] = {0.1257, 0.3853, 0.6745, 1.0364, 1.6449};  // of the slower half: 55 % to 95 %
  double sum = 0;
  for (const double z : kQuantiles) {
    const double machines = machines_at(request, option, std::exp(z * deviation_of(option.speed)));
    sum += std::max(1.0, machines / option.machines);
  }
  return 0.5 + 0.5 * sum / static_cast<double>(std::size(kQuantiles));
}

// Up to 5 % where less than 5 % of the memory is left at the high end of what is needed, all of it below 2.5 %.
double tightness(const Option& option) {
  constexpr double kSpare = 0.05, kMost = 0.05;
  return 1 + kMost * std::clamp((option.memory_used - 1 + kSpare) / (kSpare / 2), 0.0, 1.0);
}

// Whether the option breaks a limit at the slow end of its speed.
bool may_miss(const Request& request, const PricedOption& c) {
  const double slow = c.option->speed.high;
  if (request.work.kind == WorkKind::kServing) return limit_used(request, *c.option) * slow > 1;
  return request.limits.deadline &&
         c.time.total() * machine_time_at(request, c, slow) / c.day_share > *request.limits.deadline;
}

// Twice as long counts as 0.5 % more cost, and twice the cost as 2 % more time or energy where those are minimized.
constexpr double kLonger = 0.0072, kDearer = 0.0286;

// What the objective minimizes.
double score_of(const Request& request, const PricedOption& c) {
  const double cost = std::max(0.01, c.ranked_cost(request)), wait = c.ranked_wait(request);
  if (request.objective == Objective::kTime) return wait * std::pow(cost, kDearer);
  // Unknown power comes last.
  if (request.objective == Objective::kEnergy)
    return c.power > Watts{} ? energy_kwh(request, c) * std::pow(cost, kDearer) : kNever;
  if (request.objective == Objective::kCostTime) return cost * wait;
  // Egress is the same for every option, so it does not hide a difference.
  const double fixed = in_usd(market::side_costs(Seconds{}, Bytes{}, request.assumptions));
  const bool service = request.work.kind == WorkKind::kServing;
  return std::max(1e-6, cost - fixed) * (service ? 1 : std::pow(wait, kLonger));
}

// The width of the cost's range in factors of 2: small differences do not decide.
double width_of(const PricedOption& c) {
  return c.cost_low > Usd{} ? std::floor(std::log(c.cost_high / c.cost_low) / std::log(2.0)) : 0;
}

}  // namespace

// The score with what other merits are worth, in percent. Speeds and prices are not known more exactly than that.
double PricedOption::score(const Request& request) const {
  const PricedOption& c = *this;
  const bool benchmarked = c.has_benchmark();
  const bool near = may_miss(request, c);
  double percent = near ? 2 : 0;
  // The high end of an extrapolation already counts. Near a limit, a range without a benchmark is a guess itself.
  if (!c.is_extrapolated())
    percent += !benchmarked ? (near ? 2 : 1) : c.option->basis == perf::Basis::kTransferred ? 0.5 : 0;
  // More than any other merit, so that more terms do not cost more.
  if (c.offer->price->purchase != catalog::Purchase::kOnDemand) percent += 3;
  if (c.price->age && *c.price->age > days(market::kAgedDays)) percent += 0.2;
  if (c.price->sources < 2) percent += 0.1;
  // One failed machine stops a whole training run, but only its own replicas of a service. A run on one machine is
  // worth 2 %, also where two machines take half the time.
  const bool service = request.work.kind == WorkKind::kServing && c.option->replicas > 1;
  const int count = c.option->machines;
  const double alone = request.work.kind == WorkKind::kTraining && count > 1 ? 1.5 : 0;
  percent += service ? 0.3 / count : alone + 0.6 * std::log2(count) + 0.2 * width_of(c);
  if (has_arm_host(*c.offer) || c.machines->gpu->vendor != "NVIDIA") percent += 0.3;
  return score_of(request, c) * (1 + percent / 100);
}

bool follows_hours(const market::Offer& offer) {
  using catalog::Purchase;
  return offer.machine->provider != market::kOwn &&
         (offer.price->purchase == Purchase::kOnDemand || offer.price->purchase == Purchase::kSpot);
}

double pue_of(const Request& request, const catalog::Machine& machine) {
  return request.pue.value_or(market::pue_of(machine.provider));
}

double energy_kwh(const Request& request, const PricedOption& option) {
  const double watts = in_watts(option.power) * option.draw_share;
  return watts * option.hours() * pue_of(request, *option.offer->machine) / 1e3;
}

std::optional<double> co2_kg(const Request& request, const PricedOption& option) {
  const auto carbon = request.carbon ? request.carbon->in(option.offer->price->region) : std::nullopt;
  if (!carbon || !(option.power > Watts{})) return std::nullopt;
  return energy_kwh(request, option) * carbon->grams_per_kwh / 1e3;
}

Watts power_of(const Deployment& deployment, const MachineClass& machines) {
  if (!(deployment.gpu_power > Watts{})) return {};
  const double all = static_cast<double>(deployment.machines) * machines.gpus;
  const double spare = std::max(0.0, all - deployment.gpus);
  return deployment.gpu_power * deployment.gpus + machines.speed.power.idle * spare + market::kHostPower * all;
}

Watts idle_power_of(const Deployment& deployment, const MachineClass& machines) {
  return (machines.speed.power.idle + market::kHostPower) * (static_cast<double>(deployment.machines) * machines.gpus);
}

Seconds price_horizon(const Request& request) {
  return request.work.kind == WorkKind::kServing ? kMonth : market::kJobOutlook;
}

Seconds term_of(catalog::Purchase purchase) {
  using catalog::Purchase;
  const double years = purchase == Purchase::kOneYear ? 1 : purchase == Purchase::kThreeYears ? 3 : 0;
  return kYear * years;
}

double PricedOption::wait(const Request& request) const {
  if (request.work.kind != WorkKind::kServing) return in_seconds(time.total());
  return in_seconds(option->latency);
}

// AdamW keeps two moments per weight, and a master copy of 16-bit weights.
Bytes checkpoint_bytes(const perf::ModelWork& work, const model::Job& job) {
  if (job.kind != model::JobKind::kTrain) return Bytes{};
  if (job.train.method != model::Method::kFull) {
    const double width = work.lora_width_attention + work.lora_width_other;
    return bytes(12.0 * job.train.lora_rank * width);
  }
  const double each = job.precision == Precision::kBf16                                            ? 6
                      : job.precision == Precision::kMixedBf16 || job.precision == Precision::kFp8 ? 14
                                                                                                   : 12;
  return bytes(each * work.parameters);
}

Bytes stored_bytes(const Request& request, const perf::ModelWork& work, const model::Job& job) {
  if (request.work.kind == WorkKind::kOffline) return data_size(request).both();
  return checkpoint_bytes(work, job) * (kKeptCheckpoints + 1.0);
}

std::vector<market::Draw> draws_of(const Request& request, const market::PriceBook& book, const PricedOption& c) {
  const bool serving = request.work.kind == WorkKind::kServing;
  const Seconds term = serving ? Seconds{} : term_of(c.offer->price->purchase);
  // Storage and egress also count towards committed spend.
  return book.committed().draws(*c.offer, c.cost, std::max(c.time.total(), term), serving);
}

namespace {

// Power falls with the traffic from that of the busiest hour to idle; without traffic the machines are off.
double draw_share(const Request& request, const PricedOption& c) {
  const std::vector<double>& hours = request.work.rate_by_hour;
  if (hours.empty() || !(c.power > Watts{}) || follows_hours(*c.offer)) return 1;
  const double idle = std::min(1.0, idle_power_of(*c.option, *c.machines) / c.power);
  const double peak = in_requests_per_s(request.work.rate);
  double sum = 0;
  for (const double rate : hours) sum += rate > 0 ? idle + (1 - idle) * std::min(1.0, rate / peak) : 0;
  return sum / static_cast<double>(hours.size());
}

// If the GPUs are slow, a service would use the cheapest machines and layout of its kind that still meet the limits.
void share_slow_ends(std::vector<PricedOption>& candidates) {
  std::map<std::pair<Kind, Precision>, std::pair<bool, Usd>> least;  // those that the limits allow come first
  const auto key = [](const PricedOption& c) {
    Kind plain = kind_of(c);
    std::get<3>(plain) = false;
    return std::pair(plain, c.option->job.precision);
  };
  for (const PricedOption& c : candidates) {
    if (c.option->machines_if_slow.value_or(0) == 0) continue;
    const std::pair end(!c.option->slow_is_allowed, c.cost_high);
    const auto [at, is_new] = least.try_emplace(key(c), end);
    if (!is_new) at->second = std::min(at->second, end);
  }
  for (PricedOption& c : candidates) {
    if (!c.option->machines_if_slow) continue;
    const auto known = least.find(key(c));
    c.misses_if_slow = known == least.end() || known->second.first;
    if (known != least.end()) c.cost_high = std::max(c.cost, known->second.second);
  }
}

// Host memory of a machine for offloaded states: master weights, two moments and gradients in 32 bits (Rajbhandari et
// al. 2021, "ZeRO-Infinity"), and 16-bit weights if they are offloaded too.
Bytes offloaded_bytes(const perf::ModelWork& work, const Option& option) {
  const model::TrainSettings& train = option.job.train;
  if (train.offload == model::Offload::kNone) return {};
  const double states = train.method == model::Method::kFull ? 16 : 0;
  const double weights = train.offload == model::Offload::kParameters ? 2 : 0;
  const double copies = option.job.parallel.zero > 0 ? 1 : option.job.parallel.data();
  return bytes(work.parameters * (states + weights) * copies / option.machines);
}

}  // namespace

std::vector<PricedOption> price_options(const Request& request, const market::PriceBook& book,
                                        const std::vector<MachineClass>& classes, const perf::ModelWork& work,
                                        const FoundOptions& found, Obstacles& obstacles) {
  std::vector<PricedOption> candidates;
  const bool serving = request.work.kind == WorkKind::kServing;
  std::map<std::string_view, market::JobAssumptions> by_vendor;  // container images differ
  const auto assumed = [&](const catalog::Gpu& gpu) -> const market::JobAssumptions& {
    const auto [at, is_new] = by_vendor.try_emplace(gpu.vendor);
    if (is_new) at->second = assumptions_on(request, work, gpu);
    return at->second;
  };
  for (const Option& option : found.options) {
    const MachineClass& machines = classes[option.machines_class];
    const Seconds busy = serving ? kMonth : seconds(request.work.amount / option.units_per_second);
    const Bytes checkpoint = checkpoint_bytes(work, option.job), stored = stored_bytes(request, work, option.job);
    const double risk = risk_of(request, option);
    const Bytes in_host = offloaded_bytes(work, option);
    for (std::size_t i = 0; i < machines.offers.size(); ++i) {
      const market::Offer& offer = machines.offers[i];
      if (const auto host = offer.machine->memory; host && *host < in_host) {
        obstacles[{machines.gpu->name, RejectionStage::kMemory}].add(
            1, in_host / *host,
            {.kind = Shortfall::Kind::kFormat,
             .reason = fmt::format("{} of host memory per machine for offloaded states", format_bytes(in_host))});
        continue;
      }
      PricedOption candidate{&option, &machines, &offer, &machines.outlooks[i], {busy, {}, {}, {}}, {}, {}};
      if (serving && follows_hours(offer)) candidate.time.work = busy * option.paid_share();
      if (!serving) {
        candidate.day_share = request.own.empty() || offer.machine->provider == market::kOwn ? request.day_share : 1;
        candidate.starts_over = offer.price->purchase == catalog::Purchase::kSpot && !keeps_results(offer);
        // Machines of an offline job work independently: losing one stops only that one.
        const int tied = request.work.kind == WorkKind::kOffline ? 1 : option.machines;
        const market::JobAssumptions& assumptions = assumed(*machines.gpu);
        const auto time = market::running_time(
            {busy, market::save_time(checkpoint, assumptions, option.machines), offer.price->purchase, tied,
             option.gpus * tied / option.machines, candidate.starts_over,
             candidate.day_share < 1 ? hours(24) * candidate.day_share : Seconds{}},
            assumptions);
        if (!time) {
          obstacles[{machines.gpu->name, RejectionStage::kInterruptions}].add(
              1, 1, {.kind = Shortfall::Kind::kInterruptions});
          continue;
        }
        candidate.time = *time;
      }
      candidate.power = power_of(option, machines);
      if (serving) candidate.draw_share = draw_share(request, candidate);
      candidate.rate =
          machines.own != nullptr && candidate.power > Watts{}
              ? market::hourly_cost(*machines.own, candidate.power * candidate.draw_share / option.machines)
              : candidate.price->likely;
      // Storage next to machines that are already paid for is also paid for, unless the user gives its price.
      const bool paid = offer.machine->provider == market::kOwn || !(candidate.price->likely > UsdPerMachineSecond{});
      candidate.side_cost =
          market::side_costs(serving ? kMonth : candidate.time.total(), paid ? Bytes{} : stored, request.assumptions);
      set_cost(request, candidate);
      candidate.risk = risk;
      candidate.misses_if_slow = !serving && may_miss(request, candidate);
      if (!book.committed().empty()) candidate.drawn = market::sum_of(draws_of(request, book, candidate));
      if (const auto broken = broken_limit(request, candidate)) {
        // The nearest option is the one that would be chosen first: doubtful prices come last.
        const double rank = candidate.price->may_lead() ? 1 : candidate.price->outdated ? 1e9 : 1e6;
        obstacles[{machines.gpu->name, broken->stage}].add(1, broken->distance * rank, broken->shortfall);
        continue;
      }
      candidates.push_back(candidate);
    }
  }
  // Prices over a year old are used only if nothing else meets the limits.
  const auto is_outdated = [](const PricedOption& c) { return c.price->outdated; };
  if (!std::all_of(candidates.begin(), candidates.end(), is_outdated)) std::erase_if(candidates, is_outdated);
  share_slow_ends(candidates);
  return candidates;
}

bool PricedOption::is_extrapolated() const {
  const bool own_runs = option->basis == perf::Basis::kMeasured || option->basis == perf::Basis::kCalibrated;
  return !own_runs && machines->speed.basis == perf::Basis::kSpecification;
}

bool PricedOption::has_benchmark() const { return perf::has_benchmark(option->basis, machines->speed.relative); }

bool PricedOption::is_unproven(const Request& request) const {
  return !request.work.is_measured() && !has_benchmark() && !offer->is_own() && price->is_old();
}

bool PricedOption::is_gamble(const Request& request) const {
  const bool service = request.work.kind == WorkKind::kServing;
  const bool untested = is_extrapolated() || (!service && !has_benchmark());
  return misses_if_slow && untested && !request.work.is_measured();
}

Usd PricedOption::least_due(const Request& request) const {
  if (option->sized) return due();
  const double least = static_cast<double>(option->least_machines) / option->machines;
  const bool steady = request.work.rate_by_hour.empty();
  return std::max(Usd{}, cost * (request.work.trace ? least : std::max(0.5, steady ? least : 0)) - drawn);
}

double PricedOption::ranked_cost(const Request& request) const {
  // Separate workers are simulated only if they may save enough; their place in the list then decides.
  const bool unlikely = is_separated(request, *this) && !option->confirmed;
  if (request.work.kind == WorkKind::kServing && is_gamble(request)) return kNever;
  // Among layouts with the same cost on slow GPUs, take the one that is likely the cheapest.
  constexpr double kLikely = 0.01;
  const double high = is_extrapolated() && cost > Usd{} ? cost_high / cost + kLikely : 1;
  // More than errors of speed and price together usually are; of an extrapolation the high end is more.
  constexpr double kClearly = 1.1;
  const double doubt = is_unproven(request) && !is_extrapolated() ? kClearly : 1;
  const bool unrated = request.work.kind == WorkKind::kServing && !(request.work.rate > RequestsPerSecond{});
  const double requests = unrated ? option->requests_per_second : 1;
  return in_usd(due()) / requests * high * doubt * risk * tightness(*option) /
         (unlikely ? 1 - kLeastSavingOfSeparation : 1);
}

double PricedOption::ranked_wait(const Request& request) const {
  return wait(request) * (is_extrapolated() ? option->speed.high : 1);
}

namespace {

// An option with what ranks it, which takes longer to compute than to compare. Among options without new money, prefer
// the one that uses less of the commitments.
struct Ranked {
  Ranked(const Request& request, const PricedOption& c)
      : option(&c),
        key(!c.price->may_lead(), c.is_gamble(request), c.score(request), in_usd(c.cost), c.ranked_wait(request)) {}
  bool operator<(const Ranked& other) const {
    return key != other.key ? key < other.key : names_of(*option) < names_of(*other.option);
  }

  const PricedOption* option;
  std::tuple<bool, bool, double, double, double> key;
};

// Separate workers lead only if they save enough over every plain plan that is as sound, also on average over the range
// of both speeds.
void put_plain_first(const Request& request, std::vector<Ranked>& ranking) {
  if (ranking.empty() || !is_separated(request, *ranking.front().option)) return;
  const PricedOption& first = *ranking.front().option;
  double least = kNever, on_average = kNever;
  for (const Ranked& each : ranking) {
    const PricedOption& c = *each.option;
    const bool sound = c.price->may_lead() >= first.price->may_lead() && c.is_extrapolated() <= first.is_extrapolated();
    // Of plans that were not simulated, only the best can be next.
    if (!sound || is_separated(request, c) || (!c.option->confirmed && least < kNever)) continue;
    least = std::min(least, in_usd(c.due())), on_average = std::min(on_average, in_usd(c.due()) * c.risk);
  }
  const auto leads = std::find_if(ranking.begin(), ranking.end(), [&](const Ranked& each) {
    const double due = in_usd(each.option->due()), most = 1 - kLeastSavingOfSeparation;
    return !is_separated(request, *each.option) ||
           (due <= least * most && due * each.option->risk <= on_average * most);
  });
  if (leads != ranking.end()) std::rotate(ranking.begin(), leads, leads + 1);
}

}  // namespace

bool is_separated(const Request& request, const PricedOption& c) {
  return c.option->job.serve.disaggregated && !request.job.serve.disaggregated;
}

bool is_better(const Request& request, const PricedOption& a, const PricedOption& b) {
  return Ranked(request, a) < Ranked(request, b);
}

// A "g" after the generation of an AWS family stands for Graviton: g5g.
bool has_arm_host(const market::Offer& offer) {
  if (catalog::is_superchip(*offer.gpu)) return true;
  if (offer.machine->provider != "aws") return false;
  const std::string family = offer.machine->instance.substr(0, offer.machine->instance.find('.'));
  const std::size_t generation = family.find_first_of("0123456789");
  return generation != std::string::npos && family.find('g', generation) != std::string::npos;
}

Kind kind_of(const PricedOption& c) {
  return {c.offer->machine->provider, c.machines->gpu, c.offer->price->purchase,
          c.option->job.serve.disaggregated.has_value()};
}

std::vector<PricedOption> best_of_each_kind(const Request& request, const std::vector<PricedOption>& candidates) {
  std::map<Kind, Ranked> kinds;
  for (const PricedOption& c : candidates) {
    const Ranked ranked(request, c);
    Ranked& first = kinds.try_emplace(kind_of(c), ranked).first->second;
    first = std::min(first, ranked);
  }
  std::vector<Ranked> ranking;
  for (const auto& [kind, ranked] : kinds) {
    // Separate workers on the same machines get a row only if they cost less.
    const auto plain = kinds.find({std::get<0>(kind), std::get<1>(kind), std::get<2>(kind), false});
    if (!std::get<3>(kind) || plain == kinds.end() || ranked.option->cost < plain->second.option->cost)
      ranking.push_back(ranked);
  }
  std::sort(ranking.begin(), ranking.end());
  put_plain_first(request, ranking);
  std::vector<PricedOption> best;
  for (const Ranked& each : ranking) best.push_back(*each.option);
  // The rest of the list is for comparison: sorted by likely cost, whatever the evidence.
  if (request.objective == Objective::kCost && !best.empty())
    std::sort(best.begin() + 1, best.end(), [](const PricedOption& a, const PricedOption& b) {
      const auto key = [](const PricedOption& c) { return std::tuple(!c.price->may_lead(), in_usd(c.due())); };
      return key(a) != key(b) ? key(a) < key(b) : names_of(a) < names_of(b);
    });
  return best;
}

std::vector<PricedOption> pareto_front(const Request& request, std::vector<PricedOption> candidates) {
  // A doubtful price is not part of the front unless there are no others.
  const auto may_lead = [](const PricedOption& c) { return c.price->may_lead(); };
  const bool some_lead = std::any_of(candidates.begin(), candidates.end(), may_lead);
  struct Point {
    std::pair<double, double> cost_and_wait;
    const PricedOption* option;
  };
  std::vector<Point> points;
  for (const PricedOption& c : candidates)
    if (may_lead(c) || !some_lead) points.push_back({{c.ranked_cost(request), c.ranked_wait(request)}, &c});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.cost_and_wait != b.cost_and_wait ? a.cost_and_wait < b.cost_and_wait
                                              : names_of(*a.option) < names_of(*b.option);
  });
  std::vector<PricedOption> front;
  double least_wait = std::numeric_limits<double>::infinity();
  for (const Point& point : points) {
    if (!front.empty() && !(point.cost_and_wait.second < least_wait)) continue;
    front.push_back(*point.option);
    least_wait = point.cost_and_wait.second;
  }
  // What raises the rank of a plan, such as memory to spare, is no reason to list it below one that is faster for less.
  const bool service = request.work.kind == WorkKind::kServing;
  const std::vector<PricedOption> all = front;
  std::erase_if(front, [&](const PricedOption& slow) {
    return !service && std::any_of(all.begin(), all.end(), [&](const PricedOption& c) {
      return c.due() < slow.due() && c.wait(request) < slow.wait(request) &&
             c.is_extrapolated() <= slow.is_extrapolated();
    });
  });
  return front;
}

}  // namespace rightsize::plan
