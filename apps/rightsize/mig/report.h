// Reports of `rightsize mig`: report.cc has those about plans, layout_report.cc those about one GPU type.
#pragma once

#include <string>
#include <vector>

#include "mig/current.h"
#include "mig/hand_over.h"
#include "mig/mechanisms.h"
#include "mig/plan.h"
#include "mig/repack.h"
#include "report/fields.h"
#include "rightsize/command.h"

namespace rightsize::app {

// A plan and everything its report needs.
struct PlannedSlices {
  const mig::WorkloadFile& file;
  const std::vector<mig::GpuType>& types;
  const mig::SlicePlan& plan;
  const std::vector<mig::Alternative>& alternatives;
  const mig::Mix& mix;
  const mig::ToolFiles& tool_files;
};

// A workload that fits nowhere, and its place in the file.
struct UnplaceableRow {
  const mig::Unplaceable* found;
  const mig::Workload* workload;
};
struct Unplaceables {
  std::vector<UnplaceableRow> rows;
};

extern const report::Fields<PlannedSlices> kPlanFields;
extern const report::Fields<Unplaceables> kUnplaceableFields;
report::Json plan_document(const PlannedSlices& planned);
report::Json unplaceable_document(const Unplaceables& found);

// `out`: the folder files were written to; empty: none.
report::Report plan_report(const PlannedSlices& planned, const std::string& out);
// A picture of slices, a row per GPU.
report::Lanes draw_slices(const mig::RunningGpus& gpus, const mig::Geometry& geometry, std::string title);
// The GPUs of one type, the first `most` of them.
report::Lanes draw_gpus(const PlannedSlices& planned, std::size_t type, std::size_t most);
// Exit code 2: which workload fits nowhere, why, and which GPU would hold it.
Outcome nothing_fits(const mig::WorkloadFile& file, const mig::SlicePlan& plan);

report::Report layouts_report(const mig::Geometry& geometry, bool profiles_only = false);
// Whether slices fit on a GPU in addition to its existing ones.
struct LayoutCheck {
  std::string name;  // "GPU 0", or that of a configuration
  mig::Layout wanted;
  mig::RunningGpu gpu = {};
  std::size_t device = 0;    // in the command that creates them
  std::string problem = {};  // why they can never be created; empty: none
};
// Exit code 2 if no layout fits.
Outcome check_outcome(const mig::Geometry& geometry, const std::vector<LayoutCheck>& checks);
report::Report current_report(const mig::Geometry& geometry, const mig::RunningGpus& gpus);
// Exit code 2 if `make_room` does not fit even after moving every workload.
Outcome repack_outcome(const mig::Geometry& geometry, const mig::RunningGpus& gpus, const mig::Repacking& result,
                       const std::string& make_room);
// Exit code 2 if the driver's list differs from our table.
Outcome verify_outcome(const mig::Geometry& geometry, const std::string& file,
                       const std::vector<mig::ListedProfile>& listed);

}  // namespace rightsize::app
