#include "mig/plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/test_catalog.h"
#include "mig/assign.h"
#include "mig/current.h"
#include "mig/hand_over.h"
#include "mig/mechanisms.h"

namespace rightsize::mig {
namespace {

using testing::HasSubstr;

const perf::SpeedTable& speeds() {
  static const perf::SpeedTable kTable(built_in_catalog(), *perf::load_constants(""));
  return kTable;
}

GpuType type_of(const std::string& name, double usd_per_hour) {
  const catalog::Gpu* gpu = *built_in_catalog().find_gpu(name);
  return {gpu, Geometry::of(built_in_catalog(), *gpu), usd_per_gpu_hour(usd_per_hour), "test"};
}

WorkloadFile read(const std::string& yaml) {
  Checked<WorkloadFile> file = read_workloads("w.yaml", yaml, built_in_catalog(), Ratio::fraction(0));
  EXPECT_TRUE(file) << (file ? "" : describe(file.error()));
  return file ? *file : WorkloadFile{};
}

// The length of a text has two names; the longer text needs more.
TEST(ReadWorkloads, EncodersTakeTheirLengthByEitherName) {
  const auto memory = [](const char* name, int tokens) {
    const std::string yaml = "workloads:\n- {name: a, model: bert-large, rate: 2/s, slo: p99=1s, ";
    return in_bytes(read(fmt::format("{}{}: {}}}\n", yaml, name, tokens)).workloads.front().memory);
  };
  for (const int tokens : {64, 128, 384}) {
    EXPECT_DOUBLE_EQ(memory("isl", tokens), memory("seq", tokens));
    EXPECT_LT(memory("isl", tokens), memory("seq", 512));
  }
}

std::string mistakes(const std::string& yaml) {
  Checked<WorkloadFile> file = read_workloads("w.yaml", yaml, built_in_catalog(), Ratio::fraction(0));
  return file ? "none" : describe(file.error());
}

// The rules of every plan: each replica once, in a slice that holds it; slices that fit their GPU; spread and affinity.
void expect_valid(const SlicePlan& plan, const WorkloadFile& file, const std::vector<GpuType>& types) {
  std::map<ReplicaId, int> seen;
  std::map<std::string, std::set<std::size_t>> groups;
  double cost = 0;
  for (std::size_t g = 0; g < plan.gpus.size(); ++g) {
    const GpuType& type = types[plan.gpus[g].type];
    cost += type.usd_per_hour();
    Layout layout;
    std::set<std::size_t> here;
    for (const PlannedInstance& instance : plan.gpus[g].instances) {
      EXPECT_TRUE(type.geometry->may_join(layout, instance.where));
      layout.push_back(instance.where);
      const Resources capacity = capacity_of(*type.geometry, instance.where.profile);
      Bytes memory;
      double sms = 0;
      for (const ReplicaId& replica : instance.replicas) {
        const Workload& w = file.workloads[replica.workload];
        ++seen[replica];
        EXPECT_EQ(misfit(w, capacity, *type.gpu, speeds()), "");
        EXPECT_TRUE(here.insert(replica.workload).second || !w.spread);
        if (!w.affinity.empty()) groups[w.affinity].insert(g);
        memory += w.memory;
        sms += need_on(w, *type.gpu, speeds()).sms;
      }
      EXPECT_LE(in_gib(memory), in_gib(capacity.memory) * (1 + 1e-6));
      EXPECT_LE(sms, capacity.sms * (1 + 1e-6));
    }
  }
  EXPECT_EQ(seen.size(), file.replicas());
  for (const auto& [replica, times] : seen) EXPECT_EQ(times, 1);
  for (const auto& [name, gpus] : groups) EXPECT_EQ(gpus.size(), 1u) << name;
  EXPECT_NEAR(in_usd_per_hour(plan.rate), cost, 1e-9);
  EXPECT_LE(in_usd_per_hour(plan.least_rate), in_usd_per_hour(plan.rate) * (1 + 1e-9));
}

// Seven of the smallest, two 3g and a 4g + 3g fill three GPUs exactly.
TEST(Plan, FindsAKnownOptimum) {
  const WorkloadFile file = read(
      "workloads:\n- {name: small, memory: 9GiB, load: 10%, replicas: 7}\n- {name: large, memory: 30GiB, load: 30%, "
      "replicas: 4}\n");
  const std::vector<GpuType> types{type_of("a100-80gb-sxm", 2)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  expect_valid(plan, file, types);
  EXPECT_EQ(plan.gpus.size(), 3u);
  EXPECT_TRUE(plan.proved());
}

TEST(Plan, PicksTheGpuTypeThatIsCheapestForTheWork) {
  const WorkloadFile file = read("workloads:\n- {name: a, memory: 20GiB, replicas: 6}\n");
  // An A30 holds one for 0.5, an H200 with 32.5 GiB slices four for 1.9: four cost 1.9, two more 1.0.
  const std::vector<GpuType> types{type_of("h200-sxm", 1.9), type_of("a30", 0.5)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  expect_valid(plan, file, types);
  EXPECT_NEAR(in_usd_per_hour(plan.rate), 2.9, 1e-9);
  EXPECT_TRUE(plan.proved());
}

TEST(Plan, ReplicasSpreadAndGroupsStayTogether) {
  const WorkloadFile file = read(
      "workloads:\n- {name: s, memory: 5GiB, replicas: 3, spread: true}\n"
      "- {name: a, memory: 30GiB, affinity: x}\n- {name: b, memory: 30GiB, affinity: x}\n- {name: c, memory: 9GiB, "
      "replicas: 4}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  expect_valid(plan, file, types);
  EXPECT_EQ(plan.gpus.size(), 4u);  // the group fills one, the three replicas need three more
  EXPECT_TRUE(plan.proved());
}

TEST(Plan, WorkloadsThatMayShareGetOneSlice) {
  const WorkloadFile file = read("workloads:\n- {name: tiny, memory: 1GiB, load: 1%, replicas: 40, share: true}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  EXPECT_EQ(plan_slices(file, types, speeds(), {})->gpus.size(), 6u);
  PlanOptions sharing;
  sharing.share = true;
  const SlicePlan plan = *plan_slices(file, types, speeds(), sharing);
  expect_valid(plan, file, types);
  EXPECT_EQ(plan.gpus.size(), 1u);
  EXPECT_TRUE(plan.proved());
}

TEST(Plan, NamesWorkloadsThatFitNowhereAndAGpuThatWouldHoldThem) {
  const WorkloadFile file = read("workloads:\n- {name: ok, memory: 5GiB}\n- {name: huge, memory: 120GiB}\n");
  const market::PriceBook prices(built_in_catalog());
  const SlicePlan plan = *plan_slices(file, {type_of("a100-80gb-sxm", 1)}, speeds(), {.prices = &prices});
  ASSERT_EQ(plan.unplaceable.size(), 1u);
  EXPECT_EQ(plan.unplaceable[0].workload, 1u);
  EXPECT_THAT(plan.unplaceable[0].reason, HasSubstr("needs 120 GiB"));
  EXPECT_THAT(plan.unplaceable[0].would_fit, HasSubstr("a whole "));
}

TEST(Plan, AnAffinityGroupTooLargeForOneGpuIsNamed) {
  const WorkloadFile file =
      read("workloads:\n- {name: a, memory: 60GiB, affinity: x}\n- {name: b, memory: 60GiB, affinity: x}\n");
  const SlicePlan plan = *plan_slices(file, {type_of("a100-80gb-sxm", 1)}, speeds(), {});
  ASSERT_EQ(plan.unplaceable.size(), 1u);
  EXPECT_THAT(plan.unplaceable[0].reason, HasSubstr("group 'x'"));
}

// Latency: 10 ms alone on the GPU is 80 ms in an eighth of its bandwidth.
TEST(Plan, ALatencySloCanRequireALargerSlice) {
  const std::string base = "workloads:\n- {name: a, memory: 5GiB, rate: 0.1/s, service: 10ms, latency: ";
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  auto profile = [&](const std::string& latency) {
    const SlicePlan plan = *plan_slices(read(base + latency + "}\n"), types, speeds(), {});
    return types[0].geometry->profile(plan.gpus.at(0).instances.at(0).where.profile).profile;
  };
  EXPECT_EQ(profile("100ms"), "1g.10gb");
  EXPECT_EQ(profile("60ms"), "1g.20gb");  // 26 of 132 SMs, a quarter of the bandwidth: 51 ms
  EXPECT_EQ(profile("25ms"), "3g.40gb");
  EXPECT_EQ(profile("11ms"), "7g.80gb");
}

// Every way to give the units to GPUs and slices.
double brute_force(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types) {
  std::vector<std::set<std::vector<int>>> feasible(types.size());
  for (std::size_t t = 0; t < types.size(); ++t) {
    for (const SliceSet& c : types[t].geometry->combinations()) feasible[t].insert(c.counts);
  }
  struct Open {
    std::size_t type;
    std::vector<int> counts;
    std::vector<std::size_t> units;
  };
  std::vector<Open> gpus;
  double best = std::numeric_limits<double>::infinity(), cost = 0;
  std::function<void(std::size_t)> place = [&](std::size_t u) {
    if (cost >= best) return;
    if (u == units.size()) {
      best = cost;
      return;
    }
    auto try_gpu = [&](Open& gpu) {
      for (std::size_t other : gpu.units) {
        for (int a : units[u].apart) {
          for (int b : units[other].apart) {
            if (a == b) return;
          }
        }
      }
      for (std::size_t p = 0; p < gpu.counts.size(); ++p) {
        if (!units[u].allowed[gpu.type][p]) continue;
        const std::size_t at = static_cast<std::size_t>(&gpu - gpus.data());
        ++gpus[at].counts[p];
        gpus[at].units.push_back(u);
        if (feasible[gpus[at].type].count(gpus[at].counts) > 0) place(u + 1);
        gpus[at].units.pop_back();
        --gpus[at].counts[p];
      }
    };
    // A group's second member may only go where the first is.
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      bool mate = false, elsewhere = false;
      for (std::size_t h = 0; h < gpus.size(); ++h) {
        for (std::size_t other : gpus[h].units) {
          if (units[u].together >= 0 && units[other].together == units[u].together) (h == g ? mate : elsewhere) = true;
        }
      }
      if (mate || !elsewhere) try_gpu(gpus[g]);
    }
    for (std::size_t h = 0; h < gpus.size(); ++h) {
      for (std::size_t other : gpus[h].units) {
        if (units[u].together >= 0 && units[other].together == units[u].together) return;
      }
    }
    for (std::size_t t = 0; t < types.size(); ++t) {
      gpus.push_back({t, std::vector<int>(types[t].geometry->plain_profiles().size(), 0), {}});
      cost += types[t].usd_per_hour();
      try_gpu(gpus.back());
      cost -= types[t].usd_per_hour();
      gpus.pop_back();
    }
  };
  gpus.reserve(64);  // references into it stay valid while it grows
  place(0);
  return best;
}

RC_GTEST_PROP(Plan, AgreesWithBruteForce, ()) {
  static const std::vector<std::string> kNames{"h100-sxm", "a30", "h200-sxm"};
  std::vector<GpuType> types;
  const int type_count = *rc::gen::inRange(1, 3);
  for (int t = 0; t < type_count; ++t) {
    types.push_back(type_of(kNames[static_cast<std::size_t>(t)], *rc::gen::inRange(1, 6)));
  }
  std::string yaml = "workloads:\n";
  int replicas = 0;
  for (int w = 0; replicas < 4; ++w) {
    const int copies = *rc::gen::inRange(1, 4);
    const int rule = *rc::gen::inRange(0, 4);
    replicas += copies;
    yaml += fmt::format("- {{name: w{}, memory: {}GiB, load: {}%, replicas: {}{}}}\n", w,
                        *rc::gen::element(3, 5, 9, 11, 18, 22, 35, 39, 60), *rc::gen::inRange(0, 45), copies,
                        rule == 0                  ? ", spread: true"
                        : rule == 1 && copies == 1 ? ", affinity: g"
                                                   : "");
  }
  const WorkloadFile file = read(yaml);
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  if (!plan.unplaceable.empty()) return;  // a group that fits nowhere
  expect_valid(plan, file, types);
  // The same units as the planner makes, from the public rules only.
  std::vector<SliceUnit> units;
  for (std::size_t w = 0; w < file.workloads.size(); ++w) {
    SliceUnit unit{{{w, 0}}, {}, {}, file.workloads[w].affinity.empty() ? -1 : 0};
    if (file.workloads[w].spread) unit.apart.push_back(static_cast<int>(w));
    for (const GpuType& type : types) {
      unit.allowed.emplace_back();
      for (int p : type.geometry->plain_profiles()) {
        unit.allowed.back().push_back(
            misfit(file.workloads[w], capacity_of(*type.geometry, p), *type.gpu, speeds()).empty());
      }
    }
    for (int r = 0; r < file.workloads[w].replicas; ++r) units.push_back(unit);
  }
  const double best = brute_force(units, types);
  RC_ASSERT(in_usd_per_hour(plan.least_rate) <= best * (1 + 1e-6));
  RC_ASSERT(in_usd_per_hour(plan.rate) >= best * (1 - 1e-6));
  RC_ASSERT(plan.proved());
  RC_ASSERT(in_usd_per_hour(plan.rate) <= best * (1 + 1e-6));
}

// Rules, groups, sharing and two types at once; every time the same plan, to the letter.
TEST(Plan, PlansAreDeterministic) {
  const WorkloadFile file = read(
      "workloads:\n- {name: a, memory: 3GiB, load: 5%, replicas: 3, spread: true, share: true}\n"
      "- {name: b, memory: 14GiB, load: 10%, affinity: x}\n- {name: c, memory: 6GiB, load: 4%, affinity: x}\n"
      "- {name: d, memory: 30GiB, load: 30%}\n- {name: e, memory: 9GiB, load: 12%, replicas: 5}\n"
      "- {name: f, memory: 18GiB, load: 20%, replicas: 2}\n");
  const std::vector<GpuType> types{type_of("a100-80gb-sxm", 1.6), type_of("h100-sxm", 3)};
  for (bool share : {false, true}) {
    PlanOptions options;
    options.share = share;
    std::set<std::string> seen;
    for (int run = 0; run < 5; ++run) {
      const SlicePlan plan = *plan_slices(file, types, speeds(), options);
      EXPECT_TRUE(plan.proved());
      EXPECT_FALSE(plan.out_of_time);
      const ToolFiles tool_files = hand_over(plan, file, types, 8);
      std::string text = tool_files.nvidia_smi + tool_files.kubernetes;
      for (const PlannedGpu& gpu : plan.gpus) {
        for (const PlannedInstance& i : gpu.instances) {
          text += fmt::format("{}@{}:", i.where.profile, i.where.start);
          for (const ReplicaId& r : i.replicas) text += fmt::format("{}/{} ", r.workload, r.number);
        }
      }
      seen.insert(text);
    }
    EXPECT_EQ(seen.size(), 1u);
  }
}

// Three replicas to keep apart and two workloads to keep together: two GPUs are not enough, three are.
TEST(UnitSearch, KeepsSpreadAndAffinityOrProvesItImpossible) {
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  const std::vector<std::vector<bool>> anywhere{std::vector<bool>(types[0].geometry->plain_profiles().size(), true)};
  std::vector<SliceUnit> units;
  for (int r = 0; r < 3; ++r) units.push_back({{{0, r}}, anywhere, {0}, -1});
  for (std::size_t w = 1; w < 3; ++w) units.push_back({{{w, 0}}, anywhere, {}, 0});
  EXPECT_TRUE(search_assignment(units, types, {2}).exhausted);  // three replicas must be kept apart
  const UnitPlacement found = search_assignment(units, types, {3});
  ASSERT_TRUE(found.found);
  std::size_t placed = 0, mates = 0;
  for (const AssignedGpu& gpu : found.gpus) {
    std::size_t here = 0;
    placed += gpu.slots.size();
    for (const auto& [profile, unit] : gpu.slots) here += units[unit].together == 0 ? 1 : 0;
    mates = std::max(mates, here);
  }
  EXPECT_EQ(placed, 5u);
  EXPECT_EQ(mates, 2u);
}

TEST(Plan, CountsTheGpusOfEveryAlternative) {
  const WorkloadFile file = read("workloads:\n- {name: a, memory: 4GiB, load: 5%, replicas: 10}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 2)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  const market::PriceBook prices(built_in_catalog());
  const std::vector<Alternative> all =
      compare_alternatives(file, types, speeds(), catalog::Purchase::kOnDemand, plan, {.prices = &prices})
          ->alternatives;
  std::map<std::string, Alternative> by_name;
  for (const Alternative& a : all) by_name[a.name] = a;
  EXPECT_EQ(by_name["mig"].gpu_count, 2u);
  EXPECT_EQ(by_name["mig+mps"].gpu_count, 1u);
  EXPECT_EQ(by_name["mps"].gpu_count, 1u);
  EXPECT_EQ(by_name["gpu-each"].gpu_count, 10u);
  EXPECT_TRUE(by_name["smaller-gpu-each"].feasible);
}

// 60 % of an H100 is more than a whole L4, which has an eighth of its FLOP/s and an eleventh of its bandwidth.
TEST(Plan, ALoadOfAnAllowedGpuIsScaledToOtherGpus) {
  const WorkloadFile file = read("workloads:\n- {name: a, memory: 4GiB, load: 60%, replicas: 2}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 2)};
  const market::PriceBook prices(built_in_catalog());
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  const std::vector<Alternative> all =
      compare_alternatives(file, types, speeds(), catalog::Purchase::kOnDemand, plan, {.prices = &prices})
          ->alternatives;
  const Alternative& each = all.back();
  ASSERT_EQ(each.name, "smaller-gpu-each");
  for (const auto& [gpu, count] : each.gpus) EXPECT_NE(gpu, "l4");
}

// Hundreds of workloads are too many for the search: the model's layouts are filled, and the result stays near the
// bound.
TEST(Plan, ManyWorkloadsWithRulesStayNearTheBound) {
  std::string yaml = "workloads:\n";
  unsigned state = 7;
  for (int w = 0; w < 400; ++w) {
    state = state * 1664525u + 1013904223u;
    yaml += fmt::format("- {{name: w{}, memory: {}GiB, load: {}%{}}}\n", w, 1 + (state >> 8) % 70, (state >> 16) % 50,
                        w % 5 == 0 ? ", replicas: 3, spread: true" : "");
  }
  const WorkloadFile file = read(yaml);
  const std::vector<GpuType> types{type_of("h100-sxm", 2)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  expect_valid(plan, file, types);
  EXPECT_LT(plan.gap(), 0.005);
}

TEST(Workloads, EveryMistakeIsReportedWithItsPlace) {
  const std::string found = mistakes(
      "workloads:\n- name: a\n  memory: 5\n- name: a\n  memory: 5GiB\n  repicas: 2\n- memory: 1GiB\n- name: B_1\n  "
      "memory: 1GiB\n"
      "- name: c\n- name: e\n  model: llama-9\n");
  EXPECT_THAT(found, HasSubstr("w.yaml:3:11"));
  EXPECT_THAT(found, HasSubstr("two workloads are named 'a'"));
  EXPECT_THAT(found, HasSubstr("did you mean 'replicas'?"));
  EXPECT_THAT(found, HasSubstr("the workload has no name"));
  EXPECT_THAT(found, HasSubstr("'B_1' is not a valid name"));
  EXPECT_THAT(found, HasSubstr("'c' has neither 'memory' nor 'model'"));
  EXPECT_THAT(found, HasSubstr("llama-9"));
}

TEST(Workloads, RefusesContradictionsAndMalformedFiles) {
  EXPECT_THAT(mistakes("workloads:\n- {name: a, memory: 1GiB, replicas: 2, spread: true, affinity: x}\n"),
              HasSubstr("'spread' (replicas apart)"));
  EXPECT_THAT(mistakes("workloads:\n- {name: a, memory: 1GiB, memory: 2GiB}\n"),
              HasSubstr("'memory' is written twice"));
  EXPECT_THAT(mistakes("- a\n"), HasSubstr("must begin with 'workloads:'"));
  EXPECT_THAT(mistakes("workloads: [&x {name: a}, *x]\n"), HasSubstr("aliases"));
  EXPECT_THAT(mistakes("workloads:\n  - {name: a"), HasSubstr("cannot read this YAML"));
  EXPECT_THAT(mistakes("workloads: []\n"), HasSubstr("at least one"));
  EXPECT_THAT(mistakes("gpus: [h10]\nworkloads:\n- {name: a, memory: 1GiB}\n"), HasSubstr("w.yaml:1:8"));
}

TEST(Workloads, MemoryIsComputedFromANamedModel) {
  const WorkloadFile file = read(
      "workloads:\n- {name: a, model: qwen2.5-1.5b, isl: 500, osl: 100, concurrency: 4, rate: 2/s, service: 50ms}\n");
  ASSERT_EQ(file.workloads.size(), 1u);
  EXPECT_GT(in_gib(file.workloads[0].memory), 3);
  EXPECT_LT(in_gib(file.workloads[0].memory), 12);
  EXPECT_NEAR(file.workloads[0].load.fraction(), 0.1, 1e-9);
}

// More requests never need a smaller part of a GPU, and the estimate names its GPU.
TEST(Workloads, LoadIsEstimatedFromAModelAndItsRate) {
  const perf::Constants constants = *perf::load_constants("");
  const ModelSpeed speed{&constants, *built_in_catalog().find_gpu("a100-80gb-sxm")};
  for (const char* model : {"qwen2.5-3b", "bge-m3"}) {
    double before = 0;
    for (const double rate : {0.1, 1.0, 4.0, 16.0}) {
      const auto file = read_workloads(
          "w.yaml",
          fmt::format("workloads:\n- {{name: a, model: {}, rate: {}/s, latency: 60s, count: 2}}\n", model, rate),
          built_in_catalog(), Ratio::percent(20), speed);
      ASSERT_TRUE(file) << describe(file.error());
      const Workload& w = file->workloads[0];
      EXPECT_EQ(w.measured_on, "a100-80gb-sxm");
      EXPECT_EQ(w.replicas, 2);
      ASSERT_TRUE(w.service);
      EXPECT_GT(in_seconds(*w.service), 0);
      // Batched requests share the GPU's time: they never need more of it than one after the other.
      EXPECT_LE(w.load.fraction(), rate / 2 * in_seconds(*w.service) * 1.02) << model << rate;
      const double part = std::max(in_gib(w.memory) / 80, w.load.fraction() * 1.2);
      EXPECT_GE(part, before * 0.999) << model << rate;
      before = part;
    }
  }
}

// A rate or a latency without a service time: the memory decides, with an assumed load and a note.
TEST(Workloads, WithoutAServiceTimeTheMemoryDecides) {
  for (const char* keys : {"rate: 1/s", "latency: 20ms", "rate: 40/s, latency: 20ms", "latency: 20ms, load: 30%"}) {
    const WorkloadFile file = read(fmt::format("workloads:\n- {{name: a, memory: 6GiB, {}}}\n", keys));
    ASSERT_EQ(file.assumed.size(), 1u) << keys;
    EXPECT_THAT(file.assumed[0], HasSubstr("service: 12ms"));
    const Workload& w = file.workloads[0];
    EXPECT_EQ(w.load.fraction(), std::string_view(keys).find("load") == std::string_view::npos ? 0.1 : 0.3) << keys;
    EXPECT_FALSE(w.latency || w.rate) << keys;
  }
  EXPECT_TRUE(read("workloads:\n- {name: a, memory: 6GiB, rate: 1/s, load: 10%}\n").assumed.empty());
}

// The mig-parted file of a plan fits the plan's GPU.
TEST(MigParted, ReadsTheFilesThatPlansWrite) {
  const WorkloadFile file = read("workloads:\n- {name: a, memory: 30GiB, replicas: 3}\n- {name: b, memory: 5GiB}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  const std::string text = hand_over(plan, file, types, 8).mig_parted;
  ASSERT_TRUE(is_mig_parted(text));
  const Geometry& geometry = *types[0].geometry;
  const auto layouts = read_mig_parted("m.yaml", text, geometry);
  ASSERT_TRUE(layouts) << describe(layouts.error());
  std::size_t slices = 0;
  for (const PartedLayout& parted : *layouts) {
    EXPECT_EQ(parted.problem, "");
    EXPECT_TRUE(geometry.place(parted.layout)) << parted.name;
    slices += parted.layout.size() * (1 + static_cast<std::size_t>(std::ranges::count(parted.devices, ',')));
  }
  EXPECT_EQ(slices, 4u);
  const auto other =
      read_mig_parted("m.yaml", "mig-configs:\n  x:\n  - {devices: all, mig-devices: {9g.1gb: 1}}\n", geometry);
  ASSERT_TRUE(other);
  EXPECT_NE(other->front().problem, "");
  EXPECT_FALSE(read_mig_parted("m.yaml", "mig-configs:\n  x:\n  - {devices: all, mig-enabled: false}\n", geometry));
  EXPECT_FALSE(read_mig_parted("m.yaml", "mig-configs:\n  x:\n  - {mig-devices: {1g.10gb: 1}}\n", geometry));
}

TEST(HandOver, AllFilesDescribeTheSameInstances) {
  const WorkloadFile file = read("workloads:\n- {name: a, memory: 30GiB, replicas: 2}\n- {name: b, memory: 5GiB}\n");
  const std::vector<GpuType> types{type_of("h100-sxm", 1)};
  const SlicePlan plan = *plan_slices(file, types, speeds(), {});
  const ToolFiles tool_files = hand_over(plan, file, types, 8);
  EXPECT_THAT(tool_files.mig_parted, HasSubstr("version: v1\nmig-configs:\n  planned:"));
  EXPECT_THAT(tool_files.mig_parted, HasSubstr("\"3g.40gb\": "));
  EXPECT_THAT(tool_files.config_map, HasSubstr("    version: v1\n    mig-configs:"));
  EXPECT_THAT(tool_files.nvidia_smi, HasSubstr("nvidia-smi mig -i 0 -cgi 9:"));
  EXPECT_THAT(tool_files.kubernetes, HasSubstr("nvidia.com/mig-3g.40gb: 1"));
  EXPECT_THAT(tool_files.dra, HasSubstr("profile == '1g.10gb'"));
}

}  // namespace
}  // namespace rightsize::mig
