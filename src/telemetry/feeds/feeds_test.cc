#include "telemetry/feeds/feeds.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "base/byte_source.h"
#include "telemetry/feeds/interpret.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::telemetry {
namespace {

struct Kept : SeriesSink {
  struct Series {
    SeriesHead head;
    std::vector<std::pair<double, double>> points;
  };
  std::vector<Series> all;
  bool open(const SeriesHead& head) override {
    all.push_back({head, {}});
    return true;
  }
  void point(const Point& point) override { all.back().points.emplace_back(in_unix_seconds(point.time), point.value); }
  void close() override {}
};

struct KeptSamples : SampleSink {
  std::vector<Device> devices;
  std::vector<std::pair<int, Sample>> samples;
  int open(const Device& device) override {
    devices.push_back(device);
    return static_cast<int>(devices.size() - 1);
  }
  void add(int device, const Sample& sample) override { samples.emplace_back(device, sample); }
};

template <class Read>
Kept read(const std::string& text, Read reader, FeedReport* report = nullptr) {
  Kept kept;
  std::unique_ptr<ByteSource> source = bytes_of(text);
  Result<FeedReport> done = reader(*source, kept);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  if (done && report != nullptr) *report = *done;
  return kept;
}

Kept read_prometheus(const std::string& text, FeedReport* report = nullptr) {
  return read(
      text, [](ByteSource& s, SeriesSink& k) { return read_store_json(JsonFeed::kPrometheus, s, "t", k); }, report);
}

TEST(Prometheus, ReadsMatrixAndVectorAnswersWithWarnings) {
  FeedReport report;
  const Kept kept = read_prometheus(
      R"({"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"M","gpu":"0"},"values":[[1,"0.5"],[2,"NaN"],[3,"1e3"]]},
        {"values":[[1,"7"]],"metric":{"__name__":"N"}}]},"warnings":["one store is down"],"isPartial":true})",
      &report);
  ASSERT_EQ(kept.all.size(), 2u);
  EXPECT_EQ(kept.all[0].head.metric, "M");
  EXPECT_EQ(kept.all[0].head.labels.at("gpu"), "0");
  EXPECT_EQ(kept.all[0].points, (std::vector<std::pair<double, double>>{{1, 0.5}, {3, 1000}}));
  EXPECT_EQ(kept.all[1].points.size(), 1u) << "values before labels";
  EXPECT_EQ(report.missing, 1u);
  EXPECT_TRUE(report.partial);
  EXPECT_EQ(report.warnings, std::vector<std::string>{"one store is down"});
  const Kept vector = read_prometheus(
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"M"},"value":[5,"2"]}]}})");
  EXPECT_EQ(vector.all.at(0).points.at(0), std::pair(5.0, 2.0));
}

TEST(Prometheus, ReadsVictoriaMetricsExportLines) {
  const Kept kept = read_prometheus(
      "{\"metric\":{\"__name__\":\"M\"},\"values\":[1,null,3],\"timestamps\":[1000,2000,3000]}\n"
      "{\"metric\":{\"__name__\":\"N\"},\"values\":[4],\"timestamps\":[9000]}\n");
  ASSERT_EQ(kept.all.size(), 2u);
  EXPECT_EQ(kept.all[0].points, (std::vector<std::pair<double, double>>{{1, 1}, {3, 3}}));
  EXPECT_EQ(kept.all[1].points.at(0).first, 9);
}

TEST(Prometheus, AServersErrorIsReportedInItsWords) {
  Kept kept;
  std::unique_ptr<ByteSource> source = bytes_of(R"({"status":"error","errorType":"bad_data","error":"parse error"})");
  Result<FeedReport> done = read_store_json(JsonFeed::kPrometheus, *source, "t", kept);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("parse error"), std::string::npos);
}

TEST(CloudWatch, ResultsAreNamedByTheQueryFile) {
  Checked<CloudWatchQueries> queries = parse_cloudwatch_queries("q.json", R"({"MetricDataQueries":[
    {"Id":"m1","MetricStat":{"Metric":{"Namespace":"CWAgent","MetricName":"nvidia_smi_utilization_gpu",
     "Dimensions":[{"Name":"InstanceId","Value":"i-1"},{"Name":"index","Value":"3"}]},"Period":60,"Stat":"Average"}},
    {"Id":"e1","Expression":"m1*2"}]})");
  ASSERT_TRUE(queries);
  FeedReport report;
  const Kept kept = read(
      R"({"MetricDataResults":[{"Id":"m1","Label":"x","Timestamps":["2026-01-01T00:05:00+00:00",1767225600],"Values":[37.0,12],
          "StatusCode":"PartialData"},
         {"Id":"m2","Label":"nvidia_smi_memory_used InstanceId=i-2 index=0","Timestamps":[],"Values":[]}],"NextToken":"abc"})",
      [&](ByteSource& s, SeriesSink& k) { return read_store_json(JsonFeed::kCloudWatch, s, "t", k, *queries); },
      &report);
  ASSERT_EQ(kept.all.size(), 2u);
  EXPECT_EQ(kept.all[0].head.metric, "nvidia_smi_utilization_gpu");
  EXPECT_EQ(kept.all[0].head.labels.at("InstanceId"), "i-1");
  // 2026-01-01T00:00:00Z is 1767225600.
  EXPECT_EQ(kept.all[0].points, (std::vector<std::pair<double, double>>{{1767225900, 37}, {1767225600, 12}}));
  EXPECT_EQ(kept.all[1].head.labels.at("InstanceId"), "i-2");
  EXPECT_TRUE(report.partial);
  EXPECT_FALSE(parse_cloudwatch_queries("q.json", "{\"a\": 1}"));
}

TEST(CloudWatch, ReadsGetMetricStatistics) {
  const Kept kept = read(
      R"({"Label":"nvidia_smi_power_draw","Datapoints":[{"Timestamp":"2026-01-01T00:00:00Z","Average":71.5,"Unit":"None"}]})",
      [](ByteSource& s, SeriesSink& k) { return read_store_json(JsonFeed::kCloudWatch, s, "t", k); });
  ASSERT_EQ(kept.all.size(), 1u);
  EXPECT_EQ(kept.all[0].points.at(0), std::pair(1767225600.0, 71.5));
}

TEST(Google, ReadsNumbersWrittenAsTextWithLabelsAndKinds) {
  FeedReport report;
  const Kept kept = read(
      R"({"timeSeries":[{"metric":{"type":"agent.googleapis.com/gpu/utilization","labels":{"gpu_number":"0","uuid":"GPU-a"}},
          "resource":{"type":"gce_instance","labels":{"instance_id":"123","zone":"us-central1-a"}},"metricKind":"GAUGE",
          "points":[{"interval":{"startTime":"2026-01-01T00:01:00Z","endTime":"2026-01-01T00:01:00Z"},"value":{"doubleValue":42}},
                    {"interval":{"endTime":"2026-01-01T00:00:00Z"},"value":{"int64Value":"7"}}]}],"nextPageToken":""})",
      [](ByteSource& s, SeriesSink& k) { return read_store_json(JsonFeed::kGoogle, s, "t", k); }, &report);
  ASSERT_EQ(kept.all.size(), 1u);
  EXPECT_EQ(kept.all[0].head.labels.at("instance_id"), "123");
  EXPECT_EQ(kept.all[0].points, (std::vector<std::pair<double, double>>{{1767225660, 42}, {1767225600, 7}}));
  EXPECT_FALSE(report.partial);
}

TEST(Azure, MissingMinutesStayMissing) {
  FeedReport report;
  const Kept kept = read(
      R"({"cost":0,"interval":"PT1M","resourceregion":"eastus","value":[{"id":"/subscriptions/s/x/providers/Microsoft.Insights/metrics/G",
          "name":{"value":"GpuUtilizationPercentage","localizedValue":"GPU"},"unit":"Percent","errorCode":"Success",
          "timeseries":[{"metadatavalues":[{"name":{"value":"instanceId"},"value":"vm0"}],
          "data":[{"timeStamp":"2026-01-01T00:00:00Z","average":12.3},{"timeStamp":"2026-01-01T00:01:00Z"}]}]}]})",
      [](ByteSource& s, SeriesSink& k) { return read_store_json(JsonFeed::kAzure, s, "t", k); }, &report);
  ASSERT_EQ(kept.all.size(), 1u);
  EXPECT_EQ(kept.all[0].head.metric, "GpuUtilizationPercentage");
  EXPECT_EQ(kept.all[0].head.labels.at("instanceid"), "vm0");
  EXPECT_EQ(kept.all[0].head.labels.at("resource"), "/subscriptions/s/x");
  EXPECT_EQ(kept.all[0].points.size(), 1u);
  EXPECT_EQ(report.missing, 1u);
}

TEST(Detect, EveryFeedIsDetectedFromItsBeginning) {
  EXPECT_EQ(detect_json_feed(R"({"status":"success","data":{"resultType":"matrix")"), JsonFeed::kPrometheus);
  EXPECT_EQ(detect_json_feed(R"({"MetricDataResults": [)"), JsonFeed::kCloudWatch);
  EXPECT_EQ(detect_json_feed(R"([{"Id":"m1","MetricStat":{}}])"), JsonFeed::kCloudWatchQueries);
  EXPECT_EQ(detect_json_feed(R"({"timeSeries":[)"), JsonFeed::kGoogle);
  EXPECT_EQ(detect_json_feed(R"({"cost":0,"timespan":"x","value":[{"id":"","timeseries":[)"), JsonFeed::kAzure);
  EXPECT_EQ(detect_json_feed("timestamp, index"), JsonFeed::kUnknown);
}

TEST(IsoTime, ReadsTimeZonesAndFractions) {
  EXPECT_EQ(parse_iso_time("2026-01-01T00:00:00Z"), unix_seconds(1767225600));
  EXPECT_EQ(parse_iso_time("2026-01-01T02:00:00+02:00"), unix_seconds(1767225600));
  EXPECT_EQ(parse_iso_time("2025-12-31 19:00:00-0500"), unix_seconds(1767225600));
  EXPECT_NEAR(in_unix_seconds(*parse_iso_time("2026-01-01T00:00:00.250Z")), 1767225600.25, 1e-6);
  for (const char* wrong : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00X"}) {
    EXPECT_FALSE(parse_iso_time(wrong)) << wrong;
  }
}

TEST(Interpret, DevicesAreFoundUnderEveryLabelSpelling) {
  const Device dcgm = device_of({{"gpu", "3"},
                                 {"UUID", "GPU-1"},
                                 {"modelName", "NVIDIA H100"},
                                 {"Hostname", "n1"},
                                 {"instance", "10.0.0.1:9400"},
                                 {"GPU_I_ID", "7"},
                                 {"GPU_I_PROFILE", "1g.10gb"}},
                                {});
  EXPECT_EQ(dcgm.index, 3);
  EXPECT_EQ(dcgm.host, "n1");
  EXPECT_EQ(dcgm.name, "NVIDIA H100");
  EXPECT_EQ(dcgm.mig_profile, "1g.10gb");
  EXPECT_EQ(dcgm.key(), "GPU-1/7");
  const Device cloud = device_of({{"InstanceId", "i-1"}, {"index", "2"}, {"name", "Tesla T4"}}, {});
  EXPECT_EQ(cloud.key(), "i-1:2");
  Checked<NameMap> map = parse_name_map({"host=rack", "gpu_util=my_busy*0.01", "namespace=team"});
  ASSERT_TRUE(map);
  const Device own = device_of({{"rack", "r7"}, {"Hostname", "n1"}, {"team", "vision"}}, *map);
  EXPECT_EQ(own.host, "r7");
  EXPECT_EQ(own.labels.at("namespace"), "vision");
  EXPECT_EQ(meaning_of("my_busy", {}, *map)->scale, 0.01);
  Checked<NameMap> wrong = parse_name_map({"hots=x", "gpu_util", "gpu_util=x*0"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().size(), 3u);
}

TEST(Interpret, ScaleOfAnAmbiguousShareComesFromItsValues) {
  KeptSamples samples;
  const NameMap map;
  SeriesToSamples sink(samples, map);
  for (const double top : {0.9, 90.0}) {
    ASSERT_TRUE(sink.open({"DCGM_FI_DEV_GPU_UTIL_RATIO", {{"gpu", "0"}}}));
    sink.point({unix_seconds(1), 0});
    sink.point({unix_seconds(2), top});
    sink.close();
  }
  ASSERT_EQ(samples.samples.size(), 4u);
  EXPECT_DOUBLE_EQ(*samples.samples[1].second.get(Metric::kGpuUtil), 0.9);
  EXPECT_DOUBLE_EQ(*samples.samples[3].second.get(Metric::kGpuUtil), 0.9);
  EXPECT_FALSE(sink.open({"node_cpu_seconds_total", {}}));
  EXPECT_EQ(sink.unknown().size(), 1u);
}

TEST(Interpret, CountersBecomeRatesAndBlanksAreDropped) {
  KeptSamples samples;
  const NameMap map;
  SeriesToSamples sink(samples, map);
  ASSERT_TRUE(sink.open({"workload.googleapis.com/gpu.dcgm.pcie.io", {{"direction", "receive"}}, true}));
  sink.point({unix_seconds(20), 3000});  // newest first
  sink.point({unix_seconds(10), 1000});
  sink.close();
  ASSERT_EQ(samples.samples.size(), 1u);
  EXPECT_DOUBLE_EQ(*samples.samples[0].second.get(Metric::kPcieRx), 200);
  ASSERT_TRUE(sink.open({"DCGM_FI_DEV_FB_USED", {}}));
  sink.point({unix_seconds(1), 9223372036854775794.0});  // DCGM's "not supported"
  sink.point({unix_seconds(2), 1024});
  sink.close();
  ASSERT_EQ(samples.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(*samples.samples[1].second.get(Metric::kMemoryUsed), 1024.0 * 1024 * 1024);
}

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string unpacked(const std::string& packed, bool* broken = nullptr) {
  Result<std::unique_ptr<ByteSource>> source = uncompress("t", bytes_of(packed));
  EXPECT_TRUE(source);
  Result<std::string> text = read_all(**source, 64U << 20);
  if (broken != nullptr) *broken = !text;
  return text ? *text : "";
}

TEST(Uncompress, ReadsGzipZstdAndJoinedMembers) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  EXPECT_EQ(unpacked(text), text);
  EXPECT_EQ(unpacked(gzip(text)), text);
  EXPECT_EQ(unpacked(zstd(text)), text);
  EXPECT_EQ(unpacked(gzip(text) + gzip("end")), text + "end");
  EXPECT_EQ(unpacked(zstd(text) + zstd("end")), text + "end");
  EXPECT_EQ(unpacked(""), "");
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    bool broken = false;
    unpacked(packed.substr(0, packed.size() / 2), &broken);
    EXPECT_TRUE(broken);
  }
}

TEST(ReadFeeds, ReadsManyFilesIntoOneSink) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "rightsize_feeds_test";
  std::filesystem::create_directories(folder);
  auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  };
  const std::string smi =
      "timestamp, index, utilization.gpu [%], memory.used [MiB]\n"
      "2026/01/01 00:00:00.000, 0, 50 %, 1000 MiB\n2026/01/01 00:00:30.000, 0, 70 %, 1000 MiB\n";
  const std::vector<std::string> paths = {
      write("node-1.csv.gz", gzip(smi)), write("node-2.csv", smi),
      write("prom.json.zst", zstd(R"({"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","Hostname":"node-3"},"values":[[1767225600,"50"]]}]}})")),
      write("broken.json", "{\"status\":"), (folder / "missing.csv").string()};
  KeptSamples samples;
  Result<FeedOutcome> outcome = read_feeds(paths, {}, samples);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->failures.size(), 2u);
  EXPECT_EQ(outcome->kinds.size(), 2u);
  ASSERT_EQ(samples.devices.size(), 3u);
  EXPECT_EQ(samples.devices[0].host, "node-1");
  EXPECT_EQ(samples.devices[1].host, "node-2");
  EXPECT_EQ(samples.samples.size(), 5u);
  EXPECT_FALSE(read_feeds({paths[4]}, {}, samples));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rightsize::telemetry
