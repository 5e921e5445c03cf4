// What kernels reach on one GPU: the constants of data/efficiency.csv for it, or those of its nearest measured
// relative.
//
// Plain numbers without text, so that millions of estimates can copy and read them. Shares are of the GPU's own peaks.
#pragma once

#include <array>
#include <string_view>

#include "base/units.h"
#include "catalog/catalog.h"
#include "model/job.h"

namespace rightsize::perf {

// How the numbers of an estimate are known, best first.
enum class Basis { kMeasured, kCalibrated, kTransferred, kSpecification };
std::string_view name_of(Basis basis);
// What a number known in this way is less sure by, as |log error| at 80 %: 0.15 for a relative of a measured GPU, 0.30
// for one known from its data sheet alone (judgement: nothing was measured end to end on such GPUs).
double width_of(Basis basis);

// Matrix product m x n x k, see matmul_time().
struct MatmulCurve {
  double rate = 0;           // share of peak arithmetic of large products
  double bandwidth = 0;      // share of memory bandwidth of thin products; above 1 where weights stay in the cache
  Seconds latency;           // of a kernel
  double q = 3;              // how sharply compute and memory time combine
  double occupancy = 0;      // loss to partly filled waves
  double k_ramp = 0;         // loss at small k
  double small_weights = 0;  // millions of elements: a weight of that size reaches half its bandwidth
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
  double fp8_kv = 1;          // time per byte of an 8-bit cache against a 16-bit one
  double short_sequence = 0;  // cached tokens that a sequence takes the time of at least
};

struct LinkCurve {
  Seconds latency;
  BytesPerSecond bus;
  double size_loss = 0;  // small messages run at 1 / (1 + size_loss / sqrt(MB))
};

// Formats with a matrix curve of their own. Weight-only formats compute in 16 bits.
enum class MatmulFormat { kHalf, kFp8, kFp4 };
inline constexpr int kMatmulFormats = 3;

// Grouped products have two curves more: engines run 4-bit experts over 16-bit arithmetic by kernels of their own, one
// kind for integers (AWQ, GPTQ), another for MXFP4 where the GPU has no such arithmetic.
inline constexpr int kExpertFormats = kMatmulFormats + 2;
inline constexpr std::size_t kIntegerExperts = kMatmulFormats, kMxExperts = kMatmulFormats + 1;
using ExpertCurves = std::array<MatmulCurve, kExpertFormats>;

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
inline constexpr int kCollectives = 4;

// Curves are known for 2, 4 and 8 GPUs.
inline constexpr int kGroupSizes = 3;
using LinkCurves = std::array<LinkCurve, kGroupSizes>;

// What the user's own measurements say about a stack on this GPU: factors on predicted times.
struct Calibration {
  bool known = false;
  double device = 1, host = 1, prefill = 1;
  double width = 0;  // |log error| that holds 80 %
  int points = 0;
};

// Where a stack's constants are kept: one slot a stack, one for image models.
inline constexpr int kStackSlots = 8;
inline constexpr int kVisionSlot = 7;
inline int slot_of(model::Stack stack) { return static_cast<int>(stack); }

struct GpuSpeed {
  Basis basis = Basis::kSpecification;  // of the kernel curves
  std::array<bool, kStackSlots> stack_measured{};
  std::array<std::array<Calibration, 2>, kStackSlots> calibration{};  // by stack and job kind

  double sms = 0;
  BytesPerSecond bandwidth;
  FlopsPerSecond half;  // bf16, or fp16 where there is no bf16
  FlopsPerSecond fp8, fp4, fp32, tf32;
  bool has_bf16 = false, has_fp8 = false, has_fp4 = false, has_half = false;
  bool weight_only_kernels = false;  // 8- and 4-bit weights over 16-bit arithmetic (Ampere and later)
  bool hopper_or_later = false;

  double sustained = 0;  // share of the 16-bit peak that long runs hold: clocks fall under load
  std::array<MatmulCurve, kMatmulFormats> matmul;
  ExpertCurves experts;  // of grouped products
  PrefillCurve prefill;
  DecodeCurve decode;
  LinkCurves engine_all_reduce;
  std::array<LinkCurves, kCollectives> collectives;
  BytesPerSecond fsdp_link;  // what sharded training sees of the links inside a machine
  BytesPerSecond host_link;  // one direction; PCIe 4.0 where the catalogue does not say

  // Against the GPU the eager and image profiles were fitted on.
  double rate_scale = 1, attention_scale = 1;
  double conv_scale = 1;  // how large a filter must be to fill a multiprocessor's tensor cores
};

}  // namespace rightsize::perf
