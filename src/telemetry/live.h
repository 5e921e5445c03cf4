// GPUs of this machine, read now.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

// A process that uses a GPU, as the driver sees it (inside a container its number may be another).
struct GpuProcess {
  unsigned pid = 0;
  std::optional<Bytes> memory;
  std::string name;  // empty where it cannot be seen
};

class LiveSource {
 public:
  virtual ~LiveSource() = default;

  // Every GPU, or the MIG instances of a GPU that is cut.
  virtual const std::vector<Device>& devices() const = 0;

  // One reading. Counters over time (GPM) cover the time since the last reading of this device and are missing in the
  // first; the engine's, which is dear, is read once a second and covers that second. Fails when the GPU no longer
  // answers: that GPU only, the others go on.
  virtual Result<Sample> read(std::size_t device, TimePoint time) = 0;

  virtual std::vector<GpuProcess> processes(std::size_t device) = 0;

  // "NVML, driver 580.159.04, with GPM counters"
  virtual std::string describe() const = 0;
};

// NVML from the driver's library, found at run time ($RIGHTSIZE_NVML names another file). kUnreadableSource with what
// to try when there is none, when it is too old, or when no GPU is there.
Result<std::unique_ptr<LiveSource>> open_nvml();

// How the GPUs are cut right now.
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
