#include "solve/columns.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "solve/mip.h"

namespace rightsize::solve {
namespace {

constexpr double kSlack = 1e-9;

// Items that cannot be told apart are one kind with a count: the master has a row a kind, not a row an item.
struct Kind {
  std::vector<std::size_t> items;
  const Item* like = nullptr;
  int most_in_bin = 0;
};

// The content of one bin: how many of each kind.
struct Content {
  std::size_t type = 0;
  std::vector<int> count;

  bool operator<(const Content& o) const { return std::tie(type, count) < std::tie(o.type, o.count); }
};

// The master problem chooses how many bins of each content to buy so that every kind is covered. There are far too many
// contents to list, so it begins with those of a feasible packing, and in every round its dual prices (what one more
// item of a kind would save) are handed to a knapsack a bin type: the content worth most at these prices. Where one is
// worth more than its bin costs, the master gets it and is solved again; where none is, the master's value is the
// optimum of the relaxation, whatever contents were never written down.
class ColumnGeneration {
 public:
  ColumnGeneration(const std::vector<Item>& items, const std::vector<BinType>& bins,
                   const std::vector<std::size_t>& chosen, const Options& options)
      : bins_(bins), options_(options), began_(std::chrono::steady_clock::now()) {
    std::map<std::pair<int, std::vector<std::vector<double>>>, std::size_t> seen;
    for (std::size_t i : chosen) {
      const auto [at, fresh] = seen.try_emplace({items[i].apart, items[i].need}, kinds_.size());
      if (fresh) kinds_.push_back({{}, &items[i], 0});
      kinds_[at->second].items.push_back(i);
    }
    for (Kind& kind : kinds_) kind.most_in_bin = kind.like->apart >= 0 ? 1 : static_cast<int>(kind.items.size());
  }

  void run(Packing& packing) {
    start_from(packing);
    for (int round = 0; round < options_.rounds; ++round) {
      const LinearSolution master = solve_relaxation(master_model(false));
      if (master.status != Status::kOptimal) return;
      const Priced priced = price(master.prices);
      packing.bound = std::max(packing.bound, round_up_to_costs(priced.bound(master.objective), bins_));
      if (packing.proved() || !priced.improving || out_of_time()) break;
    }
    if (!packing.proved()) whole_master(packing);
    packing.out_of_time = packing.out_of_time || out_of_time();
  }

 private:
  // Farley (1990): with prices p and z the most a content is worth for a dollar, p / z is feasible in the dual, so that
  // objective / z bounds every packing even before the rounds are over.
  struct Priced {
    bool improving = false;  // a new content was found
    bool complete = true;    // every knapsack was solved to its bound
    double worst_ratio = 1;  // the most a content is worth for its cost, at these prices
    double bound(double objective) const { return complete ? objective / worst_ratio * (1 - 1e-9) : 0; }
  };

  bool out_of_time() const { return elapsed() > options_.seconds; }
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  void start_from(const Packing& packing) {
    std::map<std::size_t, std::size_t> kind_of;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      for (std::size_t i : kinds_[k].items) kind_of[i] = k;
    }
    for (const Bin& bin : packing.bins) {
      Content content{bin.type, std::vector<int>(kinds_.size(), 0)};
      for (std::size_t i : bin.items) ++content.count[kind_of[i]];
      contents_.insert(std::move(content));
    }
  }

  Model master_model(bool whole) const {
    Model model;
    for (const Kind& kind : kinds_) model.add_row(static_cast<double>(kind.items.size()), kInfinity);
    for (const Content& content : contents_) {
      const int column = model.add_column(bins_[content.type].cost, 0, kInfinity, whole);
      for (std::size_t k = 0; k < kinds_.size(); ++k) model.add_entry(static_cast<int>(k), column, content.count[k]);
    }
    return model;
  }

  // The most valuable content of every bin type at the master's prices.
  Priced price(const std::vector<double>& prices) {
    Priced priced;
    for (std::size_t t = 0; t < bins_.size(); ++t) {
      Content content = greedy(t, prices);
      const double value = value_of(content, prices);
      if (value > bins_[t].cost * (1 + 1e-7) && contents_.insert(content).second) {
        priced.improving = true;
        priced.complete = false;  // good enough to go on with, but proves nothing
        continue;
      }
      Model model = knapsack(t, prices);
      Limits limits;
      limits.nodes = options_.nodes;
      limits.seconds = std::max(0.2, options_.seconds - elapsed());
      const Solution solution = solve(model, limits);
      if (solution.status != Status::kOptimal) {
        priced.complete = false;
        continue;
      }
      priced.worst_ratio = std::max(priced.worst_ratio, -solution.bound / bins_[t].cost);
      if (-solution.objective <= bins_[t].cost * (1 + 1e-7)) continue;
      content = {t, std::vector<int>(kinds_.size(), 0)};
      for (std::size_t k = 0; k < kinds_.size(); ++k) content.count[k] = static_cast<int>(solution.values[k]);
      priced.improving = contents_.insert(std::move(content)).second || priced.improving;
    }
    return priced;
  }

  static double value_of(const Content& content, const std::vector<double>& prices) {
    double value = 0;
    for (std::size_t k = 0; k < content.count.size(); ++k) value += prices[k] * content.count[k];
    return value;
  }

  double capacity(std::size_t type, std::size_t d) const {
    return bins_[type].capacity[d] + kSlack * std::max(1.0, bins_[type].capacity[d]);
  }

  // Most value for the room first: finds an improving content cheaply in most rounds.
  Content greedy(std::size_t type, const std::vector<double>& prices) const {
    std::vector<std::size_t> order(kinds_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<double> density(kinds_.size(), 0);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      double size = 1e-9;
      for (std::size_t d = 0; d < kinds_[k].like->need[type].size(); ++d) {
        size += kinds_[k].like->need[type][d] / capacity(type, d);
      }
      density[k] = prices[k] / size;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return density[a] > density[b]; });
    Content content{type, std::vector<int>(kinds_.size(), 0)};
    std::vector<double> room;
    for (std::size_t d = 0; d < bins_[type].capacity.size(); ++d) room.push_back(capacity(type, d));
    std::set<int> apart;
    std::size_t held = 0;
    for (std::size_t k : order) {
      const std::vector<double>& need = kinds_[k].like->need[type];
      if (need.empty() || prices[k] <= 0) continue;
      if (kinds_[k].like->apart >= 0 && !apart.insert(kinds_[k].like->apart).second) continue;
      auto fits = [&] {
        for (std::size_t d = 0; d < need.size(); ++d) {
          if (need[d] > room[d]) return false;
        }
        return bins_[type].most_items == 0 || held < bins_[type].most_items;
      };
      while (content.count[k] < kinds_[k].most_in_bin && fits()) {
        for (std::size_t d = 0; d < need.size(); ++d) room[d] -= need[d];
        ++content.count[k], ++held;
      }
    }
    return content;
  }

  // What to put into one bin of a type for the most value: capacities a row each, one of each `apart` group.
  Model knapsack(std::size_t type, const std::vector<double>& prices) const {
    Model model;
    std::vector<int> rows;
    for (std::size_t d = 0; d < bins_[type].capacity.size(); ++d)
      rows.push_back(model.add_row(-kInfinity, capacity(type, d)));
    const std::size_t most = bins_[type].most_items;
    const int held = most > 0 ? model.add_row(-kInfinity, static_cast<double>(most)) : -1;
    std::map<int, int> apart;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const std::vector<double>& need = kinds_[k].like->need[type];
      const int column = model.add_column(-prices[k], 0, need.empty() ? 0 : kinds_[k].most_in_bin, true);
      for (std::size_t d = 0; d < need.size(); ++d) model.add_entry(rows[d], column, need[d]);
      if (held >= 0) model.add_entry(held, column, 1);
      const int group = kinds_[k].like->apart;
      if (group < 0) continue;
      if (apart.count(group) == 0) apart[group] = model.add_row(-kInfinity, 1);
      model.add_entry(apart[group], column, 1);
    }
    return model;
  }

  // The best whole number of every content found: an answer, and the best one if it meets the bound.
  void whole_master(Packing& packing) const {
    Limits limits;
    limits.nodes = options_.nodes;
    limits.seconds = std::max(0.5, options_.seconds - elapsed());
    const Solution solution = solve(master_model(true), limits);
    if (solution.values.empty() || solution.objective >= packing.cost * (1 - 1e-9)) return;
    packing.bins.clear();
    packing.cost = 0;
    std::vector<std::size_t> used(kinds_.size(), 0);
    std::size_t at = 0;
    for (const Content& content : contents_) {
      for (double n = solution.values[at]; n > 0.5; --n) {
        Bin bin{content.type, {}};
        for (std::size_t k = 0; k < kinds_.size(); ++k) {  // covering may hold a kind once too often: stop at its end
          for (int c = 0; c < content.count[k] && used[k] < kinds_[k].items.size(); ++c) {
            bin.items.push_back(kinds_[k].items[used[k]++]);
          }
        }
        if (bin.items.empty()) continue;
        packing.cost += bins_[bin.type].cost;
        packing.bins.push_back(std::move(bin));
      }
      ++at;
    }
  }

  const std::vector<BinType>& bins_;
  const Options& options_;
  std::chrono::steady_clock::time_point began_;
  std::vector<Kind> kinds_;
  std::set<Content> contents_;
};

}  // namespace

void improve_by_columns(const std::vector<Item>& items, const std::vector<BinType>& bins,
                        const std::vector<std::size_t>& chosen, const Options& options, Packing& packing) {
  ColumnGeneration(items, bins, chosen, options).run(packing);
}

}  // namespace rightsize::solve
