// The part of NVML's C interface that we call, declared from its public documentation (docs.nvidia.com/deploy/nvml-api,
// read 2026-11; struct layouts checked against NVIDIA/go-nvml's header for NVML 12.2 and a driver of version 580).
// Nothing is linked: functions are looked up by name, and a missing one means an old driver, not a failure.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "base/result.h"

namespace rightsize::telemetry::nvml {

using Return = int;
inline constexpr Return kSuccess = 0, kNotSupported = 3, kInsufficientSize = 7, kGpuIsLost = 15;

struct DeviceHandle;
using Device = DeviceHandle*;
struct GpmSampleHandle;
using GpmSample = GpmSampleHandle*;
struct GpuInstanceHandle;
using GpuInstance = GpuInstanceHandle*;

struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;  // bytes; `used` includes what the driver reserves
};
struct ProcessInfo {  // version 3 of the call
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
struct GpmMetric {
  unsigned id;
  Return status;
  double value;
  const char *short_name, *long_name, *unit;
};
struct GpmMetricsGet {
  unsigned version, count;
  GpmSample first, second;
  GpmMetric metrics[512];  // more than any version has; only `count` are read and written
};
struct GpmSupport {
  unsigned version, supported;
};
struct Placement {
  unsigned start, size;
};
struct GpuInstanceInfo {
  Device device;
  unsigned id, profile;
  Placement placement;
};
struct GpuInstanceProfile {  // version 2
  unsigned version, id, peer_to_peer, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
  unsigned long long memory_mb;
  char name[96];
};
inline constexpr unsigned kGpuInstanceProfileVersion = sizeof(GpuInstanceProfile) | 2u << 24;

inline constexpr int kClockSm = 1, kClockMemory = 2;
inline constexpr int kTemperatureGpu = 0;
inline constexpr int kPcieTx = 0, kPcieRx = 1;
inline constexpr unsigned kGpmVersion = 1;

// GPM metric numbers.
inline constexpr unsigned kGpmGraphics = 1, kGpmSm = 2, kGpmOccupancy = 3, kGpmInteger = 4, kGpmTensor = 5,
                          kGpmDfma = 6, kGpmHmma = 7, kGpmImma = 9, kGpmDram = 10, kGpmFp64 = 11, kGpmFp32 = 12,
                          kGpmFp16 = 13, kGpmPcieTx = 20, kGpmPcieRx = 21, kGpmNvlinkRx = 60, kGpmNvlinkTx = 61;

// A function of the library; one that is missing answers kNotSupported.
template <class... Arguments>
class Call {
 public:
  explicit Call(void* found) : function_(reinterpret_cast<Return (*)(Arguments...)>(found)) {}
  Return operator()(Arguments... arguments) const { return function_ ? function_(arguments...) : kNotSupported; }
  bool exists() const { return function_ != nullptr; }

 private:
  Return (*function_)(Arguments...);
};

// NVML's library, loaded and started.
class Library {
 public:
  static Result<std::unique_ptr<Library>> load();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string driver_version() const;
  unsigned device_count() const;

 private:
  explicit Library(void* loaded) : handle_(loaded) {}
  // The first name that the library has; newer versions of a call come first.
  void* find(std::initializer_list<const char*> names) const;

  void* handle_;
  bool started_ = false;
  Call<> init_{find({"nvmlInit_v2", "nvmlInit"})};
  Call<> shutdown_{find({"nvmlShutdown"})};
  Call<char*, unsigned> driver_{find({"nvmlSystemGetDriverVersion"})};
  Call<unsigned*> count_{find({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"})};

 public:
  Call<unsigned, Device*> handle{find({"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"})};
  Call<Device, char*, unsigned> name{find({"nvmlDeviceGetName"})};
  Call<Device, char*, unsigned> uuid{find({"nvmlDeviceGetUUID"})};
  Call<Device, Utilization*> utilization{find({"nvmlDeviceGetUtilizationRates"})};
  Call<Device, Memory*> memory{find({"nvmlDeviceGetMemoryInfo"})};
  Call<Device, unsigned*> power{find({"nvmlDeviceGetPowerUsage"})};
  Call<Device, unsigned*> power_limit{find({"nvmlDeviceGetEnforcedPowerLimit"})};
  Call<Device, unsigned long long*> energy{find({"nvmlDeviceGetTotalEnergyConsumption"})};
  Call<Device, int, unsigned*> clock{find({"nvmlDeviceGetClockInfo"})};
  Call<Device, int, unsigned*> temperature{find({"nvmlDeviceGetTemperature"})};
  Call<Device, unsigned long long*> throttle{
      find({"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"})};
  Call<Device, int, unsigned*> pcie{find({"nvmlDeviceGetPcieThroughput"})};
  // Earlier versions have another struct.
  Call<Device, unsigned*, ProcessInfo*> processes{find({"nvmlDeviceGetComputeRunningProcesses_v3"})};
  Call<Device, GpmSupport*> gpm_support{find({"nvmlGpmQueryDeviceSupport"})};
  Call<GpmSample*> gpm_alloc{find({"nvmlGpmSampleAlloc"})};
  Call<GpmSample> gpm_free{find({"nvmlGpmSampleFree"})};
  Call<Device, GpmSample> gpm_sample{find({"nvmlGpmSampleGet"})};
  Call<Device, unsigned, GpmSample> gpm_mig_sample{find({"nvmlGpmMigSampleGet"})};
  Call<GpmMetricsGet*> gpm_metrics{find({"nvmlGpmMetricsGet"})};
  Call<Device, unsigned*, unsigned*> mig_mode{find({"nvmlDeviceGetMigMode"})};
  Call<Device, unsigned*> mig_count{find({"nvmlDeviceGetMaxMigDeviceCount"})};
  Call<Device, unsigned, Device*> mig_handle{find({"nvmlDeviceGetMigDeviceHandleByIndex"})};
  Call<Device, unsigned*> mig_instance_id{find({"nvmlDeviceGetGpuInstanceId"})};
  Call<Device, unsigned, GpuInstanceProfile*> instance_profile{find({"nvmlDeviceGetGpuInstanceProfileInfoV"})};
  Call<Device, unsigned, GpuInstance*, unsigned*> instances{find({"nvmlDeviceGetGpuInstances"})};
  Call<GpuInstance, GpuInstanceInfo*> instance_info{find({"nvmlGpuInstanceGetInfo"})};
};

}  // namespace rightsize::telemetry::nvml
