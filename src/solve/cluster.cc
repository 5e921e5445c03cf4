#include "solve/cluster.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace rightsize::solve {
namespace {

constexpr double kSlack = 1e-9;
constexpr double kNever = std::numeric_limits<double>::infinity();

// A node while it is being filled.
struct NodeState {
  double cpu = 0, memory = 0;
  std::vector<double> free;  // of each GPU
  int type = 0;
  int tasks = 0;

  int whole() const {
    return static_cast<int>(std::ranges::count_if(free, [](double f) { return f >= 1 - kSlack; }));
  }
  double total() const { return std::accumulate(free.begin(), free.end(), 0.0); }
  bool runs(const ClusterTask& t) const {
    return cpu + kSlack >= t.cpu && memory + kSlack >= t.memory && (t.types >> type & 1) != 0;
  }
  bool holds(const ClusterTask& t) const {
    if (!runs(t)) return false;
    if (t.gpus > 0) return whole() >= t.gpus;
    return t.share == 0 || std::ranges::any_of(free, [&](double f) { return f + kSlack >= t.share; });
  }
  // `gpu` is the one that a share uses. Whole GPUs are taken from the first free ones on.
  void put(const ClusterTask& t, int gpu, int times) {
    cpu -= times * t.cpu, memory -= times * t.memory, tasks += times;
    if (t.share > 0) free[static_cast<std::size_t>(gpu)] -= times * t.share;
    int left = t.gpus;
    for (double& f : free) {
      if (left == 0) break;
      const bool usable = times > 0 ? f >= 1 - kSlack : f == kTaken;
      if (usable) f = times > 0 ? kTaken : 1, --left;
    }
  }
  static constexpr double kTaken = 0;
};

// Classes of equal tasks, and their frequency among tasks that need a GPU.
struct Classes {
  std::vector<ClusterTask> kinds;
  std::vector<std::size_t> of;                                 // by task
  std::vector<std::pair<const ClusterTask*, double>> typical;  // the most frequent ones, with their shares

  explicit Classes(const std::vector<ClusterTask>& tasks) {
    std::map<ClusterTask, std::size_t> index;
    std::vector<double> counts;
    for (const ClusterTask& t : tasks) {
      const auto [at, fresh] = index.try_emplace(t, kinds.size());
      if (fresh) kinds.push_back(t), counts.push_back(0);
      of.push_back(at->second);
      counts[at->second] += t.gpu_demand() > 0 ? 1 : 0;
    }
    std::vector<std::size_t> order(kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t k) { return counts[k]; });
    constexpr std::size_t kMostTypical = 16;
    for (std::size_t k : order) {
      if (typical.size() == kMostTypical || counts[k] == 0) break;
      typical.emplace_back(&kinds[k], counts[k] / static_cast<double>(tasks.size()));
    }
  }
};

// GPUs of the node that a typical task could not use.
double fragments(const NodeState& node, const Classes& classes) {
  const double total = node.total();
  double sum = 0;
  for (const auto& [task, share] : classes.typical) {
    if (!node.holds(*task)) {
      sum += share * total;
      continue;
    }
    const double need = task->gpus > 0 ? 1 : task->share;
    for (double f : node.free) sum += f + kSlack < need ? share * f : 0;
  }
  return sum;
}

class Cluster {
 public:
  Cluster(const std::vector<ClusterTask>& tasks, const std::vector<ClusterNode>& nodes, const Classes& classes)
      : tasks_(tasks), classes_(classes), places_(tasks.size()) {
    for (const ClusterNode& n : nodes) {
      states_.push_back({n.cpu, n.memory, std::vector<double>(static_cast<std::size_t>(n.gpus), 1.0), n.type, 0});
      fragments_.push_back(fragments(states_.back(), classes));
    }
    versions_.assign(nodes.size(), 1);
    known_.resize(classes.kinds.size());
  }

  void put(std::size_t task, ClusterPlace at) {
    change(task, at, 1);
    places_[task] = at;
  }
  ClusterPlace take(std::size_t task) {
    const ClusterPlace at = places_[task];
    change(task, at, -1);
    places_[task] = {};
    return at;
  }

  // The best place by the rule; node -1: none. `used` allows only nodes with tasks, `except` excludes one.
  ClusterPlace find(std::size_t task, ClusterRule rule, bool used = false, int except = -1) {
    std::vector<Score>& known = known_[classes_.of[task]];
    if (known.empty()) known.resize(states_.size());
    Score best{kNever, -1, 0};
    int node = -1;
    for (std::size_t n = 0; n < states_.size(); ++n) {
      if ((used && states_[n].tasks == 0) || static_cast<int>(n) == except) continue;
      if (known[n].version != versions_[n] || rule != rule_) known[n] = score(n, tasks_[task], rule);
      if (known[n].value < best.value) best = known[n], node = static_cast<int>(n);
    }
    return {node, best.gpu};
  }

  void use(ClusterRule rule) {
    rule_ = rule;
    for (std::vector<Score>& known : known_) known.clear();
  }
  const std::vector<NodeState>& states() const { return states_; }
  const std::vector<ClusterPlace>& places() const { return places_; }

  ClusterPacking packing() const {
    ClusterPacking made{places_};
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (places_[t].node < 0)
        ++made.unplaced;
      else
        made.gpus += tasks_[t].gpu_demand();
    }
    made.nodes =
        static_cast<std::size_t>(std::ranges::count_if(states_, [](const NodeState& n) { return n.tasks > 0; }));
    return made;
  }

 private:
  struct Score {
    double value = kNever;
    int gpu = -1;
    unsigned version = 0;
  };

  void change(std::size_t task, ClusterPlace at, int times) {
    const auto n = static_cast<std::size_t>(at.node);
    states_[n].put(tasks_[task], at.gpu, times);
    fragments_[n] = fragments(states_[n], classes_);
    ++versions_[n];
  }

  Score score(std::size_t n, const ClusterTask& t, ClusterRule rule) {
    const NodeState& node = states_[n];
    Score best{kNever, -1, versions_[n]};
    if (!node.holds(t)) return best;
    const auto consider = [&](int gpu) {
      double value = 0;
      if (rule == ClusterRule::kBestFit) {
        // The smallest remainder, as shares of a large node; a node in use comes before an empty one.
        constexpr double kCpus = 128, kMemory = 1024, kGpus = 8, kEmpty = 10;
        value =
            (node.total() - t.gpu_demand()) / kGpus + (node.cpu - t.cpu) / kCpus + (node.memory - t.memory) / kMemory;
        if (t.share > 0) value += node.free[static_cast<std::size_t>(gpu)] - t.share;
        if (node.tasks == 0) value += kEmpty;
      } else {
        NodeState then = node;
        then.put(t, gpu, 1);
        constexpr double kTie = 1e-6;  // at equal fragmentation, the fuller node
        value = fragments(then, classes_) - fragments_[n] + kTie * (then.total() + (node.tasks == 0 ? 100 : 0));
      }
      if (value < best.value) best.value = value, best.gpu = gpu;
    };
    if (t.share == 0) {
      consider(-1);
      return best;
    }
    for (std::size_t g = 0; g < node.free.size(); ++g) {
      const bool seen = std::find(node.free.begin(), node.free.begin() + static_cast<std::ptrdiff_t>(g),
                                  node.free[g]) != node.free.begin() + static_cast<std::ptrdiff_t>(g);
      if (node.free[g] + kSlack >= t.share && !seen) consider(static_cast<int>(g));
    }
    return best;
  }

  const std::vector<ClusterTask>& tasks_;
  const Classes& classes_;
  std::vector<ClusterPlace> places_;
  std::vector<NodeState> states_;
  std::vector<double> fragments_;
  std::vector<unsigned> versions_;
  std::vector<std::vector<Score>> known_;  // by class and node
  ClusterRule rule_ = ClusterRule::kBestFit;
};

void fill(Cluster& cluster, const std::vector<std::size_t>& order, ClusterRule rule) {
  cluster.use(rule);
  for (std::size_t t : order) {
    if (cluster.places()[t].node >= 0) continue;
    const ClusterPlace at = cluster.find(t, rule);
    if (at.node >= 0) cluster.put(t, at);
  }
}

std::vector<std::vector<std::size_t>> tasks_by_node(const Cluster& cluster) {
  std::vector<std::vector<std::size_t>> tasks(cluster.states().size());
  for (std::size_t t = 0; t < cluster.places().size(); ++t) {
    const int node = cluster.places()[t].node;
    if (node >= 0) tasks[static_cast<std::size_t>(node)].push_back(t);
  }
  return tasks;
}

// Moves all of these to other nodes in use; undone if one finds no place.
bool relocate(Cluster& cluster, const std::vector<std::size_t>& tasks, int from) {
  std::vector<std::pair<std::size_t, ClusterPlace>> moved;
  for (std::size_t t : tasks) {
    const ClusterPlace before = cluster.take(t);
    const ClusterPlace at = cluster.find(t, ClusterRule::kBestFit, true, from);
    if (at.node < 0) {
      cluster.put(t, before);
      for (auto undo = moved.rbegin(); undo != moved.rend(); ++undo) {
        cluster.take(undo->first);
        cluster.put(undo->first, undo->second);
      }
      return false;
    }
    cluster.put(t, at);
    moved.emplace_back(t, before);
  }
  return true;
}

void empty_nodes(Cluster& cluster, const std::vector<ClusterTask>& tasks, const std::function<bool()>& stop) {
  cluster.use(ClusterRule::kBestFit);
  std::vector<std::vector<std::size_t>> held = tasks_by_node(cluster);
  std::vector<std::size_t> order(held.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t n) {
    double demand = 0;
    for (std::size_t t : held[n]) demand += tasks[t].gpu_demand() + 1e-3 * tasks[t].cpu;
    return demand;
  });
  for (std::size_t n : order) {
    if (stop()) return;
    // Others may have moved here meanwhile.
    std::vector<std::size_t> here;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (cluster.places()[t].node == static_cast<int>(n)) here.push_back(t);
    }
    if (here.empty()) continue;
    std::ranges::stable_sort(here, std::ranges::greater(), [&](std::size_t t) { return tasks[t].gpu_demand(); });
    relocate(cluster, here, static_cast<int>(n));
  }
}

// Moves tasks with a share to make room for one that needs whole GPUs.
void make_way(Cluster& cluster, const std::vector<ClusterTask>& tasks, const std::vector<std::size_t>& order,
              const std::function<bool()>& stop) {
  cluster.use(ClusterRule::kBestFit);
  for (std::size_t t : order) {
    if (cluster.places()[t].node >= 0 || tasks[t].gpus != 1) continue;
    const std::vector<std::vector<std::size_t>> held = tasks_by_node(cluster);
    for (std::size_t n = 0; n < held.size() && cluster.places()[t].node < 0; ++n) {
      if (stop()) return;
      if (!cluster.states()[n].runs(tasks[t])) continue;
      std::map<int, std::vector<std::size_t>> sharers;  // by GPU
      for (std::size_t s : held[n]) {
        if (tasks[s].share > 0) sharers[cluster.places()[s].gpu].push_back(s);
      }
      for (const auto& [gpu, small] : sharers) {
        constexpr std::size_t kMostMoved = 3;
        if (small.size() > kMostMoved || !relocate(cluster, small, static_cast<int>(n))) continue;
        const ClusterPlace at = cluster.find(t, ClusterRule::kBestFit);
        if (at.node >= 0) cluster.put(t, at);
        break;
      }
    }
  }
}

}  // namespace

bool ClusterPacking::is_better_than(const ClusterPacking& other) const {
  constexpr double kSmall = 1e-6;
  if (gpus > other.gpus + kSmall || gpus < other.gpus - kSmall) return gpus > other.gpus;
  if (unplaced != other.unplaced) return unplaced < other.unplaced;
  return nodes < other.nodes;
}

ClusterPacking place_in_order(const std::vector<ClusterTask>& tasks, const std::vector<ClusterNode>& nodes,
                              ClusterRule rule) {
  const Classes classes(tasks);
  Cluster cluster(tasks, nodes, classes);
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  fill(cluster, order, rule);
  return cluster.packing();
}

ClusterPacking pack_cluster(const std::vector<ClusterTask>& tasks, const std::vector<ClusterNode>& nodes,
                            const std::function<bool()>& stop) {
  const Classes classes(tasks);
  std::vector<std::size_t> given(tasks.size());
  std::iota(given.begin(), given.end(), std::size_t{0});
  std::vector<std::size_t> by_size = given;
  std::ranges::stable_sort(by_size, std::ranges::greater(),
                           [&](std::size_t t) { return std::pair(tasks[t].gpu_demand(), tasks[t].cpu); });
  std::vector<ClusterPacking> made;
  std::size_t fewest_unplaced = tasks.size();
  for (const ClusterRule rule : {ClusterRule::kBestFit, ClusterRule::kLeastFragmentation}) {
    for (const std::vector<std::size_t>* order : {&given, &by_size}) {
      Cluster cluster(tasks, nodes, classes);
      fill(cluster, *order, rule);
      made.push_back(cluster.packing());
      if (order == &given) fewest_unplaced = std::min(fewest_unplaced, made.back().unplaced);
      if (stop()) continue;
      make_way(cluster, tasks, by_size, stop);
      fill(cluster, by_size, ClusterRule::kBestFit);
      made.push_back(cluster.packing());
      empty_nodes(cluster, tasks, stop);
      made.push_back(cluster.packing());
    }
  }
  // The best packing that leaves out no more tasks than the simple rules, unless such a rule uses more GPUs.
  ClusterPacking best = made.front();
  for (const ClusterPacking& m : made) {
    if (m.is_better_than(best)) best = m;
  }
  double most_simple = 0;
  for (const ClusterRule rule : {ClusterRule::kBestFit, ClusterRule::kLeastFragmentation})
    most_simple = std::max(most_simple, place_in_order(tasks, nodes, rule).gpus);
  const ClusterPacking* fair = nullptr;
  for (const ClusterPacking& m : made) {
    const bool good = m.gpus >= most_simple - 1e-6 && m.unplaced <= fewest_unplaced;
    if (good && (fair == nullptr || m.is_better_than(*fair))) fair = &m;
  }
  if (fair != nullptr) return *fair;
  return best;
}

}  // namespace rightsize::solve
