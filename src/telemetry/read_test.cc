#include "telemetry/read.h"

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
