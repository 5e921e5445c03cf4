// Every reader gives the same use of the same GPUs, whatever the order of readings, the names, the files and the day.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "gpu_use/accumulate.h"
#include "telemetry/feeds/read_feed.h"

namespace rightsize::gpu_use {
namespace {

struct Reading {
  std::string host;
  int index = 0;
  long time = 0;  // seconds since 1970
  int util = 0;   // per cent
};
using Readings = std::vector<Reading>;
using BySeries = std::vector<std::pair<std::pair<std::string, int>, std::vector<const Reading*>>>;

std::string iso(long time, const char* format = "%Y-%m-%dT%H:%M:%SZ") {
  const std::time_t seconds = time;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

// In the order of the first reading of each.
BySeries by_series(const Readings& all) {
  BySeries series;
  for (const Reading& one : all) {
    const std::pair gpu(one.host, one.index);
    auto at = std::ranges::find(series, gpu, [](const auto& s) { return s.first; });
    if (at == series.end()) at = series.insert(at, {gpu, {}});
    at->second.push_back(&one);
  }
  return series;
}

// `series(host, index, points)` for each GPU, joined by commas; `point(reading)` for each reading.
template <class Series, class Point>
std::string joined(const Readings& all, const Series& series, const Point& point) {
  std::string text;
  for (const auto& [gpu, readings] : by_series(all)) {
    std::string points;
    for (const Reading* one : readings) points += (points.empty() ? "" : ",") + point(*one);
    text += (text.empty() ? "" : ",\n") + series(gpu.first, gpu.second, points);
  }
  return text;
}

struct Form {
  const char *name, *file;
  bool hosts;  // a file may have several hosts
  std::string (*text)(const Readings& all);
};

const std::vector<Form>& forms() {
  static const std::vector<Form> kForms = {
      {"nvidia-smi", "smi.csv", true,
       [](const Readings& all) {
         std::string text = "timestamp, index, uuid, utilization.gpu [%]\n";
         for (const Reading& r : all)
           text += fmt::format("{}, {}, GPU-{}-{}, {} %\n", iso(r.time, "%Y/%m/%d %H:%M:%S.000"), r.index, r.host,
                               r.index, r.util);
         return text;
       }},
      {"DCGM", "metrics.txt", true,
       [](const Readings& all) {
         std::string text;
         for (const Reading& r : all)
           text += fmt::format("DCGM_FI_DEV_GPU_UTIL{{gpu=\"{1}\",UUID=\"GPU-{0}-{1}\",Hostname=\"{0}\"}} {2} {3}000\n",
                               r.host, r.index, r.util, r.time);
         return text;
       }},
      {"Prometheus", "range.json", true,
       [](const Readings& all) {
         return R"({"status":"success","data":{"resultType":"matrix","result":[)" +
                joined(
                    all,
                    [](const std::string& host, int index, const std::string& points) {
                      return fmt::format(
                          R"({{"metric":{{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"{}","Hostname":"{}"}},"values":[{}]}})",
                          index, host, points);
                    },
                    [](const Reading& r) { return fmt::format("[{},\"{}\"]", r.time, r.util); }) +
                "]}}";
       }},
      {"VictoriaMetrics", "export.jsonl", true,
       [](const Readings& all) {
         std::string text;
         for (const auto& [gpu, readings] : by_series(all)) {
           std::string values, times;
           for (const Reading* r : readings) {
             values += (values.empty() ? "" : ",") + std::to_string(r->util);
             times += (times.empty() ? "" : ",") + std::to_string(r->time * 1000);
           }
           text += fmt::format(
               "{{\"metric\":{{\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"gpu\":\"{}\",\"Hostname\":\"{}\"}},\"values\":[{"
               "}]"
               ",\"timestamps\":[{}]}}\n",
               gpu.second, gpu.first, values, times);
         }
         return text;
       }},
      {"CloudWatch", "data.json", true,
       [](const Readings& all) {
         std::string text;
         for (const auto& [gpu, readings] : by_series(all)) {
           std::string values, times;
           for (const Reading* r : readings) {
             values += (values.empty() ? "" : ",") + std::to_string(r->util);
             times += fmt::format("{}\"{}\"", times.empty() ? "" : ",", iso(r->time));
           }
           text += fmt::format(
               "{}{{\"Id\":\"m{}\",\"Label\":\"nvidia_smi_utilization_gpu InstanceId={} index={}\",\"Timestamps\":[{}],"
               "\"Values\":[{}]}}",
               text.empty() ? "" : ",", text.size(), gpu.first, gpu.second, times, values);
         }
         return "{\"MetricDataResults\":[" + text + "]}";
       }},
      {"Google", "series.json", true,
       [](const Readings& all) {
         return "{\"timeSeries\":[" +
                joined(
                    all,
                    [](const std::string& host, int index, const std::string& points) {
                      return fmt::format(
                          R"({{"metric":{{"type":"agent.googleapis.com/gpu/utilization","labels":{{"gpu_number":"{}"}}}},"resource":{{"type":"gce_instance","labels":{{"instance_id":"{}"}}}},"metricKind":"GAUGE","points":[{}]}})",
                          index, host, points);
                    },
                    [](const Reading& r) {
                      return fmt::format(R"({{"interval":{{"endTime":"{}"}},"value":{{"doubleValue":{}}}}})",
                                         iso(r.time), r.util);
                    }) +
                "]}";
       }},
      {"Azure", "azure.json", true,
       [](const Readings& all) {
         return R"({"cost":0,"interval":"PT1M","value":[{"id":"/s/providers/Microsoft.Insights/metrics/G","name":{"value":"GpuUtilizationPercentage"},"unit":"Percent","timeseries":[)" +
                joined(
                    all,
                    [](const std::string& host, int index, const std::string& points) {
                      return fmt::format(
                          R"({{"metadatavalues":[{{"name":{{"value":"nodeId"}},"value":"{}"}},{{"name":{{"value":"deviceId"}},"value":"{}"}}],"data":[{}]}})",
                          host, index, points);
                    },
                    [](const Reading& r) {
                      return fmt::format(R"({{"timeStamp":"{}","average":{}}})", iso(r.time), r.util);
                    }) +
                "]}]}";
       }},
      {"W&B", "run.csv", false,
       [](const Readings& all) {
         std::vector<int> columns;
         std::vector<std::pair<long, std::map<int, int>>> rows;
         for (const Reading& r : all) {
           if (std::ranges::find(columns, r.index) == columns.end()) columns.push_back(r.index);
           auto row = std::ranges::find(rows, r.time, [](const auto& each) { return each.first; });
           if (row == rows.end()) row = rows.insert(row, {r.time, {}});
           row->second[r.index] = r.util;
         }
         std::string text = "_timestamp";
         for (const int index : columns) text += fmt::format(",system/gpu.{}.gpu", index);
         for (const auto& [time, values] : rows) {
           text += fmt::format("\n{}", time);
           for (const int index : columns)
             text += "," + (values.contains(index) ? std::to_string(values.at(index)) : std::string());
         }
         return text + "\n";
       }},
  };
  return kForms;
}

// Hours, idle share and mean of each GPU, sorted: names do not matter.
using Facts = std::vector<std::array<double, 3>>;

std::filesystem::path folder() {
  return std::filesystem::temp_directory_path() / fmt::format("rightsize_readers_{}", ::getpid());
}

Facts facts_of(const Form& form, const std::vector<Readings>& files) {
  std::filesystem::remove_all(folder());
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::map<std::string, Readings> parts;
    for (const Reading& r : files[i]) parts[form.hosts ? "" : r.host].push_back(r);
    for (const auto& [host, part] : parts) {
      // A table of a tracker has the name of its file as host.
      const std::filesystem::path place = folder() / std::to_string(i);
      std::filesystem::create_directories(place);
      const std::string name = form.hosts ? form.file : host + ".csv";
      std::ofstream(place / name, std::ios::binary) << form.text(part);
      paths.push_back((place / name).string());
    }
  }
  UseAccumulator sum({});
  const Result<telemetry::FeedOutcome> outcome = telemetry::read_feeds(paths, {}, sum);
  if (!outcome || !outcome->failures.empty() || !sum.identity()) return {};
  Facts facts;
  for (const GpuUse& use : sum.finish()) {
    const MetricUse* util = use.metric(Metric::kGpuUtil);
    facts.push_back({in_hours(use.covered), use.idle_share, util == nullptr ? -1 : util->mean});
  }
  std::ranges::sort(facts);
  return facts;
}

// Readings that two files have count twice in a mean, up to 5 % of all.
bool same(const Facts& a, const Facts& b, double tolerance = 0) {
  for (const Facts* facts : {&a, &b}) {
    for (const auto& [hours, idle, mean] : *facts)
      RC_LOG() << fmt::format("{} h, idle {}, mean {}; ", hours, idle, mean);
    RC_LOG() << "\n";
  }
  return !a.empty() && std::ranges::equal(a, b, [&](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, [&](double p, double q) { return std::abs(p - q) < 1e-4 + tolerance; });
  });
}

Readings some_readings() {
  Readings all;
  const int gpus = *rc::gen::inRange(1, 6), hosts = *rc::gen::inRange(1, 3), minutes = *rc::gen::inRange(40, 80);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    // Every GPU works at least once, so that shares and per cent cannot be confused.
    const int busy = *rc::gen::inRange(20, 100), idle_from = *rc::gen::inRange(1, minutes);
    for (int minute = 0; minute < minutes; ++minute)
      all.push_back(
          {fmt::format("n{}", gpu % hosts), gpu / hosts, 1767225600L + 60L * minute, minute >= idle_from ? 0 : busy});
  }
  return all;
}

RC_GTEST_PROP(Readers, OrderNamesFilesAndDaysDoNotMatter, ()) {
  const Form& form = *rc::gen::elementOf(forms());
  const Readings all = some_readings();
  RC_LOG() << form.name;
  const Facts expected = facts_of(form, {all});
  RC_ASSERT(same(expected, facts_of(forms()[0], {all})));  // as nvidia-smi
  std::mt19937 random(static_cast<unsigned>(*rc::gen::inRange(0, 1000)));
  Readings shuffled = all;
  std::ranges::shuffle(shuffled, random);
  RC_ASSERT(same(expected, facts_of(form, {shuffled})));
  Readings renamed = all, later = all;
  for (Reading& r : renamed) r.host = "rack-" + r.host + "-b";
  RC_ASSERT(same(expected, facts_of(form, {renamed})));
  const long shift = 3600L * *rc::gen::inRange(1, 24 * 60);
  for (Reading& r : later) r.time += shift;
  RC_ASSERT(same(expected, facts_of(form, {later})));
  // Several files are one recording: by time with an overlap, by GPU, or copies.
  const int how = *rc::gen::inRange(0, 3), cut = *rc::gen::inRange(1, 20), overlap = *rc::gen::inRange(0, 5);
  std::vector<Readings> files(2);
  for (const Reading& r : all) {
    const long minute = (r.time - 1767225600L) / 60;
    if (how == 2 || (how == 0 ? minute < cut + overlap : r.index == 0)) files[0].push_back(r);
    if (how == 2 || (how == 0 ? minute >= cut : r.index != 0)) files[1].push_back(r);
  }
  std::erase_if(files, [](const Readings& file) { return file.empty(); });
  RC_ASSERT(same(expected, facts_of(form, files), 0.05));
  std::filesystem::remove_all(folder());
}

}  // namespace
}  // namespace rightsize::gpu_use
