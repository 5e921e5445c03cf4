#include "plan/hardware.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "plan/candidates.h"

namespace rightsize::plan {
namespace {

// Owned machines are assumed to have the usual network of their generation.
bool has_rdma(const market::Offer& offer) {
  return offer.is_own() || (!offer.machine->fabric.empty() && offer.machine->fabric != "ethernet");
}

auto key_of(const market::Offer& offer, const perf::Cluster& cluster) {
  // Owned machines and reservations are limited in number, so each is a separate class.
  const bool limited = offer.machine->provider == market::kOwn || offer.price->available;
  const std::string own = limited ? offer.machine->instance + " " + offer.price->region : std::string();
  return std::tuple(offer.gpu->name, offer.machine->gpus, cluster.linked, in_bytes_per_s(cluster.network_per_gpu),
                    cluster.network_known, has_rdma(offer), own);
}

// A fresher price says that an old one may have changed only if the request could pay it: GPUs without a confirmed
// price of the last days among its offers are first at an old one. A commitment binds for years, so it needs more.
std::vector<market::PriceOutlook> outlooks_of(const std::vector<market::Offer>& offers, const market::PriceBook& book,
                                              Seconds job) {
  std::set<std::pair<const catalog::Gpu*, catalog::Purchase>> fresh;
  std::vector<market::PriceOutlook> outlooks;
  for (const market::Offer& offer : offers) {
    const market::PriceOutlook& price = outlooks.emplace_back(book.outlook(offer, job));
    const bool listed = !offer.is_own() && !offer.price->available && !offer.machine->retired && !price.community;
    if (listed && !price.unconfirmed && price.age.value_or(Seconds{}) <= days(market::kAgedDays))
      fresh.insert({offer.gpu, offer.price->purchase});
  }
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const bool commits = term_of(offers[i].price->purchase) > Seconds{};
    outlooks[i].aged &= commits || fresh.contains({offers[i].gpu, offers[i].price->purchase});
  }
  return outlooks;
}

// Keeps regions that count towards different commitments separate.
void add_offer(MachineClass& machines, const market::Offer& offer, const market::PriceOutlook& outlook,
               const market::CommittedSpends& committed) {
  ++machines.all_offers;
  for (std::size_t i = 0; i < machines.offers.size(); ++i) {
    market::Offer& known = machines.offers[i];
    if (known.machine != offer.machine || known.price->purchase != offer.price->purchase) continue;
    if (!committed.empty() && committed.of(known) != committed.of(offer)) continue;
    // A cheaper but doubtful price is kept too, because the answer mentions it.
    const market::PriceOutlook& other = machines.outlooks[i];
    if (outlook.may_lead() != other.may_lead() || outlook.outdated != other.outdated) continue;
    if (!(outlook.likely < machines.outlooks[i].likely)) return;
    known = offer;
    machines.outlooks[i] = outlook;
    return;
  }
  machines.offers.push_back(offer);
  machines.outlooks.push_back(outlook);
}

}  // namespace

std::vector<MachineClass> machine_classes(const std::vector<market::Offer>& offers, const market::PriceBook& book,
                                          Seconds job, const perf::Constants& constants,
                                          const std::vector<market::OwnHardware>& own) {
  std::vector<MachineClass> classes;
  std::map<decltype(key_of(offers[0], {})), std::size_t> found;
  std::map<const catalog::Gpu*, perf::GpuSpeed> speeds;
  const std::vector<market::PriceOutlook> outlooks = outlooks_of(offers, book, job);
  for (const market::Offer& offer : offers) {
    const perf::Cluster cluster = perf::cluster_of(*offer.machine, *offer.gpu);
    const auto [place, fresh] = found.try_emplace(key_of(offer, cluster), classes.size());
    if (fresh) {
      const auto speed = speeds.find(offer.gpu);
      MachineClass made;
      made.gpu = offer.gpu;
      made.speed = speed != speeds.end()
                       ? speed->second
                       : speeds.emplace(offer.gpu, perf::gpu_speed(constants, *offer.gpu)).first->second;
      made.cluster = cluster;
      made.gpus = offer.machine->gpus;
      made.networked = cluster.network_known || offer.is_own();
      made.rdma = has_rdma(offer);
      made.most_machines = offer.price->available.value_or(0);
      for (const market::OwnHardware& mine : own) {
        if (offer.machine->provider != market::kOwn || market::own_instance(mine) != offer.machine->instance) continue;
        made.most_machines = mine.machines;
        made.own = &mine;
      }
      classes.push_back(std::move(made));
    }
    add_offer(classes[place->second], offer, outlooks[static_cast<std::size_t>(&offer - offers.data())],
              book.committed());
  }
  return classes;
}

void limit_by_budget(const Request& request, const market::PriceBook& book, std::vector<MachineClass>& classes) {
  const bool monthly = request.work.kind == WorkKind::kServing && request.work.rate_by_hour.empty();
  if (!request.limits.budget || !simulates_cache(request) || !monthly || !book.committed().empty()) return;
  for (MachineClass& machines : classes) {
    const Usd month = machines.least_price() * rightsize::machines(1) * kMonth;
    if (month > Usd{})
      machines.affordable = static_cast<int>(std::min(1e6, (*request.limits.budget + kHalfACent) / month));
  }
}

bool engine_starts(const Request& request, const model::Job& job, const catalog::Gpu& gpu) {
  const double tokens = perf::kv_token_capacity(request.model, job, gpu);
  return tokens > 0 && tokens >= static_cast<double>(request.max_model_len.value_or(0));
}

// Minimum compute capabilities, from the installation guides of vLLM, SGLang and TensorRT-LLM, 2026.
bool engine_runs_on(model::Stack engine, const catalog::Gpu& gpu) {
  if (gpu.vendor != "NVIDIA") return engine != model::Stack::kTrtLlm;
  if (gpu.compute_capability.empty()) return true;
  const double capability = std::atof(gpu.compute_capability.c_str());
  const double least = engine == model::Stack::kVllm     ? 7.0
                       : engine == model::Stack::kSglang ? 7.5
                       : engine == model::Stack::kTrtLlm ? 8.0
                                                         : 0;
  return capability >= least;
}

std::vector<int> machine_counts(const MachineClass& machines, const PlanLimits& limits, bool work_together,
                                bool sparsely) {
  const int most_gpus = limits.gpus.value_or(limits.max_gpus);
  int most = limits.gpus ? std::max(1, most_gpus / machines.gpus) : most_gpus / machines.gpus;
  if (work_together && !machines.networked) most = std::min(most, 1);
  if (work_together && !machines.rdma) most = std::min(most, kMostWithoutRdma);
  if (machines.most_machines > 0) most = std::min(most, machines.most_machines);
  if (limits.gpus) {
    const int wanted = (*limits.gpus + machines.gpus - 1) / machines.gpus;
    return wanted <= std::max(1, most) ? std::vector<int>{wanted} : std::vector<int>{};
  }
  std::vector<int> counts;
  const auto is_searched = [&](int n) { return n * machines.gpus > limits.more_than_gpus; };
  // Whole numbers up to 16, then eight per octave: costs hardly differ in between.
  for (int n = 1, step = 1; work_together && n <= most; n += step) {
    if (is_searched(n)) counts.push_back(n);
    if (sparsely && n >= 16 * step) step *= 2;
  }
  const bool leaves_one_out = machines.most_machines == most && !counts.empty() && counts.back() < most;
  if (work_together && leaves_one_out) counts.push_back(most);  // all the user's machines
  for (int n = 1; !work_together && n <= most; n *= 2) {
    counts.push_back(n);
    if (n > 1 && n + n / 2 <= most) counts.push_back(n + n / 2);
  }
  return counts;
}

}  // namespace rightsize::plan
