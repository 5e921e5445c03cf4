#include "portfolio/plan_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace rightsize::portfolio {
namespace {

constexpr std::size_t kMostPatterns = 400;  // of a pool

}  // namespace

PlanModel::PlanModel(const CostModel& costs) : costs_(costs), organisation_(costs.organisation()) {
  add_options();
  for (std::size_t p = 0; p < organisation_.pools.size(); ++p) add_pool(p);
  add_rules();
}

void PlanModel::add_options() {
  for (const Workload& w : organisation_.workloads) {
    const int row = model_.add_row(1, 1);
    std::vector<int>& columns = columns_.emplace_back();
    for (std::size_t i = 0; i < w.options.size(); ++i) {
      columns.push_back(w.allows(static_cast<int>(i)) ? model_.add_column(w.options[i].usd, 0, 1, true) : -1);
      if (columns.back() >= 0) model_.add_entry(row, columns.back(), 1);
    }
  }
}

void PlanModel::add_pool(std::size_t pool) {
  std::vector<User> users;
  std::vector<std::vector<User>> by_workload;
  double patterns = 1;
  for (std::size_t w = 0; w < columns_.size(); ++w) {
    const std::size_t before = users.size();
    for (std::size_t i = 0; i < columns_[w].size(); ++i) {
      const User user{w, static_cast<int>(i)};
      if (columns_[w][i] >= 0 && costs_.option(user).pool == static_cast<int>(pool)) users.push_back(user);
    }
    if (users.size() == before) continue;
    by_workload.emplace_back(users.begin() + static_cast<std::ptrdiff_t>(before), users.end());
    patterns *= static_cast<double>(users.size() - before + 1);
  }
  if (users.empty()) return;
  if (patterns <= kMostPatterns)
    add_patterns(pool, by_workload);
  else
    add_machines(pool, users);
}

void PlanModel::add_patterns(std::size_t pool, const std::vector<std::vector<User>>& by_workload) {
  std::map<int, int> link;  // by column of an option: the row that equals it to its patterns
  for (const std::vector<User>& users : by_workload) {
    for (const User& user : users) {
      const int row = model_.add_row(0, 0);
      model_.add_entry(row, column_of(user), -1);
      link[column_of(user)] = row;
    }
  }
  const int one = model_.add_row(-solve::kInfinity, 1);
  std::vector<User> chosen;
  PoolUse use = costs_.no_use(pool);
  const std::function<void(std::size_t)> extend = [&](std::size_t at) {
    if (at == by_workload.size()) {
      const PoolCost cost = costs_.cost(pool, use);
      if (chosen.empty() || cost.excess > 0) return;
      const int column = model_.add_column(cost.usd, 0, 1, true);
      model_.add_entry(one, column, 1);
      for (const User& user : chosen) model_.add_entry(link[column_of(user)], column, 1);
      return;
    }
    extend(at + 1);
    for (const User& user : by_workload[at]) {
      chosen.push_back(user);
      costs_.add(costs_.option(user), use);
      extend(at + 1);
      costs_.add(costs_.option(user), use, -1);
      chosen.pop_back();
    }
  };
  extend(0);
}

// One column for each layout of partitioned GPUs; none if no user needs slices.
std::vector<int> PlanModel::add_layouts(std::size_t pool, const std::vector<User>& users) {
  if (std::ranges::none_of(users, [&](const User& user) { return !costs_.option(user).needs.empty(); })) return {};
  const std::vector<std::vector<int>>& layouts = costs_.slices(pool)->layouts();
  std::vector<int> rows;
  for (std::size_t i = 0; i < layouts.front().size(); ++i) {
    rows.push_back(model_.add_row(0, solve::kInfinity));
    for (const User& user : users) {
      if (!costs_.option(user).needs.empty())
        model_.add_entry(rows.back(), column_of(user), -costs_.option(user).needs[i]);
    }
  }
  constexpr double kMost = 1e6;
  std::vector<int> columns;
  for (const std::vector<int>& layout : layouts) {
    columns.push_back(model_.add_column(0, 0, kMost, true));
    for (std::size_t i = 0; i < layout.size(); ++i) model_.add_entry(rows[i], columns.back(), layout[i]);
  }
  return columns;
}

void PlanModel::add_machines(std::size_t pool, const std::vector<User>& users) {
  const Pool& p = organisation_.pools[pool];
  const std::vector<int> layouts = add_layouts(pool, users);
  std::map<std::vector<int>, double> periods;  // the needs of all users: their hours
  for (std::size_t b = 0; b < organisation_.blocks.size(); ++b) {
    std::vector<int> needs;
    for (const User& user : users) needs.push_back(costs_.option(user).gpus[b]);
    periods[std::move(needs)] += organisation_.blocks[b].hours;
  }
  constexpr double kMost = 1e6;
  for (const auto& [needs, hours] : periods) {
    const double most = p.quota ? std::floor(static_cast<double>(*p.quota) / p.gpus_per_machine) : kMost;
    const int machines = model_.add_column(hours * p.usd_per_gpu_hour * p.gpus_per_machine, 0, most, true);
    const int row = model_.add_row(-solve::kInfinity, p.reserved);
    model_.add_entry(row, machines, -p.gpus_per_machine);
    for (std::size_t i = 0; i < users.size(); ++i) model_.add_entry(row, column_of(users[i]), needs[i]);
    for (int layout : layouts) model_.add_entry(row, layout, 1);
  }
}

void PlanModel::add_rules() {
  std::map<std::pair<std::string, int>, std::vector<int>> apart;
  int moves = -1;
  double current = 0;
  for (std::size_t w = 0; w < columns_.size(); ++w) {
    const Workload& workload = organisation_.workloads[w];
    for (std::size_t i = 0; i < columns_[w].size(); ++i) {
      if (columns_[w][i] >= 0 && workload.options[i].in_pool() && !workload.apart.empty())
        apart[{workload.apart, workload.options[i].pool}].push_back(columns_[w][i]);
    }
    if (!organisation_.moves || !workload.now) continue;
    if (moves < 0) moves = model_.add_row(-solve::kInfinity, solve::kInfinity);
    if (workload.allows(*workload.now))
      model_.add_entry(moves, columns_[w][static_cast<std::size_t>(*workload.now)], 1);
    ++current;
  }
  if (moves >= 0) model_.row(moves).lower = current - *organisation_.moves;
  for (const auto& [group, columns] : apart) {
    if (columns.size() < 2) continue;
    const int row = model_.add_row(-solve::kInfinity, 1);
    for (int column : columns) model_.add_entry(row, column, 1);
  }
}

Choice PlanModel::choice_of(const std::vector<double>& values) const {
  Choice choice;
  for (const std::vector<int>& columns : columns_) {
    int best = -1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] < 0) continue;
      if (best < 0 || values[static_cast<std::size_t>(columns[i])] >
                          values[static_cast<std::size_t>(columns[static_cast<std::size_t>(best)])])
        best = static_cast<int>(i);
    }
    choice.push_back(best);
  }
  return choice;
}

}  // namespace rightsize::portfolio
