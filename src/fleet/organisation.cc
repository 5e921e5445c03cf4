// The current workloads as an organisation for `rightsize portfolio`.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "fleet/emit.h"
#include "fleet/running.h"
#include "hand_over/organisation_file.h"
#include "mig/geometry.h"

namespace rightsize::fleet {
namespace {

using hand_over::OrganisationFile;
using Option = OrganisationFile::Option;

// The workload of one owner in a pool.
struct Part {
  std::vector<const GpuRow*> gpus;  // whole ones
  std::map<std::string, int> slices;
  std::vector<Running> running;
};

class Writer {
 public:
  Writer(const FleetAnalysis& analysis, const Thresholds& thresholds, const catalog::Catalog& catalog)
      : analysis_(analysis), thresholds_(thresholds), catalog_(catalog) {}

  OrganisationFile write() {
    const TimeSpan window = window_of(analysis_.gpus);
    std::size_t unpriced = 0, idle = 0;
    for (const GpuRow& row : analysis_.gpus) {
      const Running running = running_on(row, window, thresholds_);
      if (!running.here || row.use.is_free_part() || row.use.from_job_log) continue;
      if (row.price.gpu == nullptr || !row.price.rate) {
        ++unpriced;
        continue;
      }
      const std::size_t pool = pool_of(row);
      if (row.use.device.mig_id.empty()) ++gpus_[pool];
      if (running.owner().empty()) {
        ++idle;
        continue;
      }
      Part& part = owners_[running.owner().shown()][pool];
      teams_[running.owner().shown()] = running.owner().team;
      part.running.push_back(running);
      if (row.use.device.mig_id.empty())
        part.gpus.push_back(&row);
      else
        ++part.slices[row.use.device.mig_profile];
    }
    for (std::size_t p = 0; p < file_.pools.size(); ++p) finish(p);
    for (const auto& [owner, parts] : owners_) add(owner, parts);
    file_.comments = {"What runs now, for 'rightsize portfolio'. Add options, reservations, quotas and budgets.",
                      "The first option of a workload is the one in use. docs/portfolio.md describes the file."};
    if (unpriced > 0) file_.comments.push_back(fmt::format("Left out: GPUs without a price ({}).", unpriced));
    if (idle > 0) file_.comments.push_back(fmt::format("Left out: GPUs without an owner now ({}).", idle));
    return std::move(file_);
  }

 private:
  std::size_t pool_of(const GpuRow& row) {
    const GpuPrice& price = row.price;
    const auto key = std::tuple(price.gpu->name, price.provider, price.region, price.purchase,
                                std::lround(in_usd_per_gpu_hour(*price.rate) * 1e4));
    const auto [known, fresh] = pools_.try_emplace(key, file_.pools.size());
    if (!fresh) return known->second;
    OrganisationFile::Pool pool;
    pool.gpu = price.gpu->name;
    const auto same = std::ranges::count(file_.pools, pool.gpu, &OrganisationFile::Pool::gpu);
    pool.name = same == 0 ? pool.gpu : fmt::format("{}-{}", pool.gpu, same + 1);
    pool.usd_per_gpu_hour = in_usd_per_gpu_hour(*price.rate);
    pool.region = price.region;
    pool.gpus_per_machine = price.machine != nullptr ? std::max(1, price.machine->gpus) : 1;
    pool.mig = mig::Geometry::of(catalog_, *price.gpu).has_value();
    pool.comment = price.source;
    file_.pools.push_back(std::move(pool));
    gpus_.push_back(0);
    purchases_.push_back(price.purchase);
    return known->second;
  }

  // Committed GPUs are paid for, used or not; nothing is known about renting more of them.
  void finish(std::size_t p) {
    OrganisationFile::Pool& pool = file_.pools[p];
    if (purchases_[p] == catalog::Purchase::kOnDemand || purchases_[p] == catalog::Purchase::kSpot) return;
    pool.reserved = gpus_[p];
    pool.reserved_usd = gpus_[p] * *pool.usd_per_gpu_hour * in_hours(kMonth);
    pool.usd_per_gpu_hour.reset();
  }

  void add(const std::string& owner, const std::map<std::size_t, Part>& parts) {
    for (const auto& [p, part] : parts) {
      const std::string& pool = file_.pools[p].name;
      OrganisationFile::Workload workload;
      workload.name = parts.size() == 1 ? owner : fmt::format("{} on {}", owner, pool);
      workload.team = teams_[owner];
      if (part.gpus.size() == 1 && part.slices.empty())
        workload.small = small(*part.gpus.front(), part.running.front());
      if (!workload.small.empty()) {
        file_.workloads.push_back(std::move(workload));
        continue;
      }
      Option now{pool, {}, {}, {}, {}, {}};
      if (!part.gpus.empty()) now.gpus = {static_cast<int>(part.gpus.size())};
      for (const auto& [profile, count] : part.slices)
        now.slices += fmt::format("{}{}: {}", now.slices.empty() ? "" : ", ", profile, count);
      workload.options.push_back(now);
      if (const int fewer = fewer_gpus(part); fewer > 0 && part.slices.empty()) {
        now.gpus = {fewer};
        now.comment = fmt::format("p95 of its activity and its memory fit {} GPU{}", fewer, fewer == 1 ? "" : "s");
        workload.options.push_back(now);
      }
      file_.workloads.push_back(std::move(workload));
    }
  }

  // A workload that leaves most of its GPU free may share it.
  std::string small(const GpuRow& row, const Running& running) const {
    constexpr double kMostShare = 0.5;
    const Bytes capacity = row.memory_capacity();
    const bool is_small = running.memory_peak > Bytes{} && running.memory_peak <= capacity * kMostShare &&
                          running.busy_p95 <= kMostShare && running.dram_p95 <= kMostShare;
    if (!is_small) return {};
    return fmt::format("memory: {:.1f}GiB, load: {:.1f}%, bandwidth: {:.1f}%, measured-on: {}",
                       in_gib(running.memory_peak), 100 * std::max(0.001, running.busy_p95),
                       100 * std::max(0.001, running.dram_p95), row.price.gpu->name);
  }

  // The fewest GPUs for the p95 activity and the memory; 0 if that changes nothing.
  int fewer_gpus(const Part& part) const {
    if (part.gpus.size() < 2) return 0;
    double busy = 0, memory = 0;
    for (std::size_t i = 0; i < part.gpus.size(); ++i) {
      if (part.running[i].memory_peak == Bytes{}) return 0;
      busy += part.running[i].busy_p95 / thresholds_.target_activity;
      memory += part.running[i].memory_peak / (part.gpus[i]->memory_capacity() * thresholds_.memory_headroom);
    }
    const int fewest = std::max(1, static_cast<int>(std::ceil(std::max(busy, memory) - 1e-9)));
    return fewest < static_cast<int>(part.gpus.size()) ? fewest : 0;
  }

  const FleetAnalysis& analysis_;
  const Thresholds& thresholds_;
  const catalog::Catalog& catalog_;
  OrganisationFile file_;
  std::map<std::tuple<std::string, std::string, std::string, catalog::Purchase, long>, std::size_t> pools_;
  std::vector<int> gpus_;  // by pool
  std::vector<catalog::Purchase> purchases_;
  std::map<std::string, std::map<std::size_t, Part>> owners_;  // by name, by pool
  std::map<std::string, std::string> teams_;
};

}  // namespace

std::string emit_portfolio(const FleetAnalysis& analysis, const Thresholds& thresholds,
                           const catalog::Catalog& catalog) {
  const OrganisationFile file = Writer(analysis, thresholds, catalog).write();
  return file.workloads.empty() ? "" : hand_over::write_organisation(file);
}

}  // namespace rightsize::fleet
