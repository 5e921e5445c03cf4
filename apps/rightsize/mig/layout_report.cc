// What `mig` says about one kind of GPU: layouts, checks, what is there now, repacking.
#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/mig/report.h"

namespace rightsize::app {
namespace {

using mig::Fleet;
using mig::Geometry;
using mig::Instance;
using mig::Layout;
using report::Align;
using report::Json;

Json json_of(const Instance& instance, const Geometry& geometry) {
  const catalog::MigProfile& profile = geometry.profile(instance.profile);
  return {{"profile", profile.profile}, {"start", instance.start}, {"size", profile.memory_slices}};
}

report::Lanes picture(const Fleet& fleet, const Geometry& geometry, std::string title) {
  report::Lanes lanes;
  lanes.title = std::move(title);
  lanes.units = geometry.memory_slices();
  for (const mig::RunningGpu& gpu : fleet) {
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

Json json_of(const mig::Fragmentation& f, const Geometry& geometry) {
  Json rows = Json::array();
  for (const auto& row : f.rows) {
    rows.push_back({{"profile", geometry.profile(row.profile).profile},
                    {"fits_now", row.fits_now},
                    {"fits_repacked", row.fits_repacked}});
  }
  return {{"free_memory_slices", f.free_memory_slices},
          {"free_compute_slices", f.free_compute_slices},
          {"profiles", std::move(rows)}};
}

// The most of the wanted instances, in their order, that can be placed: what to leave out.
Layout what_fits(const Geometry& geometry, const Layout& wanted, const Layout& occupied) {
  Layout kept;
  for (const Instance& instance : wanted) {
    kept.push_back(instance);
    if (!geometry.place(kept, occupied)) kept.pop_back();
  }
  return kept;
}

}  // namespace

report::Report layouts_report(const Geometry& geometry) {
  report::Report shown;
  shown.title = fmt::format("MIG layouts of {}", geometry.gpu().name);
  report::Table table;
  table.columns = {{"layout", "layout", Align::kLeft},
                   {"compute slices", "compute_slices", Align::kRight},
                   {"memory slices", "memory_slices", Align::kRight},
                   {"SMs", "sms", Align::kRight},
                   {"memory", "memory_bytes", Align::kRight},
                   {"maximal", "maximal", Align::kLeft}};
  Json layouts = Json::array();
  std::size_t maximal = 0;
  const std::vector<mig::Combination>& combinations = geometry.combinations();
  for (const mig::Combination& combination : combinations) {
    Json counts = Json::object();
    Layout layout;
    double compute = 0, slices = 0, sms = 0;
    Bytes memory;
    for (std::size_t i = combination.counts.size(); i-- > 0;) {
      const int count = combination.counts[i];
      const catalog::MigProfile& profile = geometry.profile(geometry.plain_profiles()[i]);
      if (count == 0) continue;
      counts[profile.profile] = count;
      for (int n = 0; n < count; ++n) layout.push_back({geometry.plain_profiles()[i], -1});
      compute += count * profile.compute_slices, slices += count * profile.memory_slices;
      sms += count * profile.sms.value_or(0), memory += profile.memory * count;
    }
    maximal += combination.maximal ? 1 : 0;
    layouts.push_back({{"instances", std::move(counts)}, {"maximal", combination.maximal}});
    table.rows.push_back({report::text_cell(mig::describe_layout(layout, geometry)),
                          report::number_cell(fmt::format("{:.0f}", compute), compute),
                          report::number_cell(fmt::format("{:.0f}", slices), slices),
                          report::number_cell(fmt::format("{:.0f}", sms), sms),
                          report::number_cell(format_bytes(memory), in_bytes(memory)),
                          report::text_cell(combination.maximal ? "yes" : "no")});
  }
  shown.document = {{"schema", "rightsize/mig/1"}, {"gpu", geometry.gpu().name}, {"layouts", std::move(layouts)}};
  shown.blocks.emplace_back(report::Paragraph{fmt::format(
      "{} sets of slices fit on one {} ({} memory and {} compute slices); {} are maximal: nothing can be added. Media "
      "variants are left out.",
      combinations.size(), geometry.gpu().name, geometry.memory_slices(), geometry.compute_slices(), maximal)});
  shown.blocks.emplace_back(std::move(table));
  return shown;
}

Outcome check_outcome(const Geometry& geometry, const Layout& wanted, const Fleet& fleet) {
  Outcome outcome;
  outcome.report.title = fmt::format("MIG layout on {}", geometry.gpu().name);
  Json& document = outcome.report.document;
  document = {{"schema", "rightsize/mig/1"}, {"gpu", geometry.gpu().name}, {"fits", false}, {"gpus", Json::array()}};
  bool anywhere = false;
  for (std::size_t g = 0; g < fleet.size(); ++g) {
    const Layout occupied = fleet[g].layout();
    const std::optional<Layout> placed = geometry.place(wanted, occupied);
    Json entry = {{"index", g}, {"name", fleet[g].name}, {"fits", placed.has_value()}, {"create", Json::array()}};
    const std::string beside =
        occupied.empty() ? "" : fmt::format(" beside {}", mig::describe_layout(occupied, geometry));
    std::string text;
    if (placed) {
      anywhere = true;
      const Layout order = geometry.creation_order(*placed);
      for (const Instance& instance : order) entry["create"].push_back(json_of(instance, geometry));
      entry["command"] = mig::create_command(geometry, *placed, g);
      text = fmt::format("GPU {}: it fits{}. Create in this order: {}.\n  {}", fleet[g].name, beside,
                         mig::describe_layout(order, geometry), mig::create_command(geometry, *placed, g));
      Fleet drawn{fleet[g]};
      for (const Instance& instance : *placed) drawn[0].instances.push_back({instance, "new"});
      outcome.report.blocks.emplace_back(report::Paragraph{std::move(text)});
      outcome.report.blocks.emplace_back(picture(drawn, geometry, ""));
    } else {
      const bool moved = [&] {
        Layout all = occupied;
        for (Instance& instance : all) instance.start = -1;
        all.insert(all.end(), wanted.begin(), wanted.end());
        return !occupied.empty() && geometry.place(all).has_value();
      }();
      const Layout kept = what_fits(geometry, wanted, occupied);
      entry["fits_after_repacking"] = moved;
      entry["largest_part_that_fits"] = mig::describe_layout(kept, geometry);
      text = fmt::format("GPU {}: it does not fit{}. {} Of it, {} would fit.", fleet[g].name, beside,
                         moved ? "It would if what is there moved (--repack --make-room)." : "",
                         mig::describe_layout(kept, geometry));
      outcome.report.blocks.emplace_back(report::Paragraph{std::move(text)});
    }
    document["gpus"].push_back(std::move(entry));
  }
  document["fits"] = anywhere;
  outcome.exit_code = anywhere ? kDone : kNoFeasibleAnswer;
  return outcome;
}

report::Report current_report(const Geometry& geometry, const Fleet& fleet) {
  report::Report shown;
  shown.title = fmt::format("MIG instances on {}", geometry.gpu().name);
  shown.document = {{"schema", "rightsize/mig/1"}, {"gpu", geometry.gpu().name}, {"gpus", Json::array()}};
  shown.blocks.emplace_back(picture(fleet, geometry, ""));
  report::Table table;
  table.title = "What still fits (after repacking that GPU)";
  table.columns = {{"GPU", "gpu", Align::kLeft},
                   {"free memory slices", "free_memory_slices", Align::kRight},
                   {"free compute slices", "free_compute_slices", Align::kRight}};
  for (int profile : geometry.plain_profiles())
    table.columns.push_back({geometry.profile(profile).profile, geometry.profile(profile).profile, Align::kRight});
  std::string sentences;
  for (const mig::RunningGpu& gpu : fleet) {
    const mig::Fragmentation f = mig::fragmentation(geometry, gpu.layout());
    Json entry = json_of(f, geometry);
    entry["name"] = gpu.name;
    entry["instances"] = Json::array();
    for (const mig::RunningInstance& instance : gpu.instances) {
      Json row = json_of(instance.where, geometry);
      row["workload"] = instance.workload;
      entry["instances"].push_back(std::move(row));
    }
    shown.document["gpus"].push_back(std::move(entry));
    std::vector<report::Cell> row{report::text_cell(gpu.name),
                                  report::number_cell(std::to_string(f.free_memory_slices), f.free_memory_slices),
                                  report::number_cell(std::to_string(f.free_compute_slices), f.free_compute_slices)};
    for (const auto& r : f.rows) {
      row.push_back(report::number_cell(r.fits_repacked > r.fits_now
                                            ? fmt::format("{} ({})", r.fits_now, r.fits_repacked)
                                            : std::to_string(r.fits_now),
                                        r.fits_now));
    }
    table.rows.push_back(std::move(row));
    if (!f.sentence.empty())
      sentences += fmt::format("{}GPU {}: {}", sentences.empty() ? "" : "\n", gpu.name, f.sentence);
  }
  shown.blocks.emplace_back(std::move(table));
  if (sentences.empty()) sentences = "No room is lost to fragmentation.";
  shown.blocks.emplace_back(report::Paragraph{std::move(sentences)});
  return shown;
}

namespace {

std::string describe(const mig::Step& step, const Fleet& fleet, const Geometry& geometry) {
  const std::string& profile = geometry.profile(step.profile).profile;
  const std::string from = fmt::format("GPU {} slice {}", fleet[step.from_gpu].name, step.from_start);
  const std::string to = fmt::format("GPU {} slice {}", fleet[step.to_gpu].name, step.to_start);
  switch (step.kind) {
    case mig::Step::Kind::kRemove:
      return step.workload.empty()
                 ? fmt::format("remove the unused {} at {}", profile, from)
                 : fmt::format("stop {} and remove its {} at {}: it is down until it is created again", step.workload,
                               profile, from);
    case mig::Step::Kind::kCreate:
      return fmt::format("create {} at {} and start {} there", profile, to, step.workload);
    case mig::Step::Kind::kMove:
      return fmt::format("create {} at {}, start {} there{}, then remove {}", profile, to, step.workload,
                         step.temporary ? " for the time being" : "", from);
  }
  return {};
}

Json json_of(const mig::Step& step, const Geometry& geometry) {
  static constexpr const char* kKinds[] = {"move", "remove", "create"};
  return {{"kind", kKinds[static_cast<int>(step.kind)]},
          {"workload", step.workload},
          {"profile", geometry.profile(step.profile).profile},
          {"from_gpu", step.from_gpu},
          {"from_start", step.from_start < 0 ? Json(nullptr) : Json(step.from_start)},
          {"to_gpu", step.to_gpu},
          {"to_start", step.to_start < 0 ? Json(nullptr) : Json(step.to_start)},
          {"temporary", step.temporary},
          {"interrupts", step.interrupts}};
}

}  // namespace

Outcome repack_outcome(const Geometry& geometry, const Fleet& fleet, const mig::Repacking& result,
                       const std::string& make_room) {
  Outcome outcome;
  outcome.report.title = fmt::format("Repacking {}", geometry.gpu().name);
  Json& document = outcome.report.document;
  document = {{"schema", "rightsize/mig/1"}, {"gpu", geometry.gpu().name}, {"feasible", result.feasible}};
  if (!result.feasible) {
    outcome.exit_code = kNoFeasibleAnswer;
    outcome.report.blocks.emplace_back(
        report::Paragraph{fmt::format("Whatever moves, {} does not fit on these {} GPUs.", make_room, fleet.size())});
    return outcome;
  }
  document["moves"] = result.moves;
  document["proved_fewest"] = result.proved;
  document["gpus_before"] = result.gpus_before;
  document["gpus_after"] = result.gpus_after;
  document["steps"] = Json::array();
  document["room"] = Json::array();
  std::string list;
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    document["steps"].push_back(json_of(result.steps[i], geometry));
    list += fmt::format("{}. {}\n", i + 1, describe(result.steps[i], fleet, geometry));
  }
  std::string text = fmt::format("{} of {} GPUs stay in use; {} workload{} move{}{}.", result.gpus_after,
                                 result.gpus_before, result.moves, result.moves == 1 ? "" : "s",
                                 result.moves == 1 ? "s" : "", result.proved ? " (proved the fewest)" : "");
  for (const auto& [gpu, instance] : result.room) {
    Json entry = json_of(instance, geometry);
    entry["gpu"] = gpu;
    document["room"].push_back(std::move(entry));
    text += fmt::format(" Room for {} is on GPU {} at slice {}.", geometry.profile(instance.profile).profile,
                        fleet[gpu].name, instance.start);
  }
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(text)});
  outcome.report.blocks.emplace_back(picture(fleet, geometry, "Now"));
  outcome.report.blocks.emplace_back(picture(result.after, geometry, "Afterwards"));
  if (!list.empty()) outcome.report.blocks.emplace_back(report::Verbatim{"Steps, in this order", std::move(list)});
  return outcome;
}

Outcome verify_outcome(const Geometry& geometry, const std::string& file,
                       const std::vector<mig::ListedProfile>& listed) {
  const std::vector<std::string> found = mig::differences(listed, geometry);
  Outcome outcome;
  outcome.report.title = fmt::format("MIG profiles of {} against {}", geometry.gpu().name, file);
  outcome.report.document = {
      {"schema", "rightsize/mig/1"}, {"gpu", geometry.gpu().name}, {"profiles", listed.size()}, {"differences", found}};
  std::string text_out = found.empty() ? fmt::format("All {} profiles are as in our table.", listed.size())
                                       : fmt::format("{} differences:", found.size());
  for (const std::string& difference : found) text_out += "\n  " + difference;
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(text_out)});
  outcome.exit_code = found.empty() ? kDone : kNoFeasibleAnswer;
  return outcome;
}

}  // namespace rightsize::app
