// Kernel efficiency of one GPU: its constants in data/efficiency.csv, or those of its closest measured relative.
//
// Plain numbers, cheap to copy in millions of estimates. Shares refer to the GPU's own data sheet and are below 1.
#pragma once

#include <array>
#include <string_view>

#include "base/units.h"
#include "catalog/catalog.h"
#include "model/job.h"
#include "perf/kernels/power.h"

namespace rightsize::perf {

// What an estimate is based on, best first: this chip's benchmarks, the user's own measurements, those of another chip
// of the architecture, or those of another architecture scaled by the data sheets.
enum class Basis { kMeasured, kCalibrated, kTransferred, kSpecification };
std::string_view name_of(Basis basis);
// Extra |log error| at 80 % for this basis.
double width_of(Basis basis);

// The largest shares of the data sheet's FLOP/s and bandwidth that any kernel reaches. Published products reach 0.94 of
// the L40's peak and 0.92 of the L20's (data/gpus.csv, docs/speed.md); memory reads reach 0.89 on HBM (H200,
// data/measurements/casts-h200.csv) and 0.95 on GDDR7.
inline constexpr double kMostArithmetic = 0.93, kMostBandwidth = 0.95;

// Matrix product m x n x k, see matmul_time(). Rate and bandwidth belong to a chip, the other losses to the kernel.
struct MatmulCurve {
  double rate = 0;           // share of peak FLOP/s in large products
  double bandwidth = 0;      // share of memory bandwidth in thin products
  Seconds latency;           // per kernel
  double q = 3;              // exponent that combines compute and memory time
  double occupancy = 0;      // loss to partly filled waves
  double k_ramp = 0;         // loss at small k
  double small_weights = 0;  // millions of elements: a weight of this size reaches half the bandwidth

  // Takes everything but rate and bandwidth from the curve of all chips.
  void share_losses(const MatmulCurve& all) {
    const double own_rate = rate, own_bandwidth = bandwidth;
    *this = all, rate = own_rate, bandwidth = own_bandwidth;
  }
};

struct PrefillCurve {
  double rate = 0, bandwidth = 0;
  Seconds latency;
  double occupancy = 0, head_gamma = 0, short_sequence = 0;
};

struct DecodeCurve {
  double rate = 0, bandwidth = 0;
  Seconds latency;
  double occupancy = 0;
  double fp8_kv = 1;          // time per byte of an 8-bit cache relative to a 16-bit one
  double short_sequence = 0;  // minimum time of a sequence, in cached tokens
};

struct LinkCurve {
  Seconds latency;
  BytesPerSecond bus;
  double size_loss = 0;  // small messages run at 1 / (1 + size_loss / sqrt(MB))
};

// Formats with their own matrix curve. Weight-only formats (AWQ, GPTQ, 8-bit weights) compute in 16 bits, in kernels
// that expand the weights of every tile (Marlin, Machete).
enum class MatmulFormat { kHalf, kFp8, kFp4, kWeightOnly };
inline constexpr int kMatmulFormats = 4;

// Grouped products have one more curve: MXFP4 on GPUs without such arithmetic.
inline constexpr int kExpertFormats = kMatmulFormats + 1;
inline constexpr std::size_t kMxExperts = kMatmulFormats;
using ExpertCurves = std::array<MatmulCurve, kExpertFormats>;

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
inline constexpr int kCollectives = 4;

// Curves are known for 2, 4 and 8 GPUs.
inline constexpr int kGroupSizes = 3;
using LinkCurves = std::array<LinkCurve, kGroupSizes>;

// Factors on predicted times from the user's own measurements of a stack on this GPU.
struct Calibration {
  bool known = false;
  double device = 1, host = 1, prefill = 1;
  double width = 0;  // |log error| that covers 80 %
  int points = 0;
};

// One slot per stack and one for image models.
inline constexpr int kStackSlots = 8;
inline constexpr int kVisionSlot = 7;
inline int slot_of(model::Stack stack) { return static_cast<int>(stack); }

// Number formats by the unit that multiplies: all 16-bit formats train at the same speed.
inline constexpr int kArithmetics = 4;
inline std::size_t arithmetic_of(model::Precision format) {
  using model::Precision;
  return format == Precision::kFp8 ? 1 : format == Precision::kFp4 ? 2 : format == Precision::kFp32 ? 3 : 0;
}

struct GpuSpeed {
  Basis basis = Basis::kSpecification;  // of the kernel curves
  std::string_view relative;            // the measured GPU that the losses come from; empty: this GPU
  std::array<bool, kStackSlots> stack_measured{};
  // By stack and arithmetic: whether training runs were measured.
  std::array<std::array<bool, kArithmetics>, kStackSlots> training_measured{};
  std::array<std::array<Calibration, 2>, kStackSlots> calibration{};  // by stack and job kind

  double sms = 0;
  BytesPerSecond bandwidth;
  FlopsPerSecond half;  // bf16, or fp16 without bf16
  FlopsPerSecond fp8, fp4, fp32, tf32;
  bool has_bf16 = false, has_fp8 = false, has_fp4 = false;
  bool weight_only_kernels = false;  // 8-bit and 4-bit weights with 16-bit arithmetic (Ampere and later)
  bool hopper_or_later = false;
  bool expands_published_experts = false;  // engines run published 4-bit experts in 16 bits, despite 4-bit arithmetic
  bool rocm = false;                       // AMD's software

  double sustained = 0;  // share of the 16-bit peak in long runs: clocks drop under load
  std::array<MatmulCurve, kMatmulFormats> matmul;
  ExpertCurves experts;  // grouped products
  PrefillCurve prefill;
  DecodeCurve decode;
  LinkCurves engine_all_reduce;
  std::array<LinkCurves, kCollectives> collectives;
  BytesPerSecond fsdp_link;  // bandwidth of sharded training inside a machine
  BytesPerSecond host_link;  // one direction; PCIe 4.0 if unknown

  // Relative to the GPU the eager and image profiles were fitted on.
  double rate_scale = 1, attention_scale = 1;
  double conv_scale = 1;  // scale of the filter size that fills a multiprocessor's tensor cores

  GpuPower power;
};

// The GPU at a lower clock, as a share of the measured clock. Arithmetic slows down with the clock. Memory has its own
// clock, but below 75 % of the highest clock the multiprocessors cannot use its full bandwidth: ResNet-50 under power
// limits (ml-energy/zeus, docs/energy.md).
inline constexpr double kMemoryClock = 0.75;
GpuSpeed at_clock(const GpuSpeed& gpu, double share);
// Converts times at the lower clock's rates to times at the data sheet's rates.
Activity at_full_clock(Activity activity, double share);

}  // namespace rightsize::perf
