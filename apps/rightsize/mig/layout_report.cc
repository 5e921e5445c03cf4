// Reports of `mig` about one GPU type: layouts, checks, current slices, repacking.
#include <algorithm>

#include <fmt/format.h>

#include "base/list_of.h"
#include "report/fields.h"
#include "rightsize/mig/report.h"

namespace rightsize::app {
namespace {

using mig::Geometry;
using mig::Instance;
using mig::Layout;
using mig::RepackStep;
using mig::RunningGpus;
using report::Fields;
using report::renamed;
using report::when;

struct SliceRow {
  const Geometry* geometry;
  Instance where;
  std::string workload = {};

  const catalog::MigProfile& profile() const { return geometry->profile(where.profile); }
};
const Fields<SliceRow> kSliceFields = {
    {"profile", "MIG profile", [](const SliceRow& s) { return s.profile().profile; }},
    {"start", "first memory slice", [](const SliceRow& s) { return s.where.start; }},
    {"size", "memory slices", [](const SliceRow& s) { return s.profile().memory_slices; }},
};
const Fields<SliceRow> kUsedSliceFields = {
    {kSliceFields, [](const SliceRow& s) -> const SliceRow& { return s; }},
    {"workload", "who uses it; empty: unused", &SliceRow::workload},
};

struct LayoutRow {
  std::vector<std::pair<std::string, int>> instances;  // by profile, largest first
  std::string layout;
  int compute = 0, memory_slices = 0, sms = 0;
  Bytes memory;
  bool maximal = false;
};
const Fields<LayoutRow> kLayoutFields = {
    {"instances", "number of slices by profile", &LayoutRow::instances},
    {"layout", "layout", "the slices in words", &LayoutRow::layout, report::kTableOnly},
    {"compute_slices", "compute slices", "compute slices used", &LayoutRow::compute, report::kTableOnly},
    {"memory_slices", "memory slices", "memory slices used", &LayoutRow::memory_slices, report::kTableOnly},
    {"sms", "SMs", "SMs used", &LayoutRow::sms, report::kTableOnly},
    {"memory_bytes", "memory", "memory used", &LayoutRow::memory, report::kTableOnly},
    {"maximal", "maximal", "whether no further slice fits", &LayoutRow::maximal},
    {"count", "per GPU", "how many fit one GPU", [](const LayoutRow& row) { return row.instances.front().second; },
     report::kTableOnly},
};

struct CheckedGpu {
  std::size_t index = 0;
  std::string name;
  bool fits = false;
  std::vector<SliceRow> create = {};  // in this order
  std::string command = {};
  std::optional<bool> fits_after_repacking = {};
  std::string largest_part_that_fits = {};
  std::optional<mig::Fragmentation> left = {};  // after placing it
};
const Fields<CheckedGpu> kCheckedGpuFields = {
    {"index", "number of the GPU", &CheckedGpu::index},
    {"name", "name of the GPU or of the configuration", &CheckedGpu::name},
    {"fits", "whether the layout fits there", &CheckedGpu::fits},
    {"create", "the slices in the order to create them", kSliceFields, &CheckedGpu::create},
    {"command?", "the command that creates them", &CheckedGpu::command},
    {"free_memory_slices?", "memory slices left over",
     [](const CheckedGpu& g) { return g.left ? std::optional(g.left->free_memory_slices) : std::nullopt; }},
    {"free_compute_slices?", "compute slices left over",
     [](const CheckedGpu& g) { return g.left ? std::optional(g.left->free_compute_slices) : std::nullopt; }},
    {"fits_after_repacking?", "whether it would fit if other slices moved", &CheckedGpu::fits_after_repacking},
    {"largest_part_that_fits?", "the part of the layout that fits", &CheckedGpu::largest_part_that_fits},
};

using FreeRow = mig::Fragmentation::Row;
const Fields<FreeRow> kFreeFields = {
    {"profile", "MIG profile", &FreeRow::profile},
    {"fits_now", "how many more fit", &FreeRow::fits_now},
    {"fits_repacked", "how many more would fit if other slices moved", &FreeRow::fits_repacked},
};
struct CurrentGpu {
  std::string name;
  mig::Fragmentation free;
  std::vector<SliceRow> instances;
};
const Fields<CurrentGpu> kCurrentGpuFields = {
    {"free_memory_slices", "free memory slices", [](const CurrentGpu& g) { return g.free.free_memory_slices; }},
    {"free_compute_slices", "free compute slices", [](const CurrentGpu& g) { return g.free.free_compute_slices; }},
    {"profiles", "what still fits", kFreeFields, [](const CurrentGpu& g) { return g.free.rows; }},
    {"name", "name of the GPU", &CurrentGpu::name},
    {"instances", "its slices", kUsedSliceFields, &CurrentGpu::instances},
};

struct StepRow {
  const RepackStep* step;
  const std::string* profile;

  operator const RepackStep&() const { return *step; }
};
const Fields<StepRow> kStepFields = {
    {"kind", "move, remove or create", &RepackStep::kind},
    {"workload", "the workload; empty: the slice is unused", &RepackStep::workload},
    {"profile", "MIG profile", [](const StepRow& r) { return *r.profile; }},
    {"from_gpu", "GPU it leaves", &RepackStep::from_gpu},
    {"from_start", "memory slice it leaves",
     [](const StepRow& r) { return when(r.step->from_start >= 0, r.step->from_start); }},
    {"to_gpu", "GPU it moves to", &RepackStep::to_gpu},
    {"to_start", "memory slice it moves to",
     [](const StepRow& r) { return when(r.step->to_start >= 0, r.step->to_start); }},
    {"temporary", "whether a later step moves it again", &RepackStep::temporary},
    {"interrupts", "whether the workload stops meanwhile", &RepackStep::interrupts},
};
struct RoomRow {
  SliceRow slice;
  std::size_t gpu = 0;
};
const Fields<RoomRow> kRoomFields = {
    {kSliceFields, &RoomRow::slice},
    {"gpu", "number of the GPU", &RoomRow::gpu},
};

// The answer to one question about a type of GPU; the parts of other questions are empty.
struct GeometryAnswer {
  const Geometry* geometry = nullptr;
  std::vector<LayoutRow> layouts = {};
  std::vector<CheckedGpu> checked = {};
  std::vector<CurrentGpu> current = {};
  const mig::Repacking* repacking = nullptr;
  std::size_t listed_profiles = 0;
  std::vector<std::string> differences = {};

  bool fits() const { return std::ranges::any_of(checked, &CheckedGpu::fits); }
};

const report::Field<GeometryAnswer> kGpuTypeField = {"gpu", "GPU type",
                                                     [](const GeometryAnswer& a) { return a.geometry->gpu().name; }};
const Fields<GeometryAnswer> kLayoutsFields = {
    kGpuTypeField,
    {"layouts", "every set of slices that fits one GPU", kLayoutFields, &GeometryAnswer::layouts},
};
const Fields<GeometryAnswer> kCheckFields = {
    kGpuTypeField,
    {"fits", "whether the layout fits any GPU", &GeometryAnswer::fits},
    {"gpus", "the GPUs", kCheckedGpuFields, &GeometryAnswer::checked},
};
const Fields<GeometryAnswer> kCurrentFields = {
    kGpuTypeField,
    {"gpus", "the GPUs", kCurrentGpuFields, &GeometryAnswer::current},
};
const Fields<GeometryAnswer> kRepackedFields = {
    {"moves", "workloads that move", [](const GeometryAnswer& a) { return a.repacking->moves; }},
    {"proved_fewest", "whether no plan moves fewer", [](const GeometryAnswer& a) { return a.repacking->proved; }},
    {"gpus_before", "GPUs in use now", [](const GeometryAnswer& a) { return a.repacking->gpus_before; }},
    {"gpus_after", "GPUs in use afterwards", [](const GeometryAnswer& a) { return a.repacking->gpus_after; }},
    {"steps", "what to do, in this order", kStepFields,
     [](const GeometryAnswer& a) {
       return list_of(a.repacking->steps, [&](const RepackStep& step) {
         return StepRow{&step, &a.geometry->profile(step.profile).profile};
       });
     }},
    {"room", "where the requested slices fit", kRoomFields,
     [](const GeometryAnswer& a) {
       return list_of(a.repacking->room, [&](const auto& at) { return RoomRow{{a.geometry, at.second}, at.first}; });
     }},
};
const Fields<GeometryAnswer> kRepackFields = {
    kGpuTypeField,
    {"feasible", "whether the requested slices can be made to fit",
     [](const GeometryAnswer& a) { return a.repacking->feasible; }},
    {kRepackedFields, [](const GeometryAnswer& a) { return a.repacking->feasible ? &a : nullptr; }},
};
const Fields<GeometryAnswer> kProfilesFields = {
    kGpuTypeField,
    {"profiles", "profiles in the driver's list", &GeometryAnswer::listed_profiles},
    {"differences", "where it differs from our table", &GeometryAnswer::differences},
};

struct MigAnswer {
  const PlannedSlices* plan = nullptr;
  const Unplaceables* unplaceable = nullptr;
  const GeometryAnswer* layouts = nullptr;
  const GeometryAnswer* check = nullptr;
  const GeometryAnswer* current = nullptr;
  const GeometryAnswer* repack = nullptr;
  const GeometryAnswer* profiles = nullptr;
};
const Fields<MigAnswer> kMigFields = {
    {kPlanFields, &MigAnswer::plan},         {kUnplaceableFields, &MigAnswer::unplaceable},
    {kLayoutsFields, &MigAnswer::layouts},   {kCheckFields, &MigAnswer::check},
    {kCurrentFields, &MigAnswer::current},   {kRepackFields, &MigAnswer::repack},
    {kProfilesFields, &MigAnswer::profiles},
};
const report::Document<MigAnswer> kMigDocument("mig", "Workloads on MIG slices, or what fits a GPU", kMigFields);

// The wanted instances that can be placed, in their order.
Layout what_fits(const Geometry& geometry, const Layout& wanted, const Layout& occupied) {
  Layout kept;
  for (const Instance& instance : wanted) {
    kept.push_back(instance);
    if (!geometry.place(kept, occupied)) kept.pop_back();
  }
  return kept;
}

// The profiles of a GPU, as `nvidia-smi mig -lgip` lists them.
report::Table profiles_table(const Geometry& geometry) {
  std::vector<LayoutRow> rows;
  for (const int index : geometry.plain_profiles()) {
    const catalog::MigProfile& profile = geometry.profile(index);
    rows.push_back({{{profile.profile, geometry.free_for(index, {}, false)}},
                    profile.profile,
                    profile.compute_slices,
                    profile.memory_slices,
                    static_cast<int>(profile.sms.value_or(0)),
                    profile.memory});
  }
  return table_of(
      kLayoutFields, rows,
      {renamed("layout", "profile", "profile"), "memory_bytes", "sms", "compute_slices", "memory_slices", "count"});
}

// "1 of 8 memory slices and no compute slice are left over; 1 more 1g.10gb fits."
std::string left_over(const Geometry& geometry, const mig::Fragmentation& left) {
  std::vector<std::string> more;
  for (const FreeRow& row : left.rows)
    if (row.fits_now > 0) more.push_back(fmt::format("{} {}", row.fits_now, row.profile));
  return fmt::format("Left over: {} of {} memory slices and {} of {} compute slices; {}.", left.free_memory_slices,
                     geometry.memory_slices(), left.free_compute_slices, geometry.compute_slices(),
                     more.empty() ? "no further slice fits" : "fits: " + fmt::format("{}", fmt::join(more, " or ")));
}

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

report::Lanes draw_slices(const RunningGpus& gpus, const Geometry& geometry, std::string title) {
  report::Lanes lanes{.title = std::move(title), .units = geometry.memory_slices()};
  for (const mig::RunningGpu& gpu : gpus) {
    report::Lanes::Lane lane{"GPU " + gpu.name, {}};
    for (const mig::RunningInstance& instance : gpu.instances) {
      const catalog::MigProfile& profile = geometry.profile(instance.where.profile);
      lane.pieces.push_back({profile.profile, instance.workload, instance.where.start, profile.memory_slices});
    }
    std::ranges::sort(lane.pieces, {}, &report::Lanes::Piece::start);
    lanes.lanes.push_back(std::move(lane));
  }
  return lanes;
}

report::Json plan_document(const PlannedSlices& plan) { return kMigDocument.of({.plan = &plan}); }
report::Json unplaceable_document(const Unplaceables& found) { return kMigDocument.of({.unplaceable = &found}); }

report::Report layouts_report(const Geometry& geometry, bool profiles_only) {
  GeometryAnswer answer{&geometry};
  for (const mig::SliceSet& combination : geometry.combinations()) {
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
  report::Report shown{
      .title = fmt::format("MIG {} of {}", profiles_only ? "profiles" : "layouts", geometry.gpu().name),
      .document = kMigDocument.of({.layouts = &answer})};
  shown.blocks.emplace_back(profiles_table(geometry));
  shown.say(fmt::format(
      "{} sets of slices fit on one {} ({} memory and {} compute slices); {} are maximal: nothing can be added. Media "
      "variants are left out.{}",
      answer.layouts.size(), geometry.gpu().name, geometry.memory_slices(), geometry.compute_slices(),
      std::ranges::count_if(answer.layouts, &LayoutRow::maximal), profiles_only ? " --list-layouts lists them." : ""));
  if (profiles_only) return shown;
  shown.blocks.emplace_back(table_of(kLayoutFields, answer.layouts,
                                     {"layout", "compute_slices", "memory_slices", "sms", "memory_bytes", "maximal"}));
  return shown;
}

Outcome check_outcome(const Geometry& geometry, const std::vector<LayoutCheck>& checks) {
  Outcome outcome{{.title = fmt::format("MIG layout on {}", geometry.gpu().name)}};
  GeometryAnswer answer{&geometry};
  for (const LayoutCheck& check : checks) {
    const Layout occupied = check.gpu.layout();
    const std::optional<Layout> placed =
        check.problem.empty() ? geometry.place(check.wanted, occupied) : std::optional<Layout>();
    CheckedGpu& checked = answer.checked.emplace_back(CheckedGpu{check.device, check.name, placed.has_value()});
    const std::string beside =
        occupied.empty() ? "" : fmt::format(" next to {}", mig::describe_layout(occupied, geometry));
    if (placed) {
      const Layout order = geometry.creation_order(*placed);
      for (const Instance& instance : order) checked.create.push_back({&geometry, instance});
      checked.command = mig::create_command(geometry, *placed, check.device);
      RunningGpus drawn{check.gpu};
      for (const Instance& instance : *placed) drawn[0].instances.push_back({instance, "new"});
      checked.left = mig::fragmentation(geometry, drawn[0].layout());
      outcome.report.say(fmt::format("{}: fits{}. Create in this order: {}.\n  {}\n{}", check.name, beside,
                                     mig::describe_layout(order, geometry), checked.command,
                                     left_over(geometry, *checked.left)));
      outcome.report.blocks.emplace_back(draw_slices(drawn, geometry, ""));
      continue;
    }
    Layout all = occupied;
    for (Instance& instance : all) instance.start = -1;
    all.insert(all.end(), check.wanted.begin(), check.wanted.end());
    checked.fits_after_repacking = !occupied.empty() && geometry.place(all).has_value();
    checked.largest_part_that_fits = mig::describe_layout(what_fits(geometry, check.wanted, occupied), geometry);
    outcome.report.say(
        fmt::format("{}: does not fit{}{}.{} Part that fits: {}.", check.name, beside,
                    check.problem.empty() ? "" : ": " + check.problem,
                    *checked.fits_after_repacking ? " It would if other slices moved (--repack --make-room)." : "",
                    checked.largest_part_that_fits));
  }
  outcome.report.document = kMigDocument.of({.check = &answer});
  outcome.exit_code = answer.fits() ? kDone : kNoFeasibleAnswer;
  return outcome;
}

report::Report current_report(const Geometry& geometry, const RunningGpus& gpus) {
  GeometryAnswer answer{&geometry};
  report::Table table;
  table.title = "What still fits (in brackets: if that GPU is repacked)";
  table.columns = {{"GPU", "gpu", report::Align::kLeft},
                   {"free memory slices", "free_memory_slices", report::Align::kRight},
                   {"free compute slices", "free_compute_slices", report::Align::kRight}};
  for (int profile : geometry.plain_profiles())
    table.columns.push_back(
        {geometry.profile(profile).profile, geometry.profile(profile).profile, report::Align::kRight});
  std::vector<std::string> sentences;
  for (const mig::RunningGpu& gpu : gpus) {
    CurrentGpu& row = answer.current.emplace_back(CurrentGpu{gpu.name, mig::fragmentation(geometry, gpu.layout()), {}});
    for (const mig::RunningInstance& instance : gpu.instances)
      row.instances.push_back({&geometry, instance.where, instance.workload});
    const auto number = [](int value) { return report::number_cell(std::to_string(value), value); };
    std::vector<report::Cell> cells{report::text_cell(gpu.name), number(row.free.free_memory_slices),
                                    number(row.free.free_compute_slices)};
    for (const FreeRow& r : row.free.rows) {
      const std::string more = r.fits_repacked > r.fits_now ? fmt::format(" ({})", r.fits_repacked) : "";
      cells.push_back(report::number_cell(fmt::format("{}{}", r.fits_now, more), r.fits_now));
    }
    table.rows.push_back(std::move(cells));
    if (!row.free.sentence.empty()) sentences.push_back(fmt::format("GPU {}: {}", gpu.name, row.free.sentence));
  }
  if (sentences.empty()) sentences.emplace_back("No capacity is lost to fragmentation.");
  report::Report shown{.title = fmt::format("MIG instances on {}", geometry.gpu().name),
                       .document = kMigDocument.of({.current = &answer})};
  shown.blocks.emplace_back(draw_slices(gpus, geometry, ""));
  shown.blocks.emplace_back(std::move(table));
  shown.say(fmt::format("{}", fmt::join(sentences, "\n")));
  return shown;
}

Outcome repack_outcome(const Geometry& geometry, const RunningGpus& gpus, const mig::Repacking& result,
                       const std::string& make_room) {
  const GeometryAnswer answer{.geometry = &geometry, .repacking = &result};
  Outcome outcome{
      {.title = fmt::format("Repacking {}", geometry.gpu().name), .document = kMigDocument.of({.repack = &answer})}};
  report::Report& report = outcome.report;
  if (!result.feasible) {
    outcome.exit_code = kNoFeasibleAnswer;
    report.say(fmt::format("{} does not fit on these {} GPUs, even if every workload moves.", make_room, gpus.size()));
    return outcome;
  }
  std::string text = fmt::format("{} of {} GPUs stay in use; {} workload{} move{}{}.", result.gpus_after,
                                 result.gpus_before, result.moves, result.moves == 1 ? "" : "s",
                                 result.moves == 1 ? "s" : "", result.proved ? " (proved minimal)" : "");
  for (const auto& [gpu, instance] : result.room)
    text += fmt::format(" {} fits on GPU {} at slice {}.", geometry.profile(instance.profile).profile, gpus[gpu].name,
                        instance.start);
  report.say(std::move(text));
  report.blocks.emplace_back(draw_slices(gpus, geometry, "Now"));
  report.blocks.emplace_back(draw_slices(result.after, geometry, "Afterwards"));
  std::string list;
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    list += fmt::format("{}. {}\n", i + 1, describe(result.steps[i], gpus, geometry));
  if (!list.empty()) report.blocks.emplace_back(report::Verbatim{"Steps, in this order", std::move(list)});
  return outcome;
}

Outcome verify_outcome(const Geometry& geometry, const std::string& file,
                       const std::vector<mig::ListedProfile>& listed) {
  const GeometryAnswer answer{
      .geometry = &geometry, .listed_profiles = listed.size(), .differences = mig::differences(listed, geometry)};
  Outcome outcome{{.title = fmt::format("MIG profiles of {} against {}", geometry.gpu().name, file),
                   .document = kMigDocument.of({.profiles = &answer})}};
  std::string text = answer.differences.empty() ? fmt::format("All {} profiles match our table.", listed.size())
                                                : fmt::format("{} differences:", answer.differences.size());
  for (const std::string& difference : answer.differences) text += "\n  " + difference;
  outcome.report.say(std::move(text));
  outcome.exit_code = answer.differences.empty() ? kDone : kNoFeasibleAnswer;
  return outcome;
}

}  // namespace rightsize::app
