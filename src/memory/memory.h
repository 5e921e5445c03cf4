// The GPU memory that a job needs, part by part, and whether it fits.
//
//   MemoryNeed need = estimate_memory(shape, job, &gpu);     // job.kind decides between training and serving
//   Fit fit = fits(need, gpu);                               // fits, tight or no, with the out-of-memory probability
//
// There are three totals, which differ by gigabytes: live bytes in the framework's allocator at the peak, bytes it has
// reserved from the driver, and what nvidia-smi shows. Equations, sources and measured errors: docs/models.md.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "catalog/catalog.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory {

enum class Part { kWeights, kGradients, kOptimizer, kActivations, kLogits, kKvCache, kBuffers, kRuntime };
inline constexpr int kParts = 8;
std::string_view name_of(Part part);

// The contents of memory at the peak; the sum is MemoryNeed::device.
struct Parts {
  std::array<Bytes, kParts> bytes{};

  Bytes& operator[](Part part) { return bytes[static_cast<std::size_t>(part)]; }
  Bytes operator[](Part part) const { return bytes[static_cast<std::size_t>(part)]; }
  Bytes total() const;
};

// Where the memory of driver and libraries was measured: on this GPU, on another one of the vendor, or not at all.
enum class RuntimeBasis { kThisGpu, kVendor, kOtherVendor };
RuntimeBasis runtime_basis(const catalog::Gpu& gpu);
std::string_view name_of(RuntimeBasis basis);

struct MemoryNeed {
  Bytes peak_allocated;  // live bytes in the framework's allocator
  Bytes reserved;        // reserved from the driver
  Bytes device;          // what nvidia-smi shows, including context and libraries
  Bytes low, high;       // 80 % interval of `device`
  bool of_gpu = false;   // the interval already accounts for the GPU
  Parts parts;

  // Serving only.
  Bytes kv_per_token;                         // per sequence, on one GPU
  std::optional<model::Precision> kv_format;  // of a decoder
  std::optional<std::int64_t>
      max_concurrency;  // sequences of isl + osl tokens that fit in the engine's KV budget; needs a GPU

  std::vector<std::string> warnings;  // settings that cannot be honoured, with the effect
};

// Memory on one of the job's GPUs. `gpu` is needed for an engine's budget (maximum concurrency, preallocation) and for
// the interval: see interval_on(). Without it, the interval is that of the GPU the runtime was measured on.
MemoryNeed estimate_memory(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

// The 80 % interval on this GPU, wider for GPUs where the memory of driver and libraries was not measured.
struct ByteInterval {
  Bytes low, high;
};
ByteInterval interval_on(const MemoryNeed& need, const catalog::Gpu& gpu);

enum class Verdict { kFits, kTight, kNo };
std::string_view name_of(Verdict verdict);

struct Fit {
  Verdict verdict = Verdict::kNo;
  Bytes capacity;
  Bytes headroom;              // capacity - device; negative if it does not fit
  double oom_probability = 1;  // from the error distribution
};

// kFits: even the high bound fits. kTight: the likely value fits, the high bound does not.
Fit fits(const MemoryNeed& need, const catalog::Gpu& gpu);

// An error for requests (prompt and answer) that exceed the model's context, with lengths that fit. Empty if they fit.
std::optional<Error> check_length(const model::ModelShape& model, std::int64_t isl, std::int64_t osl,
                                  std::int64_t image_tokens = 0);

// Settings that contradict the model: requests and sequences longer than its context, tensor parallelism that does not
// divide the heads, more pipeline stages than layers, expert parallelism without experts; and jobs so large that their
// sizes would overflow.
Errors check_job(const model::ModelShape& model, const model::Job& job);

// Default tokens (or image patches) per sample.
std::int64_t default_sequence(const model::ModelShape& model);

}  // namespace rightsize::memory
