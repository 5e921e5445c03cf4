#include "plan/candidates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "plan/startup.h"

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

std::optional<Broken> broken_limit(const PlanLimits& limits, const PricedOption& c) {
  if (limits.deadline && c.time.total() > *limits.deadline) {
    return Broken{RejectionStage::kDeadline,
                  c.time.total() / *limits.deadline,
                  {.kind = Shortfall::Kind::kDeadline, .need_time = c.time.total(), .have_time = *limits.deadline}};
  }
  if (limits.budget && c.due() > *limits.budget) {
    return Broken{RejectionStage::kBudget,
                  c.due() / *limits.budget,
                  {.kind = Shortfall::Kind::kBudget, .need_cost = c.due(), .have_cost = *limits.budget}};
  }
  return std::nullopt;
}

// Machines of a service if its replicas were `factor` times as slow, and at least the minimum. The exact need is
// between one machine less and the number found; the middle of that is scaled.
double machines_at(const Option& option, double factor) {
  const double least = std::min<double>(option.machines, option.least_machines);
  return std::max(least, std::ceil((option.machines - 0.5) * factor - 1e-9));
}

// The factor on the cost of the machines when the speed is off by a factor.
double machine_time_at(const Request& request, const PricedOption& c, double factor) {
  if (request.work.kind == WorkKind::kServing) return machines_at(*c.option, factor) / c.option->machines;
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
  const Usd machines = c.price->likely * rightsize::machines(c.option->machines) * std::max(c.time.total(), term);
  const auto off = [&](double speed, UsdPerMachineSecond price) {
    const double by_speed = varies ? std::log(machine_time_at(request, c, speed)) : 0;
    const bool paid_already = !(c.price->likely > UsdPerMachineSecond{});
    return paid_already ? by_speed : std::hypot(by_speed, std::log(price / c.price->likely));
  };
  c.cost = machines + c.side_cost;
  c.cost_low = machines * std::exp(-off(c.option->speed.low, c.price->low)) + c.side_cost;
  c.cost_high = machines * std::exp(off(c.option->speed.high, c.price->high)) + c.side_cost;
}

}  // namespace

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

// AdamW keeps two moments per weight, and a master copy where weights are narrower.
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

std::vector<market::Draw> draws_of(const Request& request, const market::PriceBook& book, const PricedOption& c) {
  const bool serving = request.work.kind == WorkKind::kServing;
  const Seconds term = serving ? Seconds{} : term_of(c.offer->price->purchase);
  return book.committed().draws(*c.offer, c.cost - c.side_cost, std::max(c.time.total(), term), serving);
}

std::vector<PricedOption> price_options(const Request& request, const market::PriceBook& book,
                                        const std::vector<MachineClass>& classes, const perf::ModelWork& work,
                                        const FoundOptions& found, Obstacles& obstacles) {
  std::vector<PricedOption> candidates;
  const bool serving = request.work.kind == WorkKind::kServing;
  std::map<std::string_view, market::JobAssumptions> by_vendor;  // images differ
  const auto assumed = [&](const catalog::Gpu& gpu) -> const market::JobAssumptions& {
    const auto [at, is_new] = by_vendor.try_emplace(gpu.vendor);
    if (is_new) at->second = assumptions_on(request, work, gpu);
    return at->second;
  };
  for (const Option& option : found.options) {
    const MachineClass& machines = classes[option.machines_class];
    const Seconds busy = serving ? kMonth : seconds(request.work.amount / option.units_per_second);
    const Bytes checkpoint = checkpoint_bytes(work, option.job);
    for (std::size_t i = 0; i < machines.offers.size(); ++i) {
      const market::Offer& offer = machines.offers[i];
      PricedOption candidate{&option, &machines, &offer, &machines.outlooks[i], {busy, {}, {}, {}}, {}, {}};
      if (!serving) {
        // Machines of an offline job work independently: losing one stops only that one.
        const int tied = request.work.kind == WorkKind::kOffline ? 1 : option.machines;
        const market::JobAssumptions& assumptions = assumed(*machines.gpu);
        const auto time = market::running_time({busy, market::save_time(checkpoint, assumptions), offer.price->purchase,
                                                tied, option.gpus * tied / option.machines},
                                               assumptions);
        if (!time) {
          obstacles[{machines.gpu->name, RejectionStage::kInterruptions}].add(
              1, 1, {.kind = Shortfall::Kind::kInterruptions});
          continue;
        }
        candidate.time = *time;
      }
      candidate.side_cost = market::side_costs(candidate.time.total(), request.assumptions);
      set_cost(request, candidate);
      if (!book.committed().empty()) candidate.drawn = market::sum_of(draws_of(request, book, candidate));
      if (const auto broken = broken_limit(request.limits, candidate)) {
        obstacles[{machines.gpu->name, broken->stage}].add(1, broken->distance, broken->shortfall);
        continue;
      }
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

bool is_better(const Request& request, const PricedOption& a, const PricedOption& b) {
  const double cost_a = in_usd(a.due()), cost_b = in_usd(b.due()), wait_a = a.wait(request), wait_b = b.wait(request);
  // Among options without new money, prefer the one that uses less of the commitments.
  const auto rest_a = std::tuple(cost_a, in_usd(a.cost), wait_a), rest_b = std::tuple(cost_b, in_usd(b.cost), wait_b);
  // Times within about 2 % count as equal, so that a second does not double the cost.
  const auto rounded = [](double wait) { return std::floor(std::log(wait) / std::log(1.02)); };
  const auto score = [&](double cost, double wait) {
    if (request.objective == Objective::kTime) return rounded(wait);
    return request.objective == Objective::kCost ? cost : cost * wait;
  };
  const double score_a = score(cost_a, wait_a), score_b = score(cost_b, wait_b);
  if (a.price->may_lead() != b.price->may_lead()) return a.price->may_lead();
  if (score_a != score_b) return score_a < score_b;
  if (rest_a != rest_b) return rest_a < rest_b;
  return names_of(a) < names_of(b);
}

Kind kind_of(const PricedOption& c) { return {c.offer->machine->provider, c.machines->gpu, c.offer->price->purchase}; }

std::vector<PricedOption> best_of_each_kind(const Request& request, std::vector<PricedOption> candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [&](const PricedOption& a, const PricedOption& b) { return is_better(request, a, b); });
  std::set<Kind> seen;
  std::vector<PricedOption> best;
  for (const PricedOption& c : candidates) {
    if (seen.insert(kind_of(c)).second) best.push_back(c);
  }
  return best;
}

std::vector<PricedOption> pareto_front(const Request& request, std::vector<PricedOption> candidates) {
  // A price that may not lead is not part of the front, unless there are no others.
  const auto may_lead = [](const PricedOption& c) { return c.price->may_lead(); };
  if (std::any_of(candidates.begin(), candidates.end(), may_lead)) {
    std::erase_if(candidates, [&](const PricedOption& c) { return !may_lead(c); });
  }
  std::sort(candidates.begin(), candidates.end(), [&](const PricedOption& a, const PricedOption& b) {
    const auto key = [&](const PricedOption& c) { return std::tuple(in_usd(c.due()), c.wait(request)); };
    return key(a) != key(b) ? key(a) < key(b) : names_of(a) < names_of(b);
  });
  std::vector<PricedOption> front;
  for (const PricedOption& c : candidates) {
    if (front.empty() || c.wait(request) < front.back().wait(request)) front.push_back(c);
  }
  return front;
}

}  // namespace rightsize::plan
