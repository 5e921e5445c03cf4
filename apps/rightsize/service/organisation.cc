// The services as an organisation for `rightsize portfolio`: how each runs now, and the plans that meet its SLOs.
#include <algorithm>

#include <fmt/format.h>

#include "hand_over/organisation_file.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

using hand_over::OrganisationFile;
using live_service::SizeChange;
using live_service::SizedPlan;

OrganisationFile::Option option_of(const SizedPlan& plan, const std::string& pool) {
  OrganisationFile::Option option{pool, {plan.gpus}, {}, {}, {}, std::string(live_service::name_of(plan.kind))};
  if (plan.kind == SizeChange::kSchedule) {
    const int each = plan.gpus / std::max(1, plan.replicas);
    option.gpus.clear();
    for (const int replicas : plan.schedule) option.gpus.push_back(replicas * each);
  }
  if (plan.move) {
    option.where = fmt::format("{} {} x {}", plan.move->offer.machine->provider, plan.move->machines,
                               plan.move->offer.machine->instance);
    option.gpus.clear();
    option.usd = in_usd(plan.month);
    if (plan.move->offer.price->purchase == catalog::Purchase::kSpot) option.how = "spot";
  }
  return option;
}

}  // namespace

std::string organisation_of(const ServiceFacts& facts) {
  OrganisationFile file;
  file.comments = {"The services as they run now, for 'rightsize portfolio'. The other options meet the SLOs.",
                   "Add reservations, quotas, teams and further workloads. docs/portfolio.md describes the file."};
  for (const SizedService& one : facts.services) {
    const live_service::Description& d = one.description;
    if (d.gpu == nullptr || !d.price || d.gpus == 0) {
      file.comments.push_back(fmt::format("Left out: {} ({}).", one.reading.name(),
                                          d.gpu == nullptr ? "its GPU is unknown; pass --gpu"
                                          : d.gpus == 0    ? "it has no replica now"
                                                           : "its GPU has no price; pass --price"));
      continue;
    }
    if (std::ranges::find(file.pools, d.gpu->name, &OrganisationFile::Pool::name) == file.pools.end()) {
      OrganisationFile::Pool pool;
      pool.name = pool.gpu = d.gpu->name;
      pool.usd_per_gpu_hour = in_usd_per_gpu_hour(d.price->rate);
      file.pools.push_back(std::move(pool));
    }
    OrganisationFile::Workload workload;
    workload.name = one.reading.name(), workload.team = one.reading.space;
    workload.options.push_back({d.gpu->name, {d.gpus}, {}, {}, {}, "now"});
    if (one.sized && one.sized->unexplained.empty()) {
      for (const SizedPlan& plan : one.sized->plans) {
        const bool as_now = plan.kind == SizeChange::kReplicas && plan.gpus == d.gpus;
        if (!as_now) workload.options.push_back(option_of(plan, d.gpu->name));
      }
    }
    file.workloads.push_back(std::move(workload));
  }
  return file.workloads.empty() ? "" : hand_over::write_organisation(file);
}

}  // namespace rightsize::app
