#include "autoscale/cluster.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

#include "autoscale/scaler.h"
#include "base/long_work.h"
#include "sim/closed_users.h"
#include "sim/continuous_engine.h"
#include "sim/min_tree.h"

namespace rightsize::autoscale {
namespace {

using sim::Arrival;
using sim::ContinuousEngine;
using sim::kNever;

double as_seconds(SimTime t) { return static_cast<double>(t) * 1e-9; }

// Requests in order of time: a stream, read in blocks, or users who wait for their answers.
class Source {
 public:
  Source(const ClusterConfig& config, const Traffic& traffic) : left_(config.closed_requests) {
    if (config.closed) {
      users_.emplace(*config.closed);
    } else {
      stream_ = traffic();
      refill();
    }
  }

  // kNever if there is no further request, or none before an answer.
  SimTime next() const {
    if (users_) return left_ > 0 && !cancelled() ? users_->next() : kNever;
    return at_ < count_ ? block_[at_].at : kNever;
  }
  Arrival take() {
    if (users_) {
      --left_;
      return users_->take();
    }
    const Arrival request = block_[at_];
    if (++at_ == count_) refill();
    return request;
  }
  void answered(std::uint32_t prompt, SimTime at) {
    if (users_) users_->answered(prompt, at);
  }

 private:
  void refill() {
    at_ = 0;
    count_ = ended_ || cancelled() ? 0 : stream_->fill(block_);
    LongWork::step(count_);
    ended_ = count_ < block_.size();
  }

  std::optional<sim::ClosedUsers> users_;
  std::uint64_t left_;
  std::unique_ptr<sim::ArrivalStream> stream_;
  std::array<Arrival, 512> block_;
  std::size_t at_ = 0, count_ = 0;
  bool ended_ = false;
};

enum class State { kGone, kStarting, kReady, kDraining };

struct Replica {
  std::unique_ptr<ContinuousEngine> engine;
  State state = State::kGone;
  std::int64_t number = 0;  // in order of starts
};

class Cluster final : public sim::RequestWatcher {
 public:
  Cluster(const ClusterConfig& config, const Traffic& traffic, const Policy& policy)
      : config_(config), scaler_(make_scaler(policy)), source_(config, traffic) {
    totals_.watcher = this;
    if (config.closed) totals_.answers = &answers_;
    add_slot();
    const int first = policy.kind == Kind::kSchedule ? planned(policy, 0) : policy.first_replicas();
    for (int i = 0; i < first; ++i) start(0);
    run_.starts = 0;
    run_.most_ready = first;
  }

  ScalingRun run() {
    while ((source_.next() != kNever || in_flight_ > 0) && run_.over <= config_.most_over) {
      if (!step()) break;
    }
    integrate(now_);
    run_.end = now_;
    return std::move(run_);
  }

 private:
  // Handles the next event; false if the clock stops or no event is left.
  bool step() {
    const SimTime arrival = next_arrival(), failure = config_.failure.value_or(kNever);
    const SimTime ready = starting_.empty() ? kNever : starting_.front().first;
    const SimTime engine = next_.min(), decision = scaler_->next();
    const SimTime first = std::min({arrival, ready, engine, decision, failure});
    const bool hopeless = std::min({arrival, ready, engine}) == kNever && decision - now_ > kStuck;
    if (first == kNever || first >= config_.until || hopeless || idle_decisions_ > kMostIdle) {
      if (first != kNever && first >= config_.until)
        now_ = config_.until;
      else
        give_up();
      return false;
    }
    now_ = first;
    if (decision <= now_)
      decide(std::min({arrival, ready, engine}) == kNever);
    else if (ready <= std::min(engine, arrival) && ready <= now_)
      become_ready();
    else if (engine <= arrival && engine <= now_)
      end_step();
    else if (arrival <= now_)
      arrive();
    else
      fail_oldest();
    return true;
  }

  SimTime next_arrival() const {
    const SimTime next = source_.next();
    if (next == kNever || (config_.most_in_flight > 0 && in_flight_ >= config_.most_in_flight)) return kNever;
    return std::max(next, now_);
  }

  void arrive() {
    Arrival request = source_.take();
    if (config_.most_in_flight > 0) request.at = now_;
    ++arrived_;
    if (std::int64_t{request.size} + request.output > most_tokens_) {
      ++run_.rejected;
      source_.answered(request.prompt, now_);
      return;
    }
    ++in_flight_;
    send(request);
  }

  void send(const Arrival& request) {
    if (least_.min() == kNone) return router_.push_back(request);
    const std::size_t chosen = least_.position();
    replicas_[chosen].engine->arrive(request, now_);
    update(chosen);
  }

  void end_step() {
    const std::size_t first = next_.position();
    replicas_[first].engine->end_step();
    update(first);
    for (const sim::ContinuousTotals::Answer& answer : answers_) source_.answered(answer.prompt, answer.at);
    answers_.clear();
    if (replicas_[first].state == State::kDraining && replicas_[first].engine->present() == 0) stop(first);
  }

  void left(SimTime arrived, SimTime ttft, SimTime latency, const sim::Sequence& request) override {
    --in_flight_;
    ++run_.requests;
    run_.ttft.add_whole(ttft);
    if (request.output > 1) run_.tpot.add_whole((latency - ttft) / (request.output - 1));
    Slot& slot = slot_of(arrived);
    ++slot.requests;
    slot.worst_ttft = std::max(slot.worst_ttft, ttft);
    if (!config_.slo.exceeded(ttft, latency, request.output)) return;
    ++run_.over;
    ++slot.over;
  }

  // No replica will ever serve the requests in flight, so they count as over the SLO.
  void give_up() {
    run_.unserved = in_flight_;
    const auto miss = [&](const Arrival& request) { ++slot_of(request.at).requests, ++slot_of(request.at).over; };
    std::ranges::for_each(router_, miss);
    for (const Replica& replica : replicas_)
      for (const Arrival& request : replica.engine->abandon()) miss(request);
  }

  // ---- Replicas ----

  void become_ready() {
    const std::size_t slot = starting_.front().second;
    starting_.pop_front();
    integrate(now_);
    replicas_[slot].state = State::kReady;
    ++ready_;
    run_.most_ready = std::max(run_.most_ready, ready_);
    update(slot);
    std::deque<Arrival> waiting = std::exchange(router_, {});
    for (const Arrival& request : waiting) send(request);
  }

  void start(SimTime delay) {
    const std::size_t slot = free_slot();
    Replica& replica = replicas_[slot];
    replica.state = delay > 0 ? State::kStarting : State::kReady;
    replica.number = ++started_;
    order_.push_back(slot);
    integrate(now_);
    ++paid_, ++run_.starts;
    if (delay > 0)
      starting_.emplace_back(now_ + delay, slot);
    else
      ++ready_, update(slot);
  }

  // A drained engine can be reused.
  std::size_t free_slot() {
    for (std::size_t i = 0; i < replicas_.size(); ++i)
      if (replicas_[i].state == State::kGone) return i;
    add_slot();
    return replicas_.size() - 1;
  }

  void add_slot() {
    const ContinuousEngine* same = replicas_.empty() ? nullptr : replicas_.front().engine.get();
    replicas_.push_back({std::make_unique<ContinuousEngine>(config_.cost, config_.engine, sim::Role::kWhole, totals_,
                                                            same, config_.prompts.get())});
    most_tokens_ = replicas_.back().engine->most_tokens();
    if (replicas_.size() <= capacity_) return;
    capacity_ *= 2;
    next_ = sim::MinTree<SimTime>(capacity_, kNever);
    least_ = sim::MinTree<std::int64_t>(capacity_, kNone);
    for (std::size_t i = 0; i < replicas_.size(); ++i) update(i);
  }

  void stop(std::size_t slot) {
    integrate(now_);
    --paid_;
    replicas_[slot].state = State::kGone;
    if (config_.prompts) replicas_[slot].engine->abandon();  // the next replica in this slot starts with an empty cache
    order_.erase(std::ranges::find(order_, slot));
    update(slot);
  }

  void remove_one() {
    const auto in_state = [&](State state) {
      return std::find_if(order_.rbegin(), order_.rend(), [&](std::size_t i) { return replicas_[i].state == state; });
    };
    auto last = in_state(State::kStarting);
    if (last != order_.rend()) {
      const std::size_t slot = *last;
      starting_.erase(std::ranges::find_if(starting_, [&](const auto& s) { return s.second == slot; }));
      return stop(slot);
    }
    last = in_state(State::kReady);
    if (last == order_.rend()) return;
    const std::size_t slot = *last;
    integrate(now_);
    --ready_;
    replicas_[slot].state = State::kDraining;
    update(slot);
    if (replicas_[slot].engine->present() == 0) stop(slot);
  }

  // A replica dies. Its controller starts another at once.
  void fail_oldest() {
    config_.failure.reset();
    const auto oldest =
        std::ranges::find_if(order_, [&](std::size_t i) { return replicas_[i].state == State::kReady; });
    if (oldest == order_.end()) return;
    const std::size_t slot = *oldest;
    const std::vector<Arrival> lost = replicas_[slot].engine->abandon();
    integrate(now_);
    --ready_;
    stop(slot);
    start(config_.startup);
    for (const Arrival& request : lost) send(request);
  }

  void update(std::size_t slot) {
    const Replica& replica = replicas_[slot];
    next_.set(slot, replica.engine->next());
    constexpr int kNumberBits = 32;
    least_.set(slot,
               replica.state == State::kReady ? (replica.engine->present() << kNumberBits) + replica.number : kNone);
  }

  // ---- Decisions ----

  void decide(bool nothing_else) {
    idle_decisions_ = nothing_else ? idle_decisions_ + 1 : 0;
    Seen seen;
    seen.now = now_;
    seen.in_flight = static_cast<double>(in_flight_);
    seen.waiting = static_cast<double>(router_.size());
    seen.arrived = static_cast<double>(arrived_);
    seen.ready = ready_;
    seen.wanted = ready_ + static_cast<int>(starting_.size());
    for (std::size_t i : order_) {
      const ContinuousEngine& engine = *replicas_[i].engine;
      seen.waiting += static_cast<double>(engine.waiting());
      seen.cache_use += engine.cache_use();
      if (scaler_->needs_loads() && replicas_[i].state == State::kReady)
        seen.loads.push_back({engine.cache_use(), static_cast<double>(engine.waiting())});
    }
    int change = scaler_->decide(seen) - seen.wanted;
    for (; change > 0; --change) start(config_.startup);
    for (; change < 0; ++change) remove_one();
  }

  // ---- Accounts ----

  Slot& slot_of(SimTime t) {
    const auto at = static_cast<std::size_t>(t < 0 ? 0 : t / kSlot);
    if (at >= run_.slots.size()) run_.slots.resize(at + 1);
    return run_.slots[at];
  }

  // Everything paid for and ready since the last change.
  void integrate(SimTime now) {
    if (run_.seconds_at.size() <= static_cast<std::size_t>(paid_))
      run_.seconds_at.resize(static_cast<std::size_t>(paid_) + 1);
    run_.seconds_at[static_cast<std::size_t>(paid_)] += as_seconds(now - integrated_);
    run_.paid_seconds += as_seconds(now - integrated_) * paid_;
    run_.ready_seconds += as_seconds(now - integrated_) * ready_;
    while (integrated_ < now) {
      const SimTime until = std::min(now, (integrated_ / kSlot + 1) * kSlot);
      Slot& slot = slot_of(integrated_);
      slot.ready += as_seconds(until - integrated_) * ready_;
      slot.paid += as_seconds(until - integrated_) * paid_;
      integrated_ = until;
    }
  }

  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  // After this many events that are only its own decisions, a policy will never start a replica.
  static constexpr int kMostIdle = 1'000'000;
  static constexpr SimTime kStuck = whole_seconds(400LL * 86400);

  ClusterConfig config_;
  std::unique_ptr<Scaler> scaler_;
  Source source_;
  sim::ContinuousTotals totals_;
  std::vector<sim::ContinuousTotals::Answer> answers_;
  ScalingRun run_;
  std::vector<Replica> replicas_;
  std::vector<std::size_t> order_;                        // of all that are not gone, oldest first
  std::deque<std::pair<SimTime, std::size_t>> starting_;  // when each is ready
  std::deque<Arrival> router_;
  std::size_t capacity_ = 4;
  sim::MinTree<SimTime> next_{capacity_, kNever};       // when the step of each replica ends
  sim::MinTree<std::int64_t> least_{capacity_, kNone};  // ready replicas by requests, then age
  std::int64_t most_tokens_ = kNone, started_ = 0;
  SimTime now_ = 0, integrated_ = 0;
  int paid_ = 0, ready_ = 0, idle_decisions_ = 0;
  std::size_t in_flight_ = 0, arrived_ = 0;
};

}  // namespace

ScalingRun simulate(const ClusterConfig& config, const Traffic& traffic, const Policy& policy) {
  return Cluster(config, traffic, policy).run();
}

}  // namespace rightsize::autoscale
