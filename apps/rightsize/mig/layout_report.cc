// Reports of `mig` about one GPU type: layouts, checks, current slices, repacking.
#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/mig/document.h"

namespace rightsize::app {
namespace {

using mig::Geometry;
using mig::Instance;
using mig::Layout;
using mig::RepackStep;
using mig::RunningGpus;
using report::Fields;
using report::when;

SliceRow slice_of(const Instance& instance, const Geometry& geometry, const std::string& workload = {}) {
  const catalog::MigProfile& profile = geometry.profile(instance.profile);
  return {profile.profile, instance.start, profile.memory_slices, workload};
}

const Fields<SliceRow> kSliceFields = {
    {"profile", "MIG profile", &SliceRow::profile},
    {"start", "first memory slice", &SliceRow::start},
    {"size", "memory slices", &SliceRow::size},
};
const Fields<SliceRow> kUsedSliceFields = {
    {kSliceFields, [](const SliceRow& s) -> const SliceRow& { return s; }},
    {"workload", "who uses it; empty: unused", &SliceRow::workload},
};

const Fields<LayoutRow> kLayoutFields = {
    {"instances", "number of slices by profile", &LayoutRow::instances},
    {"layout", "layout", "the slices in words", &LayoutRow::layout, report::kTableOnly},
    {"compute_slices", "compute slices", "compute slices used", &LayoutRow::compute, report::kTableOnly},
    {"memory_slices", "memory slices", "memory slices used", &LayoutRow::memory_slices, report::kTableOnly},
    {"sms", "SMs", "SMs used", &LayoutRow::sms, report::kTableOnly},
    {"memory_bytes", "memory", "memory used", &LayoutRow::memory, report::kTableOnly},
    {"maximal", "maximal", "whether no further slice fits", &LayoutRow::maximal},
};
const Fields<LayoutsAnswer> kLayoutsFields = {
    {"gpu", "GPU type", &LayoutsAnswer::gpu},
    {"layouts", "every set of slices that fits one GPU", kLayoutFields, &LayoutsAnswer::layouts},
};

const Fields<CheckedGpu> kCheckedGpuFields = {
    {"index", "number of the GPU", &CheckedGpu::index},
    {"name", "name of the GPU", &CheckedGpu::name},
    {"fits", "whether the layout fits there", &CheckedGpu::fits},
    {"create", "the slices in the order to create them", kSliceFields, &CheckedGpu::create},
    {"command?", "the command that creates them", &CheckedGpu::command},
    {"fits_after_repacking?", "whether it would fit if other slices moved", &CheckedGpu::fits_after_repacking},
    {"largest_part_that_fits?", "the part of the layout that fits", &CheckedGpu::largest_part_that_fits},
};
const Fields<CheckAnswer> kCheckFields = {
    {"gpu", "GPU type", &CheckAnswer::gpu},
    {"fits", "whether the layout fits any GPU", &CheckAnswer::fits},
    {"gpus", "the GPUs", kCheckedGpuFields, &CheckAnswer::gpus},
};

const Fields<FreeRow> kFreeFields = {
    {"profile", "MIG profile", &FreeRow::profile},
    {"fits_now", "how many more fit", &FreeRow::now},
    {"fits_repacked", "how many more would fit if other slices moved", &FreeRow::repacked},
};
const Fields<CurrentGpu> kCurrentGpuFields = {
    {"free_memory_slices", "free memory slices", &CurrentGpu::memory_slices},
    {"free_compute_slices", "free compute slices", &CurrentGpu::compute_slices},
    {"profiles", "what still fits", kFreeFields, &CurrentGpu::profiles},
    {"name", "name of the GPU", &CurrentGpu::name},
    {"instances", "its slices", kUsedSliceFields, &CurrentGpu::instances},
};
const Fields<CurrentAnswer> kCurrentFields = {
    {"gpu", "GPU type", &CurrentAnswer::gpu},
    {"gpus", "the GPUs", kCurrentGpuFields, &CurrentAnswer::gpus},
};

struct StepRow {
  const RepackStep* step;
  const std::string* profile;
};
const Fields<StepRow> kStepFields = {
    {"kind", "move, remove or create",
     [](const StepRow& r) {
       static constexpr const char* kKinds[] = {"move", "remove", "create"};
       return kKinds[static_cast<int>(r.step->kind)];
     }},
    {"workload", "the workload; empty: the slice is unused", [](const StepRow& r) { return r.step->workload; }},
    {"profile", "MIG profile", [](const StepRow& r) { return *r.profile; }},
    {"from_gpu", "GPU it leaves", [](const StepRow& r) { return r.step->from_gpu; }},
    {"from_start", "memory slice it leaves",
     [](const StepRow& r) { return when(r.step->from_start >= 0, r.step->from_start); }},
    {"to_gpu", "GPU it moves to", [](const StepRow& r) { return r.step->to_gpu; }},
    {"to_start", "memory slice it moves to",
     [](const StepRow& r) { return when(r.step->to_start >= 0, r.step->to_start); }},
    {"temporary", "whether a later step moves it again", [](const StepRow& r) { return r.step->temporary; }},
    {"interrupts", "whether the workload stops meanwhile", [](const StepRow& r) { return r.step->interrupts; }},
};
const Fields<RoomRow> kRoomFields = {
    {kSliceFields, &RoomRow::slice},
    {"gpu", "number of the GPU", &RoomRow::gpu},
};
const Fields<RepackAnswer> kRepackedFields = {
    {"moves", "workloads that move", [](const RepackAnswer& a) { return a.result->moves; }},
    {"proved_fewest", "whether no plan moves fewer", [](const RepackAnswer& a) { return a.result->proved; }},
    {"gpus_before", "GPUs in use now", [](const RepackAnswer& a) { return a.result->gpus_before; }},
    {"gpus_after", "GPUs in use afterwards", [](const RepackAnswer& a) { return a.result->gpus_after; }},
    {"steps", "what to do, in this order", kStepFields,
     [](const RepackAnswer& a) {
       std::vector<StepRow> rows;
       for (const RepackStep& step : a.result->steps)
         rows.push_back({&step, &a.geometry->profile(step.profile).profile});
       return rows;
     }},
    {"room", "where the requested slices fit", kRoomFields,
     [](const RepackAnswer& a) {
       std::vector<RoomRow> rows;
       for (const auto& [gpu, instance] : a.result->room) rows.push_back({slice_of(instance, *a.geometry), gpu});
       return rows;
     }},
};
const Fields<RepackAnswer> kRepackFields = {
    {"gpu", "GPU type", &RepackAnswer::gpu},
    {"feasible", "whether the requested slices can be made to fit",
     [](const RepackAnswer& a) { return a.result->feasible; }},
    {kRepackedFields, [](const RepackAnswer& a) { return a.result->feasible ? &a : nullptr; }},
};

const Fields<ProfilesAnswer> kProfilesFields = {
    {"gpu", "GPU type", &ProfilesAnswer::gpu},
    {"profiles", "profiles in the driver's list", &ProfilesAnswer::profiles},
    {"differences", "where it differs from our table", &ProfilesAnswer::differences},
};

const Fields<MigAnswer> kMigFields = {
    {kPlanFields, &MigAnswer::plan},         {kUnplaceableFields, &MigAnswer::unplaceable},
    {kLayoutsFields, &MigAnswer::layouts},   {kCheckFields, &MigAnswer::check},
    {kCurrentFields, &MigAnswer::current},   {kRepackFields, &MigAnswer::repack},
    {kProfilesFields, &MigAnswer::profiles},
};

report::Lanes picture(const RunningGpus& gpus, const Geometry& geometry, std::string title) {
  report::Lanes lanes;
  lanes.title = std::move(title);
  lanes.units = geometry.memory_slices();
  for (const mig::RunningGpu& gpu : gpus) {
    report::Lanes::Lane lane{"GPU " + gpu.name, {}};
    for (const mig::RunningInstance& instance : gpu.instances) {
      const catalog::MigProfile& profile = geometry.profile(instance.where.profile);
      lane.pieces.push_back({profile.profile, instance.workload, instance.where.start, profile.memory_slices});
    }
    std::sort(lane.pieces.begin(), lane.pieces.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    lanes.lanes.push_back(std::move(lane));
  }
  return lanes;
}

// As many of the wanted instances, in their order, as can be placed.
Layout what_fits(const Geometry& geometry, const Layout& wanted, const Layout& occupied) {
  Layout kept;
  for (const Instance& instance : wanted) {
    kept.push_back(instance);
    if (!geometry.place(kept, occupied)) kept.pop_back();
  }
  return kept;
}

}  // namespace

const report::Document<MigAnswer> kMigDocument("mig", "Workloads on MIG slices, or what fits a GPU", kMigFields);

report::Report layouts_report(const Geometry& geometry) {
  LayoutsAnswer answer{geometry.gpu().name, {}};
  for (const mig::Combination& combination : geometry.combinations()) {
    LayoutRow& row = answer.layouts.emplace_back();
    row.maximal = combination.maximal;
    Layout layout;
    for (std::size_t i = combination.counts.size(); i-- > 0;) {
      const int count = combination.counts[i];
      const catalog::MigProfile& profile = geometry.profile(geometry.plain_profiles()[i]);
      if (count == 0) continue;
      row.instances.emplace_back(profile.profile, count);
      layout.insert(layout.end(), static_cast<std::size_t>(count), {geometry.plain_profiles()[i], -1});
      row.compute += count * profile.compute_slices, row.memory_slices += count * profile.memory_slices;
      row.sms += count * static_cast<int>(profile.sms.value_or(0)), row.memory += profile.memory * count;
    }
    row.layout = mig::describe_layout(layout, geometry);
  }
  report::Report shown;
  shown.title = fmt::format("MIG layouts of {}", answer.gpu);
  shown.document = kMigDocument.of({.layouts = &answer});
  shown.blocks.emplace_back(report::Paragraph{fmt::format(
      "{} sets of slices fit on one {} ({} memory and {} compute slices); {} are maximal: nothing can be added. Media "
      "variants are left out.",
      answer.layouts.size(), answer.gpu, geometry.memory_slices(), geometry.compute_slices(),
      std::count_if(answer.layouts.begin(), answer.layouts.end(), [](const LayoutRow& row) { return row.maximal; }))});
  shown.blocks.emplace_back(table_of(kLayoutFields, answer.layouts,
                                     {"layout", "compute_slices", "memory_slices", "sms", "memory_bytes", "maximal"}));
  return shown;
}

Outcome check_outcome(const Geometry& geometry, const Layout& wanted, const RunningGpus& gpus) {
  Outcome outcome;
  auto& blocks = outcome.report.blocks;
  CheckAnswer answer{geometry.gpu().name, false, {}};
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const Layout occupied = gpus[g].layout();
    const std::optional<Layout> placed = geometry.place(wanted, occupied);
    CheckedGpu& checked = answer.gpus.emplace_back();
    checked.index = g, checked.name = gpus[g].name, checked.fits = placed.has_value();
    answer.fits = answer.fits || checked.fits;
    const std::string beside =
        occupied.empty() ? "" : fmt::format(" next to {}", mig::describe_layout(occupied, geometry));
    if (placed) {
      const Layout order = geometry.creation_order(*placed);
      for (const Instance& instance : order) checked.create.push_back(slice_of(instance, geometry));
      checked.command = mig::create_command(geometry, *placed, g);
      blocks.emplace_back(
          report::Paragraph{fmt::format("GPU {}: fits{}. Create in this order: {}.\n  {}", gpus[g].name, beside,
                                        mig::describe_layout(order, geometry), checked.command)});
      RunningGpus drawn{gpus[g]};
      for (const Instance& instance : *placed) drawn[0].instances.push_back({instance, "new"});
      blocks.emplace_back(picture(drawn, geometry, ""));
      continue;
    }
    Layout all = occupied;
    for (Instance& instance : all) instance.start = -1;
    all.insert(all.end(), wanted.begin(), wanted.end());
    checked.fits_after_repacking = !occupied.empty() && geometry.place(all).has_value();
    checked.largest_part_that_fits = mig::describe_layout(what_fits(geometry, wanted, occupied), geometry);
    blocks.emplace_back(report::Paragraph{
        fmt::format("GPU {}: does not fit{}.{} Part that fits: {}.", gpus[g].name, beside,
                    *checked.fits_after_repacking ? " It would if other slices moved (--repack --make-room)." : "",
                    checked.largest_part_that_fits)});
  }
  outcome.report.title = fmt::format("MIG layout on {}", answer.gpu);
  outcome.report.document = kMigDocument.of({.check = &answer});
  outcome.exit_code = answer.fits ? kDone : kNoFeasibleAnswer;
  return outcome;
}

report::Report current_report(const Geometry& geometry, const RunningGpus& gpus) {
  CurrentAnswer answer{geometry.gpu().name, {}};
  report::Table table;
  table.title = "What still fits (in brackets: if that GPU is repacked)";
  table.columns = {{"GPU", "gpu", report::Align::kLeft},
                   {"free memory slices", "free_memory_slices", report::Align::kRight},
                   {"free compute slices", "free_compute_slices", report::Align::kRight}};
  for (int profile : geometry.plain_profiles())
    table.columns.push_back(
        {geometry.profile(profile).profile, geometry.profile(profile).profile, report::Align::kRight});
  std::string sentences;
  for (const mig::RunningGpu& gpu : gpus) {
    const mig::Fragmentation f = mig::fragmentation(geometry, gpu.layout());
    CurrentGpu& row = answer.gpus.emplace_back();
    row.name = gpu.name, row.memory_slices = f.free_memory_slices, row.compute_slices = f.free_compute_slices;
    for (const mig::RunningInstance& instance : gpu.instances)
      row.instances.push_back(slice_of(instance.where, geometry, instance.workload));
    std::vector<report::Cell> cells{report::text_cell(gpu.name),
                                    report::number_cell(std::to_string(f.free_memory_slices), f.free_memory_slices),
                                    report::number_cell(std::to_string(f.free_compute_slices), f.free_compute_slices)};
    for (const auto& r : f.rows) {
      row.profiles.push_back({geometry.profile(r.profile).profile, r.fits_now, r.fits_repacked});
      const bool more = r.fits_repacked > r.fits_now;
      cells.push_back(report::number_cell(
          fmt::format("{}{}", r.fits_now, more ? fmt::format(" ({})", r.fits_repacked) : ""), r.fits_now));
    }
    table.rows.push_back(std::move(cells));
    if (!f.sentence.empty())
      sentences += fmt::format("{}GPU {}: {}", sentences.empty() ? "" : "\n", gpu.name, f.sentence);
  }
  report::Report shown;
  shown.title = fmt::format("MIG instances on {}", answer.gpu);
  shown.document = kMigDocument.of({.current = &answer});
  shown.blocks.emplace_back(picture(gpus, geometry, ""));
  shown.blocks.emplace_back(std::move(table));
  shown.blocks.emplace_back(
      report::Paragraph{sentences.empty() ? "No capacity is lost to fragmentation." : std::move(sentences)});
  return shown;
}

namespace {

std::string describe(const RepackStep& step, const RunningGpus& gpus, const Geometry& geometry) {
  const std::string& profile = geometry.profile(step.profile).profile;
  const std::string from = fmt::format("GPU {} slice {}", gpus[step.from_gpu].name, step.from_start);
  const std::string to = fmt::format("GPU {} slice {}", gpus[step.to_gpu].name, step.to_start);
  switch (step.kind) {
    case RepackStep::Kind::kRemove:
      return step.workload.empty()
                 ? fmt::format("remove the unused {} at {}", profile, from)
                 : fmt::format("stop {} and remove its {} at {}; it is down until its slice is created again",
                               step.workload, profile, from);
    case RepackStep::Kind::kCreate:
      return fmt::format("create {} at {} and start {} there", profile, to, step.workload);
    case RepackStep::Kind::kMove:
      return fmt::format("create {} at {}, start {} there{}, then remove {}", profile, to, step.workload,
                         step.temporary ? " temporarily" : "", from);
  }
  return {};
}

}  // namespace

Outcome repack_outcome(const Geometry& geometry, const RunningGpus& gpus, const mig::Repacking& result,
                       const std::string& make_room) {
  Outcome outcome;
  outcome.report.title = fmt::format("Repacking {}", geometry.gpu().name);
  const RepackAnswer answer{geometry.gpu().name, &result, &geometry};
  outcome.report.document = kMigDocument.of({.repack = &answer});
  auto& blocks = outcome.report.blocks;
  if (!result.feasible) {
    outcome.exit_code = kNoFeasibleAnswer;
    blocks.emplace_back(
        report::Paragraph{fmt::format("{} does not fit on these {} GPUs, whatever moves.", make_room, gpus.size())});
    return outcome;
  }
  std::string text = fmt::format("{} of {} GPUs stay in use; {} workload{} move{}{}.", result.gpus_after,
                                 result.gpus_before, result.moves, result.moves == 1 ? "" : "s",
                                 result.moves == 1 ? "s" : "", result.proved ? " (proved minimal)" : "");
  for (const auto& [gpu, instance] : result.room)
    text += fmt::format(" {} fits on GPU {} at slice {}.", geometry.profile(instance.profile).profile, gpus[gpu].name,
                        instance.start);
  blocks.emplace_back(report::Paragraph{std::move(text)});
  blocks.emplace_back(picture(gpus, geometry, "Now"));
  blocks.emplace_back(picture(result.after, geometry, "Afterwards"));
  std::string list;
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    list += fmt::format("{}. {}\n", i + 1, describe(result.steps[i], gpus, geometry));
  if (!list.empty()) blocks.emplace_back(report::Verbatim{"Steps, in this order", std::move(list)});
  return outcome;
}

Outcome verify_outcome(const Geometry& geometry, const std::string& file,
                       const std::vector<mig::ListedProfile>& listed) {
  const ProfilesAnswer answer{geometry.gpu().name, listed.size(), mig::differences(listed, geometry)};
  Outcome outcome;
  outcome.report.title = fmt::format("MIG profiles of {} against {}", answer.gpu, file);
  outcome.report.document = kMigDocument.of({.profiles = &answer});
  std::string text = answer.differences.empty() ? fmt::format("All {} profiles match our table.", listed.size())
                                                : fmt::format("{} differences:", answer.differences.size());
  for (const std::string& difference : answer.differences) text += "\n  " + difference;
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(text)});
  outcome.exit_code = answer.differences.empty() ? kDone : kNoFeasibleAnswer;
  return outcome;
}

}  // namespace rightsize::app
