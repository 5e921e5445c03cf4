// How much GPU memory a job needs, part by part, and whether it fits.
//
//   MemoryNeed need = estimate_memory(shape, job, gpu);      // job.kind decides between training and serving
//   Fit fit = fits(need, gpu);                               // fits, tight or no, with the probability of running out
//
// Three totals, because they differ by gigabytes: what the framework's allocator has live at the peak, what it holds
// from the driver, and what nvidia-smi shows. Equations, sources and measured errors: docs/models.md.
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

// What is in memory at the moment of the peak; their sum is MemoryNeed::device.
struct Parts {
  std::array<Bytes, kParts> bytes{};

  Bytes& operator[](Part part) { return bytes[static_cast<std::size_t>(part)]; }
  Bytes operator[](Part part) const { return bytes[static_cast<std::size_t>(part)]; }
  Bytes total() const;
};

// What the driver's and the libraries' own bytes are known from: runs on this GPU, on another of the vendor's, or on
// none of them.
enum class RuntimeBasis { kThisGpu, kVendor, kOtherVendor };
RuntimeBasis runtime_basis(const catalog::Gpu& gpu);
std::string_view name_of(RuntimeBasis basis);

struct MemoryNeed {
  Bytes peak_allocated;  // live in the framework's allocator at the peak
  Bytes reserved;        // held by it from the driver
  Bytes device;          // what nvidia-smi shows: with the context and the libraries
  Bytes low, high;       // 80 % interval of device
  bool of_gpu = false;   // the interval already allows for the GPU it was asked for
  Parts parts;

  // Serving only.
  Bytes kv_per_token;  // of one sequence, on one GPU
  std::optional<std::int64_t>
      max_concurrency;  // sequences of isl + osl tokens the engine's KV budget holds, with a GPU

  std::vector<std::string> warnings;  // what was asked for but cannot be as asked, with its effect
};

// The need on one GPU of `job.parallel.gpus`. `gpu` is needed where an engine's budget depends on it (serving's maximum
// concurrency and preallocation), and for the interval: see interval_on(). Without one the interval is that of the GPU
// the runtime was measured on.
MemoryNeed estimate_memory(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

// The 80 % interval on this GPU: wider by what drivers and libraries take on GPUs nobody measured.
struct ByteInterval {
  Bytes low, high;
};
ByteInterval interval_on(const MemoryNeed& need, const catalog::Gpu& gpu);

enum class Verdict { kFits, kTight, kNo };
std::string_view name_of(Verdict verdict);

struct Fit {
  Verdict verdict = Verdict::kNo;
  Bytes capacity;
  Bytes headroom;              // capacity - device; negative when it does not fit
  double oom_probability = 1;  // of running out of memory, from the error distribution
};

// kFits: even the high bound leaves room. kTight: likely fits, but the high bound does not.
Fit fits(const MemoryNeed& need, const catalog::Gpu& gpu);

// What contradicts the model: tensor parallelism that does not divide the heads, sequences beyond learned positions,
// more pipeline stages than layers, expert parallelism without experts. (Rotary positions can be stretched: a sequence
// beyond them is a warning of the estimate.)
Errors check_job(const model::ModelShape& model, const model::Job& job);

// Tokens (or image patches) of one sample when the user names none.
std::int64_t default_sequence(const model::ModelShape& model);

}  // namespace rightsize::memory
