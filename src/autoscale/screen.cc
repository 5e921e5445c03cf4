#include <algorithm>
#include <cmath>
#include <deque>

#include "autoscale/scaler.h"
#include "autoscale/search.h"
#include "base/random.h"

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

  ScalingRun run() {
    const double width = static_cast<double>(demand_.width) * 1e-9;
    double arrived = 0;
    run_.most_ready = ready_;
    for (std::size_t i = 0; i < demand_.slots.size(); ++i) {
      const double requests = demand_.slots[i].requests;
      now_ = static_cast<SimTime>(i) * demand_.width;
      for (; !starting_.empty() && starting_.front() <= now_; starting_.pop_front()) ++ready_;
      while (scaler_->next() <= now_) decide(arrived);
      run_.most_ready = std::max(run_.most_ready, ready_);
      arrived += requests;
      const double most = most_rate_ * ready_ * width, served = std::min(backlog_ + requests, most);
      backlog_ += requests - served;
      settle(served / width, width);
      count(static_cast<std::uint32_t>(requests), width);
    }
    run_.paid_seconds += backlog_ / std::max(1e-9, most_rate_);  // the backlog is served by the existing replicas
    run_.end = static_cast<SimTime>(demand_.slots.size()) * demand_.width;
    return std::move(run_);
  }

 private:
  // A request stays for the time of its tokens, so the sequences follow the rate with that delay. Their ends are as
  // random as Poisson arrivals: without that, autoscalers would see half of the variance.
  void settle(double rate, double width) {
    if (ready_ == 0) {
      running_ = 0;
    } else {
      running_ = std::min(replica_.most, running_ * shared_by_ / ready_);
      const double steady = replica_.running_at(rate / ready_, running_);
      const double stays = replica_.tpot(running_) * replica_.output * 1e-9;
      const double kept = std::exp(-width / stays), variance = steady / ready_ * (1 - kept * kept) / 2;
      running_ = steady + (running_ - steady) * kept + std::sqrt(variance) * random_.normal();
      running_ = std::clamp(running_, 0.0, replica_.most);
    }
    shared_by_ = ready_;
  }

  void count(std::uint32_t requests, double width) {
    const auto at = static_cast<std::size_t>(now_ / kSlot);
    if (at >= run_.slots.size()) run_.slots.resize(at + 1);
    Slot& slot = run_.slots[at];
    slot.requests += requests, run_.requests += requests;
    if (exceeds()) slot.over += requests, run_.over += requests;
    const double ready = ready_ * width, paid = ready + static_cast<double>(starting_.size()) * width;
    slot.ready += ready, run_.ready_seconds += ready;
    slot.paid += paid, run_.paid_seconds += paid;
  }

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
    run_.starts += std::max(0, change);
    for (; change > 0; --change) config_.startup > 0 ? starting_.push_back(seen.now + config_.startup) : void(++ready_);
    for (; change < 0; ++change) {
      if (!starting_.empty()) {
        starting_.pop_back();
      } else if (ready_ > 0) {
        --ready_;
        run_.paid_seconds += replica_.tpot(running_) * replica_.output * 1e-9;  // until it has drained
      }
    }
  }

  const ClusterConfig& config_;
  const DemandSeries& demand_;
  SteadyReplica replica_;
  double share_, most_rate_;  // requests per second of a replica
  std::unique_ptr<Scaler> scaler_;
  int ready_ = 0, shared_by_ = 0;  // replicas; those that share the running sequences
  std::deque<SimTime> starting_;
  SimTime now_ = 0;
  double backlog_ = 0, running_ = 0;
  ScalingRun run_;
  Random random_{1};
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

ScalingRun screen(const ClusterConfig& config, const DemandSeries& demand, const Policy& policy,
                  double capacity_share) {
  return Fluid(config, demand, policy, capacity_share).run();
}

}  // namespace rightsize::autoscale
