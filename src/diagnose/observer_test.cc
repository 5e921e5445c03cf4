#include "diagnose/observer.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

TEST(Observer, KeepsTheGpusApartInTheOrderTheyWereSeen) {
  Observer observer;
  telemetry::Device a, b;
  a.uuid = "GPU-a", b.uuid = "GPU-b";
  const int second = observer.open(b), first = observer.open(a);
  EXPECT_EQ(observer.open(b), second);
  observer.add(first, reading(0, 0.5, 1e9));
  observer.add(second, reading(0, 0, 1e9));
  observer.add(second, reading(1, 0, 1e9));
  ASSERT_EQ(observer.gpus().size(), 2u);
  EXPECT_EQ(observer.gpus()[0].device.uuid, "GPU-b");
  EXPECT_EQ(observer.gpus()[0].whole.summary().samples, 2u);
  EXPECT_EQ(observer.gpus()[1].series.samples().size(), 1u);
}

// Pauses do not change what limits the work: they are named, and the verdict is that of the busy time.
RC_GTEST_PROP(Understand, PausesDoNotChangeTheVerdictOfTheWork, ()) {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  const Kind& kind = *rc::gen::elementOf(std::vector<Kind>(std::begin(kSteadyKinds), std::end(kSteadyKinds)));
  const int work = *rc::gen::inRange(20, 40), pause = *rc::gen::inRange(6, 9);  // seconds
  const double noise = *rc::gen::element(0.0, 0.01, 0.03);                      // of the work's level
  Level low{noise * kind.level.engine, noise * kind.level.sm, noise * kind.level.dram};
  low.memory_gib = kind.level.memory_gib;
  Observer observer;
  const int gpu = observer.open({});
  for (const Sample& sample : record(300, [&](double time) {
         const bool pauses = std::fmod(time, work + pause) >= work;
         return pauses ? low : kind.level;
       }))
    observer.add(gpu, sample);
  const GpuProfile profile = understand(observer.gpus()[0], kCatalog, nullptr, false);
  RC_ASSERT(profile.diagnosis.verdict == kind.verdict);
  const bool works = kind.verdict != Verdict::kIdle && kind.verdict != Verdict::kIdleHeld;
  RC_ASSERT(!works || pause_share(profile.phases) > 0.1 || profile.cycle);
}

// An idle GPU on which something stirs now and then is to be stopped: it has no pauses to shorten.
TEST(Understand, AnIdleGpuHasNoPausesToShorten) {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  Observer observer;
  const int gpu = observer.open({});
  Level idle{0, 0, 0}, stirs{0.006, 0.0048, 0.0012};
  idle.memory_gib = stirs.memory_gib = 40;
  for (const Sample& sample : record(300, [&](double t) {
         return (t >= 39 && t < 59) || (t >= 119 && t < 179) || (t >= 201 && t < 204) ? stirs : idle;
       }))
    observer.add(gpu, sample);
  const GpuProfile profile = understand(observer.gpus()[0], kCatalog, nullptr, false);
  EXPECT_EQ(profile.diagnosis.verdict, Verdict::kIdleHeld);
  EXPECT_GT(pause_share(profile.phases), 0.2);
  for (const Action& action : profile.diagnosis.actions) EXPECT_NE(action.kind, "data-loading") << action.text;
}

TEST(Identify, KnowsTheNamesDriversAndExportersUse) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  for (const char* name : {"NVIDIA H200", "NVIDIA-H200"}) {
    telemetry::Device device;
    device.name = name;
    const catalog::Gpu* gpu = identify(catalog, device);
    ASSERT_NE(gpu, nullptr) << name;
    EXPECT_EQ(gpu->name, "h200-sxm") << name;
  }
  EXPECT_EQ(identify(catalog, {}), nullptr);
}

}  // namespace
}  // namespace rightsize::diagnose
