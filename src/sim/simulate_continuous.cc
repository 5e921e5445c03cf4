// Runs continuous batching: arrivals, routers and replicas in order of time.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "sim/continuous_replica.h"
#include "sim/least_of.h"

namespace rightsize::sim {
namespace {

// A request whose prompt is done, on its way to a decode worker.
struct Handed {
  SimTime ready = 0;
  std::uint64_t number = 0;  // of those ready at once the one handed over first comes first
  Arrival request;

  bool operator<(const Handed& o) const {  // the heap keeps the earliest on top
    return ready != o.ready ? ready > o.ready : number > o.number;
  }
};

// Replicas behind one router.
class Pool {
 public:
  Pool(const std::vector<StepCost>& costs, const ContinuousConfig& config, Role role, ContinuousTotals& totals)
      : next_(costs.size(), kNever), work_(costs.size(), 0) {
    replicas_.reserve(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const bool alike = i > 0 && costs[i] == costs[i - 1];
      replicas_.emplace_back(costs[i], config, role, totals, alike ? &replicas_.back() : nullptr);
      most_tokens_.push_back(replicas_.back().most_tokens());
    }
    if (!costs.empty()) shortest_ = *std::min_element(most_tokens_.begin(), most_tokens_.end());
  }

  std::size_t size() const { return replicas_.size(); }
  // When the next step of any ends.
  SimTime next() const { return replicas_.empty() ? kNever : next_.least(); }

  // The number of replicas when it can run on none.
  std::size_t least_loaded_for(std::int64_t tokens) const {
    if (tokens <= shortest_) return work_.place();
    std::size_t least = replicas_.size();
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (work_[i] < lowest && tokens <= most_tokens_[i]) lowest = work_[i], least = i;
    }
    return least;
  }

  void arrive(std::size_t chosen, const Arrival& request, SimTime now) {
    replicas_[chosen].arrive(request, now);
    look_at(chosen);
  }

  // The earliest step ends; which replica's it was.
  ContinuousReplica& end_step() {
    const std::size_t first = next_.place();
    replicas_[first].end_step();
    look_at(first);
    return replicas_[first];
  }

 private:
  void look_at(std::size_t i) {
    next_.set(i, replicas_[i].next());
    work_.set(i, replicas_[i].work());
  }

  std::vector<ContinuousReplica> replicas_;
  LeastOf<SimTime> next_;                  // when the step of each replica ends
  LeastOf<double> work_;                   // outstanding on each
  std::vector<std::int64_t> most_tokens_;  // the longest request each can run
  std::int64_t shortest_ = 0;              // of those
};

}  // namespace

class ContinuousRun::Engine {
 public:
  Engine(const ContinuousServer& server, const ArrivalProcess& arrivals, const RequestShape& shape, std::uint64_t seed,
         std::uint64_t warm_up)
      : warm_up_(warm_up),
        transfer_(server.transfer),
        stream_(open_stream(arrivals, seed, shape)),
        replicas_(server.replicas, server.batching, server.prefills.empty() ? Role::kWhole : Role::kDecode, totals_),
        prefills_(server.prefills, server.batching, Role::kPrefill, totals_) {}

  // Until so many have arrived; with `tight_enough` until the interval of `watched` is that share of it.
  void feed(std::uint64_t requests, double tight_enough = 0, Statistic watched = Statistic::kP99) {
    std::array<Arrival, 512> block;
    while (!ended_ && seen_ < requests) {
      const std::uint64_t until = seen_ < warm_up_ ? std::min(warm_up_, requests) : requests;
      const std::size_t want = std::min<std::uint64_t>(block.size(), until - seen_);
      const std::size_t got = stream_->fill(std::span(block.data(), want));
      for (const Arrival& arrival : std::span(block.data(), got)) arrive(arrival);
      seen_ += got;
      if (warm_up_ > 0 && seen_ == warm_up_) begin_to_count();
      ended_ = got < want || cancelled();
      if (tight_enough > 0 && is_tight(tight_enough, watched)) return;
    }
    if (ended_) drain();
  }

  // Nobody comes any more: until the last has left.
  void drain() { advance(kNever); }

  ContinuousProfile profile() const {
    ContinuousProfile p;
    p.all.requests = seen_ - uncounted_.requests;
    p.all.completed = totals_.latency.count();
    p.all.rejected = rejected_;
    p.all.batches = p.steps = totals_.steps;
    p.all.latency_sum = totals_.latency.sum();
    p.all.presence = totals_.presence;
    p.all.latency = totals_.latency.values();
    p.all.longest = totals_.latency.longest();
    p.all.interval = totals_.latency.intervals();
    p.all.elapsed = totals_.last_change - uncounted_.until;
    p.all.tight = tight_;
    p.ttft = totals_.ttft.values();
    p.tpot = totals_.tpot.values();
    p.ttft_interval = totals_.ttft.intervals();
    p.tpot_interval = totals_.tpot.intervals();
    for (const ContinuousTotals::Kind& kind : totals_.kinds)
      p.kinds.push_back({kind.ttft.values(), kind.tpot.values()});
    p.preemptions = totals_.preemptions;
    const double elapsed = static_cast<double>(std::max<SimTime>(p.all.elapsed, 1));
    if (p.steps > 0) p.all.mean_batch = totals_.sequence_steps / static_cast<double>(p.steps);
    p.all.utilization =
        static_cast<double>(totals_.busy) / elapsed / static_cast<double>(replicas_.size() + prefills_.size());
    p.output_rate = tokens_per_s(static_cast<double>(totals_.output_tokens) / elapsed * 1e9);
    return p;
  }

 private:
  void begin_to_count() {
    uncounted_ = {seen_, totals_.last_change};
    ContinuousTotals counted;
    counted.present = totals_.present, counted.last_change = totals_.last_change;
    totals_ = std::move(counted);
    rejected_ = 0;
  }

  bool apart() const { return prefills_.size() > 0; }

  void arrive(const Arrival& arrival) {
    advance(arrival.at);
    Pool& first = apart() ? prefills_ : replicas_;
    const std::int64_t all = std::int64_t{arrival.size} + arrival.output;
    const std::size_t chosen = first.least_loaded_for(apart() ? arrival.size : all);
    if (chosen == first.size() || (apart() && replicas_.least_loaded_for(all) == replicas_.size())) {
      ++rejected_;
      return;
    }
    totals_.integrate(arrival.at);
    ++totals_.present;
    first.arrive(chosen, arrival, arrival.at);
  }

  // Steps that end and requests that come over, in order of time.
  void advance(SimTime until) {
    for (;;) {
      const SimTime decode = replicas_.next(), prefill = prefills_.next();
      const SimTime handed = on_the_way_.empty() ? kNever : on_the_way_.front().ready;
      const SimTime first = std::min({decode, prefill, handed});
      if (first == kNever || first > until) return;
      if (first == decode)
        replicas_.end_step();
      else if (first == handed)
        receive();
      else
        send(prefills_.end_step().take_done(), first);
    }
  }

  void send(const std::vector<Arrival>& done, SimTime now) {
    for (const Arrival& request : done) {
      const auto takes = static_cast<SimTime>(std::round(transfer_.time(static_cast<double>(request.size))));
      on_the_way_.push_back({now + takes, ++sent_, request});
      std::push_heap(on_the_way_.begin(), on_the_way_.end());
    }
  }

  void receive() {
    const Handed handed = on_the_way_.front();
    std::pop_heap(on_the_way_.begin(), on_the_way_.end());
    on_the_way_.pop_back();
    const std::int64_t tokens = std::int64_t{handed.request.size} + handed.request.output;
    replicas_.arrive(replicas_.least_loaded_for(tokens), handed.request, handed.ready);
  }

  bool is_tight(double enough, Statistic watched) {
    const double half = value_of(totals_.latency.intervals().half_widths(), watched);
    tight_ = half <= enough * value_of(totals_.latency.values(), watched);
    return tight_;
  }

  // What came before anything counted.
  struct Uncounted {
    std::uint64_t requests = 0;
    SimTime until = 0;
  };
  std::uint64_t warm_up_;
  Uncounted uncounted_;
  Transfer transfer_;
  std::unique_ptr<ArrivalStream> stream_;
  ContinuousTotals totals_;
  Pool replicas_, prefills_;
  std::vector<Handed> on_the_way_;
  std::uint64_t seen_ = 0, rejected_ = 0, sent_ = 0;
  bool tight_ = false, ended_ = false;
};

ContinuousRun::ContinuousRun(const ContinuousServer& server, const ArrivalProcess& arrivals, const RequestShape& shape,
                             std::uint64_t seed, std::uint64_t warm_up)
    : engine_(std::make_unique<Engine>(server, arrivals, shape, seed, warm_up)) {}
ContinuousRun::ContinuousRun(ContinuousRun&&) noexcept = default;
ContinuousRun::~ContinuousRun() = default;

ContinuousProfile ContinuousRun::until(std::uint64_t requests) {
  engine_->feed(requests);
  return engine_->profile();
}

ContinuousProfile ContinuousRun::to_the_end(const RunLength& length) {
  engine_->feed(length.requests, length.tight_enough, length.watched);
  engine_->drain();
  return engine_->profile();
}

std::optional<ContinuousProfile> simulate(const ContinuousServer& server, const ArrivalProcess& arrivals,
                                          const RequestShape& shape, const RunLength& length) {
  if (overloads(arrivals, capacity(server, mean_shape(arrivals, shape)))) return std::nullopt;
  return ContinuousRun(server, arrivals, shape, length.seed).to_the_end(length);
}

}  // namespace rightsize::sim
