// Cures of one GPU at a time: stop or park it, a smaller one, smaller numbers, a commitment.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "diagnose/project.h"
#include "fleet/candidates.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

// Share of the time in idle stretches of at least so many hours.
double parkable_share(const GpuRow& gpu, double hours_least) {
  const Profile& profile = gpu.use.profile;
  double parked = 0, all = 0, run = 0;
  auto end_run = [&] {
    if (run * profile.width >= hours_least * 3600) parked += run;
    run = 0;
  };
  for (float idle : profile.idle) {
    if (std::isnan(idle)) {
      end_run();
      continue;
    }
    all += 1;
    if (idle > 0.99F) {
      run += 1;
    } else {
      end_run();
    }
  }
  end_run();
  return all > 0 ? parked / all : 0;
}

// GeForce cards: their driver's licence keeps them out of data centres, so a data-centre GPU is not exchanged for one.
bool is_consumer(const catalog::Gpu& gpu) {
  return gpu.name.starts_with("rtx-") && gpu.name.find_first_not_of("0123456789", 4) == std::string::npos;
}

using GroupKey = std::tuple<std::string, std::string, std::string>;

struct Group {
  std::vector<std::size_t> gpus;
  std::vector<double> savings;
  double confidence = 0;
  std::string detail;

  void add(std::size_t gpu, double saving, double certainty) {
    gpus.push_back(gpu);
    savings.push_back(saving);
    confidence += certainty;
  }
  Candidate candidate(ActionKind kind) const {
    Candidate c;
    c.action.kind = kind;
    c.action.gpus = gpus;
    c.saving_each = savings;
    for (double s : savings) c.action.usd_per_month += s;
    c.action.confidence = confidence / static_cast<double>(gpus.size());
    return c;
  }
};

Candidate stop_candidate(const Group& group, const std::string& owner, const std::string& gpu, bool held) {
  Candidate c = group.candidate(ActionKind::kStop);
  Action& a = c.action;
  a.owner = owner;
  a.from = count_of(group.gpus.size(), gpu);
  a.to = "none";
  if (held) {
    a.what = fmt::format("stop what holds {} without working ({})", count_of(group.gpus.size(), gpu), owner);
    a.risk = "low: the process loses what it keeps only in GPU memory; save notebooks and caches first";
    a.check = "gpu_util stays 0 and the owner confirms; scale to 0 in a dry run first";
    a.rollback = "scale the workload back to its former number of replicas";
  } else {
    a.what = fmt::format("give back {} that nothing uses", count_of(group.gpus.size(), gpu));
    a.risk = "low: no process holds memory; queued jobs may wait longer at a peak";
    a.check = "no job was pending for these GPUs in the window; drain the node and watch the queue for a day";
    a.rollback = "start the machine again";
  }
  return c;
}

Candidate park_candidate(const Group& group, const std::string& owner, const std::string& gpu, double hours_least) {
  Candidate c = group.candidate(ActionKind::kStop);
  Action& a = c.action;
  a.owner = owner;
  a.what = fmt::format("park {} of {} while idle for {:.0f} h and longer", count_of(group.gpus.size(), gpu), owner,
                       hours_least);
  a.from = "always on";
  a.to = "scaled to zero when idle";
  a.risk = "medium: the first request after a pause waits for a start (image, weights); keep one replica for promises";
  a.check = "the hours that were idle repeat next week; measure a cold start";
  a.rollback = "set the minimum number of replicas back";
  return c;
}

}  // namespace

std::vector<Candidate> find_stops(const CureInput& input) {
  std::map<std::tuple<std::string, std::string, bool>, Group> stops;
  std::map<GroupKey, Group> parks;
  const Thresholds& t = input.thresholds;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    if (!gpu.use.activity() || gpu.usd_per_month() <= 0) continue;
    const std::string owner = gpu.owner().shown();
    if (gpu.use.idle_share >= t.stop_idle_share) {
      const bool held = gpu.use.held_share > gpu.use.idle_share / 2;
      stops[{held ? owner : "", gpu_name(gpu), held}].add(i, gpu.usd_per_month() * gpu.use.idle_share, gpu.confidence);
    } else if (const double share = parkable_share(gpu, t.park_hours); share >= t.park_share) {
      parks[{owner, gpu_name(gpu), ""}].add(i, gpu.usd_per_month() * share, gpu.confidence * 0.8);
    }
  }
  std::vector<Candidate> found;
  for (const auto& [key, group] : stops) {
    const auto& [owner, name, held] = key;
    found.push_back(stop_candidate(group, owner.empty() ? "nobody" : owner, name, held));
  }
  for (const auto& [key, group] : parks) {
    found.push_back(park_candidate(group, std::get<0>(key), std::get<1>(key), t.park_hours));
  }
  return found;
}

std::map<std::string, double> projected_growth(const GpuRow& gpu, const catalog::Catalog& catalog) {
  const bool paced = gpu.verdict == Verdict::kUnderused || gpu.verdict == Verdict::kBursty;
  const bool told = gpu.use.metric(Metric::kDramActive) && gpu.use.metric(Metric::kTensorActive);
  const double busy = 1 - gpu.time.wait;
  if (gpu.price.gpu == nullptr || !paced || !told || busy <= 0) return {};
  const diagnose::Summary summary = summary_of(gpu.use);
  diagnose::Diagnosis diagnosis;
  diagnosis.verdict = gpu.verdict;
  diagnosis.shares = gpu.time;
  std::map<std::string, double> growth;
  for (const diagnose::Projection& there : diagnose::project({&summary, &diagnosis, gpu.price.gpu}, catalog, nullptr)) {
    // A GPU that would be busy all the time has no number that could be scaled to a peak.
    if (there.busy < 1) growth[there.gpu->name] = there.busy / busy * (there.speed / there.low);
  }
  return growth;
}

std::optional<Smaller> find_smaller(const GpuRow& gpu, const CureInput& input, double memory_factor,
                                    double traffic_factor) {
  const catalog::Gpu* now = gpu.price.gpu;
  if (now == nullptr || !gpu.price.rate || gpu.memory_peak() <= 0 || gpu.price.share < 1) return std::nullopt;
  std::optional<Smaller> best;
  const std::map<std::string, double> projected = projected_growth(gpu, input.book.catalog());
  for (const market::Offer& offer : input.book.on_demand()) {
    const catalog::Gpu& other = *offer.gpu;
    if (other.name == now->name || other.vendor != now->vendor || (is_consumer(other) && !is_consumer(*now))) continue;
    if (gpu.price.machine != nullptr && offer.machine->provider != gpu.price.machine->provider) continue;
    if (offer.rate_per_gpu() >= *gpu.price.rate * 0.95) continue;
    if (best && offer.rate_per_gpu() >= best->offer.rate_per_gpu()) continue;
    if (bytes(gpu.memory_peak() * memory_factor) > other.capacity() * input.thresholds.memory_headroom) continue;
    if (!now->half_rate() || !other.half_rate()) continue;
    // Busy time is arithmetic or traffic or both: it grows at most by the larger of the two ratios, and by less where
    // counters tell how much of it is which.
    const double arithmetic = *now->half_rate() / *other.half_rate();
    const double traffic = now->bandwidth / other.bandwidth * traffic_factor;
    double growth = std::max(arithmetic, traffic);
    if (const auto known = projected.find(other.name); known != projected.end())
      growth = std::min(growth, known->second);
    const double busy = busy_level(gpu) * growth;
    const double load = std::max(busy, dram_level(gpu) * traffic);
    if (load > input.thresholds.target_activity) continue;
    best = Smaller{offer, load};
  }
  return best;
}

std::vector<Candidate> find_downsizes(const CureInput& input) {
  std::map<GroupKey, Group> groups;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    if (!has_room(gpu) && gpu.verdict != Verdict::kMemoryBound) continue;
    const std::optional<Smaller> smaller = find_smaller(gpu, input, 1, 1);
    if (!smaller) continue;
    const double saving = gpu.usd_per_month() * (1 - smaller->offer.rate_per_gpu() / *gpu.price.rate);
    Group& group = groups[{gpu.owner().shown(), gpu_name(gpu), smaller->offer.gpu->name}];
    group.add(i, saving, gpu.confidence * 0.7);
    group.detail = fmt::format("{} {}", smaller->offer.machine->provider, smaller->offer.machine->instance);
  }
  std::vector<Candidate> found;
  for (const auto& [key, group] : groups) {
    const auto& [owner, from, to] = key;
    Candidate c = group.candidate(ActionKind::kDownsize);
    c.action.owner = owner;
    c.action.from = count_of(group.gpus.size(), from);
    c.action.to = count_of(group.gpus.size(), to) + " (" + group.detail + ")";
    c.action.what = fmt::format("move {} from {} to {}", owner, c.action.from, to);
    c.action.risk =
        "medium: peaks take longer on the smaller GPU; kernels and precision it lacks (fp8, bf16) fall back";
    c.action.check = fmt::format("run the workload on one {} for a day: latency, memory peak, errors", to);
    c.action.rollback = fmt::format("keep one {} node until the week is over; move back by node selector", from);
    found.push_back(std::move(c));
  }
  return found;
}

// Weights in 8 bits halve what a memory-bound workload reads per token, and its weights' memory.
std::vector<Candidate> find_quantizations(const CureInput& input) {
  constexpr double kMemoryLeft = 0.6, kTrafficLeft = 0.6;  // caches and activations stay as they are
  std::map<GroupKey, Group> groups;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    if (gpu.verdict != Verdict::kMemoryBound) continue;
    const std::optional<Smaller> smaller = find_smaller(gpu, input, kMemoryLeft, kTrafficLeft);
    if (!smaller) continue;
    const double saving = gpu.usd_per_month() * (1 - smaller->offer.rate_per_gpu() / *gpu.price.rate);
    groups[{gpu.owner().shown(), gpu_name(gpu), smaller->offer.gpu->name}].add(i, saving, gpu.confidence * 0.5);
  }
  std::vector<Candidate> found;
  for (const auto& [key, group] : groups) {
    const auto& [owner, from, to] = key;
    Candidate c = group.candidate(ActionKind::kQuantize);
    c.action.owner = owner;
    c.action.from = count_of(group.gpus.size(), from);
    c.action.to = fmt::format("8-bit weights on {}", count_of(group.gpus.size(), to));
    c.action.what = fmt::format("quantize {} to 8 bits: it then fits {}", owner, to);
    c.action.risk =
        "medium: answers change a little; only for inference, and only where weights are most of the traffic";
    c.action.check = "score the quantized model on your own evaluation set, and measure tokens a second on one GPU";
    c.action.rollback = "serve the former weights again: keep them and their node pool for two weeks";
    found.push_back(std::move(c));
  }
  return found;
}

namespace {

struct Discount {
  double ratio = 1;  // committed over on-demand
  std::string source;
};

// What a year's commitment costs against on-demand for this GPU: of its own machine where known, else the smallest
// discount any provider lists, which promises least.
std::optional<Discount> discount_of(const GpuRow& gpu, const PriceBook& book) {
  std::optional<Discount> best;
  if (gpu.price.gpu == nullptr) return best;
  const market::PriceBook& prices = book.prices();
  for (const market::Offer& year :
       prices.offers({.purchases = {catalog::Purchase::kOneYear}, .gpus = {gpu.price.gpu->name}})) {
    const catalog::Price& row = *year.price;
    if (gpu.price.machine != nullptr && year.machine != gpu.price.machine) continue;
    const auto on_demand = prices.list_price(*year.machine, catalog::Purchase::kOnDemand, row.region);
    if (!on_demand || on_demand->offer->price->region != row.region) continue;
    const double ratio = year.rate() / on_demand->rate;
    if (ratio < 1 && (!best || ratio > best->ratio)) {
      best = Discount{ratio, fmt::format("{} {}, 1 year", row.provider, row.instance)};
    }
  }
  return best;
}

}  // namespace

std::vector<Candidate> find_commitments(const CureInput& input, const std::vector<bool>& taken) {
  std::map<std::pair<std::string, std::string>, Group> groups;
  std::map<std::pair<const catalog::Gpu*, const catalog::Machine*>, std::optional<Discount>> discounts;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    const bool stable = gpu.presence >= input.thresholds.stable_share && gpu.use.idle_share < 0.5;
    if (taken[i] || !stable || gpu.price.purchase != catalog::Purchase::kOnDemand || gpu.price.share < 1) continue;
    auto [known, is_new] = discounts.try_emplace({gpu.price.gpu, gpu.price.machine});
    if (is_new) known->second = discount_of(gpu, input.book);
    const std::optional<Discount>& discount = known->second;
    if (!discount) continue;
    Group& group = groups[{gpu_name(gpu), discount->source}];
    group.add(i, gpu.usd_per_month() * (1 - discount->ratio), 0.6);
    group.detail = format_percent(Ratio::fraction(1 - discount->ratio));
  }
  std::vector<Candidate> found;
  for (const auto& [key, group] : groups) {
    Candidate c = group.candidate(ActionKind::kCommit);
    const std::string many = count_of(group.gpus.size(), key.first);
    c.action.from = "on demand";
    c.action.to = fmt::format("1 year ({} less: {})", group.detail, key.second);
    c.action.what = fmt::format("commit to {} that were busy all the time", many);
    c.action.risk =
        "medium: paid for a year whether used or not; do the other actions first, then commit to what is left";
    c.action.check = "the load was as steady in the last three months as in this window";
    c.action.rollback = "none before the term ends; begin with half of them";
    found.push_back(std::move(c));
  }
  return found;
}

}  // namespace rightsize::fleet
