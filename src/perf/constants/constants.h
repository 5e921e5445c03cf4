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

// Factors on the rates and bandwidths of another GPU.
struct KernelLosses {
  double rate = 1, bandwidth = 1;
};

// The measured curves of one chip.
struct MeasuredGpu {
  std::string same_chip;    // use the curves of this GPU, which has the same chip; the rest is unset
  std::string losses_like;  // no kernels measured: use those of this GPU with `losses`
  KernelLosses losses;
  double sustained = 0;
  std::array<MatmulCurve, kMatmulFormats> matmul;  // rate 0: not measured
  ExpertCurves experts;                            // rate 0: not measured
  PrefillCurve prefill;
  DecodeCurve decode;

  void scale(const KernelLosses& by);
};

// Shares of a link's data-sheet rate (NVLink: both directions together, PCIe: one) that collectives reach.
struct LinkShare {
  Seconds latency;
  double share = 0, size_loss = 0;
};
struct LinkShares {
  std::array<LinkShare, kGroupSizes> engine_all_reduce;
  std::array<std::array<LinkShare, kGroupSizes>, kCollectives> collectives;
  double sharding = 0;  // sharded training inside a machine
};

// The runs a stack's constants were fitted on.
struct MeasuredSet {
  std::vector<std::string> gpus, vendors, formats, families;
  std::vector<std::string> training;  // "h100-sxm/fp8": GPUs and number formats of training runs
  double smallest = 0, largest = 0;   // model parameters
};

struct CalibrationRow {
  model::Stack stack = model::Stack::kHf;
  model::JobKind job = model::JobKind::kTrain;
  std::string gpu;
  Calibration factors;
};

struct Constants {
  std::map<std::string, MeasuredGpu> measured;  // by GPU name: rates and bandwidths
  MeasuredGpu any_gpu;                          // kernel losses that all chips share
  LinkShares nvlink, pcie;
  EagerConstants eager;
  EngineConstants vllm, trtllm, sglang;
  ShardedConstants llm_foundry, torchtitan;
  MegatronConstants megatron;
  VisionConstants vision;
  PowerConstants power;
  std::array<MeasuredSet, kStackSlots> measured_runs;  // by stack
  std::vector<CalibrationRow> calibrations;
  // Tokens kept per step by draft length, from 1, for each method of speculative decoding with measured curves.
  std::map<std::string, std::vector<double>> draft_curves;

  const EngineConstants& engine(model::Stack stack) const;
};

// Loads the built-in constants, then those of the overlay folder (empty: none). Reports every mistake in every file.
Checked<Constants> load_constants(const std::string& overlay);

// Returns `base` with the given rows replaced (same format as data/efficiency.csv and data/stacks.csv; an empty text
// changes nothing). Fits use this to try a constant before writing it.
Checked<Constants> with_rows(Constants base, std::string efficiency, std::string stacks);

// Name of the calibration file in an overlay folder.
inline constexpr const char* kCalibrationFile = "calibration.csv";

// The text of calibration.csv with these rows.
std::string calibration_csv(const std::vector<CalibrationRow>& rows);

// The kernel curves of a GPU. A measured GPU, or one with the same chip, has its own curves. Any other GPU inherits the
// losses of its closest measured relative, with arithmetic scaled by a measured product or by watts per TFLOP, and a
// penalty.
GpuSpeed gpu_speed(const Constants& constants, const catalog::Gpu& gpu);

// Whether a GPU is this measured GPU or has the same chip.
bool same_chip(const Constants& constants, const std::string& gpu, const std::string& chip);

}  // namespace rightsize::perf
