// The fitted constants of the speed model: data/efficiency.csv and data/stacks.csv, overlaid by the user's files of the
// same names and by calibration.csv, which `rightsize calibrate` writes.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "perf/kernels/gpu_speed.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// The measured curves of one GPU.
struct MeasuredGpu {
  std::string same_chip;  // another GPU whose curves hold here too; then the rest is unset
  double sustained = 0;
  std::array<MatmulCurve, kMatmulFormats> matmul;  // rate 0 where not measured
  ExpertCurves experts;                            // likewise
  PrefillCurve prefill;
  DecodeCurve decode;
  LinkCurves engine_all_reduce;
  std::array<LinkCurves, kCollectives> collectives;
  BytesPerSecond fsdp_link;
};

// The runs a stack's constants were fitted on.
struct MeasuredSet {
  std::vector<std::string> gpus, vendors, formats, families;
  double smallest = 0, largest = 0;  // parameters of a model
};

struct CalibrationRow {
  model::Stack stack = model::Stack::kHf;
  model::JobKind job = model::JobKind::kTrain;
  std::string gpu;
  Calibration factors;
};

struct Constants {
  std::map<std::string, MeasuredGpu> measured;  // by GPU name
  EagerConstants eager;
  EngineConstants vllm, trtllm, sglang;
  ShardedConstants llm_foundry, torchtitan;
  MegatronConstants megatron;
  VisionConstants vision;
  std::array<MeasuredSet, kStackSlots> measured_runs;  // of each stack
  std::vector<CalibrationRow> calibrations;

  const EngineConstants& engine(model::Stack stack) const;
};

// The built-in constants, then the overlay folder's (empty: none). Every mistake of every file is reported.
Checked<Constants> load_constants(const std::string& overlay);

// `base` with the rows of these texts, which look like data/efficiency.csv and data/stacks.csv, in place of its own; an
// empty text changes nothing. What a fit does with a constant before it is written.
Checked<Constants> with_rows(Constants base, std::string efficiency, std::string stacks);

// The name of a calibration file inside an overlay folder.
inline constexpr const char* kCalibrationFile = "calibration.csv";

// The text of calibration.csv with these rows.
std::string calibration_csv(const std::vector<CalibrationRow>& rows);

// What is known of a GPU's kernels. A measured GPU, or one with the chip of a measured one, has its own curves. One of
// a measured architecture takes its sibling's with the arithmetic scaled by what is known of it (a measured product, or
// watts per TFLOP); anything else takes the medians of all measured GPUs.
GpuSpeed gpu_speed(const Constants& constants, const catalog::Gpu& gpu);

}  // namespace rightsize::perf
