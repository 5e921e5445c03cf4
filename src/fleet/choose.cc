// Chooses the remedies with the largest total saving that share no GPU (weighted set packing), exactly.
//
// GPUs that share no remedy are independent problems, so the problem is first split into connected parts. For a single
// GPU, only the best remedy is needed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fleet/remedies.h"
#include "solve/mip.h"

namespace rightsize::fleet {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Which GPUs are connected by remedies (union-find).
class ConnectedGpus {
 public:
  explicit ConnectedGpus(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

// The best remedy of each single GPU, and the remedies for several GPUs.
struct Shortlist {
  std::vector<std::size_t> single;  // by GPU; kNone: none
  std::vector<std::size_t> shared;
};

Shortlist shortlist(const std::vector<Remedy>& remedies, std::size_t gpus) {
  Shortlist list{std::vector<std::size_t>(gpus, kNone), {}};
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    if (remedies[r].gpus.size() > 1) {
      list.shared.push_back(r);
      continue;
    }
    std::size_t& best = list.single[remedies[r].gpus.front()];
    if (best == kNone || remedies[r].saving > remedies[best].saving) best = r;
  }
  return list;
}

UsdPerSecond saving_alone(const std::vector<Remedy>& remedies, const Shortlist& list, std::size_t gpu) {
  return list.single[gpu] == kNone ? UsdPerSecond{} : remedies[list.single[gpu]].saving;
}

// One connected part, with a column per remedy and a row per GPU.
void choose_in(const std::vector<Remedy>& remedies, const Shortlist& list, const std::vector<std::size_t>& shared,
               const std::vector<std::size_t>& gpus, Choice& choice) {
  std::vector<std::size_t> columns = shared;
  std::vector<double> start(shared.size(), 0.0);
  UsdPerSecond alone;
  for (std::size_t gpu : gpus) {
    if (list.single[gpu] == kNone) continue;
    columns.push_back(list.single[gpu]);
    start.push_back(1);
    alone += saving_alone(remedies, list, gpu);
  }
  solve::Model model;
  std::map<std::size_t, int> row_of;
  for (std::size_t gpu : gpus) row_of[gpu] = model.add_row(-solve::kInfinity, 1);
  // Relative to the largest saving, because the solver aborts on huge coefficients.
  UsdPerSecond unit;
  for (std::size_t r : columns) unit = std::max(unit, remedies[r].saving);
  for (std::size_t r : columns) {
    const int column = model.add_column(-(remedies[r].saving / unit), 0, 1, true);
    for (std::size_t gpu : remedies[r].gpus) model.add_entry(row_of[gpu], column, 1);
  }
  const solve::Solution best = solve::solve(model, {.nodes = 5'000, .seconds = 20}).value_or(solve::Solution{});
  choice.bound += std::max(unit * -best.bound, alone);
  // If the solver found nothing better in time, the best of each single GPU remains.
  const bool better = !best.values.empty() && unit * -best.objective >= alone * (1 - 1e-12);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if ((better ? best.values[c] : start[c]) < 0.5) continue;
    choice.remedies.push_back(columns[c]);
    choice.saving += remedies[columns[c]].saving;
  }
}

}  // namespace

Choice choose_remedies(const std::vector<Remedy>& remedies, std::size_t gpus) {
  Shortlist list = shortlist(remedies, gpus);
  // A remedy that saves less than the single remedies of its GPUs is never needed.
  std::erase_if(list.shared, [&](std::size_t r) {
    UsdPerSecond alone;
    for (std::size_t gpu : remedies[r].gpus) alone += saving_alone(remedies, list, gpu);
    return remedies[r].saving <= alone;
  });
  ConnectedGpus parts(gpus);
  std::vector<bool> tied(gpus, false);
  for (std::size_t r : list.shared) {
    for (std::size_t gpu : remedies[r].gpus) {
      parts.join(remedies[r].gpus.front(), gpu);
      tied[gpu] = true;
    }
  }
  Choice choice;
  std::map<std::size_t, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> problems;  // shared, GPUs
  for (std::size_t r : list.shared) problems[parts.find(remedies[r].gpus.front())].first.push_back(r);
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    if (tied[gpu]) {
      problems[parts.find(gpu)].second.push_back(gpu);
    } else if (list.single[gpu] != kNone) {
      choice.remedies.push_back(list.single[gpu]);
      choice.saving += saving_alone(remedies, list, gpu);
      choice.bound += saving_alone(remedies, list, gpu);
    }
  }
  for (const auto& [part, problem] : problems) choose_in(remedies, list, problem.first, problem.second, choice);
  std::ranges::sort(choice.remedies);
  return choice;
}

}  // namespace rightsize::fleet
