// The part of NVML's C interface that we call, declared from its public documentation (docs.nvidia.com/deploy/nvml-api,
// read 2026-11; struct layouts checked against NVIDIA/go-nvml's header for NVML 12.2 and a driver of version 580).
// Nothing is linked: functions are looked up by name, and a missing one means an old driver, not a failure.
#pragma once

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

// Every function we may call; null where the library has none of that name.
struct Api {
  Return (*init)();
  Return (*shutdown)();
  Return (*driver_version)(char*, unsigned);
  Return (*count)(unsigned*);
  Return (*handle)(unsigned, Device*);
  Return (*name)(Device, char*, unsigned);
  Return (*uuid)(Device, char*, unsigned);
  Return (*utilization)(Device, Utilization*);
  Return (*memory)(Device, Memory*);
  Return (*power)(Device, unsigned*);
  Return (*power_limit)(Device, unsigned*);
  Return (*energy)(Device, unsigned long long*);
  Return (*clock)(Device, int, unsigned*);
  Return (*temperature)(Device, int, unsigned*);
  Return (*throttle)(Device, unsigned long long*);
  Return (*pcie)(Device, int, unsigned*);
  Return (*processes)(Device, unsigned*, ProcessInfo*);
  Return (*gpm_support)(Device, GpmSupport*);
  Return (*gpm_alloc)(GpmSample*);
  Return (*gpm_free)(GpmSample);
  Return (*gpm_sample)(Device, GpmSample);
  Return (*gpm_mig_sample)(Device, unsigned, GpmSample);
  Return (*gpm_metrics)(GpmMetricsGet*);
  Return (*mig_mode)(Device, unsigned*, unsigned*);
  Return (*mig_count)(Device, unsigned*);
  Return (*mig_handle)(Device, unsigned, Device*);
  Return (*mig_instance_id)(Device, unsigned*);
  Return (*instance_profile)(Device, unsigned, GpuInstanceProfile*);
  Return (*instances)(Device, unsigned, GpuInstance*, unsigned*);
  Return (*instance_info)(GpuInstance, GpuInstanceInfo*);
};

}  // namespace rightsize::telemetry::nvml
