#include "plan/candidates.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/format.h"

namespace rightsize::plan {
namespace {

using model::Precision;

auto names_of(const Candidate& c) {
  return std::tie(c.option->gpus, c.option->machines, c.offer->machine->provider, c.offer->machine->instance,
                  c.offer->price->region, c.offer->price->purchase);
}

// An option whose limits are broken, and by how much.
struct Broken {
  Stage stage;
  double distance;
  std::string need, have;
};

std::optional<Broken> broken_limit(const Limits& limits, const Candidate& c) {
  if (limits.deadline && c.time.total() > *limits.deadline) {
    return Broken{Stage::kDeadline, c.time.total() / *limits.deadline, format_duration(c.time.total()),
                  format_duration(*limits.deadline)};
  }
  if (limits.budget && c.cost > *limits.budget)
    return Broken{Stage::kBudget, c.cost / *limits.budget, format_usd(c.cost), format_usd(*limits.budget)};
  return std::nullopt;
}

}  // namespace

double Candidate::wait(const Request& request) const {
  if (request.work.kind != WorkKind::kServing) return in_seconds(time.total());
  return in_seconds(option->ttft + option->tpot * static_cast<double>(option->job.serve.osl));
}

// AdamW keeps two moments beside each weight; a master copy where weights are narrower than it.
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

std::vector<Candidate> price_options(const Request& request, const std::vector<MachineClass>& classes,
                                     const perf::ModelWork& work, const SearchResult& found, Obstacles& obstacles) {
  std::vector<Candidate> candidates;
  const bool serving = request.work.kind == WorkKind::kServing;
  for (const Option& option : found.options) {
    const MachineClass& machines = classes[option.machines_class];
    const Seconds busy = serving ? kMonth : seconds(request.work.amount / option.units_per_second);
    const Bytes checkpoint = checkpoint_bytes(work, option.job);
    for (const market::Offer& offer : machines.offers) {
      Candidate candidate{&option, &machines, &offer, {busy, {}, {}, {}}, {}, {}};
      if (!serving) {
        // Machines of an offline job work alone: losing one stops only that one.
        const int tied = request.work.kind == WorkKind::kOffline ? 1 : option.machines;
        const auto time = market::running_time(busy, checkpoint, offer.price->purchase, tied,
                                               option.gpus * tied / option.machines, request.assumptions);
        if (!time) {
          obstacles[{machines.gpu->name, Stage::kInterruptions}].meet(1, 1, [] {
            return std::pair(std::string("time to save between interruptions"), std::string("too little"));
          });
          continue;
        }
        candidate.time = *time;
      }
      candidate.side_cost = market::side_costs(candidate.time.total(), request.assumptions);
      candidate.cost =
          offer.rate() * rightsize::machines(option.machines) * candidate.time.total() + candidate.side_cost;
      if (const auto broken = broken_limit(request.limits, candidate)) {
        obstacles[{machines.gpu->name, broken->stage}].meet(1, broken->distance,
                                                            [&] { return std::pair(broken->need, broken->have); });
        continue;
      }
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

bool is_better(const Request& request, const Candidate& a, const Candidate& b) {
  const double cost_a = in_usd(a.cost), cost_b = in_usd(b.cost), wait_a = a.wait(request), wait_b = b.wait(request);
  const auto rest_a = std::tuple(cost_a, wait_a), rest_b = std::tuple(cost_b, wait_b);
  const auto score = [&](double cost, double wait) {
    return request.objective == Objective::kCost ? cost : request.objective == Objective::kTime ? wait : cost * wait;
  };
  const double score_a = score(cost_a, wait_a), score_b = score(cost_b, wait_b);
  if (score_a != score_b) return score_a < score_b;
  if (rest_a != rest_b) return rest_a < rest_b;
  return names_of(a) < names_of(b);
}

std::vector<Candidate> best_of_each_kind(const Request& request, std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [&](const Candidate& a, const Candidate& b) { return is_better(request, a, b); });
  std::set<std::tuple<std::string_view, const catalog::Gpu*, catalog::Purchase>> seen;
  std::vector<Candidate> best;
  for (const Candidate& c : candidates) {
    if (seen.emplace(c.offer->machine->provider, c.machines->gpu, c.offer->price->purchase).second) best.push_back(c);
  }
  return best;
}

std::vector<Candidate> pareto_front(const Request& request, std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    const auto key = [&](const Candidate& c) { return std::tuple(in_usd(c.cost), c.wait(request)); };
    return key(a) != key(b) ? key(a) < key(b) : names_of(a) < names_of(b);
  });
  std::vector<Candidate> front;
  for (const Candidate& c : candidates) {
    if (front.empty() || c.wait(request) < front.back().wait(request)) front.push_back(c);
  }
  return front;
}

}  // namespace rightsize::plan
