#include "telemetry/read.h"

#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

using testing::HasSubstr;

struct Collected : SampleSink {
  std::vector<Device> devices;
  std::vector<std::pair<int, Sample>> samples;
  int open(const Device& device) override {
    devices.push_back(device);
    return static_cast<int>(devices.size()) - 1;
  }
  void add(int device, const Sample& sample) override { samples.emplace_back(device, sample); }
  void add_unusable(int device, Metric metric, TimePoint time) override {
    unusable.emplace_back(device, metric, in_unix_seconds(time));
  }
  std::vector<std::tuple<int, Metric, double>> unusable;
};

struct Reading {
  Collected got;
  Result<ReadSummary> summary = ReadSummary{};
};

Reading read(std::string_view text) {
  Reading reading;
  auto source = bytes_of(text);
  reading.summary = read_samples("test", *source, reading.got);
  return reading;
}

double value(const Reading& reading, std::size_t sample, Metric metric) {
  return reading.got.samples.at(sample).second.get(metric).value_or(-1);
}

TEST(ReadSamples, RecordingColumnsMayBeInAnyOrderAndUnknownOnesAreIgnored) {
  auto reading = read("gpu,t_s,reserved8_pct,sm_pct,fb_used_mib,pcie_rx_mibs\n0,0.1,9,45.5,1024,2\n1,0.1,9,,2048,0\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->format, SampleFormat::kRecording);
  ASSERT_EQ(reading.got.samples.size(), 2u);
  EXPECT_EQ(reading.got.devices[1].index, 1);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kSmActive), 0.455);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryUsed), 1024.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kPcieRx), 2.0 * 1024 * 1024);
  EXPECT_FALSE(reading.got.samples[1].second.has(Metric::kSmActive)) << "an empty cell is missing, not zero";
}

TEST(ReadSamples, RecordingWithoutGpuColumnIsGpu0) {
  auto reading = read("t_s,gpu_util_pct\n0,5\n1,6\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.got.devices.size(), 1u);
  EXPECT_EQ(reading.got.devices[0].index, 0);
}

TEST(ReadSamples, BadRowsAreRefusedWithTheirPlaceAndTheRestKept) {
  auto reading = read("t_s,gpu_util_pct,power_w\n0,5,100\nx,5,100\n1,6\n2,nan,200\n3,7,1e2\n4,5");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->samples, 3u);
  EXPECT_EQ(reading.summary->refused, 3u);
  EXPECT_EQ(reading.summary->reasons[0].place.line, 3);
  EXPECT_FALSE(reading.got.samples[1].second.has(Metric::kGpuUtil));
  EXPECT_DOUBLE_EQ(value(reading, 2, Metric::kPower), 100);
}

TEST(ReadSamples, AHeaderBetweenRowsMayNameOtherColumns) {
  auto reading = read("t_s,gpu_util_pct\n0,5\nt_s,power_w,gpu_util_pct\n1,80,6\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->refused, 0u);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kPower), 80);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kGpuUtil), 0.06);
}

TEST(ReadSamples, ReadsNvidiaSmiQueryCsv) {
  auto reading = read(
      "timestamp, index, uuid, name, utilization.gpu [%], memory.total [MiB], memory.used [MiB], power.draw [W], "
      "clocks.current.sm [MHz], clocks_event_reasons.active\n"
      "2026/01/02 00:00:01.500, 3, GPU-ab, NVIDIA L4, 97 %, 23034 MiB, 512 MiB, 71.50 W, [N/A], 0x0000000000000004\n"
      "2026/01/02 00:00:02.500, 3, GPU-ab, NVIDIA L4, [Unknown Error], [GPU is lost], 512 MiB, 70 W, 900 MHz, 0x0\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->format, SampleFormat::kSmiQuery);
  ASSERT_EQ(reading.got.devices.size(), 1u);
  EXPECT_EQ(reading.got.devices[0].uuid, "GPU-ab");
  EXPECT_EQ(reading.got.devices[0].name, "NVIDIA L4");
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.97);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kThrottle), 4);
  EXPECT_FALSE(reading.got.samples[0].second.has(Metric::kSmClock));
  EXPECT_FALSE(reading.got.samples[1].second.has(Metric::kGpuUtil));
  // 2026-01-02 is day 20455 of the epoch.
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[0].second.time), 20455 * 86400.0 + 1.5);
}

TEST(ReadSamples, OutputsOfProfilersAreNamed) {
  const auto reading = read("Time (%),Total Time (ns),Instances,Name\n61.2,81234567890,120000,gemm\n");
  ASSERT_FALSE(reading.summary);
  EXPECT_THAT(reading.summary.error().message, HasSubstr("Nsight Systems"));
}

TEST(ReadSamples, TheProcessesOfPmonAddUpToTheirGpu) {
  auto reading = read(
      "#Date       Time        gpu         pid   type     sm    mem     fb   command\n"
      "#YYYYMMDD   HH:MM:SS    Idx           #    C/G      %      %     MB   name\n"
      " 20261116   09:00:00      0       1234     C     60     20   1000   python train.py\n"
      " 20261116   09:00:00      0       1235     C     30     10    500   python\n"
      " 20261116   09:00:00      1          -     -      -      -      -   -\n"
      " 20261116   09:00:01      0       1234     C      -      -   1000   python\n");
  ASSERT_TRUE(reading.summary);
  ASSERT_EQ(reading.got.samples.size(), 3u);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.9);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryUsed), 1500.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kGpuUtil), 0);
  EXPECT_DOUBLE_EQ(value(reading, 2, Metric::kGpuUtil), 0);
  // Without times, a process that comes back begins the next reading.
  reading = read("# gpu  pid  type  sm  mem  command\n 0 7 C 50 1 a\n 0 8 C 40 1 b\n 0 7 C 30 1 a\n");
  ASSERT_EQ(reading.got.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.9);
}

constexpr const char* kSmiTable =
    "Mon Nov 16 10:12:41 2026\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |\n"
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|=========================================+========================+======================|\n"
    "|   0  NVIDIA L40S                    On  |   00000000:0A:00.0 Off |                    0 |\n"
    "| N/A   62C    P0            287W /  350W |   41310MiB /  46068MiB |     99%      Default |\n"
    "|                                         |                        |                  N/A |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "|   3  NVIDIA L40S                    On  |   00000000:0B:00.0 Off |                    0 |\n"
    "| N/A   33C    P8             N/A /  N/A  |       4MiB /  46068MiB |      0%      Default |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|    0   N/A  N/A    918273      C   python3                                     41300MiB |\n"
    "+-----------------------------------------------------------------------------------------+\n";

TEST(ReadSamples, ReadsTheTableOfNvidiaSmi) {
  // Twice, as 'watch' or -l writes it; the second one breaks off after its first GPU.
  const std::string table = kSmiTable;
  auto reading = read(table + table.substr(0, table.find("|   3  NVIDIA")));
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->format, SampleFormat::kSmiText);
  ASSERT_EQ(reading.got.devices.size(), 2u);
  EXPECT_EQ(reading.got.devices[0].name, "NVIDIA L40S");
  EXPECT_EQ(reading.got.devices[1].index, 3);
  ASSERT_EQ(reading.got.samples.size(), 3u);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.99);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryUsed), 41310.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryTotal), 46068.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kPower), 287);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kPowerLimit), 350);
  EXPECT_FALSE(reading.got.samples[1].second.has(Metric::kPower));
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[0].second.time), 1794823961);
}

TEST(ReadSamples, ReadsNvidiaSmiQ) {
  const std::string log =
      "\n==============NVSMI LOG==============\n\nTimestamp                 : Mon Nov 16 11:02:10 2026\n"
      "Attached GPUs             : 1\nGPU 00000000:17:00.0\n    Product Name          : NVIDIA H100 PCIe\n"
      "    GPU UUID              : GPU-1a\n    Clocks Event Reasons\n        Idle              : Not Active\n"
      "        SW Power Cap      : Active\n        HW Slowdown       : Not Active\n"
      "            HW Thermal Slowdown : Not Active\n    FB Memory Usage\n        Total             : 81559 MiB\n"
      "        Used              : 15230 MiB\n    BAR1 Memory Usage\n        Used              : 1 MiB\n"
      "    Utilization\n        Gpu               : 23 %\n        Memory            : 6 %\n"
      "    GPU Power Readings\n        Power Draw        : 121.40 W\n        Current Power Limit : 350.00 W\n"
      "    Module Power Readings\n        Power Draw        : 9 W\n    Clocks\n        SM                : 1755 MHz\n"
      "    Max Clocks\n        SM                : 1980 MHz\n";
  auto reading = read(log + log);
  ASSERT_TRUE(reading.summary);
  ASSERT_EQ(reading.got.devices.size(), 1u);
  EXPECT_EQ(reading.got.devices[0].name, "NVIDIA H100 PCIe");
  EXPECT_EQ(reading.got.devices[0].uuid, "GPU-1a");
  ASSERT_EQ(reading.got.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kGpuUtil), 0.23);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kMemoryUsed), 15230.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kPower), 121.4);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kSmClock), 1755e6);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kThrottle), 4);
  // Cut off in a GPU.
  EXPECT_EQ(read(log.substr(0, log.find("    GPU Power"))).got.samples.size(), 1u);
}

// Without a header and units, the columns follow from the numbers, whatever their order.
RC_GTEST_PROP(ReadSamples, ColumnsWithoutNamesAreFoundByTheirNumbers, ()) {
  const bool memory_first = *rc::gen::arbitrary<bool>(), total_first = *rc::gen::arbitrary<bool>();
  const bool with_power = *rc::gen::arbitrary<bool>(), with_index = *rc::gen::arbitrary<bool>();
  const auto shares = *rc::gen::container<std::vector<int>>(20, rc::gen::inRange(0, 101));
  std::string text;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    // A load that changes cannot be a temperature.
    const int share = i % 2 == 0 ? shares[i] : 100 - shares[i - 1] / 3;
    const std::string memory = total_first ? "23034, 9120" : "9120, 23034";
    const std::string load = fmt::format("{}, {}", i == 0 ? 0 : share, share / 2);
    text += fmt::format("2026/11/16 09:00:{:02}.162, {}NVIDIA L4, {}, {}{}\n", i, with_index ? "2, " : "",
                        memory_first ? memory : load, memory_first ? load : memory, with_power ? ", 44.70" : "");
  }
  auto reading = read(text);
  RC_ASSERT(reading.summary.has_value());
  RC_ASSERT(!reading.summary->assumed.empty());
  RC_ASSERT(reading.got.samples.size() == shares.size());
  RC_ASSERT(value(reading, 0, Metric::kGpuUtil) == 0);
  RC_ASSERT(value(reading, 1, Metric::kGpuUtil) == (100 - shares[0] / 3) * 0.01);
  RC_ASSERT(value(reading, 1, Metric::kMemoryUsed) == 9120.0 * 1024 * 1024);
  RC_ASSERT(value(reading, 1, Metric::kMemoryTotal) == 23034.0 * 1024 * 1024);
  RC_ASSERT(value(reading, 1, Metric::kPower) == (with_power ? 44.7 : -1));
}

TEST(ReadSamples, ColumnsThatMayBeATemperatureAreNotGuessed) {
  std::string text;
  for (int i = 0; i < 9; ++i) text += fmt::format("2026/11/16 09:00:0{}.162, NVIDIA L4, 4{}, 30, 9120, 23034\n", i, i);
  const auto reading = read(text);
  ASSERT_FALSE(reading.summary);
  EXPECT_THAT(reading.summary.error().message, HasSubstr("names no columns"));
}

TEST(ReadSamples, DmonByColumnNamesWithGpmColumnsAndRepeatedHeaders) {
  auto reading = read(
      "# gpu    pwr  gtemp     sm    mem     fb     smutil       dram\n"
      "# Idx      W      C      %      %     MB      GPM:%      GPM:%\n"
      "    0    690     66    100     24   1011          -          -\n"
      "# gpu    pwr  gtemp     sm    mem     fb     smutil       dram\n"
      "# Idx      W      C      %      %     MB      GPM:%      GPM:%\n"
      "    0    691     66    100     24   1011         96         17\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->format, SampleFormat::kSmiDmon);
  ASSERT_EQ(reading.got.samples.size(), 2u);
  EXPECT_FALSE(reading.got.samples[0].second.has(Metric::kSmActive));
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kSmActive), 0.96);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kDramActive), 0.17);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kGpuUtil), 1);
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[1].second.time), 1);
}

TEST(ReadSamples, ReadsDmonWithDateAndTime) {
  auto reading = read(
      "#Date        Time         gpu    pwr     sm  rxpci  txpci \n"
      "#YYYYMMDD    HH:MM:SS     Idx      W      %   MB/s   MB/s \n"
      " 20260102    00:00:03       1    690    100     17     10 \n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.got.devices[0].index, 1);
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[0].second.time), 20455 * 86400.0 + 3);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kPcieRx), 17e6);
}

TEST(ReadSamples, ReadsDcgmiDmon) {
  auto reading = read(
      "#Entity   GRACT        SMACT        TENSO        DRAMA        POWER\n"
      "ID                                                            W\n"
      "GPU 1     N/A          N/A          N/A          N/A          90.5\n"
      "GPU 0     0.984        0.930        0.000        0.252        300.0\n"
      "GPU-I 3   0.100        0.050        0.000        0.010        N/A\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->format, SampleFormat::kDcgmiDmon);
  ASSERT_EQ(reading.got.devices.size(), 3u);
  EXPECT_EQ(reading.got.devices[2].mig_id, "3");
  EXPECT_EQ(reading.got.devices[2].index, 0);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kSmActive), 0.93);
  EXPECT_FALSE(reading.got.samples[0].second.has(Metric::kSmActive));
}

constexpr const char* kScrape =
    "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
    "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\",pod=\"p}1\"} "
    "97\n"
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\"} 0\n"
    "DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\",pod=\"p}1\"} "
    "1000\n"
    "DCGM_FI_DEV_FB_FREE{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\",pod=\"p}1\"} "
    "79000\n"
    "DCGM_FI_DEV_FB_RESERVED{gpu=\"0\",UUID=\"GPU-a\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\",pod=\"p}1\"} "
    "559\n"
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 5000\n"
    "DCGM_FI_PROF_DRAM_ACTIVE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 0.66\n"
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 9223372036854775794\n";

TEST(ReadSamples, ExpositionGivesOneSamplePerDeviceAndScrape) {
  auto reading = read(std::string(kScrape) + kScrape);
  ASSERT_TRUE(reading.summary) << describe(reading.summary.error());
  EXPECT_EQ(reading.summary->format, SampleFormat::kExposition);
  EXPECT_EQ(reading.summary->refused, 0u);
  ASSERT_EQ(reading.got.samples.size(), 4u);
  ASSERT_EQ(reading.got.devices.size(), 3u) << "one without the pod, whose metrics go with the pod's";
  EXPECT_EQ(reading.got.devices[0].labels.at("pod"), "p}1");
  EXPECT_EQ(reading.got.devices[0].host, "n1");
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.97);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryTotal), (1000 + 79000 + 559) * 1024.0 * 1024.0);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kEnergy), 5) << "DCGM counts millijoules";
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kDramActive), 0.66);
  EXPECT_FALSE(reading.got.samples[0].second.has(Metric::kTensorActive)) << "a blank is missing";
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[2].second.time), 1);
}

TEST(ReadSamples, ExpositionReadsTimestampsAndNewDcgmNames) {
  auto reading = read(
      "DCGM_FI_PROF_SM_UTIL_RATIO{gpu=\"0\",uuid=\"GPU-a\"} 0.5 1000000000500\n"
      "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\",uuid=\"GPU-a\"} 1 1000000000500\n"
      "DCGM_FI_PROF_SM_UTIL_RATIO{gpu=\"0\",uuid=\"GPU-a\"} 0.25 1000000001500\n"
      "DCGM_FI_DEV_GPU_UTIL_RATIO{gpu=\"0\",uuid=\"GPU-a\"} 42 1000000001500\n");
  ASSERT_TRUE(reading.summary);
  ASSERT_EQ(reading.got.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[1].second.time), 1000000001.5);
  EXPECT_DOUBLE_EQ(value(reading, 1, Metric::kGpuUtil), 0.42) << "that field has kept its 0-100";
  EXPECT_FALSE(reading.got.samples[0].second.has(Metric::kGpuUtil)) << "1 % or 100 %: not yet known";
}

TEST(ReadSamples, ExpositionMigInstancesAreDevices) {
  auto reading = read(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"GPU-a\",GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\"7\"} 0.5\n"
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",UUID=\"GPU-a\",GPU_I_PROFILE=\"2g.20gb\",GPU_I_ID=\"3\"} 0.6\n");
  ASSERT_EQ(reading.got.devices.size(), 2u);
  EXPECT_EQ(reading.got.devices[0].mig_profile, "1g.10gb");
  EXPECT_EQ(reading.got.devices[1].key(), "GPU-a/3");
}

// Two pods that share a GPU are two series of that GPU, in any order of lines.
TEST(ReadSamples, ExpositionLinesWithTimesMayComeInAnyOrder) {
  const char* util = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-x\",pod=\"";
  const char* memory = "DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-x\",pod=\"";
  std::string text;
  for (const char* pod : {"a", "b", "a", "b"}) {
    const char* time = text.size() < 200 ? "1767225602000" : "1767225601000";
    text += std::string(util) + pod + "\"} 40 " + time + "\n" + memory + pod + "\"} 100 " + time + "\n";
  }
  auto reading = read(text);
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->refused, 0u);
  ASSERT_EQ(reading.got.devices.size(), 2u);
  EXPECT_EQ(reading.got.devices[1].labels.at("pod"), "b");
  ASSERT_EQ(reading.got.samples.size(), 4u);
  for (const auto& [device, sample] : reading.got.samples) {
    EXPECT_TRUE(sample.has(Metric::kGpuUtil) && sample.has(Metric::kMemoryUsed));
    EXPECT_TRUE(sample.time == unix_seconds(1767225601) || sample.time == unix_seconds(1767225602));
  }
}

// The exposition format has milliseconds, OpenMetrics seconds with or without decimals.
RC_GTEST_PROP(ReadSamples, OpenMetricsTimesAreSeconds, ()) {
  const int seconds_later = *rc::gen::inRange(0, 1'000'000'000), fraction = *rc::gen::inRange(0, 1000);
  const double time = 1e9 + seconds_later + fraction / 1000.0;  // from 2001 to 2033
  const auto at = [](const std::string& text) {
    const auto reading =
        read("# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"G\"} 40 " + text + "\n# EOF\n");
    RC_ASSERT(reading.got.samples.size() == 1u);
    return in_unix_seconds(reading.got.samples.front().second.time);
  };
  RC_ASSERT(std::abs(at(fmt::format("{:.3f}", time)) - time) < 1e-3);
  RC_ASSERT(std::abs(at(fmt::format("{:.0f}", 1000 * time)) - time) < 1e-3);
  RC_ASSERT(std::abs(at(fmt::format("{:.0f}", std::floor(time))) - std::floor(time)) < 1e-3);
}

TEST(ReadSamples, ImpossibleValuesAreReportedAsUnusable) {
  auto reading = read(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"G\"} NaN 1767225601000\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"G\"} 2147483632 1767225602000\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"G\"} 250 1767225603000\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"G\"} 25 1767225604000\n");
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.got.samples.size(), 1u);
  ASSERT_EQ(reading.got.unusable.size(), 3u);
  EXPECT_EQ(std::get<2>(reading.got.unusable[1]), 1767225602);
  auto csv = read("t_s,gpu,gpu_util_pct\n0,0,250\n1,0,50\n2,0,\n");
  ASSERT_TRUE(csv.summary);
  EXPECT_EQ(csv.got.unusable.size(), 1u) << "an empty cell is not a value";
}

TEST(ReadSamples, GpusOfOneFileAreDistinguishedByHostAndIndex) {
  std::string text = "t_s,host,gpu,gpu_util_pct\n";
  for (int row = 0; row < 3; ++row) {
    for (int host = 0; host < 3000; ++host) text += std::to_string(row) + ",n" + std::to_string(host) + ",0,5\n";
  }
  auto reading = read(text);
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.got.devices.size(), 3000u);
  EXPECT_EQ(reading.got.samples.size(), 9000u);
  EXPECT_EQ(reading.got.devices[static_cast<std::size_t>(reading.got.samples[8999].first)].host, "n2999");
}

TEST(ReadSamples, XmlLogsFollowOneAnotherAndMayBeCutShort) {
  auto log = [](const char* util, const char* end) {
    return std::string(
               "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<gpu id=\"0\">\n<uuid>G</uuid>\n<utilization><gpu_util>") +
           util + "</gpu_util></utilization>\n" + end;
  };
  const char* whole = "</gpu>\n</nvidia_smi_log>\n";
  auto reading =
      read(log("10 %", whole) + log("20 %", "") + log("30 %", "</gpu></oops>\n<more/>\n") + log("40 %", whole));
  ASSERT_TRUE(reading.summary) << describe(reading.summary.error());
  EXPECT_EQ(reading.summary->refused, 1u);
  ASSERT_EQ(reading.got.samples.size(), 3u) << "what was closed before the mistake is kept";
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kGpuUtil), 0.1);
  EXPECT_DOUBLE_EQ(value(reading, 2, Metric::kGpuUtil), 0.4);
}

TEST(ReadSamples, ReadsNvidiaSmiXml) {
  auto reading = read(R"(<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Fri Jan  2 00:00:05 2026</timestamp>
	<gpu id="00000000:00:06.0">
		<product_name>NVIDIA H200</product_name>
		<uuid>GPU-x</uuid>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
		</clocks_event_reasons>
		<fb_memory_usage><total>1000 MiB</total><used>10 MiB</used></fb_memory_usage>
		<utilization><gpu_util>50 %</gpu_util><memory_util>N/A</memory_util></utilization>
		<gpu_power_readings><average_power_draw>690.1 W</average_power_draw><instant_power_draw>1 W</instant_power_draw></gpu_power_readings>
	</gpu>
	<gpu id="00000000:00:07.0"><uuid>GPU-y</uuid><utilization><gpu_util>1 %</gpu_util></utilization></gpu>
</nvidia_smi_log>
)");
  ASSERT_TRUE(reading.summary) << describe(reading.summary.error());
  ASSERT_EQ(reading.got.devices.size(), 2u);
  EXPECT_EQ(reading.got.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(reading.got.devices[1].index, 1);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kPower), 690.1);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kThrottle), 4);
  EXPECT_DOUBLE_EQ(value(reading, 0, Metric::kMemoryUsed), 10 * 1024.0 * 1024.0);
  EXPECT_DOUBLE_EQ(in_unix_seconds(reading.got.samples[0].second.time), 20455 * 86400.0 + 5);
}

// Members in nvidia-smi's names; a document is one reading per GPU, also indented, on one line, or cut short.
RC_GTEST_PROP(ReadSamples, GpustatGivesOneReadingPerGpuAndDocument, ()) {
  const int gpus = *rc::gen::inRange(1, 9), documents = *rc::gen::inRange(1, 5);
  const bool indented = *rc::gen::arbitrary<bool>(), cut = *rc::gen::arbitrary<bool>();
  const std::string sep = indented ? "\n    " : " ";
  std::string text;
  for (int d = 0; d < documents; ++d) {
    std::string one =
        fmt::format(R"({{{}"hostname": "n1", "query_time": "2026-01-02T00:00:{:02}.5", "gpus": [)", sep, d);
    for (int g = 0; g < gpus; ++g)
      one += fmt::format(
          R"({}{}{{"index": {}, "uuid": "GPU-{}", "name": "NVIDIA RTX A6000",)"
          R"( "utilization.gpu": {}, "memory.used": 100, "power.draw": null, "processes": [{{"username": "{}", "pid": 1}}, {{"username": "ann", "pid": 2}}]}})",
          g > 0 ? "," : "", sep, g, g, 10 * d + g, g == 0 ? "ann" : "bob");
    if (cut) text += one + "\n";
    text += one + (indented ? "\n    ]\n}\n" : "]}\n");
  }
  const auto reading = read(text);
  RC_ASSERT(reading.summary.has_value());
  RC_ASSERT(reading.summary->format == SampleFormat::kGpustat);
  RC_ASSERT(reading.got.devices.size() == static_cast<std::size_t>(gpus));
  RC_ASSERT(reading.got.samples.size() == static_cast<std::size_t>(gpus * documents));
  RC_ASSERT(reading.got.devices[0].labels.at("user") == "ann" && reading.got.devices[0].host == "n1");
  for (std::size_t i = 0; i < reading.got.samples.size(); ++i) {
    const auto& [device, sample] = reading.got.samples[i];
    const double document = std::floor(static_cast<double>(i) / gpus);
    RC_ASSERT(device == static_cast<int>(i) % gpus);
    RC_ASSERT(std::abs(*sample.get(Metric::kGpuUtil) - (10 * document + device) / 100) < 1e-9);
    RC_ASSERT(!sample.has(Metric::kPower));
    RC_ASSERT(in_unix_seconds(sample.time) == 20455 * 86400.0 + document + 0.5);
    if (device > 0) RC_ASSERT(reading.got.devices[static_cast<std::size_t>(device)].labels.empty());  // several users
  }
}

TEST(ReadSamples, UnreadableInputIsExplained) {
  EXPECT_THAT(describe(read("").summary.error()), HasSubstr("is empty"));
  EXPECT_THAT(describe(read("hello world\n").summary.error()), HasSubstr("unrecognized format"));
  EXPECT_THAT(describe(read("{\"status\":\"success\"}").summary.error()), HasSubstr("rightsize fleet"));
  EXPECT_THAT(describe(read("t_s,gpu_util_pct\n").summary.error()), HasSubstr("has no samples"));
  EXPECT_THAT(describe(read("t_s,sm_pct\nabc,5\n").summary.error()), HasSubstr("test:2:1"));
}

TEST(ReadSamples, LinesLongerThanTheBufferAreRefusedOnce) {
  std::string text = "t_s,gpu_util_pct\n0,5\n" + std::string(5u << 20, '7') + "\n1,6\n";
  auto reading = read(text);
  ASSERT_TRUE(reading.summary);
  EXPECT_EQ(reading.summary->samples, 2u);
  EXPECT_EQ(reading.summary->refused, 1u);
}

// Output of the tools on a machine with an H200.
TEST(ReadSamples, ReadsRealCaptures) {
  const std::filesystem::path folder = std::filesystem::path(RIGHTSIZE_SOURCE_DIR) / "tests/fixtures/captures";
  const std::pair<const char*, SampleFormat> files[] = {{"nvidia-smi-query.csv", SampleFormat::kSmiQuery},
                                                        {"nvidia-smi-dmon.txt", SampleFormat::kSmiDmon},
                                                        {"nvidia-smi-dmon-gpm.txt", SampleFormat::kSmiDmon},
                                                        {"nvidia-smi-q.xml", SampleFormat::kSmiXml},
                                                        {"compute-gemm-bf16.csv", SampleFormat::kRecording}};
  for (const auto& [file, format] : files) {
    auto source = open_bytes((folder / file).string());
    ASSERT_TRUE(source);
    Collected got;
    auto summary = read_samples(file, **source, got);
    ASSERT_TRUE(summary) << file;
    EXPECT_EQ(summary->format, format) << file;
    EXPECT_EQ(summary->refused, 0u) << file;
    EXPECT_TRUE(got.samples.back().second.has(Metric::kGpuUtil)) << file;
    EXPECT_TRUE(got.samples.back().second.has(Metric::kPower)) << file;
  }
}

// Trackers write a column for each GPU and metric; every name and unit gives the value that was written.
RC_GTEST_PROP(ReadSamples, TablesOfTrackersAreReadByTheWordsOfTheirColumns, ()) {
  struct Tracker {
    const char *time, *util, *power, *memory;
    double memory_unit;
  };
  const Tracker tracker = *rc::gen::elementOf(std::vector<Tracker>{
      {"_timestamp", "system/gpu.{}.gpu", "system/gpu.{}.powerWatts", "system/gpu.{}.memoryAllocatedBytes", 1},
      {"Relative Time (Process)", "run-7 - system/gpu.{}.gpu", "run-7 - system.gpu.{}.powerWatts", "", 1},
      {"timestamp", "system/gpu_{}_utilization_percentage", "system/gpu_{}_power_usage_watts",
       "system/gpu_{}_memory_usage_megabytes", 1e6},
      {"time", "cuda:{0} (gpu:{0})/gpu_utilization (%)/mean", "cuda:{0} (gpu:{0})/power_usage (W)/mean",
       "cuda:{0} (gpu:{0})/memory_used (MiB)/mean", 1048576}});
  const int gpus = *rc::gen::inRange(1, 9), rows = *rc::gen::inRange(1, 20);
  const bool quoted = *rc::gen::arbitrary<bool>();
  const auto cell = [&](const std::string& text) { return quoted ? "\"" + text + "\"" : text; };
  std::string text = cell(tracker.time) + ",step";
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (const char* name : {tracker.util, tracker.power, tracker.memory})
      text += "," + cell(*name == '\0' ? "loss" : fmt::format(fmt::runtime(name), gpu));
    text += "," + cell(fmt::format(fmt::runtime(tracker.util), gpu) + "__MAX");
  }
  std::vector<std::array<int, 3>> written;
  for (int row = 0; row < rows; ++row) {
    text += fmt::format("\n{},{}", cell(std::to_string(100 + 5 * row)), row);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      written.push_back({*rc::gen::inRange(2, 101), *rc::gen::inRange(50, 700), *rc::gen::inRange(1, 80'000)});
      for (const int value : written.back()) text += "," + cell(std::to_string(value));
      text += ",100";
    }
  }
  const Reading reading = read(text + "\n");
  RC_ASSERT(reading.summary.has_value());
  RC_ASSERT(reading.summary->format == SampleFormat::kKeywordCsv);
  RC_ASSERT(reading.got.devices.size() == static_cast<std::size_t>(gpus));
  RC_ASSERT(reading.got.samples.size() == written.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Sample& sample = reading.got.samples[i].second;
    RC_ASSERT(in_unix_seconds(sample.time) == 100 + 5 * static_cast<double>(i / static_cast<std::size_t>(gpus)));
    RC_ASSERT(std::abs(*sample.get(Metric::kGpuUtil) - written[i][0] / 100.0) < 1e-9);
    RC_ASSERT(*sample.get(Metric::kPower) == written[i][1]);
    RC_ASSERT(sample.has(Metric::kMemoryUsed) == (*tracker.memory != '\0'));
    if (sample.has(Metric::kMemoryUsed))
      RC_ASSERT(*sample.get(Metric::kMemoryUsed) == written[i][2] * tracker.memory_unit);
  }
}

TEST(MetricNames, OldAndNewDcgmNamesMeanTheSameMetric) {
  EXPECT_EQ(find_metric(Vocabulary::kExporter, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")->metric, Metric::kGraphicsActive);
  EXPECT_EQ(find_metric(Vocabulary::kExporter, "DCGM_FI_PROF_TENSOR_UTIL_RATIO")->metric, Metric::kTensorActive);
  EXPECT_FALSE(find_metric(Vocabulary::kExporter, "GPU_UTIL"));
  EXPECT_EQ(find_metric(Vocabulary::kSmiDmon, "sm")->metric, Metric::kGpuUtil);
  EXPECT_EQ(find_metric(Vocabulary::kDcgmi, "SMACT")->metric, Metric::kSmActive);
}

TEST(MetricNames, BlankValuesOfDcgmAndNvmlAreRecognised) {
  for (double blank : {9223372036854775794.0, 2147483632.0, 140737488355328.0, std::nan("")}) {
    EXPECT_TRUE(is_blank(blank)) << blank;
  }
  EXPECT_FALSE(is_blank(8e9)) << "bytes a second may be many";
  for (const char* blank : {"", "-", "N/A", "[N/A]", "[Not Supported]", "[Insufficient Permissions]"}) {
    EXPECT_TRUE(is_blank(std::string_view(blank))) << blank;
  }
  EXPECT_FALSE(canonical({Metric::kSmActive, 0.01}, 250)) << "a share of 2.5 is none";
  EXPECT_DOUBLE_EQ(*canonical({Metric::kSmActive, 0.01}, 102), 1);
}

// No row of data/metric_names.csv is ignored, and every name is found under its source.
TEST(MetricNames, EveryRowIsUnderstood) {
  const std::string_view text = embedded_file("metric_names.csv");
  const Csv csv = *Csv::parse("data/metric_names.csv", std::string(text));
  std::size_t rows = 0;
  for (std::size_t i = 0; i < kVocabularies; ++i) {
    for (const auto& [name, spec] : metric_names(static_cast<Vocabulary>(i))) {
      ++rows;
      const std::string written = name.starts_with("DCGM ") ? "DCGM_FI_DEV_" + name.substr(5) : name;
      const auto found = find_metric(static_cast<Vocabulary>(i), written);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(found->metric, spec.metric) << name;
    }
  }
  EXPECT_EQ(rows, csv.rows().size());
}

}  // namespace
}  // namespace rightsize::telemetry
