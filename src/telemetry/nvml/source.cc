// NVML readings as Samples: the plain calls on every GPU, GPM counters on Hopper and later.
#include <fstream>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "telemetry/live.h"
#include "telemetry/nvml/library.h"

namespace rightsize::telemetry {
namespace {

using nvml::kSuccess;
using nvml::Library;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr Seconds kSlow = seconds(0.95);  // between the more expensive readings: about once a second

struct Counter {
  unsigned id;
  Metric metric;
  double scale;
};
// Percent, and MiB per second. The driver computes these from two of its samples in a microsecond.
constexpr Counter kCounters[] = {
    {nvml::kGpmSm, Metric::kSmActive, 0.01},           {nvml::kGpmOccupancy, Metric::kSmOccupancy, 0.01},
    {nvml::kGpmInteger, Metric::kIntegerActive, 0.01}, {nvml::kGpmTensor, Metric::kTensorActive, 0.01},
    {nvml::kGpmDfma, Metric::kDfmaActive, 0.01},       {nvml::kGpmHmma, Metric::kHmmaActive, 0.01},
    {nvml::kGpmImma, Metric::kImmaActive, 0.01},       {nvml::kGpmDram, Metric::kDramActive, 0.01},
    {nvml::kGpmFp64, Metric::kFp64Active, 0.01},       {nvml::kGpmFp32, Metric::kFp32Active, 0.01},
    {nvml::kGpmFp16, Metric::kFp16Active, 0.01},       {nvml::kGpmPcieTx, Metric::kPcieTx, kMiB},
    {nvml::kGpmPcieRx, Metric::kPcieRx, kMiB},         {nvml::kGpmNvlinkRx, Metric::kNvlinkRx, kMiB},
    {nvml::kGpmNvlinkTx, Metric::kNvlinkTx, kMiB},
};
// This one takes 1 to 2 ms in the kernel (H200, driver 580), so it is read once a second.
constexpr Counter kEngine[] = {{nvml::kGpmGraphics, Metric::kGraphicsActive, 0.01}};

// One GPU or one MIG instance of it.
struct NvmlDevice {
  nvml::Device gpu = nullptr;     // the whole GPU
  nvml::Device handle = nullptr;  // the instance, or the GPU
  std::optional<unsigned> instance = {};
  nvml::GpmSample before = nullptr, now = nullptr;
  nvml::GpmSample second = nullptr;  // start of the period of the counter that is read once a second
  bool has_before = false;
  TimePoint next_slow = {}, next_energy = {}, next_engine = {};  // when the more expensive readings are due
};

Device device_at(const Library& library, unsigned index, nvml::Device handle) {
  const auto text = [handle](const auto& get) {
    char found[96] = {};
    return std::string(get(handle, found, sizeof found) == kSuccess ? found : "");
  };
  return {.index = static_cast<int>(index), .uuid = text(library.uuid), .name = text(library.name)};
}

bool is_partitioned(const Library& library, nvml::Device gpu) {
  unsigned current = 0, pending = 0;
  return library.mig_mode(gpu, &current, &pending) == kSuccess && current == 1;
}

class NvmlSource final : public LiveSource {
 public:
  explicit NvmlSource(std::unique_ptr<Library> library) : library_(std::move(library)) {
    for (unsigned i = 0; i < library_->device_count(); ++i) add_gpu(i);
  }
  ~NvmlSource() override {
    for (NvmlDevice& watched : watched_) {
      for (nvml::GpmSample sample : {watched.before, watched.now, watched.second}) {
        if (sample != nullptr) library_->gpm_free(sample);
      }
    }
  }
  NvmlSource(const NvmlSource&) = delete;
  NvmlSource& operator=(const NvmlSource&) = delete;

  const std::vector<Device>& devices() const override { return devices_; }

  Result<Sample> read(std::size_t device, TimePoint time) override {
    NvmlDevice& watched = watched_[device];
    Sample sample;
    sample.time = time;
    const bool slow = time >= watched.next_slow;
    if (slow || watched.before == nullptr) {
      nvml::Memory memory{};
      const nvml::Return code = library_->memory(watched.handle, &memory);
      if (code == nvml::kGpuIsLost) {
        return fail(
            unreadable(fmt::format("GPU {} no longer answers: it has fallen off the bus", devices_[device].index))
                .with_hint("the machine needs a reboot; 'dmesg' says more"));
      }
      if (code == kSuccess) {
        sample.set(Metric::kMemoryUsed, static_cast<double>(memory.used));
        sample.set(Metric::kMemoryTotal, static_cast<double>(memory.total));
      }
    }
    read_plain(watched, sample, slow);
    read_counters(watched, sample);
    if (slow) watched.next_slow = time + kSlow;
    return sample;
  }

  std::vector<GpuProcess> processes(std::size_t device) override {
    const NvmlDevice& watched = watched_[device];
    std::vector<GpuProcess> found;
    std::vector<nvml::ProcessInfo> infos(64);
    auto count = static_cast<unsigned>(infos.size());
    nvml::Return code = library_->processes(watched.handle, &count, infos.data());
    if (code == nvml::kInsufficientSize) {
      infos.resize(count + 16);
      count = static_cast<unsigned>(infos.size());
      code = library_->processes(watched.handle, &count, infos.data());
    }
    if (code != kSuccess) return found;
    for (unsigned i = 0; i < count; ++i) {
      GpuProcess process{infos[i].pid, std::nullopt, name_of_process(infos[i].pid)};
      constexpr unsigned long long kNotAvailable = ~0ULL;
      if (infos[i].used_memory != kNotAvailable) process.memory = bytes(static_cast<double>(infos[i].used_memory));
      found.push_back(std::move(process));
    }
    return found;
  }

  std::string describe() const override {
    bool gpm = false;
    for (const NvmlDevice& watched : watched_) gpm = gpm || watched.before != nullptr;
    return fmt::format("NVML, driver {}, {} GPM counters", library_->driver_version(), gpm ? "with" : "without");
  }

 private:
  void add_gpu(unsigned index) {
    nvml::Device handle = nullptr;
    if (library_->handle(index, &handle) != kSuccess) return;
    const Device device = device_at(*library_, index, handle);
    if (!is_partitioned(*library_, handle) || !add_instances(device, handle))
      watch(device, NvmlDevice{.gpu = handle, .handle = handle});
  }

  // False when the GPU is in MIG mode without instances.
  bool add_instances(const Device& device, nvml::Device gpu) {
    unsigned most = 0;
    if (library_->mig_count(gpu, &most) != kSuccess) return false;
    bool any = false;
    for (unsigned i = 0; i < most; ++i) {
      nvml::Device handle = nullptr;
      unsigned id = 0;
      if (library_->mig_handle(gpu, i, &handle) != kSuccess || library_->mig_instance_id(handle, &id) != kSuccess)
        continue;
      Device instance = device;
      instance.mig_id = std::to_string(id);
      // "NVIDIA H200 MIG 1g.18gb"
      const std::string name = device_at(*library_, i, handle).name;
      if (const std::size_t at = name.find("MIG "); at != std::string::npos) instance.mig_profile = name.substr(at + 4);
      watch(instance, NvmlDevice{.gpu = gpu, .handle = handle, .instance = id});
      any = true;
    }
    return any;
  }

  void watch(const Device& device, NvmlDevice watched) {
    nvml::GpmSupport support{nvml::kGpmVersion, 0};
    if (library_->gpm_support(watched.gpu, &support) == kSuccess && support.supported != 0) {
      for (nvml::GpmSample* sample : {&watched.before, &watched.now, &watched.second}) {
        if (library_->gpm_alloc(sample) != kSuccess) *sample = nullptr;
      }
    }
    devices_.push_back(device);
    watched_.push_back(watched);
  }

  // NVML without GPM. MIG instances have no utilization; power and clocks are those of the whole GPU. Without GPM,
  // utilization is the only fine-grained metric.
  void read_plain(NvmlDevice& watched, Sample& sample, bool slow) {
    const auto take = [&](const auto& call, Metric metric, auto value, double scale, auto... which) {
      if (call(watched.gpu, which..., &value) != kSuccess) return false;
      sample.set(metric, static_cast<double>(value) * scale);
      return true;
    };
    nvml::Utilization utilization{};
    const bool wanted = !watched.instance && (slow || watched.before == nullptr);
    if (wanted && library_->utilization(watched.gpu, &utilization) == kSuccess) {
      sample.set(Metric::kGpuUtil, utilization.gpu / 100.0);
      sample.set(Metric::kMemoryUtil, utilization.memory / 100.0);
    }
    take(library_->power, Metric::kPower, 0U, 1e-3);
    if (!slow) return;
    take(library_->power_limit, Metric::kPowerLimit, 0U, 1e-3);
    // This call takes the driver 4 ms.
    constexpr Seconds kEnergy = seconds(10);
    if (sample.time >= watched.next_energy && take(library_->energy, Metric::kEnergy, 0ULL, 1e-3))
      watched.next_energy = sample.time + kEnergy;
    take(library_->clock, Metric::kSmClock, 0U, 1e6, nvml::kClockSm);
    take(library_->clock, Metric::kMemoryClock, 0U, 1e6, nvml::kClockMemory);
    take(library_->temperature, Metric::kTemperature, 0U, 1, nvml::kTemperatureGpu);
    take(library_->throttle, Metric::kThrottle, 0ULL, 1);
    // Without GPM the driver measures the link for 20 ms in each of these calls.
    if (watched.before != nullptr) return;
    take(library_->pcie, Metric::kPcieRx, 0U, 1e3, nvml::kPcieRx);
    take(library_->pcie, Metric::kPcieTx, 0U, 1e3, nvml::kPcieTx);
  }

  nvml::Return take_gpm(const NvmlDevice& watched, nvml::GpmSample into) const {
    return watched.instance ? library_->gpm_mig_sample(watched.gpu, *watched.instance, into)
                            : library_->gpm_sample(watched.gpu, into);
  }

  // Counters between two of the driver's samples: all but one since the last reading, that one since the last second
  // (and soon after the start, to include it in short runs).
  void read_counters(NvmlDevice& watched, Sample& sample) {
    if (watched.before == nullptr || watched.now == nullptr || watched.second == nullptr) return;
    if (take_gpm(watched, watched.now) != kSuccess) return;
    if (watched.has_before) ask(watched, watched.before, kCounters, sample);
    const bool due = watched.has_before && sample.time >= watched.next_engine;
    if (due) ask(watched, watched.second, kEngine, sample);
    if (due) watched.next_engine = sample.time + kSlow;
    if (due || !watched.has_before) take_gpm(watched, watched.second);
    watched.has_before = true;
    std::swap(watched.before, watched.now);
  }

  void ask(NvmlDevice& watched, nvml::GpmSample since, std::span<const Counter> counters, Sample& sample) {
    request_.version = nvml::kGpmVersion;
    request_.first = since;
    request_.second = watched.now;
    request_.count = 0;
    for (const Counter& counter : counters) request_.metrics[request_.count++].id = counter.id;
    if (library_->gpm_metrics(&request_) != kSuccess) return;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const nvml::GpmMetric& got = request_.metrics[i];
      if (got.status == kSuccess && got.value >= 0) sample.set(counters[i].metric, got.value * counters[i].scale);
    }
  }

  static std::string name_of_process(unsigned pid) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    std::getline(file, name);
    return name;
  }

  std::unique_ptr<Library> library_;
  std::vector<Device> devices_;
  std::vector<NvmlDevice> watched_;
  nvml::GpmMetricsGet request_{};
};

MigLayout layout_of(const Library& api, nvml::Device handle, Device device) {
  MigLayout layout{std::move(device), is_partitioned(api, handle), {}};
  if (!layout.enabled) return layout;
  constexpr unsigned kProfiles = 32;  // more than there are kinds of instance
  for (unsigned kind = 0; kind < kProfiles; ++kind) {
    nvml::GpuInstanceProfile profile{};
    profile.version = nvml::kGpuInstanceProfileVersion;
    if (api.instance_profile(handle, kind, &profile) != kSuccess) continue;
    std::vector<nvml::GpuInstance> instances(16, nullptr);
    unsigned count = 0;
    if (api.instances(handle, profile.id, instances.data(), &count) != kSuccess) continue;
    for (unsigned i = 0; i < count && i < instances.size(); ++i) {
      nvml::GpuInstanceInfo info{};
      if (api.instance_info(instances[i], &info) != kSuccess) continue;
      std::string_view name(profile.name);
      if (name.starts_with("MIG ")) name.remove_prefix(4);
      layout.instances.push_back({std::string(name), static_cast<int>(info.id), static_cast<int>(info.placement.start),
                                  static_cast<int>(info.placement.size)});
    }
  }
  return layout;
}

}  // namespace

Result<std::unique_ptr<LiveSource>> open_nvml() {
  RIGHTSIZE_TRY(auto library, Library::load());
  auto source = std::make_unique<NvmlSource>(std::move(library));
  if (source->devices().empty()) return fail(unreadable("no GPU of this machine can be opened"));
  return source;
}

Result<std::vector<MigLayout>> read_mig_layout() {
  RIGHTSIZE_TRY(auto library, Library::load());
  std::vector<MigLayout> layouts;
  for (unsigned i = 0; i < library->device_count(); ++i) {
    nvml::Device handle = nullptr;
    if (library->handle(i, &handle) != kSuccess) continue;
    layouts.push_back(layout_of(*library, handle, device_at(*library, i, handle)));
  }
  return layouts;
}

}  // namespace rightsize::telemetry
