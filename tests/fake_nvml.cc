// A fake NVML library for testing live sampling without a GPU. $FAKE_NVML selects what it simulates:
//   (unset)    two H200s: the first decodes a language model at batch 1, the second is idle
//   old        a driver without GPM
//   lost       the second GPU falls off the bus after a few readings
//   mig        one H200 partitioned into 3g.71gb and 1g.18gb
//   broken     the driver does not start
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "telemetry/nvml/library.h"

using namespace rightsize::telemetry::nvml;

namespace {

std::string mode() {
  const char* text = std::getenv("FAKE_NVML");
  return text == nullptr ? "" : text;
}

// Handles: 1 and 2 are GPUs, 11 and 12 instances of the first.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
Device device_of(unsigned long number) { return reinterpret_cast<Device>(number); }
unsigned long number_of(Device device) { return reinterpret_cast<unsigned long>(device); }
bool works(Device device) { return number_of(device) != 2; }

int readings = 0;

void put(char* to, unsigned size, const std::string& text) { std::snprintf(to, size, "%s", text.c_str()); }

double counter(unsigned id) {
  switch (id) {
    case kGpmGraphics:
      return 99.6;
    case kGpmSm:
      return 44.9;
    case kGpmOccupancy:
      return 6.1;
    case kGpmTensor:
    case kGpmHmma:
      return 2.2;
    case kGpmDram:
      return 43.3;
    case kGpmPcieRx:
      return 9.5;
    case kGpmPcieTx:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): NVML's own names

Return nvmlInit_v2() { return mode() == "broken" ? 9 : kSuccess; }
Return nvmlShutdown() { return kSuccess; }
Return nvmlSystemGetDriverVersion(char* to, unsigned size) {
  put(to, size, "580.00");
  return kSuccess;
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = mode() == "mig" ? 1 : 2;
  return kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = device_of(index + 1);
  return kSuccess;
}
Return nvmlDeviceGetName(Device device, char* to, unsigned size) {
  const unsigned long number = number_of(device);
  put(to, size, number == 11 ? "NVIDIA H200 MIG 3g.71gb" : number == 12 ? "NVIDIA H200 MIG 1g.18gb" : "NVIDIA H200");
  return kSuccess;
}
Return nvmlDeviceGetUUID(Device device, char* to, unsigned size) {
  put(to, size, "GPU-fake-" + std::to_string(number_of(device)));
  return kSuccess;
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  *utilization = works(device) ? Utilization{100, 55} : Utilization{0, 0};
  return kSuccess;
}
Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  if (mode() == "lost" && !works(device) && ++readings > 1) return kGpuIsLost;
  constexpr unsigned long long kMiB = 1ULL << 20;
  *memory = {143771 * kMiB, 0, (works(device) ? 16771 : 615) * kMiB};
  return kSuccess;
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  *milliwatts = works(device) ? 392000 : 80000;
  return kSuccess;
}
Return nvmlDeviceGetEnforcedPowerLimit(Device, unsigned* milliwatts) {
  *milliwatts = 700000;
  return kSuccess;
}
Return nvmlDeviceGetClockInfo(Device device, int kind, unsigned* megahertz) {
  *megahertz = kind == kClockMemory ? 3201 : works(device) ? 1980 : 345;
  return kSuccess;
}
Return nvmlDeviceGetTemperature(Device, int, unsigned* celsius) {
  *celsius = 45;
  return kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* infos) {
  const char* pid = std::getenv("FAKE_NVML_PID");
  *count = works(device) && pid != nullptr ? 1 : 0;
  if (*count == 1) infos[0] = {static_cast<unsigned>(std::atoi(pid)), 16u << 20, 0, 0};
  return kSuccess;
}
Return nvmlGpmQueryDeviceSupport(Device, GpmSupport* support) {
  support->supported = mode() == "old" ? 0 : 1;
  return kSuccess;
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
  *sample = reinterpret_cast<GpmSample>(std::malloc(sizeof(unsigned long)));
  return kSuccess;
}
Return nvmlGpmSampleFree(GpmSample sample) {
  std::free(sample);
  return kSuccess;
}
Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  const unsigned long number = number_of(device);
  std::memcpy(sample, &number, sizeof number);
  return kSuccess;
}
Return nvmlGpmMigSampleGet(Device device, unsigned, GpmSample sample) { return nvmlGpmSampleGet(device, sample); }
Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
  unsigned long number = 0;
  std::memcpy(&number, request->second, sizeof number);
  const bool busy = works(device_of(number));
  for (unsigned i = 0; i < request->count; ++i) {
    GpmMetric& metric = request->metrics[i];
    metric.status = metric.id >= kGpmNvlinkRx ? kNotSupported : kSuccess;
    metric.value = busy ? counter(metric.id) : 0;
  }
  return kSuccess;
}
Return nvmlDeviceGetMigMode(Device, unsigned* current, unsigned* pending) {
  *current = *pending = mode() == "mig" ? 1 : 0;
  return kSuccess;
}
Return nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* count) {
  *count = 7;
  return kSuccess;
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device, unsigned index, Device* device) {
  if (index > 1) return 6;
  *device = device_of(11 + index);
  return kSuccess;
}
Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  *id = number_of(device) == 11 ? 2 : 9;
  return kSuccess;
}
Return nvmlDeviceGetGpuInstanceProfileInfoV(Device, unsigned kind, GpuInstanceProfile* profile) {
  if (profile->version != kGpuInstanceProfileVersion) return 25;
  if (kind != 0 && kind != 2) return kNotSupported;
  profile->id = kind == 0 ? 19 : 9;
  put(profile->name, sizeof profile->name, kind == 0 ? "MIG 1g.18gb" : "MIG 3g.71gb");
  return kSuccess;
}
Return nvmlDeviceGetGpuInstances(Device, unsigned profile, GpuInstance* instances, unsigned* count) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  instances[0] = reinterpret_cast<GpuInstance>(static_cast<unsigned long>(profile));
  *count = 1;
  return kSuccess;
}
Return nvmlGpuInstanceGetInfo(GpuInstance instance, GpuInstanceInfo* info) {
  const bool small = reinterpret_cast<unsigned long>(instance) == 19;
  *info = {nullptr, small ? 9u : 2u, small ? 19u : 9u, small ? Placement{4, 1} : Placement{0, 4}};
  return kSuccess;
}
// NOLINTEND(readability-identifier-naming)
}
