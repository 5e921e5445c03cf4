#include "diagnose/observer.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
