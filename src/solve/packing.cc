#include "solve/packing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "solve/mip.h"

namespace rightsize::solve {
namespace {

constexpr double kSlack = 1e-9;  // of a capacity: ten times 0.1 must fit 1

// One bin being filled.
struct OpenBin {
  std::size_t type = 0;
  std::vector<double> room;
  std::vector<std::size_t> items;
  std::set<int> apart;
};

OpenBin open(std::size_t type, const BinType& bin) {
  OpenBin opened{type, bin.capacity, {}, {}};
  for (double& room : opened.room) room += kSlack * std::max(1.0, room);
  return opened;
}

bool fits(const OpenBin& bin, const Item& item, const std::vector<BinType>& types) {
  const std::vector<double>& need = item.need[bin.type];
  if (need.empty()) return false;
  const std::size_t most = types[bin.type].most_items;
  if (most > 0 && bin.items.size() >= most) return false;
  for (std::size_t d = 0; d < need.size(); ++d) {
    if (need[d] > bin.room[d]) return false;
  }
  return item.apart < 0 || bin.apart.count(item.apart) == 0;
}

void put(OpenBin& bin, const Item& item, std::size_t index) {
  const std::vector<double>& need = item.need[bin.type];
  for (std::size_t d = 0; d < need.size(); ++d) bin.room[d] -= need[d];
  bin.items.push_back(index);
  if (item.apart >= 0) bin.apart.insert(item.apart);
}

// The share of a bin an item takes: its largest resource, or their sum.
double size_in(const Item& item, std::size_t type, const BinType& bin, bool largest) {
  double most = 0, sum = 0;
  for (std::size_t d = 0; d < item.need[type].size(); ++d) {
    const double share = bin.capacity[d] > 0 ? item.need[type][d] / bin.capacity[d] : 0;
    most = std::max(most, share);
    sum += share;
  }
  return largest ? most : sum;
}

// The item's share of the cost of the cheapest place for it.
double cheapest_share(const Item& item, const std::vector<BinType>& bins, bool largest) {
  double best = kInfinity;
  for (std::size_t t = 0; t < bins.size(); ++t) {
    if (!item.need[t].empty()) best = std::min(best, bins[t].cost * size_in(item, t, bins[t], largest));
  }
  return best;
}

std::vector<std::size_t> order_by_size(const std::vector<Item>& items, const std::vector<BinType>& bins,
                                       const std::vector<std::size_t>& chosen, bool largest) {
  std::vector<double> size(items.size());
  for (std::size_t i : chosen) size[i] = cheapest_share(items[i], bins, largest);
  std::vector<std::size_t> order = chosen;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  return order;
}

double cost_of(const std::vector<OpenBin>& opened, const std::vector<BinType>& bins) {
  double cost = 0;
  for (const OpenBin& bin : opened) cost += bins[bin.type].cost;
  return cost;
}

// The type a new bin for this item gets: the preferred one, or the cheapest the item can go into.
std::size_t type_for(const Item& item, const std::vector<BinType>& bins, std::size_t preferred) {
  if (fits(open(preferred, bins[preferred]), item, bins)) return preferred;
  std::size_t best = bins.size();
  for (std::size_t t = 0; t < bins.size(); ++t) {
    if (fits(open(t, bins[t]), item, bins) && (best == bins.size() || bins[t].cost < bins[best].cost)) best = t;
  }
  return best;
}

std::vector<OpenBin> first_fit(const std::vector<Item>& items, const std::vector<BinType>& bins,
                               const std::vector<std::size_t>& order, std::size_t preferred) {
  std::vector<OpenBin> opened;
  for (std::size_t i : order) {
    auto place = std::ranges::find_if(opened, [&](const OpenBin& bin) { return fits(bin, items[i], bins); });
    if (place == opened.end()) {
      const std::size_t type = type_for(items[i], bins, preferred);
      place = opened.insert(opened.end(), open(type, bins[type]));
    }
    put(*place, items[i], i);
  }
  return opened;
}

// Bin by bin: the type and content that hold the most for their cost.
std::vector<OpenBin> best_fill(const std::vector<Item>& items, const std::vector<BinType>& bins,
                               std::vector<std::size_t> order, bool largest) {
  std::vector<OpenBin> opened;
  while (!order.empty()) {
    OpenBin best;
    double best_value = -1;
    for (std::size_t t = 0; t < bins.size(); ++t) {
      OpenBin bin = open(t, bins[t]);
      double held = 0;
      for (std::size_t i : order) {
        if (!fits(bin, items[i], bins)) continue;
        put(bin, items[i], i);
        held += cheapest_share(items[i], bins, largest);
      }
      if (!bin.items.empty() && held / bins[t].cost > best_value) best_value = held / bins[t].cost, best = bin;
    }
    std::set<std::size_t> taken(best.items.begin(), best.items.end());
    std::erase_if(order, [&](std::size_t i) { return taken.count(i) > 0; });
    opened.push_back(std::move(best));
  }
  return opened;
}

// After packing, a bin may be larger than its content needs: replaces it by the cheapest type that holds it all.
void shrink(std::vector<OpenBin>& opened, const std::vector<Item>& items, const std::vector<BinType>& bins) {
  for (OpenBin& bin : opened) {
    for (std::size_t t = 0; t < bins.size(); ++t) {
      if (bins[t].cost >= bins[bin.type].cost) continue;
      OpenBin smaller = open(t, bins[t]);
      bool all = true;
      for (std::size_t i : bin.items) {
        all = all && fits(smaller, items[i], bins);
        if (all) put(smaller, items[i], i);
      }
      if (all) bin = smaller;
    }
  }
}

std::vector<OpenBin> best_heuristic(const std::vector<Item>& items, const std::vector<BinType>& bins,
                                    const std::vector<std::size_t>& chosen) {
  std::vector<OpenBin> best;
  auto consider = [&](std::vector<OpenBin> found) {
    shrink(found, items, bins);
    if (best.empty() || cost_of(found, bins) < cost_of(best, bins)) best = std::move(found);
  };
  constexpr std::size_t kFillWork = 20'000'000;  // items x items x types: best-fill reads the list once per bin
  for (bool largest : {true, false}) {
    const std::vector<std::size_t> order = order_by_size(items, bins, chosen, largest);
    for (std::size_t t = 0; t < bins.size(); ++t) consider(first_fit(items, bins, order, t));
    if (chosen.size() * chosen.size() * bins.size() <= kFillWork) consider(best_fill(items, bins, order, largest));
  }
  return best;
}

// Many items with small differences are rounded down to steps of 4 %, which keeps the bound valid and the model small.
constexpr std::size_t kMany = 500;
std::vector<std::vector<double>> rounded_down(std::vector<std::vector<double>> need) {
  constexpr double kSteps = 25;
  for (std::vector<double>& by_type : need) {
    for (double& amount : by_type)
      amount = amount > 1e-6 ? std::exp(std::floor(std::log(amount) * kSteps) / kSteps) : 0;
  }
  return need;
}

// A dual feasible function (Fekete and Schepers, 2001): shares that add up to at most 1 still do after it. It rounds
// shares above i / (k + 1) up to i / k: items that cannot be combined then count as the space they block. k = 0 is the
// identity.
double rounded_share(double share, int k) {
  const double steps = share * (k + 1), whole = std::floor(steps);
  if (k == 0 || steps - whole < 1e-7) return share;
  return whole / k;
}

// The additions of items with this need to each total; no total of a bin may exceed 1.
std::vector<double> loads_of(const std::vector<double>& need, const BinType& bin, bool refined) {
  constexpr int kFunctions = 6;
  std::vector<double> loads;
  for (int k = 0; k < (refined ? kFunctions : 1); ++k) {
    for (std::size_t d = 0; d < need.size(); ++d) {
      const double room = bin.capacity[d] + kSlack * std::max(1.0, bin.capacity[d]);
      loads.push_back(rounded_share(need[d] / room, k));
    }
  }
  if (bin.most_items > 0) loads.push_back(1.0 / static_cast<double>(bin.most_items));
  return loads;
}

std::size_t largest_apart(const std::vector<Item>& items, const std::vector<std::size_t>& chosen) {
  std::map<int, std::size_t> sizes;
  std::size_t most = 1;
  for (std::size_t i : chosen) {
    if (items[i].apart >= 0) most = std::max(most, ++sizes[items[i].apart]);
  }
  return most;
}

// The relaxation in which items may be split. With one type of bin it is the fullest total.
Result<double> relaxed_bound(const std::vector<Item>& items, const std::vector<BinType>& bins,
                             const std::vector<std::size_t>& chosen) {
  const bool many = chosen.size() > kMany;
  std::map<std::vector<std::vector<double>>, double> kinds;  // equal items are one row with a count
  for (std::size_t i : chosen) ++kinds[many && bins.size() > 1 ? rounded_down(items[i].need) : items[i].need];
  const auto least_bins = static_cast<double>(largest_apart(items, chosen));
  if (bins.size() == 1) {
    std::vector<double> totals;
    for (const auto& [need, number] : kinds) {
      const std::vector<double> loads = loads_of(need[0], bins[0], !many);
      totals.resize(loads.size(), 0);
      for (std::size_t d = 0; d < loads.size(); ++d) totals[d] += number * loads[d];
    }
    const double fullest = totals.empty() ? 0 : *std::ranges::max_element(totals);
    return std::max(least_bins, fullest * (1 - kSlack)) * bins[0].cost;
  }
  // With few items the numbers of bins are integers; a relaxation would be loose if prices differ.
  const bool few = chosen.size() <= 60;
  Model model;
  std::vector<std::vector<int>> totals(bins.size());
  const int count = model.add_row(least_bins, kInfinity);
  for (std::size_t t = 0; t < bins.size(); ++t) {
    const int number = model.add_column(bins[t].cost, 0, kInfinity, few);
    model.add_entry(count, number, 1);
    for (std::size_t d = 0; d < loads_of(bins[t].capacity, bins[t], !many).size(); ++d) {
      totals[t].push_back(model.add_row(-kInfinity, 0));
      model.add_entry(totals[t].back(), number, -1);
    }
  }
  for (const auto& [need, number] : kinds) {
    const int placed = model.add_row(number, number);
    for (std::size_t t = 0; t < bins.size(); ++t) {
      if (need[t].empty()) continue;
      const int share = model.add_column(0, 0, number, false);
      model.add_entry(placed, share, 1);
      const std::vector<double> loads = loads_of(need[t], bins[t], !many);
      for (std::size_t d = 0; d < loads.size(); ++d) model.add_entry(totals[t][d], share, loads[d]);
    }
  }
  RIGHTSIZE_TRY(const Solution solution, few ? solve(model, {.nodes = 200}) : solve_relaxation(model));
  return std::max(0.0, solution.bound * (1 - kSlack));
}

// If every bin has the same cost, the total is a multiple of it, so the bound is rounded up to the next one.
double round_up_to_costs(double bound, const std::vector<BinType>& bins) {
  for (const BinType& bin : bins) {
    if (bin.cost != bins[0].cost) return bound;
  }
  return std::ceil(bound / bins[0].cost - 1e-6) * bins[0].cost;
}

}  // namespace

Result<Packing> pack(const std::vector<Item>& items, const std::vector<BinType>& bins) {
  Packing packing;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool fits_somewhere = !bins.empty() && type_for(items[i], bins, 0) < bins.size();
    (fits_somewhere ? chosen : packing.unplaceable).push_back(i);
  }
  if (chosen.empty()) return packing;
  for (OpenBin& bin : best_heuristic(items, bins, chosen)) {
    packing.cost += bins[bin.type].cost;
    std::ranges::sort(bin.items);
    packing.bins.push_back({bin.type, std::move(bin.items)});
  }
  RIGHTSIZE_TRY(const double bound, relaxed_bound(items, bins, chosen));
  packing.bound = std::min(round_up_to_costs(bound, bins), packing.cost);
  return packing;
}

}  // namespace rightsize::solve
