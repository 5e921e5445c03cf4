// Runs continuous batching: arrivals, routers and replicas in order of time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "base/random.h"
#include "sim/closed_users.h"
#include "sim/continuous_engine.h"
#include "sim/min_tree.h"

namespace rightsize::sim {
namespace {

// A request with a processed prompt; its cache is being sent to a decode worker.
struct InTransfer {
  SimTime ready = 0;
  std::uint64_t number = 0;  // breaks ties: first sent, first received
  Arrival request;

  bool operator<(const InTransfer& o) const {  // the heap keeps the earliest on top
    return ready != o.ready ? ready > o.ready : number > o.number;
  }
};

// Replicas behind one router.
class ReplicaPool {
 public:
  ReplicaPool(const std::vector<StepCost>& costs, const ContinuousConfig& config, Role role, ContinuousTotals& totals,
              const Prompts* prompts, std::uint64_t seed)
      : routing_(config.routing),
        random_(seed),
        prompts_(prompts),
        next_(costs.size(), kNever),
        work_(costs.size(), 0) {
    replicas_.reserve(costs.size());
    std::shared_ptr<LowerTier> shared;
    std::int64_t lower = 0;
    for (const StepCost& cost : costs) lower += cost.lower_tokens;
    if (prompts != nullptr && config.shared_lower && lower > 0)
      shared = std::make_shared<LowerTier>(prompts->chains, lower, config.cache_block);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const bool alike = i > 0 && costs[i] == costs[i - 1];
      replicas_.emplace_back(costs[i], config, role, totals, alike ? &replicas_.back() : nullptr, prompts, shared);
      most_tokens_.push_back(replicas_.back().most_tokens());
      prefill_.push_back(costs[i].prefill);
    }
    if (!costs.empty()) shortest_ = *std::min_element(most_tokens_.begin(), most_tokens_.end());
  }

  std::size_t size() const { return replicas_.size(); }
  // When the next step of any replica ends.
  SimTime next() const { return replicas_.empty() ? kNever : next_.min(); }

  // size() if no replica can hold the request.
  std::size_t least_loaded_for(std::int64_t tokens) const {
    if (tokens <= shortest_) return work_.position();
    std::size_t least = replicas_.size();
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (work_[i] < lowest && tokens <= most_tokens_[i]) lowest = work_[i], least = i;
    }
    return least;
  }

  // The replica for a request that needs this many tokens of its cache; size() if it fits none.
  std::size_t choose(const Arrival& request, std::int64_t tokens) {
    if (routing_ == Routing::kLeastLoaded || replicas_.size() < 2) return least_loaded_for(tokens);
    if (routing_ == Routing::kPrefixAware) return soonest(request, tokens);
    std::size_t best = replicas_.size(), fitting = 0;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      // Reservoir sampling: all equal replicas are equally likely.
      if (tokens <= most_tokens_[i] && random_.uniform() * static_cast<double>(++fitting) < 1) best = i;
    }
    return best;
  }

  void arrive(std::size_t chosen, const Arrival& request, SimTime now) {
    replicas_[chosen].arrive(request, now);
    update(chosen);
  }

  // Ends the earliest step and returns its replica.
  ContinuousEngine& end_step() {
    const std::size_t first = next_.position();
    replicas_[first].end_step();
    update(first);
    return replicas_[first];
  }

 private:
  // The replica that would finish the request first; the first of equals. The one that served its conversation before
  // is tried first, because most others then have more work even if only one token had to be computed. A replica that
  // never saw the prompt's last chain has to compute all of it, which is known without a look at its cache.
  std::size_t soonest(const Arrival& request, std::int64_t tokens) {
    std::size_t best = replicas_.size();
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t seen = ~std::uint64_t{};
    double unseen = 1;  // tokens to compute where the last chain is not in the cache
    const auto consider = [&](std::size_t i) {
      const double computed = (seen & bit(i)) == 0 ? unseen : 1;
      if (tokens > most_tokens_[i] || work_[i] + computed * prefill_[i] > least) return;
      const double work = replicas_[i].work_with(request);
      if (work < least || (work == least && i < best)) least = work, best = i;
    };
    if (prompts_ == nullptr || request.prompt == 0 || prompts_->of(request.prompt).empty()) {
      for (std::size_t i = 0; i < replicas_.size(); ++i) consider(i);
      return best;
    }
    const std::span<const Segment> chains = prompts_->of(request.prompt);
    std::int64_t others = 0;
    for (const Segment& segment : chains.first(chains.size() - 1)) others += segment.tokens;
    for (const Segment& segment : chains)
      if (served_.size() <= segment.chain) served_.resize(UseOrder::grown(segment.chain));
    Served& before = served_[chains.back().chain];
    seen = before.seen;
    unseen = static_cast<double>(std::max<std::int64_t>(1, request.size - others));
    consider(before.last);
    for (std::size_t i = 0; i < replicas_.size(); ++i) consider(i);
    if (best == replicas_.size()) return best;
    before.last = static_cast<std::uint32_t>(best);
    for (const Segment& segment : chains) served_[segment.chain].seen |= bit(best);
    return best;
  }

  static std::uint64_t bit(std::size_t replica) { return std::uint64_t{1} << replica % 64; }

  void update(std::size_t i) {
    next_.set(i, replicas_[i].next());
    work_.set(i, replicas_[i].work());
  }

  Routing routing_;
  Random random_;
  const Prompts* prompts_;
  std::vector<ContinuousEngine> replicas_;
  MinTree<SimTime> next_;                  // when the step of each replica ends
  MinTree<double> work_;                   // outstanding on each replica
  std::vector<std::int64_t> most_tokens_;  // the longest request each can run
  std::int64_t shortest_ = 0;              // the smallest of those
  std::vector<double> prefill_;            // time of a prompt token on each
  struct Served {
    std::uint32_t last = 0;  // the replica that was chosen last for a prompt that ends with this chain
    std::uint64_t seen = 0;  // bits of the replicas that were chosen for a prompt with it
  };
  std::vector<Served> served_;  // by chain
};

class ContinuousRun : public Run {
 public:
  ContinuousRun(const ContinuousServer& server, const ArrivalProcess& arrivals, const RequestShape& shape,
                std::uint64_t seed, std::uint64_t warm_up)
      : Run(arrivals, shape, seed, warm_up),
        transfer_(server.transfer),
        prompts_(trace_of(arrivals) == nullptr ? nullptr : trace_of(arrivals)->prompts),
        replicas_(server.replicas, server.batching, server.prefills.empty() ? Role::kWhole : Role::kDecode, totals_,
                  prompts_.get(), seed),
        prefills_(server.prefills, server.batching, Role::kPrefill, totals_, prompts_.get(), seed) {
    const Trace* trace = trace_of(arrivals);
    if (trace == nullptr || !trace->closed) return;
    closed_ = trace->closed;
    users_.emplace(*closed_);
    totals_.answers = &answers_;
  }

 private:
  // With users who wait, the next event is an arrival, or a step that may end with an answer.
  std::size_t feed(std::size_t wanted) override {
    if (!users_) return Run::feed(wanted);
    constexpr std::size_t kEvents = 16;  // a step of a full cache can take milliseconds
    std::size_t events = 0;
    for (std::size_t got = 0; got < wanted;) {
      const SimTime event = next_event(), arrival = users_->next();
      if ((event == kNever && arrival == kNever) || (++events % kEvents == 0 && cancelled())) return got;
      if (event <= arrival) {
        handle(event);
      } else {
        arrive(users_->take());
        ++got;
      }
    }
    return wanted;
  }

  LatencyProfile measured() const override {
    LatencyProfile p;
    p.completed = totals_.latency.count();
    p.rejected = rejected_;
    p.batches = totals_.steps;
    p.latency_sum = totals_.latency.sum();
    p.presence = totals_.presence;
    p.latency = totals_.latency.values();
    p.longest = totals_.latency.longest();
    p.interval = totals_.latency.intervals();
    p.elapsed = totals_.last_change - totals_.measured_since;
    p.ttft = totals_.ttft.values();
    p.tpot = totals_.tpot.values();
    p.ttft_interval = totals_.ttft.intervals();
    p.tpot_interval = totals_.tpot.intervals();
    for (const ContinuousTotals::Kind& kind : totals_.kinds)
      p.kinds.push_back({kind.ttft.values(), kind.tpot.values()});
    p.preemptions = totals_.preemptions;
    p.largest_batch = static_cast<int>(totals_.most_running);
    p.prompt_tokens = totals_.prompt_tokens;
    p.hit_tokens = totals_.hit_tokens;
    p.loaded_tokens = totals_.loaded_tokens;
    const double elapsed = static_cast<double>(std::max<SimTime>(p.elapsed, 1));
    if (p.batches > 0) p.mean_batch = totals_.sequence_steps / static_cast<double>(p.batches);
    p.utilization =
        static_cast<double>(totals_.busy) / elapsed / static_cast<double>(replicas_.size() + prefills_.size());
    p.output_rate = tokens_per_s(static_cast<double>(totals_.output_tokens) / elapsed * 1e9);
    return p;
  }

  void start_measuring() override {
    ContinuousTotals fresh;
    fresh.present = totals_.present;
    fresh.answers = totals_.answers;
    fresh.most_running = totals_.most_running;
    fresh.last_change = fresh.measured_since = totals_.last_change;
    totals_ = std::move(fresh);
    rejected_ = 0;
  }

  void arrive(std::span<const Arrival> arrivals) override {
    for (const Arrival& arrival : arrivals) arrive(arrival);
  }

  bool apart() const { return prefills_.size() > 0; }

  void arrive(const Arrival& arrival) {
    advance(arrival.at);
    ReplicaPool& first = apart() ? prefills_ : replicas_;
    const std::int64_t all = std::int64_t{arrival.size} + arrival.output;
    const std::size_t chosen = first.choose(arrival, apart() ? arrival.size : all);
    if (chosen == first.size() || (apart() && replicas_.least_loaded_for(all) == replicas_.size())) {
      ++rejected_;
      if (users_) users_->answered(arrival.prompt, arrival.at);
      return;
    }
    totals_.integrate(arrival.at);
    ++totals_.present;
    first.arrive(chosen, arrival, arrival.at);
  }

  void advance(SimTime until) override {
    for (SimTime event = next_event(); event != kNever && event <= until; event = next_event()) handle(event);
  }

  SimTime next_transfer() const { return in_transfer_.empty() ? kNever : in_transfer_.front().ready; }
  SimTime next_event() const { return std::min({replicas_.next(), prefills_.next(), next_transfer()}); }

  void handle(SimTime now) {
    if (now == replicas_.next())
      replicas_.end_step();
    else if (now == next_transfer())
      receive();
    else
      send(prefills_.end_step().take_done(), now);
    for (const ContinuousTotals::Answer& answer : answers_) users_->answered(answer.prompt, answer.at);
    answers_.clear();
  }

  void send(const std::vector<Arrival>& done, SimTime now) {
    for (const Arrival& request : done) {
      const auto takes = static_cast<SimTime>(std::round(transfer_.time(static_cast<double>(request.size))));
      in_transfer_.push_back({now + takes, ++sent_, request});
      std::push_heap(in_transfer_.begin(), in_transfer_.end());
    }
  }

  void receive() {
    const InTransfer handed = in_transfer_.front();
    std::pop_heap(in_transfer_.begin(), in_transfer_.end());
    in_transfer_.pop_back();
    const std::int64_t tokens = std::int64_t{handed.request.size} + handed.request.output;
    replicas_.arrive(replicas_.least_loaded_for(tokens), handed.request, handed.ready);
  }

  Transfer transfer_;
  std::shared_ptr<const Prompts> prompts_;
  ContinuousTotals totals_;
  ReplicaPool replicas_, prefills_;
  std::vector<InTransfer> in_transfer_;
  std::uint64_t rejected_ = 0, sent_ = 0;
  std::shared_ptr<const ClosedLoop> closed_;
  std::optional<ClosedUsers> users_;  // empty: arrivals do not depend on answers
  std::vector<ContinuousTotals::Answer> answers_;
};

}  // namespace

std::unique_ptr<Run> start_run(const ContinuousServer& server, const ArrivalProcess& arrivals,
                               const RequestShape& shape, std::uint64_t seed, std::uint64_t warm_up) {
  const Trace* trace = trace_of(arrivals);
  const std::uint64_t first = std::max(warm_up, trace == nullptr ? 0 : trace->warm_up);
  return std::make_unique<ContinuousRun>(server, arrivals, shape, seed, first);
}

std::optional<LatencyProfile> simulate(const ContinuousServer& server, const ArrivalProcess& arrivals,
                                       const RequestShape& shape, const RunLength& length) {
  if (overloads(arrivals, capacity(server, mean_shape(arrivals, shape)))) return std::nullopt;
  return start_run(server, arrivals, shape, length.seed)->to_the_end(length.requests);
}

}  // namespace rightsize::sim
