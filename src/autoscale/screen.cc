#include "autoscale/screen.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "autoscale/scaler.h"

namespace rightsize::autoscale {
namespace {

class Fluid {
 public:
  Fluid(const ClusterConfig& config, const DemandSeries& demand, const Policy& policy, double capacity_share)
      : config_(config),
        demand_(demand),
        replica_(config, demand.mean_prompt(), demand.mean_output()),
        share_(capacity_share),
        most_rate_(replica_.rate(replica_.most) * capacity_share),
        scaler_(make_scaler(policy)) {
    ready_ = policy.kind == Kind::kSchedule ? planned(policy, 0) : policy.first_replicas();
  }

  Screened run() {
    const double width = static_cast<double>(demand_.width) * 1e-9;
    double arrived = 0, over = 0;
    for (std::size_t i = 0; i < demand_.slots.size(); ++i) {
      const double requests = demand_.slots[i].requests;
      now_ = static_cast<SimTime>(i) * demand_.width;
      for (; !starting_.empty() && starting_.front() <= now_; starting_.pop_front()) ++ready_;
      while (scaler_->next() <= now_) decide(arrived);
      arrived += requests;
      const double most = most_rate_ * ready_ * width, served = std::min(backlog_ + requests, most);
      backlog_ += requests - served;
      running_ = ready_ > 0 ? replica_.running_at(served / width / ready_, running_) : 0;
      if (exceeds()) over += requests;
      paid_ += (ready_ + static_cast<double>(starting_.size())) * width;
    }
    paid_ += backlog_ / std::max(1e-9, most_rate_);  // the backlog is served by the existing replicas
    return {paid_, arrived > 0 ? over / arrived : 0};
  }

 private:
  bool exceeds() const {
    const double starts =
        starting_.empty() ? static_cast<double>(config_.startup) : static_cast<double>(starting_.front() - now_);
    const double wait = ready_ > 0 ? backlog_ / (most_rate_ * ready_) * 1e9 : starts;
    const double token = replica_.tpot(running_), first = wait + replica_.prompt * replica_.cost.prefill + token;
    const Limits& slo = config_.slo;
    return (slo.ttft != sim::kNever && first > static_cast<double>(slo.ttft)) ||
           (slo.tpot != sim::kNever && token > share_ * static_cast<double>(slo.tpot)) ||
           (slo.latency != sim::kNever && first + token * replica_.output > static_cast<double>(slo.latency));
  }

  void decide(double arrived) {
    Seen seen;
    seen.now = scaler_->next();
    seen.in_flight = backlog_ + running_ * ready_;
    seen.waiting = backlog_;
    seen.arrived = arrived;
    seen.ready = ready_, seen.wanted = ready_ + static_cast<int>(starting_.size());
    const double context = replica_.prompt + replica_.output / 2;
    const std::int64_t cache = config_.cost.kv_tokens > 0 ? config_.cost.kv_tokens : config_.engine.kv_tokens;
    const double use = std::min(1.0, running_ * context / static_cast<double>(std::max<std::int64_t>(1, cache)));
    seen.cache_use = use * ready_;
    if (scaler_->needs_loads() && ready_ > 0)
      seen.loads.assign(static_cast<std::size_t>(ready_), {use, backlog_ / ready_});
    int change = scaler_->decide(seen) - seen.wanted;
    for (; change > 0; --change) config_.startup > 0 ? starting_.push_back(seen.now + config_.startup) : void(++ready_);
    for (; change < 0; ++change) {
      if (!starting_.empty()) {
        starting_.pop_back();
      } else if (ready_ > 0) {
        --ready_;
        paid_ += replica_.tpot(running_) * replica_.output * 1e-9;  // until it has drained
      }
    }
  }

  const ClusterConfig& config_;
  const DemandSeries& demand_;
  SteadyReplica replica_;
  double share_, most_rate_;  // requests per second of a replica
  std::unique_ptr<Scaler> scaler_;
  int ready_ = 0;
  std::deque<SimTime> starting_;
  SimTime now_ = 0;
  double backlog_ = 0, running_ = 0, paid_ = 0;
};

}  // namespace

SteadyReplica::SteadyReplica(const ClusterConfig& config, double mean_prompt, double mean_output)
    : cost(config.cost), prompt(mean_prompt), output(std::max(1.0, mean_output)) {
  const std::int64_t cache = cost.kv_tokens > 0 ? cost.kv_tokens : config.engine.kv_tokens;
  const double limit = static_cast<double>(std::min(config.engine.max_sequences, config.engine.token_budget));
  most = std::max(1.0, std::min(limit, std::floor(static_cast<double>(cache) / (prompt + output / 2))));
}

// One token per sequence and step, plus the prompts of the requests that replace finished ones.
double SteadyReplica::tpot(double running) const {
  const double context = running * (prompt + output / 2);
  return cost.decode(running, context) + running * prompt * cost.prefill / output;
}

double SteadyReplica::rate(double running) const { return 1e9 * running / (output * tpot(running)); }

double SteadyReplica::running_at(double wanted, double before) const {
  // Linear except for the share of the experts that a step reads, which changes slowly.
  const double read = tpot(before) - before * per_sequence();
  const double tokens = wanted * 1e-9 * output, room = 1 - tokens * per_sequence();
  return room > 0 ? std::min(most, tokens * read / room) : most;
}

double SteadyReplica::per_sequence() const {
  return cost.sequence + cost.context * (prompt + output / 2) + prompt * cost.prefill / output;
}

double SteadyReplica::running_within(SimTime tpot_limit) const {
  double low = 1, high = most;
  if (tpot_limit == sim::kNever || tpot(most) <= static_cast<double>(tpot_limit)) return most;
  constexpr int kSteps = 30;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (tpot(middle) <= static_cast<double>(tpot_limit) ? low : high) = middle;
  }
  return low;
}

Screened screen(const ClusterConfig& config, const DemandSeries& demand, const Policy& policy, double capacity_share) {
  return Fluid(config, demand, policy, capacity_share).run();
}

}  // namespace rightsize::autoscale
