// The document "mig": each question has one of its parts.
#pragma once

#include <string>
#include <vector>

#include "report/fields.h"
#include "rightsize/mig/report.h"

namespace rightsize::app {

// A slice of one GPU.
struct SliceRow {
  std::string profile;
  int start = 0, size = 0;
  std::string workload = {};
};

struct UnplaceableRow {
  std::string workload;
  int line = 0;
  std::string reason, would_fit;
};
struct UnplaceableAnswer {
  std::vector<UnplaceableRow> rows;
};

struct LayoutRow {
  std::vector<std::pair<std::string, int>> instances;  // by profile, largest first
  std::string layout;
  int compute = 0, memory_slices = 0, sms = 0;
  Bytes memory;
  bool maximal = false;
};
struct LayoutsAnswer {
  std::string gpu;
  std::vector<LayoutRow> layouts;
};

struct CheckedGpu {
  std::size_t index = 0;
  std::string name;
  bool fits = false;
  std::vector<SliceRow> create;  // in this order
  std::string command = {};
  std::optional<bool> fits_after_repacking = {};
  std::string largest_part_that_fits = {};
};
struct CheckAnswer {
  std::string gpu;
  bool fits = false;
  std::vector<CheckedGpu> gpus;
};

struct FreeRow {
  std::string profile;
  int now = 0, repacked = 0;
};
struct CurrentGpu {
  std::string name;
  int memory_slices = 0, compute_slices = 0;  // free
  std::vector<FreeRow> profiles;
  std::vector<SliceRow> instances;
};
struct CurrentAnswer {
  std::string gpu;
  std::vector<CurrentGpu> gpus;
};

struct RoomRow {
  SliceRow slice;
  std::size_t gpu = 0;
};
struct RepackAnswer {
  std::string gpu;
  const mig::Repacking* result = nullptr;
  const mig::Geometry* geometry = nullptr;
};

struct ProfilesAnswer {
  std::string gpu;
  std::size_t profiles = 0;
  std::vector<std::string> differences;
};

struct MigAnswer {
  const PlannedSlices* plan = nullptr;
  const UnplaceableAnswer* unplaceable = nullptr;
  const LayoutsAnswer* layouts = nullptr;
  const CheckAnswer* check = nullptr;
  const CurrentAnswer* current = nullptr;
  const RepackAnswer* repack = nullptr;
  const ProfilesAnswer* profiles = nullptr;
};

extern const report::Fields<PlannedSlices> kPlanFields;
extern const report::Fields<UnplaceableAnswer> kUnplaceableFields;
extern const report::Document<MigAnswer> kMigDocument;

}  // namespace rightsize::app
