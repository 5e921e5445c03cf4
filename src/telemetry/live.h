// GPUs of this machine, read now.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

// A process that uses a GPU, as the driver sees it (its pid inside a container may differ).
struct GpuProcess {
  unsigned pid = 0;
  std::optional<Bytes> memory;
  std::string name;  // empty if it is not visible
};

class LiveSource {
 public:
  virtual ~LiveSource() = default;

  // Every GPU, or its MIG instances if it is partitioned.
  virtual const std::vector<Device>& devices() const = 0;

  // One reading. Counters over time (GPM) cover the time since the last reading of this device and are missing in the
  // first; the engine counter, which is expensive, is read once a second and covers that second. Fails if this GPU no
  // longer responds; the others can still be read.
  virtual Result<Sample> read(std::size_t device, TimePoint time) = 0;

  virtual std::vector<GpuProcess> processes(std::size_t device) = 0;

  // "NVML, driver 580.159.04, with GPM counters"
  virtual std::string describe() const = 0;
};

// NVML from the driver's library, loaded at run time ($RIGHTSIZE_NVML names another file). kUnreadableSource with a
// hint when it is missing or too old, or when the machine has no GPU.
Result<std::unique_ptr<LiveSource>> open_nvml();

// The current MIG partitioning.
struct MigInstance {
  std::string profile;      // "1g.18gb"
  int id = 0;               // of the GPU instance
  int start = 0, size = 0;  // memory slices
};
struct MigLayout {
  Device gpu;
  bool enabled = false;  // MIG mode
  std::vector<MigInstance> instances;
};
Result<std::vector<MigLayout>> read_mig_layout();

}  // namespace rightsize::telemetry
