#include "portfolio/small_models.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "mig/mechanisms.h"
#include "sharing/sharing.h"

namespace rightsize::portfolio {
namespace {

static_assert(static_cast<int>(How::kScaleToZero) == static_cast<int>(sharing::Mechanism::kScaleToZero));

// The p95 of its requests on a part of a GPU without neighbours.
std::optional<Seconds> p95_on(const mig::Workload& w, const catalog::Gpu& gpu, double share,
                              const perf::SpeedTable& speeds) {
  mig::WorkloadFile file;
  file.workloads.push_back(w);
  std::vector<mig::ReplicaId> replicas;
  const sharing::Demand demand =
      mig::demand_of(file, {{&gpu, std::nullopt, usd_per_gpu_hour(1), ""}}, speeds, replicas);
  return sharing::alone(demand.tenants[0][0], share).p95;
}

// The smallest slices that hold one replica.
void add_slices(const Organisation& organisation, std::size_t pool, const perf::SpeedTable& speeds, Workload& w) {
  const mig::Geometry& geometry = *organisation.pools[pool].geometry;
  int least = geometry.memory_slices() + 1;
  for (std::size_t i = 0; i < geometry.plain_profiles().size(); ++i) {
    const int profile = geometry.plain_profiles()[i];
    if (!mig::misfit(*w.small, mig::capacity_of(geometry, profile), geometry.gpu(), speeds).empty()) continue;
    const int size = geometry.profile(profile).memory_slices;
    const mig::Resources slice = mig::capacity_of(geometry, profile);
    if (size > least) continue;
    least = size;
    Option option = organisation.in_pool(pool, How::kMig);
    option.needs.assign(geometry.plain_profiles().size(), 0);
    option.needs[i] = w.small->replicas;
    option.p95 = {p95_on(*w.small, geometry.gpu(), std::min(slice.sms, slice.bandwidth), speeds)};
    w.options.push_back(std::move(option));
  }
}

// The pools as kinds of GPU, and small models of one class as tenants.
struct SharingInput {
  std::vector<std::size_t> pools;
  std::vector<std::size_t> workloads;  // by position in the mig file
  mig::WorkloadFile file;
  std::vector<mig::GpuType> types;
};

std::map<std::string, SharingInput> classes_of(const Organisation& organisation) {
  std::map<std::string, SharingInput> classes;
  for (std::size_t w = 0; w < organisation.workloads.size(); ++w) {
    const Workload& workload = organisation.workloads[w];
    if (!workload.small || !workload.apart.empty() || workload.now) continue;
    SharingInput& input =
        classes[fmt::format("{} / {}", fmt::join(workload.regions, ","), fmt::join(workload.blocks, ","))];
    input.workloads.push_back(w);
    input.file.workloads.push_back(*workload.small);
  }
  for (auto& [key, input] : classes) {
    const Workload& first = organisation.workloads[input.workloads.front()];
    for (std::size_t p = 0; p < organisation.pools.size(); ++p) {
      const Pool& pool = organisation.pools[p];
      // A pool that the rules exclude has an option that is dropped.
      const auto option = std::ranges::find(first.options, static_cast<int>(p), &Option::pool);
      if (pool.gpu == nullptr || option == first.options.end() ||
          !first.allows(static_cast<int>(option - first.options.begin())))
        continue;
      input.pools.push_back(p);
      constexpr double kOwned = 0.01;  // nominal price of machines that cannot be rented, to use few of them
      const double price = std::max(kOwned, pool.usd_per_gpu_hour);
      input.types.push_back({pool.gpu, std::nullopt, usd_per_gpu_hour(price), pool.name});
    }
  }
  return classes;
}

// The group as a workload, in each pool in which it meets all limits.
Workload workload_of(const Organisation& organisation, const SharingInput& input, const sharing::Demand& demand,
                     const std::vector<mig::ReplicaId>& replicas, const sharing::Group& group) {
  Workload made;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < group.tenants.size(); ++i) {
    const std::size_t at = input.workloads[replicas[group.tenants[i]].workload];
    const Workload& member = organisation.workloads[at];
    if (std::ranges::find(names, member.name) == names.end()) names.push_back(member.name);
    made.members.push_back(at);
    made.regions = member.regions, made.blocks = member.blocks, made.place = member.place;
  }
  made.name = fmt::format("{}", fmt::join(names, " + "));
  for (std::size_t g = 0; g < demand.gpus.size(); ++g) {
    std::vector<const sharing::Tenant*> tenants;
    for (std::size_t r : group.tenants) tenants.push_back(&demand.tenants[g][r]);
    const std::optional<sharing::Group> here = sharing::evaluate(group.how, tenants, demand.gpus[g]);
    if (!here) continue;
    Option option = organisation.in_pool(input.pools[g], static_cast<How>(here->how));
    for (const sharing::Served& served : here->served) option.p95.push_back(served.p95);
    if (here->how == sharing::Mechanism::kScaleToZero) {  // rented only while it runs
      option.pool = -1, option.usd = here->usd_per_hour * organisation.month_hours();
      option.region = organisation.pools[input.pools[g]].region;
      option.takes = fmt::format("1 GPU for {:.0f} % of the time", 100 * here->up);
    } else {
      for (std::size_t b = 0; b < option.gpus.size(); ++b) {
        const bool runs =
            made.blocks.empty() || std::ranges::find(made.blocks, organisation.blocks[b].name) != made.blocks.end();
        option.gpus[b] = runs ? 1 : 0;
      }
    }
    made.options.push_back(std::move(option));
  }
  return made;
}

}  // namespace

Checked<> add_small_options(Organisation& organisation, const perf::SpeedTable& speeds) {
  Errors errors;
  for (Workload& w : organisation.workloads) {
    if (!w.small) continue;
    for (std::size_t p = 0; p < organisation.pools.size(); ++p) {
      const Pool& pool = organisation.pools[p];
      if (pool.gpu == nullptr) continue;
      if (mig::misfit(*w.small, mig::capacity_of(*pool.gpu), *pool.gpu, speeds).empty()) {
        Option option = organisation.in_pool(p, How::kDedicated);
        option.p95 = {p95_on(*w.small, *pool.gpu, 1, speeds)};
        for (std::size_t b = 0; b < option.gpus.size(); ++b) {
          const bool runs =
              w.blocks.empty() || std::ranges::find(w.blocks, organisation.blocks[b].name) != w.blocks.end();
          option.gpus[b] = runs ? w.small->replicas : 0;
        }
        w.options.push_back(std::move(option));
      }
      if (pool.geometry) add_slices(organisation, p, speeds, w);
    }
    if (w.options.empty()) {
      errors.push_back(bad_input(fmt::format("no pool can run '{}'", w.name))
                           .with_hint("check its memory, load and latency against the GPUs of the pools")
                           .at(w.place));
    } else if (Result<> applied = apply_rules(organisation, w); !applied) {
      errors.push_back(std::move(applied.error()).at(w.place));
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

Result<std::optional<Organisation>> with_shared_gpus(const Organisation& organisation, const perf::SpeedTable& speeds) {
  Organisation shared = organisation;
  std::vector<std::size_t> replaced;
  for (const auto& [key, input] : classes_of(organisation)) {
    if (input.types.empty()) continue;
    std::vector<mig::ReplicaId> replicas;
    const sharing::Demand demand = mig::demand_of(input.file, input.types, speeds, replicas);
    RIGHTSIZE_TRY(const sharing::SharingPlan plan, sharing::cheapest(sharing::propose(demand), demand.count()));
    // A workload moves into groups with all its replicas, or not at all.
    std::vector<int> grouped(input.workloads.size(), 0);
    for (const sharing::Group& group : plan.groups) {
      if (group.how == sharing::Mechanism::kOwnGpu) continue;
      for (std::size_t r : group.tenants) ++grouped[replicas[r].workload];
    }
    const auto is_whole = [&, &file = input.file](std::size_t w) { return grouped[w] == file.workloads[w].replicas; };
    for (const sharing::Group& group : plan.groups) {
      const bool whole =
          std::ranges::all_of(group.tenants, [&](std::size_t r) { return is_whole(replicas[r].workload); });
      if (group.how == sharing::Mechanism::kOwnGpu || !whole) {
        for (std::size_t r : group.tenants) grouped[replicas[r].workload] = -1;
      }
    }
    for (const sharing::Group& group : plan.groups) {
      if (!std::ranges::all_of(group.tenants, [&](std::size_t r) { return is_whole(replicas[r].workload); })) continue;
      Workload made = workload_of(organisation, input, demand, replicas, group);
      for (std::size_t r : group.tenants) replaced.push_back(input.workloads[replicas[r].workload]);
      if (Result<> applied = apply_rules(organisation, made); !applied) return fail(std::move(applied).error());
      shared.workloads.push_back(std::move(made));
    }
  }
  if (replaced.empty()) return std::optional<Organisation>();
  for (std::size_t w = 0; w < organisation.workloads.size(); ++w) {
    if (shared.workloads[w].members.empty()) shared.workloads[w].members.push_back(w);
  }
  std::ranges::sort(replaced);
  replaced.erase(std::unique(replaced.begin(), replaced.end()), replaced.end());
  for (std::size_t w : std::vector<std::size_t>(replaced.rbegin(), replaced.rend()))
    shared.workloads.erase(shared.workloads.begin() + static_cast<std::ptrdiff_t>(w));
  return std::optional(std::move(shared));
}

}  // namespace rightsize::portfolio
