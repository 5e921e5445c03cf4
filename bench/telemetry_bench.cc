// Bytes per second when reading files of monitoring tools on one core. The target is 500 MB/s for CSV and exposition
// text.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "diagnose/summary.h"
#include "telemetry/read.h"

namespace {

using namespace rightsize;
using namespace rightsize::telemetry;

struct Counting : SampleSink {
  int devices = 0;
  std::uint64_t samples = 0;
  int open(const Device&) override { return devices++; }
  void add(int, const Sample&) override { ++samples; }
};

void read_text(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    Counting sink;
    auto source = bytes_of(text);
    auto summary = read_samples("bench", *source, sink);
    if (!summary || summary->refused > 0) return state.SkipWithError("not read");
    benchmark::DoNotOptimize(sink.samples);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

std::string recording() {
  std::string text =
      "t_s,gpu,gpu_util_pct,mem_util_pct,fb_used_mib,power_w,sm_mhz,graphics_pct,sm_pct,sm_occupancy_pct,integer_pct,"
      "tensor_pct,dfma_pct,hmma_pct,imma_pct,dram_bw_pct,fp64_pct,fp32_pct,fp16_pct,pcie_tx_mibs,pcie_rx_mibs\n";
  for (int i = 0; i < 100000; ++i) {
    text += fmt::format(
        "{:.3f},{},99,24,1625,690.7,1470,99.009,95.454,14.107,1.345,92.649,0.000,92.649,0.000,17.316,0.000,0.000,0.000,"
        "4.949,13.787\n",
        0.1 * i, i % 8);
  }
  return text;
}

// Every counter differs from row to row, also in length.
std::string varied_recording() {
  std::string text =
      "t_s,gpu,gpu_util_pct,mem_util_pct,fb_used_mib,power_w,sm_mhz,graphics_pct,sm_pct,sm_occupancy_pct,integer_pct,"
      "tensor_pct,dfma_pct,hmma_pct,imma_pct,dram_bw_pct,fp64_pct,fp32_pct,fp16_pct,pcie_tx_mibs,pcie_rx_mibs\n";
  for (int i = 0; i < 100000; ++i) {
    const double share = 0.001 * (i * 7919 % 100000);
    text += fmt::format(
        "{:.3f},{},{},{},1625,{:.1f},1470,{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},0.000,{:.3f},0.000,{:.3f},0.000,0.000,0."
        "000,"
        "{:.3f},{:.3f}\n",
        0.1 * i, i % 8, i % 101, i % 37, 200 + share, share, 0.9 * share, 0.1 * share, 0.05 * share, 0.8 * share,
        0.7 * share, 0.2 * share, 0.3 * share, 3 * share);
  }
  return text;
}

std::string smi_csv() {
  std::string text =
      "timestamp, index, uuid, name, utilization.gpu [%], utilization.memory [%], memory.total [MiB], memory.used "
      "[MiB], "
      "power.draw [W], clocks.current.sm [MHz], temperature.gpu, clocks_event_reasons.active\n";
  for (int i = 0; i < 60000; ++i) {
    text += fmt::format(
        "2026/11/15 {:02}:{:02}:{:02}.211, {}, GPU-f0b3fff8-08bf-32bd-b35c-af7472ec3a{:02}, NVIDIA H200, 100 %, 25 %, "
        "143771 "
        "MiB, 1011 MiB, 693.14 W, 1470 MHz, 65, 0x0000000000000004\n",
        i / 3600 % 24, i / 60 % 60, i % 60, i % 8, i % 8);
  }
  return text;
}

std::string exposition() {
  constexpr const char* kNames[] = {
      "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_TEMP",   "DCGM_FI_DEV_POWER_USAGE",       "DCGM_FI_DEV_GPU_UTIL",
      "DCGM_FI_DEV_FB_USED",  "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE"};
  std::string text;
  for (int scrape = 0; scrape < 800; ++scrape) {
    for (const char* name : kNames) {
      text += fmt::format("# HELP {} Something about the GPU.\n# TYPE {} gauge\n", name, name);
      for (int gpu = 0; gpu < 8; ++gpu) {
        text += fmt::format(
            "{}{{gpu=\"{}\",UUID=\"GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e5{}\",pci_bus_id=\"00000000:07:00.0\",device="
            "\"nvidia{}\","
            "modelName=\"NVIDIA H100 80GB "
            "HBM3\",Hostname=\"node-a\",container=\"main\",namespace=\"team\",pod=\"train-{}\"}} {}\n",
            name, gpu, gpu, gpu, gpu, scrape % 100 / 100.0);
      }
    }
  }
  return text;
}

void csv_recording(benchmark::State& state) { read_text(state, recording()); }
void csv_recording_varied(benchmark::State& state) { read_text(state, varied_recording()); }
void csv_nvidia_smi(benchmark::State& state) { read_text(state, smi_csv()); }
void exposition_text(benchmark::State& state) { read_text(state, exposition()); }
BENCHMARK(csv_recording)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_recording_varied)->Unit(benchmark::kMillisecond);
BENCHMARK(csv_nvidia_smi)->Unit(benchmark::kMillisecond);
BENCHMARK(exposition_text)->Unit(benchmark::kMillisecond);

}  // namespace
