#include "mig/repack.h"

#include <algorithm>
#include <map>

#include "solve/mip.h"

namespace rightsize::mig {
namespace {

using solve::kInfinity;

// A slice in use.
struct Used {
  std::size_t gpu;
  RunningInstance running;
};

// One column for every instance that may stay, and one for every placement where an instance may start. Each memory
// slice has at most one of them; the number per profile is fixed.
class MoveModel {
 public:
  MoveModel(const std::vector<Used>& used, std::size_t gpus, const Geometry& geometry, const RepackGoal& goal)
      : used_(used), geometry_(geometry) {
    std::map<int, double> demand;
    for (const Used& u : used) ++demand[u.running.where.profile];
    for (const Instance& wanted : goal.make_room) ++demand[wanted.profile];
    std::map<int, int> demand_rows;
    for (const auto& [profile, number] : demand) demand_rows[profile] = model_.add_row(number, number);
    const double gpu_cost = goal.make_room.empty() ? static_cast<double>(used.size()) + 1 : 0;
    for (std::size_t g = 0; g < gpus; ++g) add_gpu(g, gpu_cost, demand_rows);
  }

  Result<solve::Solution> solve(Seconds limit) const {
    solve::SolverLimits limits;
    limits.seconds = in_seconds(limit);
    return solve::solve(model_, limits);
  }

  bool stays(const solve::Solution& solution, std::size_t index) const { return value(solution, stay_[index]); }
  std::vector<std::pair<std::size_t, Instance>> begun(const solve::Solution& solution) const {
    std::vector<std::pair<std::size_t, Instance>> found;
    for (const auto& [column, place] : begin_) {
      if (value(solution, column)) found.push_back(place);
    }
    return found;
  }

 private:
  static bool value(const solve::Solution& solution, int column) {
    return solution.values[static_cast<std::size_t>(column)] > 0.5;
  }

  void add_gpu(std::size_t g, double gpu_cost, const std::map<int, int>& demand_rows) {
    const int in_use = model_.add_column(gpu_cost, 0, 1, true);
    std::vector<int> slices(static_cast<std::size_t>(geometry_.memory_slices()));
    for (int& row : slices) {
      row = model_.add_row(-kInfinity, 0);
      model_.add_entry(row, in_use, -1);
    }
    const int compute = model_.add_row(-kInfinity, geometry_.compute_slices());
    std::map<int, int> limits;
    for (const auto& [profile, row] : demand_rows)
      limits[profile] = model_.add_row(-kInfinity, geometry_.profile(profile).instances);
    auto occupy = [&](int column, const Instance& where) {
      const catalog::MigProfile& profile = geometry_.profile(where.profile);
      for (int s = where.start; s < where.start + profile.memory_slices; ++s)
        model_.add_entry(slices[static_cast<std::size_t>(s)], column, 1);
      model_.add_entry(compute, column, profile.compute_slices);
      model_.add_entry(limits[where.profile], column, 1);
      model_.add_entry(demand_rows.at(where.profile), column, 1);
    };
    for (const Used& u : used_) {
      if (u.gpu != g) continue;
      stay_.push_back(model_.add_column(0, 0, 1, true));
      occupy(stay_.back(), u.running.where);
    }
    // Every instance that does not stay starts elsewhere, which costs one move. The slices of make_room start too,
    // which adds a constant.
    for (const auto& [profile, row] : demand_rows) {
      for (int start : geometry_.profile(profile).placements) {
        const int column = model_.add_column(1, 0, 1, true);
        begin_.push_back({column, {g, {profile, start}}});
        occupy(column, {profile, start});
      }
    }
  }

  const std::vector<Used>& used_;
  const Geometry& geometry_;
  solve::Model model_;
  std::vector<int> stay_;  // by index of used_, which is ordered by GPU
  std::vector<std::pair<int, std::pair<std::size_t, Instance>>> begin_;
};

// Orders the moves: a move is done when its new placement is free. If none is free, one workload moves aside
// temporarily, or stops.
class Ordering {
 public:
  Ordering(std::vector<Layout> occupied, const Geometry& geometry)
      : occupied_(std::move(occupied)), geometry_(geometry) {}

  std::vector<RepackStep> run(std::vector<RepackStep> moves) {
    std::vector<RepackStep> order;
    while (!moves.empty()) {
      auto ready = std::ranges::find_if(moves, [&](const RepackStep& step) { return is_free(step); });
      if (ready != moves.end()) {
        ready->temporary = false;
        carry_out(*ready, order);
        moves.erase(ready);
        continue;
      }
      step_aside(moves, order);
    }
    return order;
  }

 private:
  // Whether the new slice fits while the old one still exists.
  bool is_free(const RepackStep& step) const {
    return geometry_.may_join(occupied_[step.to_gpu], {step.profile, step.to_start});
  }

  void carry_out(const RepackStep& step, std::vector<RepackStep>& order) {
    occupied_[step.to_gpu].push_back({step.profile, step.to_start});
    if (step.from_start >= 0) leave(step);
    order.push_back(step);
  }
  void leave(const RepackStep& step) {
    Layout& old = occupied_[step.from_gpu];
    const auto at = std::ranges::find(old, Instance{step.profile, step.from_start});
    if (at != old.end()) old.erase(at);
  }

  // One of the workloads moves to any free slice; if there is none, the first stops and starts again later.
  void step_aside(std::vector<RepackStep>& moves, std::vector<RepackStep>& order) {
    for (RepackStep& step : moves) {
      if (step.from_start < 0 || step.temporary) continue;
      for (std::size_t g = 0; g < occupied_.size(); ++g) {
        for (int start : geometry_.profile(step.profile).placements) {
          if (blocks(moves, g, start, step.profile) || !geometry_.may_join(occupied_[g], {step.profile, start}))
            continue;
          RepackStep aside = step;
          aside.to_gpu = g, aside.to_start = start, aside.temporary = true;
          carry_out(aside, order);
          step.from_gpu = g, step.from_start = start;
          step.temporary = true;  // at most once each, so the loop ends
          return;
        }
      }
    }
    auto stop = std::ranges::find_if(moves, [](const RepackStep& step) { return step.from_start >= 0; });
    if (stop == moves.end()) {  // all have stopped: the rest can start
      order.insert(order.end(), moves.begin(), moves.end());
      moves.clear();
      return;
    }
    RepackStep removal = *stop;
    removal.kind = RepackStep::Kind::kRemove;
    removal.interrupts = true;
    leave(removal);
    order.push_back(removal);
    stop->from_start = -1;
    stop->interrupts = true;
    stop->kind = RepackStep::Kind::kCreate;
  }

  // Whether moving aside to there would block another move.
  bool blocks(const std::vector<RepackStep>& moves, std::size_t gpu, int start, int profile) const {
    const int end = start + geometry_.profile(profile).memory_slices;
    return std::ranges::any_of(moves, [&](const RepackStep& step) {
      return step.to_gpu == gpu && step.to_start < end &&
             start < step.to_start + geometry_.profile(step.profile).memory_slices;
    });
  }

  std::vector<Layout> occupied_;
  const Geometry& geometry_;
};

// Solvers choose differently among equal placements on other processors, so each new slice takes the last one that is
// free on its GPU. `planned` has all slices of the plan.
void take_last_free(std::vector<std::pair<std::size_t, Instance>>& begun, std::vector<Layout> planned,
                    const Geometry& geometry) {
  for (auto& [gpu, slice] : begun) {
    Layout& others = planned[gpu];
    others.erase(std::ranges::find(others, slice));
    const int profile = slice.profile;
    const std::vector<int>& starts = geometry.profile(profile).placements;
    const auto last = std::find_if(starts.rbegin(), starts.rend(), [&](int start) {
      return geometry.may_join(others, {profile, start});
    });
    if (last != starts.rend()) slice.start = *last;
    others.push_back(slice);
  }
}

std::size_t in_use(const RunningGpus& fleet) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fleet, [](const RunningGpu& gpu) { return !gpu.instances.empty(); }));
}

}  // namespace

std::string_view name_of(RepackStep::Kind kind) {
  static constexpr std::string_view kNames[] = {"move", "remove", "create"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Repacking> repack(const RunningGpus& fleet, const Geometry& geometry, const RepackGoal& goal) {
  Repacking result;
  result.gpus_before = in_use(fleet);
  std::vector<Used> used;
  std::vector<Layout> occupied(fleet.size());
  for (std::size_t g = 0; g < fleet.size(); ++g) {
    result.after.push_back({fleet[g].name, {}});
    for (const RunningInstance& running : fleet[g].instances) {
      if (running.workload.empty()) {
        result.steps.push_back(
            {RepackStep::Kind::kRemove, "", running.where.profile, g, g, running.where.start, -1, false, false});
        continue;
      }
      used.push_back({g, running});
      occupied[g].push_back(running.where);
    }
  }
  const MoveModel model(used, fleet.size(), geometry, goal);
  RIGHTSIZE_TRY(const solve::Solution solution, model.solve(goal.limit));
  if (solution.values.empty()) return result;
  result.feasible = true;
  result.proved = solution.status == solve::Status::kOptimal;

  std::vector<std::pair<std::size_t, Instance>> begun = model.begun(solution);
  std::vector<Layout> planned(fleet.size());
  for (const auto& [gpu, slice] : begun) planned[gpu].push_back(slice);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (model.stays(solution, i)) planned[used[i].gpu].push_back(used[i].running.where);
  }
  take_last_free(begun, std::move(planned), geometry);
  std::vector<RepackStep> moves;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Instance where = used[i].running.where;
    if (model.stays(solution, i)) {
      result.after[used[i].gpu].instances.push_back(used[i].running);
      continue;
    }
    // Placements of a profile are interchangeable, so it takes the first.
    const auto to = std::ranges::find_if(begun, [&](const auto& b) { return b.second.profile == where.profile; });
    if (to == begun.end()) continue;
    result.after[to->first].instances.push_back({to->second, used[i].running.workload});
    moves.push_back({RepackStep::Kind::kMove, used[i].running.workload, where.profile, used[i].gpu, to->first,
                     where.start, to->second.start, false, false});
    begun.erase(to);
  }
  result.moves = moves.size();
  result.room = std::move(begun);
  std::vector<RepackStep> ordered = Ordering(std::move(occupied), geometry).run(std::move(moves));
  result.steps.insert(result.steps.end(), ordered.begin(), ordered.end());
  result.gpus_after = in_use(result.after);
  return result;
}

}  // namespace rightsize::mig
