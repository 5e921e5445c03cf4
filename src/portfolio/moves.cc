#include "portfolio/moves.h"

#include <optional>
#include <set>

namespace rightsize::portfolio {
namespace {

struct State {
  double usd = 0;
  int excess = 0;  // GPUs above quotas
};

State state_of(const CostModel& costs, const std::vector<PoolUse>& uses, const Choice& choice) {
  State state;
  for (std::size_t w = 0; w < choice.size(); ++w) state.usd += costs.option({w, choice[w]}).usd;
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const PoolCost cost = costs.cost(p, uses[p]);
    state.usd += cost.usd, state.excess += cost.excess;
  }
  return state;
}

class Mover {
 public:
  Mover(const CostModel& costs, const Choice& plan) : costs_(costs), plan_(plan), now_(plan) {
    for (std::size_t w = 0; w < plan.size(); ++w) now_[w] = costs.organisation().workloads[w].now.value_or(plan[w]);
    state_ = state_of(costs, costs.uses(now_), now_);
  }

  MovePath run() {
    MovePath path;
    while (now_ != plan_) {
      std::optional<Move> next = best_final();
      if (!next) next = best_interim();
      if (!next) break;
      if (next->interim) detoured_.insert(next->workload);
      now_[next->workload] = next->to;
      state_ = state_of(costs_, costs_.uses(now_), now_);
      path.moves.push_back(*next);
    }
    for (std::size_t w = 0; w < plan_.size(); ++w) {
      if (now_[w] != plan_[w]) path.blocked.push_back(w);
    }
    return path;
  }

 private:
  // The move, if it does not increase the GPUs above quotas.
  std::optional<Move> try_move(std::size_t w, int to, bool interim) const {
    Choice then = now_;
    then[w] = to;
    std::vector<PoolUse> uses = costs_.uses(then);
    const State after = state_of(costs_, uses, then);
    if (after.excess > state_.excess) return std::nullopt;
    // Old and new side by side, while traffic moves over.
    const Option& old = costs_.option({w, now_[w]});
    if (old.in_pool()) costs_.add(old, uses[static_cast<std::size_t>(old.pool)]);
    const bool fits = state_of(costs_, uses, then).excess <= state_.excess;
    return Move{w, now_[w], to, state_.usd - after.usd, !fits, interim};
  }

  // Without interruption first, then what saves most.
  static bool is_better(const Move& a, const std::optional<Move>& b) {
    return !b || std::pair(b->interrupts, a.saves) > std::pair(a.interrupts, b->saves);
  }

  std::optional<Move> best_final() const {
    std::optional<Move> best;
    for (std::size_t w = 0; w < plan_.size(); ++w) {
      if (now_[w] == plan_[w]) continue;
      const std::optional<Move> move = try_move(w, plan_[w], false);
      if (move && is_better(*move, best)) best = move;
    }
    return best;
  }

  // Moves a workload out of the way; each at most once, so the search ends.
  std::optional<Move> best_interim() const {
    std::optional<Move> best;
    for (std::size_t w = 0; w < plan_.size(); ++w) {
      if (now_[w] == plan_[w] || detoured_.contains(w)) continue;
      const Workload& workload = costs_.organisation().workloads[w];
      for (int i = 0; i < static_cast<int>(workload.options.size()); ++i) {
        if (i == now_[w] || i == plan_[w] || !workload.allows(i)) continue;
        const std::optional<Move> move = try_move(w, i, true);
        if (move && is_better(*move, best)) best = move;
      }
    }
    return best;
  }

  const CostModel& costs_;
  Choice plan_, now_;
  State state_;
  std::set<std::size_t> detoured_;
};

}  // namespace

MovePath plan_moves(const CostModel& costs, const Choice& plan) { return Mover(costs, plan).run(); }

}  // namespace rightsize::portfolio
