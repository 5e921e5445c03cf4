// A plan of slices as a report.
#include "rightsize/mig/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "base/usage_units.h"

namespace rightsize::app {
namespace {

using mig::Alternative;
using mig::GpuType;
using mig::ReplicaId;
using mig::SlicePlan;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::when;

std::string per_month(UsdPerSecond rate) { return format_usd(rate * kMonth); }
double cents(UsdPerSecond rate) { return std::round(in_usd_per_month(rate) * 100) / 100; }

std::string replica_name(const mig::WorkloadFile& file, const ReplicaId& replica) {
  const mig::Workload& workload = file.workloads[replica.workload];
  return workload.replicas == 1 ? workload.name : fmt::format("{}/{}", workload.name, replica.number);
}

std::string names_in(const mig::WorkloadFile& file, const mig::PlannedInstance& instance) {
  const auto name = [&](const ReplicaId& replica) { return replica_name(file, replica); };
  return fmt::format("{}", fmt::join(list_of(instance.replicas, name), " + "));
}

// One slice of the plan.
struct PlannedRow {
  const PlannedSlices* all;
  std::size_t gpu;
  const mig::PlannedInstance* instance;

  const GpuType& type() const { return all->types[all->plan.gpus[gpu].type]; }
  const catalog::MigProfile& profile() const { return type().geometry->profile(instance->where.profile); }
  const mig::Workload& workload(const ReplicaId& replica) const { return all->file.workloads[replica.workload]; }
};

using ReplicaRow = std::pair<const mig::Workload*, int>;
const Fields<ReplicaRow> kReplicaFields = {
    {"workload", "name of the workload", [](const ReplicaRow& r) { return r.first->name; }},
    {"replica", "which of its replicas, from 0", &ReplicaRow::second},
};

const Fields<PlannedRow> kPlannedFields = {
    {"index", "GPU", "number of the GPU", &PlannedRow::gpu, kTableOnly},
    {"gpu", "type", "GPU type", [](const PlannedRow& r) { return r.type().gpu->name; }, kTableOnly},
    {"profile", "slice", "MIG profile", [](const PlannedRow& r) { return r.profile().profile; }},
    {"start", "start", "first memory slice", [](const PlannedRow& r) { return r.instance->where.start; }},
    {"size", "size", "memory slices", [](const PlannedRow& r) { return r.profile().memory_slices; }},
    {"workload", "the workload, or the first of those that share the slice",
     [](const PlannedRow& r) { return r.workload(r.instance->replicas[0]).name; }},
    {"names", "workload", "everything in the slice",
     [](const PlannedRow& r) { return names_in(r.all->file, *r.instance); }, kTableOnly},
    {"workloads", "every replica in the slice", kReplicaFields,
     [](const PlannedRow& r) {
       return list_of(r.instance->replicas, [&](const ReplicaId& id) {
         return ReplicaRow{&r.workload(id), id.number};
       });
     }},
};

std::vector<PlannedRow> rows_of(const PlannedSlices& p, std::size_t gpu) {
  return list_of(p.plan.gpus[gpu].instances, [&](const mig::PlannedInstance& instance) {
    return PlannedRow{&p, gpu, &instance};
  });
}

struct PlannedGpuRow {
  const PlannedSlices* all;
  std::size_t index;
};
const Fields<PlannedGpuRow> kGpuFields = {
    {"index", "number of the GPU", &PlannedGpuRow::index},
    {"gpu", "GPU type", [](const PlannedGpuRow& r) { return r.all->types[r.all->plan.gpus[r.index].type].gpu->name; }},
    {"instances", "its slices", kPlannedFields, [](const PlannedGpuRow& r) { return rows_of(*r.all, r.index); }},
};

const Fields<GpuType> kPriceFields = {
    {"gpu", "GPU type", [](const GpuType& t) { return t.gpu->name; }},
    {"usd_per_hour", "price of a GPU-hour", &GpuType::usd_per_hour},
    {"source", "where the price is from", &GpuType::price_from},
};

std::string which_gpus(const Alternative& a) {
  if (!a.feasible) return "no: " + a.why_not;
  const auto counted = [](const auto& gpu) { return fmt::format("{} {}", gpu.second, gpu.first); };
  return fmt::format("{}", fmt::join(list_of(a.gpus, counted), ", "));
}

bool has_bound(const Alternative& a) { return a.feasible && a.least_rate > UsdPerSecond{}; }

const Fields<Alternative> kAlternativeFields = {
    {"way", "mig, mig+mps, mps, time-slicing, sleep, lora, scale-to-zero, mix, gpu-each or smaller-gpu-each",
     &Alternative::name},
    {"what", "way", "the way in words", &Alternative::what, kTableOnly},
    {"feasible", "whether every workload fits", &Alternative::feasible},
    {"why_not", "why it is not feasible", &Alternative::why_not},
    {"gpu_count", "GPUs", "number of GPUs", [](const Alternative& a) { return when(a.feasible, a.gpu_count); }},
    {"gpus", "number of GPUs by type", &Alternative::gpus},
    {"which", "which", "number of GPUs by type", which_gpus, kTableOnly},
    {"usd_per_month", "$/month", "cost", [](const Alternative& a) { return when(a.feasible, cents(a.rate)); },
     [](const Alternative& a) { return a.feasible ? per_month(a.rate) : "-"; }},
    {"lower_bound", "lower bound", "no plan of this kind costs less, USD/month",
     [](const Alternative& a) { return when(has_bound(a), cents(a.least_rate)); },
     [](const Alternative& a) { return has_bound(a) ? per_month(a.least_rate) : "-"; }},
    {"isolation", "isolation", "what separates the workloads", &Alternative::isolation},
};

// A replica in the cheapest mix of mechanisms.
struct MechanismRow {
  const PlannedSlices* all;
  const sharing::Group* group;
  std::size_t at;  // position in the group

  const ReplicaId& replica() const { return all->mix.replicas[group->tenants[at]]; }
  const mig::Workload& workload() const { return all->file.workloads[replica().workload]; }
  const sharing::Served& served() const { return group->served[at]; }
  std::vector<std::string> beside() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < group->tenants.size(); ++i) {
      if (i != at) names.push_back(replica_name(all->file, all->mix.replicas[group->tenants[i]]));
    }
    return names;
  }
};
const Fields<MechanismRow> kMechanismFields = {
    {"workload", "workload", "name of the workload", [](const MechanismRow& r) { return r.workload().name; }},
    {"replica", "which of its replicas, from 0", [](const MechanismRow& r) { return r.replica().number; }},
    {"name", "workload", "name with the number of the replica",
     [](const MechanismRow& r) { return replica_name(r.all->file, r.replica()); }, kTableOnly},
    {"mechanism", "mechanism", "dedicated, mig, mps, time-slicing, sleep, lora or scale-to-zero",
     [](const MechanismRow& r) { return name_of(r.group->how); }},
    {"gpu", "GPU", "GPU type", [](const MechanismRow& r) { return r.all->types[r.group->gpu].gpu->name; }},
    {"shares_with", "on the same GPU", "other replicas on the GPU", &MechanismRow::beside,
     [](const MechanismRow& r) { return fmt::format("{}", fmt::join(r.beside(), ", ")); }},
    {"p95_seconds?", "p95", "latency including waits, interference and wake-ups",
     [](const MechanismRow& r) { return r.served().p95; },
     [](const MechanismRow& r) { return r.served().p95 ? format_duration(*r.served().p95) : "-"; }},
    {"slo_seconds?", "p99 SLO", "the limit of the file", [](const MechanismRow& r) { return r.workload().latency; },
     [](const MechanismRow& r) { return r.workload().latency ? format_duration(*r.workload().latency) : "-"; }},
    {"wake_share", "share of requests that wait for a wake-up or start",
     [](const MechanismRow& r) { return r.served().wakes; }},
    {"paid_share", "share of the time for which the GPU is paid", [](const MechanismRow& r) { return r.group->up; }},
};

std::vector<MechanismRow> mechanism_rows(const PlannedSlices& p) {
  std::vector<MechanismRow> rows;
  for (const sharing::Group& group : p.mix.plan.groups) {
    for (std::size_t i = 0; i < group.tenants.size(); ++i) rows.push_back({&p, &group, i});
  }
  std::ranges::sort(rows, {}, [](const MechanismRow& r) { return r.replica(); });
  return rows;
}

const Fields<UnplaceableRow> kUnplaceableRowFields = {
    {"workload", "name of the workload", [](const UnplaceableRow& r) { return r.workload->name; }},
    {"line", "its line in the file", [](const UnplaceableRow& r) { return r.workload->place.line; }},
    {"reason", "why the largest slice does not hold it", [](const UnplaceableRow& r) { return r.found->reason; }},
    {"would_fit", "the cheapest GPU that would hold it; empty: none",
     [](const UnplaceableRow& r) { return r.found->would_fit; }},
};

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Whether the cheapest mix uses more than slices.
bool is_mixed(const sharing::SharingPlan& plan) {
  return std::ranges::any_of(plan.groups, [](const sharing::Group& g) { return g.how != sharing::Mechanism::kMig; });
}

// Starts with the cheapest way, even if it is not MIG.
std::string headline(const PlannedSlices& p) {
  const Alternative* cheapest = nullptr;
  for (const Alternative& a : p.alternatives) {
    const UsdPerSecond best = cheapest == nullptr ? p.plan.rate * (1 - 1e-9) : cheapest->rate;
    if (a.feasible && a.rate < best) cheapest = &a;
  }
  const Alternative& mig = p.alternatives.front();
  std::string text =
      fmt::format("{} in {}. ", plural(p.file.workloads.size(), "workload"), plural(p.file.replicas(), "replica"));
  if (cheapest != nullptr) {
    text += fmt::format("Cheapest: {} ({}), {}/month. With MIG: ", which_gpus(*cheapest), cheapest->what,
                        per_month(cheapest->rate));
  } else {
    text += "Cheapest: MIG on ";
  }
  text += fmt::format("{}, {}/month; no MIG plan costs less", which_gpus(mig), per_month(p.plan.rate));
  text += p.plan.proved() ? " (proved)."
                          : fmt::format(" than {}/month (gap {}).", per_month(p.plan.least_rate),
                                        format_percent(Ratio::fraction(p.plan.gap())));
  if (p.plan.out_of_time) text += " The time limit ended the search: another run may find another plan.";
  return text;
}

std::string price_notes(const PlannedSlices& p) {
  std::string text = fmt::format("Prices per GPU-hour, {} h/month:", in_hours(kMonth));
  for (const GpuType& type : p.types)
    text += fmt::format("\n  {} {}: {}", type.gpu->name, format_usd_per_hour(type.rate), type.price_from);
  return text;
}

}  // namespace

const Fields<PlannedSlices> kPlanFields = {
    {"gpu_count", "number of GPUs", [](const PlannedSlices& p) { return p.plan.gpus.size(); }},
    {"gpus", "the GPUs and their slices", kGpuFields,
     [](const PlannedSlices& p) {
       std::vector<PlannedGpuRow> rows;
       for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) rows.push_back({&p, g});
       return rows;
     }},
    {"usd_per_month", "cost", [](const PlannedSlices& p) { return cents(p.plan.rate); }},
    {"lower_bound", "no plan costs less, USD/month", [](const PlannedSlices& p) { return cents(p.plan.least_rate); }},
    {"gap", "how far the plan may be from the optimum",
     [](const PlannedSlices& p) { return p.plan.proved() ? 0 : p.plan.gap(); }},
    {"proved_optimal", "whether no MIG plan costs less", [](const PlannedSlices& p) { return p.plan.proved(); }},
    {"out_of_time", "whether the time limit ended the search",
     [](const PlannedSlices& p) { return p.plan.out_of_time; }},
    {"prices", "prices of the allowed GPUs", kPriceFields,
     [](const PlannedSlices& p) -> const std::vector<GpuType>& { return p.types; }},
    {"alternatives", "other ways to run the workloads", kAlternativeFields,
     [](const PlannedSlices& p) -> const std::vector<Alternative>& { return p.alternatives; }},
    {"mechanisms", "the cheapest mechanism for each replica: the alternative 'mix'", kMechanismFields, mechanism_rows},
    {"mig_parted", "configuration of nvidia-mig-parted",
     [](const PlannedSlices& p) { return p.tool_files.mig_parted; }},
    {"config_map", "ConfigMap of the GPU operator", [](const PlannedSlices& p) { return p.tool_files.config_map; }},
    {"nvidia_smi", "shell script with nvidia-smi", [](const PlannedSlices& p) { return p.tool_files.nvidia_smi; }},
    {"kubernetes", "Deployment patches", [](const PlannedSlices& p) { return p.tool_files.kubernetes; }},
    {"dra", "ResourceClaimTemplates", [](const PlannedSlices& p) { return p.tool_files.dra; }},
};

const Fields<Unplaceables> kUnplaceableFields = {
    {"gpu_count", "null: there is no plan", [](const Unplaceables&) { return std::optional<int>(); }},
    {"unplaceable", "workloads that fit no slice of the allowed GPUs", kUnplaceableRowFields, &Unplaceables::rows},
};

report::Lanes draw_gpus(const PlannedSlices& p, std::size_t type, std::size_t most) {
  const mig::Geometry& geometry = *p.types[type].geometry;
  mig::RunningGpus drawn;
  std::size_t of_type = 0;
  for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) {
    if (p.plan.gpus[g].type != type || ++of_type > most) continue;
    mig::RunningGpu& gpu = drawn.emplace_back(mig::RunningGpu{std::to_string(g), {}});
    for (const mig::PlannedInstance& instance : p.plan.gpus[g].instances)
      gpu.instances.push_back({instance.where, names_in(p.file, instance)});
  }
  const std::string part = of_type > drawn.size() ? fmt::format(" (the first {} of {})", drawn.size(), of_type) : "";
  return draw_slices(
      drawn, geometry,
      fmt::format("{}, {} memory slices each{}", p.types[type].gpu->name, geometry.memory_slices(), part));
}

report::Report plan_report(const PlannedSlices& p, const std::string& out) {
  report::Report shown{.title = "MIG plan", .document = plan_document(p)};
  shown.say(headline(p));
  constexpr std::size_t kMostDrawn = 16;
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    if (report::Lanes lanes = draw_gpus(p, t, kMostDrawn); !lanes.lanes.empty())
      shown.blocks.emplace_back(std::move(lanes));
  }
  std::vector<PlannedRow> rows;
  for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) {
    const std::vector<PlannedRow> more = rows_of(p, g);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  constexpr std::size_t kMostRows = 24;
  shown.show("Placement",
             table_of(kPlannedFields, rows, {"index", "gpu", "profile", "start", "size", renamed("names", "workload")}),
             kMostRows);
  shown.show("Alternatives", table_of(kAlternativeFields, p.alternatives,
                                      {renamed("what", "way"), "gpu_count", renamed("which", "gpus"), "usd_per_month",
                                       renamed("lower_bound", "lower_bound_usd_per_month"), "isolation"}));
  if (is_mixed(p.mix.plan)) {
    shown.show("The cheapest mechanism for each",
               table_of(kMechanismFields, mechanism_rows(p),
                        {renamed("name", "workload"), "mechanism", "gpu", "shares_with", "p95_seconds", "slo_seconds"}),
               kMostRows);
  }
  constexpr std::size_t kMostPrinted = 8;
  if (out.empty() && p.plan.gpus.size() <= kMostPrinted) {
    shown.blocks.emplace_back(report::Verbatim{"To create the slices", p.tool_files.nvidia_smi});
    shown.blocks.emplace_back(report::Verbatim{"For mig-parted and the GPU operator", p.tool_files.mig_parted});
  }
  std::string notes = price_notes(p);
  notes += out.empty()
               ? "\n--out DIR writes mig-parted, GPU operator, nvidia-smi, Kubernetes and DRA files and pictures."
               : fmt::format(
                     "\nWritten to {}: mig-parted.yaml, gpu-operator-configmap.yaml, nvidia-smi.sh, kubernetes.yaml, "
                     "dra.yaml, slices-*.svg.",
                     out);
  shown.say(std::move(notes));
  return shown;
}

Outcome nothing_fits(const mig::WorkloadFile& file, const SlicePlan& plan) {
  Outcome outcome{{.title = "MIG plan"}, kNoFeasibleAnswer};
  Unplaceables found;
  std::string text =
      plan.unplaceable.size() == 1
          ? "No plan: one workload fits no slice of the allowed GPUs."
          : fmt::format("No plan: {} workloads fit no slice of the allowed GPUs.", plan.unplaceable.size());
  for (const mig::Unplaceable& u : plan.unplaceable) {
    const mig::Workload& workload = file.workloads[u.workload];
    text += fmt::format("\n  {} ({}:{}): {}. {}", workload.name, workload.place.file, workload.place.line, u.reason,
                        u.would_fit.empty() ? "No single GPU of the catalogue is large and fast enough."
                                            : fmt::format("It fits {}.", u.would_fit));
    found.rows.push_back({&u, &workload});
  }
  outcome.report.document = unplaceable_document(found);
  outcome.report.say(std::move(text));
  return outcome;
}

}  // namespace rightsize::app
