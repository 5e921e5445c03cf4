// Simulates a random service step by step with our scheduler, and writes the metrics that its engine would publish.
//
//   play_service SEED OUT                                    writes OUT.import (lines for VictoriaMetrics), OUT.om
//                                                            (OpenMetrics) and OUT.json (the truth)
//   play_service SEED keeps GPU TP PRECISION REPLICAS SEQUENCES BUDGET
//                                                            p95 TTFT and TPOT of such replicas under the true traffic,
//                                                            over the whole window and in its busiest hour
//
// The truth comes from the simulation; nothing is read back from the published metrics. The speed is that of the speed
// model times a factor that the program does not know.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "capacity/replica.h"
#include "catalog/catalog.h"
#include "perf/perf.h"
#include "presets/presets.h"
#include "published_formats.h"
#include "sim/continuous_batching.h"

namespace rightsize {
namespace {

constexpr double kBegin = 1790035200;  // 2026-09-22T00:00Z
constexpr double kHour = 3600;

struct Request {
  double at = 0;
  std::int64_t in = 0, out = 0, cached = 0;
  double scheduled = -1, first = -1, last = -1;
  std::int64_t made = 0, left = 0;  // generated tokens; prompt tokens still to be computed

  std::int64_t context() const { return in + made; }
};

// One scrape: counters, gauges, then buckets, sum and count of each histogram.
struct Scrape {
  double time = 0;
  std::vector<double> values;
};

// The true values of all requests that ended in the window.
struct Truth {
  std::map<std::string, std::vector<double>> values;
  std::vector<double> ends;
  double prompt = 0, cached = 0, tokens = 0;
};

struct World {
  explicit World(std::uint64_t seed);

  std::uint64_t seed;
  Random random;
  const Format* format = nullptr;
  std::string model, gpu;
  int tensor = 1, replicas = 1, restarts = 0;
  double hours = 6, rate = 1, step = 30, speed = 1;
  double isl = 1024, osl = 256, hit = 0;  // mean tokens of a prompt and an answer; share found in the prefix cache
  sim::StepCost cost;                     // the true cost
  std::vector<Request> requests;
  catalog::Catalog catalog = *catalog::load_catalog("");
  perf::Constants constants = *perf::load_constants("");

  double until() const { return kBegin + hours * kHour; }
  Result<sim::StepCost> cost_of(const std::string& on, int tp, const std::string& precision);
  void make_requests(double burst);
};

template <class T>
const T& one_of(Random& random, const std::vector<T>& items) {
  return items[static_cast<std::size_t>(random.uniform() * static_cast<double>(items.size()))];
}

Result<sim::StepCost> World::cost_of(const std::string& on, int tp, const std::string& precision) {
  model::Job job;
  job.kind = model::JobKind::kServe;
  const std::string_view engine = format->engine;
  job.stack = engine == "sglang"         ? model::Stack::kSglang
              : engine == "tensorrt-llm" ? model::Stack::kTrtLlm
                                         : model::Stack::kVllm;
  job.precision = precision == "fp8"    ? model::Precision::kFp8
                  : precision == "int4" ? model::Precision::kInt4
                                        : model::Precision::kBf16;
  job.parallel.gpus = job.parallel.tensor = tp;
  job.serve.isl = std::llround(isl * (1 - hit)), job.serve.osl = std::llround(osl);
  const model::ModelShape shape = *model::find_model(model);
  const perf::ModelWork work = perf::work_of(shape);
  const catalog::Gpu& found = **catalog.find_gpu(on);
  RIGHTSIZE_TRY(capacity::Replica replica,
                capacity::token_replica({constants, shape, work}, job, found, perf::gpu_speed(constants, found),
                                        perf::default_cluster(found)));
  const double factor = on == gpu ? speed : 1;  // other GPUs have the speed of the model
  for (double* part : {&replica.step.base, &replica.step.prefill, &replica.step.sequence, &replica.step.context,
                       &replica.step.with_prompts})
    *part *= factor;
  return replica.step;
}

void World::make_requests(double burst) {
  const double begin = kBegin - 1800, end = until() + 300;
  const double peak_at = random.uniform() * 24;
  std::map<int, double> bursts;
  for (int i = 0; i < 3 && burst > 0; ++i) bursts[static_cast<int>(random.uniform() * hours * 60)] = burst;
  const auto lognormal = [&](double mean, double sigma) {
    return mean * std::exp(sigma * random.normal() - sigma * sigma / 2);
  };
  for (double t = begin;;) {
    t += random.exponential() / (rate * 1.5 * (1 + burst));
    if (t >= end) break;
    double share = (1 + 0.5 * std::sin(2 * std::numbers::pi * ((t - kBegin) / kHour - peak_at) / 24)) / 1.5;
    const int minute = static_cast<int>((t - kBegin) / 60);
    bool bursting = false;
    for (int m = minute - 3; m <= minute; ++m) bursting = bursting || bursts.contains(m);
    share *= bursting ? 1 : 1 / (1 + burst);
    if (random.uniform() > share) continue;
    Request q;
    q.at = t;
    q.in = std::clamp<std::int64_t>(std::llround(lognormal(isl, 0.7)), 8, 16000);
    q.out = std::clamp<std::int64_t>(std::llround(lognormal(osl, 0.6)), 4, 4000);
    if (random.uniform() < hit)
      q.cached = std::min(
          q.in - 1, static_cast<std::int64_t>(static_cast<double>(q.in) * (0.5 + 0.45 * random.uniform())) / 16 * 16);
    requests.push_back(q);
  }
}

World::World(std::uint64_t s) : seed(s), random(s * 7919 + 3) {
  format = &formats()[s % formats().size()];
  const std::vector<std::tuple<std::string, std::string, int>> places = {
      {"llama-3.1-8b", "h100-sxm", 1}, {"qwen2.5-7b", "a100-80gb-sxm", 1}, {"mistral-7b-v0.3", "l40s", 1},
      {"qwen2.5-14b", "h200-sxm", 1},  {"qwen2.5-32b", "h100-sxm", 2},     {"llama-3.1-8b", "l40s", 1}};
  std::tie(model, gpu, tensor) = one_of(random, places);
  replicas = 1 + static_cast<int>(random.uniform() * 3);
  speed = 0.85 + 0.35 * random.uniform();
  step = one_of(random, std::vector<double>{15, 30, 60});
  restarts = random.uniform() < 0.4 ? 1 : 0;
  rate = replicas * (0.3 + 0.7 * random.uniform());
  const double burst = random.uniform() < 0.3 ? 2 : 0;
  hit = random.uniform() < 0.5 ? 0.5 : 0;
  osl = 100 + 200 * random.uniform();
  isl = 500 + 1500 * random.uniform();
  cost = *cost_of(gpu, tensor, "bf16");
  make_requests(burst);
}

// One engine from start to end.
class Player {
 public:
  Player(const World& world, Truth& truth) : w_(world), truth_(truth) { reset(); }

  // Simulates the requests that arrive in [now, end) and scrapes on the way.
  void play(std::vector<Request> arrivals, double now, double end, std::vector<double>& times,
            std::vector<Scrape>& into) {
    reset();
    std::size_t next = 0;
    sim::StepPlan plan;
    while (now < end) {
      while (next < arrivals.size() && arrivals[next].at <= now) {
        arrivals[next].left = arrivals[next].in - arrivals[next].cached;
        waiting_.push_back(arrivals[next++]);
      }
      if (waiting_.empty() && running_.empty()) {
        const double jump = next < arrivals.size() ? std::min(end, arrivals[next].at) : end;
        scrape_until(jump, times, into);
        now = jump;
        if (next >= arrivals.size()) break;
        continue;
      }
      admit(plan, now);
      const double took = step_time(plan);
      scrape_until(std::min(now + took, end), times, into);
      now += took;
      if (now < end) advance(now);
    }
    scrape_until(end, times, into);
  }

 private:
  void reset() {
    counters_.clear(), histograms_.clear(), waiting_.clear(), running_.clear();
    for (const Metric& h : w_.format->histograms) histograms_[h.key] = std::vector<double>(h.bounds.size() + 3, 0.0);
  }

  std::int64_t used() const {
    std::int64_t sum = 0;
    for (const Request& q : running_) sum += q.context();
    return sum;
  }

  // Decoding requests come first, prompts get the rest of the budget; the scheduler is that of the simulator.
  void admit(sim::StepPlan& plan, double now) {
    for (;;) {
      std::vector<std::int64_t> prefilling, waiting;
      sim::StepView view;
      for (const Request& q : running_) (q.left > 0 ? prefilling.push_back(q.left) : void(++view.decoding));
      for (const Request& q : waiting_) {
        if (waiting.size() == 64) break;
        waiting.push_back(q.context());
      }
      view.kv_free = w_.cost.kv_tokens - used();
      view.prefilling = prefilling, view.waiting = waiting;
      sim::plan_step(view, {8192, 256, w_.cost.kv_tokens, true}, plan);
      if (plan.preempt == 0) break;
      for (std::int64_t i = 0; i < plan.preempt; ++i) {
        Request q = running_.back();
        running_.pop_back();
        q.left = q.context();
        waiting_.push_front(q);
        ++counters_["preemptions"];
      }
    }
    for (std::size_t i = 0; i < plan.admitted; ++i) {
      running_.push_back(waiting_.front());
      waiting_.pop_front();
      if (running_.back().scheduled < 0) running_.back().scheduled = now;
    }
    chunk_.assign(running_.size(), 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].left > 0 && next < plan.chunks.size())
        chunk_[i] = std::min(running_[i].left, plan.chunks[next++]);
    }
  }

  double step_time(const sim::StepPlan&) const {
    double decoding = 0, tokens = 0, prompt = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].left == 0)
        decoding += 1, tokens += static_cast<double>(running_[i].context());
      else
        prompt += static_cast<double>(chunk_[i]);
    }
    return 1e-9 * (w_.cost.decode(decoding, tokens) + w_.cost.prompts(prompt));
  }

  void see(const char* key, double value) {
    const auto at = histograms_.find(key);
    if (at == histograms_.end()) return;
    const auto h = std::find_if(w_.format->histograms.begin(), w_.format->histograms.end(),
                                [&](const Metric& m) { return std::string_view(m.key) == key; });
    const auto bucket =
        static_cast<std::size_t>(std::lower_bound(h->bounds.begin(), h->bounds.end(), value) - h->bounds.begin());
    for (std::size_t i = bucket; i <= h->bounds.size(); ++i) at->second[i] += 1;
    at->second[h->bounds.size() + 1] += value, at->second[h->bounds.size() + 2] += 1;
  }

  void note(const char* key, double value, double now) {
    see(key, value);
    if (now >= kBegin && now < w_.until()) truth_.values[key].push_back(value);
  }

  void advance(double now) {
    const bool inside = now >= kBegin && now < w_.until();
    std::vector<Request> kept;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      Request& q = running_[i];
      if (q.left > 0) {
        q.left -= chunk_[i];
        if (q.left > 0) {
          kept.push_back(q);
          continue;
        }
      }
      ++q.made, ++counters_["output"];
      if (inside) ++truth_.tokens;
      if (q.first < 0) {
        q.first = q.last = now;
        note("ttft", now - q.at, now), see("prefill", now - q.scheduled);
        counters_["prompt"] += static_cast<double>(q.in), counters_["queries"] += static_cast<double>(q.in),
            counters_["hits"] += static_cast<double>(q.cached);
        if (inside) truth_.prompt += static_cast<double>(q.in), truth_.cached += static_cast<double>(q.cached);
      } else {
        note("itl", now - q.last, now), q.last = now;
      }
      if (q.made < q.out) {
        kept.push_back(q);
        continue;
      }
      ++counters_["requests"];
      const auto out = static_cast<double>(q.out);
      note("e2e", now - q.at, now), note("tpot", (now - q.first) / (out - 1), now),
          note("mean", (now - q.scheduled) / out, now);
      note("isl", static_cast<double>(q.in), now), note("osl", out, now);
      if (inside) truth_.ends.push_back(now);
    }
    running_ = std::move(kept);
  }

  void scrape_until(double until, std::vector<double>& times, std::vector<Scrape>& into) {
    while (!times.empty() && times.front() < until) {
      Scrape one{times.front(), {}};
      times.erase(times.begin());
      for (const Metric& m : w_.format->counters) one.values.push_back(counters_[m.key]);
      for (const Metric& m : w_.format->gauges) {
        const std::string_view key = m.key;
        one.values.push_back(key == "running"   ? static_cast<double>(running_.size())
                             : key == "waiting" ? static_cast<double>(waiting_.size())
                                                : static_cast<double>(used()) / static_cast<double>(w_.cost.kv_tokens));
      }
      for (const Metric& m : w_.format->histograms)
        one.values.insert(one.values.end(), histograms_[m.key].begin(), histograms_[m.key].end());
      into.push_back(std::move(one));
    }
  }

  const World& w_;
  Truth& truth_;
  std::deque<Request> waiting_;
  std::vector<Request> running_;
  std::vector<std::int64_t> chunk_;
  std::map<std::string, double> counters_;
  std::map<std::string, std::vector<double>> histograms_;
};

// The text of one series in both formats; OpenMetrics requires all series of a name together.
class Writer {
 public:
  void add(const std::string& name, const std::string& labels, const std::vector<double>& times,
           const std::vector<double>& values) {
    std::string json, stamps, om;
    for (std::size_t i = 0; i < times.size(); ++i) {
      json += fmt::format("{}{}", i > 0 ? "," : "", values[i]),
          stamps += fmt::format("{}{:.0f}", i > 0 ? "," : "", times[i] * 1000);
      om += fmt::format("{}{{{}}} {} {:.3f}\n", name, labels, values[i], times[i]);
    }
    std::string pairs;  // label="a" -> "label":"a"
    for (std::size_t at = 0; at < labels.size();) {
      const std::size_t equals = labels.find('=', at), end = labels.find("\",", equals);
      pairs += fmt::format(",\"{}\":{}", labels.substr(at, equals - at),
                           labels.substr(equals + 1, end == std::string::npos ? end : end - equals));
      at = end == std::string::npos ? labels.size() : end + 2;
    }
    import += fmt::format("{{\"metric\":{{\"__name__\":\"{}\"{}}},\"values\":[{}],\"timestamps\":[{}]}}\n", name, pairs,
                          json, stamps);
    families[name] += om;
  }
  std::string open_metrics() const {
    std::string text;
    for (const auto& [name, lines] : families) text += fmt::format("# TYPE {} unknown\n{}", name, lines);
    return text + "# EOF\n";
  }

  std::string import;
  std::map<std::string, std::string> families;
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1)];
}

void publish(const World& w, int replica, const std::vector<Scrape>& scrapes, Writer& out) {
  const std::string pod = fmt::format("chat-7d4b9c6f5-x{}xwz", replica + 4);
  const std::string base =
      fmt::format("namespace=\"prod\",pod=\"{}\",instance=\"10.0.0.{}:8000\",job=\"engine\"", pod, replica);
  const std::string labels = base + (w.format->model_label ? fmt::format(",model_name=\"{}\"", w.model) : "");
  std::vector<double> times;
  for (const Scrape& s : scrapes) times.push_back(s.time);
  std::size_t column = 0;
  const auto next = [&] {
    std::vector<double> values;
    for (const Scrape& s : scrapes) values.push_back(s.values[column]);
    ++column;
    return values;
  };
  for (const Metric& m : w.format->counters) out.add(m.name, labels, times, next());
  for (const Metric& m : w.format->gauges) out.add(m.name, labels, times, next());
  for (const Metric& m : w.format->histograms) {
    for (double bound : m.bounds)
      out.add(std::string(m.name) + "_bucket", labels + fmt::format(",le=\"{}\"", bound), times, next());
    out.add(std::string(m.name) + "_bucket", labels + ",le=\"+Inf\"", times, next());
    out.add(std::string(m.name) + "_sum", labels, times, next());
    out.add(std::string(m.name) + "_count", labels, times, next());
  }
  std::vector<double> ticks, busy;
  for (double t = kBegin - 600 + 3 * replica; t < w.until() + 300; t += 30) ticks.push_back(t), busy.push_back(50);
  static const std::map<std::string, const char*> kNames = {{"h100-sxm", "NVIDIA H100 80GB HBM3"},
                                                            {"h200-sxm", "NVIDIA H200"},
                                                            {"l40s", "NVIDIA L40S"},
                                                            {"a100-80gb-sxm", "NVIDIA A100-SXM4-80GB"}};
  for (int g = 0; g < w.tensor; ++g) {
    out.add("DCGM_FI_DEV_GPU_UTIL",
            fmt::format("gpu=\"{0}\",UUID=\"GPU-{1}-{0}\",modelName=\"{2}\",Hostname=\"node{1}\",namespace=\"prod\","
                        "pod=\"{3}\",container=\"server\"",
                        g, replica, kNames.at(w.gpu), pod),
            ticks, busy);
  }
}

Json described(const World& w, Truth& truth) {
  Json json{{"engine", w.format->engine},    {"model", w.model}, {"gpu", w.gpu},    {"tp", w.tensor},
            {"replicas", w.replicas},        {"speed", w.speed}, {"begin", kBegin}, {"end", w.until()},
            {"named", w.format->model_label}};
  std::vector<double> by_hour(static_cast<std::size_t>(w.hours), 0.0),
      by_minute(static_cast<std::size_t>(w.hours * 60), 0.0);
  for (double end : truth.ends)
    ++by_hour[static_cast<std::size_t>((end - kBegin) / kHour)],
        ++by_minute[static_cast<std::size_t>((end - kBegin) / 60)];
  double sliding = 0;
  for (std::size_t m = 0; m + 60 <= by_minute.size(); ++m) {
    double sum = 0;
    for (std::size_t k = m; k < m + 60; ++k) sum += by_minute[k];
    sliding = std::max(sliding, sum / kHour);
  }
  json["rate"] = static_cast<double>(truth.ends.size()) / (w.hours * kHour);
  json["peak"] = *std::max_element(by_hour.begin(), by_hour.end()) / kHour;
  json["peak_sliding"] = sliding;
  json["prefix_hit"] = truth.cached / truth.prompt;
  json["gpu_hours"] = w.hours * w.replicas * w.tensor;
  Json distributions = Json::object();
  for (auto& [key, values] : truth.values) {
    if (values.empty()) continue;
    double sum = 0;
    for (double v : values) sum += v;
    Json one{{"mean", sum / static_cast<double>(values.size())},
             {"p50", quantile(values, 0.5)},
             {"p95", quantile(values, 0.95)},
             {"p99", quantile(values, 0.99)}};
    for (const Metric& m : w.format->histograms) {
      if (key == m.key) one["bounds"] = m.bounds;
    }
    distributions[key] = std::move(one);
  }
  json["of"] = std::move(distributions);
  return json;
}

int play(std::uint64_t seed, const std::string& out) {
  World w(seed);
  Truth truth;
  Writer writer;
  std::vector<std::vector<Request>> shares(static_cast<std::size_t>(w.replicas));
  for (const Request& q : w.requests) shares[static_cast<std::size_t>(w.random.uniform() * w.replicas)].push_back(q);
  for (int r = 0; r < w.replicas; ++r) {
    std::vector<double> times;
    for (double t = kBegin - 600 + w.random.uniform() * w.step; t < w.until() + 300; t += w.step)
      times.push_back(std::round(t * 1000) / 1000);
    const double crash = w.restarts > 0 ? kBegin + kHour * (1 + (w.hours - 2) * w.random.uniform()) : w.until() + 300;
    std::vector<Scrape> scrapes;
    Player player(w, truth);
    const auto part = [&](double from, double to) {
      std::vector<Request> some;
      for (const Request& q : shares[static_cast<std::size_t>(r)]) {
        if (q.at >= from && q.at < to) some.push_back(q);
      }
      std::erase_if(times, [&](double t) { return t < from; });
      player.play(std::move(some), from, to, times, scrapes);
    };
    part(kBegin - 1800, crash);
    if (w.restarts > 0) part(crash + 90, w.until() + 300);
    publish(w, r, scrapes, writer);
  }
  for (const auto& [name, text] :
       {std::pair{".import", writer.import}, {".om", writer.open_metrics()}, {".json", described(w, truth).dump()}}) {
    if (Result<> saved = write_file(out + name, text); !saved)
      return std::fputs(describe(saved.error()).c_str(), stderr), 1;
  }
  return 0;
}

// p95 of TTFT and TPOT of the requests that arrive from `from` to `until`.
std::string latency(const World& w, const sim::ContinuousServer& server, double from, double until) {
  auto trace = std::make_shared<sim::Trace>();
  trace->has_tokens = true;
  for (const Request& q : w.requests) {
    if (q.at < from || q.at >= until) continue;
    trace->arrivals.push_back({sim::to_sim_time(seconds(q.at - from)), static_cast<std::int32_t>(q.in - q.cached),
                               static_cast<std::int32_t>(q.out), 0});
  }
  const auto run = sim::simulate(server, trace, {}, {trace->arrivals.size(), 1});
  if (!run) return "null";
  return fmt::format("{{\"ttft\": {}, \"tpot\": {}}}", 1e-9 * sim::value_of(run->ttft, sim::Statistic::kP95),
                     1e-9 * sim::value_of(run->tpot, sim::Statistic::kP95));
}

double busiest_hour(const World& w) {
  std::vector<int> hours(static_cast<std::size_t>(w.hours), 0);
  for (const Request& q : w.requests) {
    if (q.at >= kBegin && q.at < w.until()) ++hours[static_cast<std::size_t>((q.at - kBegin) / kHour)];
  }
  return kBegin + kHour * static_cast<double>(std::max_element(hours.begin(), hours.end()) - hours.begin());
}

int keeps(std::uint64_t seed, const std::vector<std::string>& plan) {
  World w(seed);
  Result<sim::StepCost> cost = w.cost_of(plan[0], std::stoi(plan[1]), plan[2]);
  if (!cost) return std::fputs(describe(cost.error()).c_str(), stderr), 1;
  sim::ContinuousServer server{std::vector<sim::StepCost>(static_cast<std::size_t>(std::stoi(plan[3])), *cost), {}};
  server.batching.max_sequences = std::stoll(plan[4]), server.batching.token_budget = std::stoll(plan[5]);
  const double hour = busiest_hour(w);
  fmt::print("{{\"window\": {}, \"busiest_hour\": {}}}\n", latency(w, server, kBegin, w.until()),
             latency(w, server, hour, hour + kHour));
  return 0;
}

}  // namespace
}  // namespace rightsize

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2) return rightsize::play(std::stoull(words[0]), words[1]);
  if (words.size() == 8 && words[1] == "keeps")
    return rightsize::keeps(std::stoull(words[0]), {words.begin() + 2, words.end()});
  std::fputs("usage: play_service SEED OUT | SEED keeps GPU TP PRECISION REPLICAS SEQUENCES BUDGET\n", stderr);
  return 1;
}
