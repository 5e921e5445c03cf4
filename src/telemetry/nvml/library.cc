#include "telemetry/nvml/library.h"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace rightsize::telemetry::nvml {
namespace {

// Binds the first name that the library has; newer versions of a call come first.
template <class Function>
void bind(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* found = dlsym(library, name)) {
      function = reinterpret_cast<Function>(found);
      return;
    }
  }
}

void bind_all(void* l, Api& api) {
  bind(l, api.init, {"nvmlInit_v2", "nvmlInit"});
  bind(l, api.shutdown, {"nvmlShutdown"});
  bind(l, api.driver_version, {"nvmlSystemGetDriverVersion"});
  bind(l, api.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  bind(l, api.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  bind(l, api.name, {"nvmlDeviceGetName"});
  bind(l, api.uuid, {"nvmlDeviceGetUUID"});
  bind(l, api.utilization, {"nvmlDeviceGetUtilizationRates"});
  bind(l, api.memory, {"nvmlDeviceGetMemoryInfo"});
  bind(l, api.power, {"nvmlDeviceGetPowerUsage"});
  bind(l, api.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  bind(l, api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  bind(l, api.clock, {"nvmlDeviceGetClockInfo"});
  bind(l, api.temperature, {"nvmlDeviceGetTemperature"});
  bind(l, api.throttle, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  bind(l, api.pcie, {"nvmlDeviceGetPcieThroughput"});
  bind(l, api.processes, {"nvmlDeviceGetComputeRunningProcesses_v3"});  // earlier versions have another struct
  bind(l, api.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  bind(l, api.gpm_alloc, {"nvmlGpmSampleAlloc"});
  bind(l, api.gpm_free, {"nvmlGpmSampleFree"});
  bind(l, api.gpm_sample, {"nvmlGpmSampleGet"});
  bind(l, api.gpm_mig_sample, {"nvmlGpmMigSampleGet"});
  bind(l, api.gpm_metrics, {"nvmlGpmMetricsGet"});
  bind(l, api.mig_mode, {"nvmlDeviceGetMigMode"});
  bind(l, api.mig_count, {"nvmlDeviceGetMaxMigDeviceCount"});
  bind(l, api.mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  bind(l, api.mig_instance_id, {"nvmlDeviceGetGpuInstanceId"});
  bind(l, api.instance_profile, {"nvmlDeviceGetGpuInstanceProfileInfoV"});
  bind(l, api.instances, {"nvmlDeviceGetGpuInstances"});
  bind(l, api.instance_info, {"nvmlGpuInstanceGetInfo"});
}

std::string meaning(Return code) {
  switch (code) {
    case 9:
      return "the driver is not loaded";
    case 4:
      return "no permission to use the GPU";
    case 18:
      return "driver and library have different versions; reboot after an update";
    case 12:
      return "the driver's library was not found";
    default:
      return fmt::format("NVML error {}", code);
  }
}

}  // namespace

Result<std::unique_ptr<Library>> Library::load() {
  auto library = std::unique_ptr<Library>(new Library);
  const char* named = std::getenv("RIGHTSIZE_NVML");
  const char* path = named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
  library->handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) {
    return fail(unreadable("no NVIDIA driver on this machine: " + std::string(path) + " cannot be loaded")
                    .with_hint("run this on the machine with the GPU, or replay a recording with --replay FILE"));
  }
  bind_all(library->handle_, library->api_);
  const Api& api = library->api_;
  if (api.init == nullptr || api.count == nullptr || api.handle == nullptr || api.shutdown == nullptr) {
    return fail(unreadable(fmt::format("{} is not an NVML library, or is too old", path))
                    .with_hint("a driver of version 450 or later is needed"));
  }
  if (const Return code = api.init(); code != kSuccess) {
    return fail(
        unreadable("the NVIDIA driver does not answer: " + meaning(code)).with_hint("make 'nvidia-smi' work first"));
  }
  library->started_ = true;
  if (library->device_count() == 0) return fail(unreadable("the driver is running but sees no GPU"));
  return library;
}

Library::~Library() {
  if (started_) api_.shutdown();
  if (handle_ != nullptr) dlclose(handle_);
}

std::string Library::driver_version() const {
  char text[96] = {};
  if (api_.driver_version == nullptr || api_.driver_version(text, sizeof text) != kSuccess) return "unknown";
  return text;
}

unsigned Library::device_count() const {
  unsigned count = 0;
  return api_.count(&count) == kSuccess ? count : 0;
}

}  // namespace rightsize::telemetry::nvml
