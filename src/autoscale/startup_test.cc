#include "autoscale/startup.h"

#include <gtest/gtest.h>

namespace rightsize::autoscale {
namespace {

StartedModel model_of(double gigabytes, int layers, int gpus) { return {gb(gigabytes), layers, gpus, gb(9.6)}; }

double total(const StartedModel& model, const char* options) {
  return in_seconds(startup_of(model, *parse_startup(options)).total());
}

TEST(Startup, EveryImprovementShortensIt) {
  for (const StartedModel& model : {model_of(16, 32, 1), model_of(140, 80, 4), model_of(470, 94, 8)}) {
    EXPECT_LT(total(model, "weights=stream"), total(model, "weights=hub"));
    EXPECT_LT(total(model, "weights=memory"), total(model, "weights=disk"));
    EXPECT_LE(total(model, "weights=stream,sharded=yes"), total(model, "weights=stream"));
    EXPECT_LT(total(model, "compile=cached"), total(model, "compile=cold"));
    EXPECT_LT(total(model, "wake=yes"), total(model, "weights=memory,compile=none"));
    EXPECT_GT(total(model, "node=eks,image=cached"), total(model, ""));
    EXPECT_EQ(total(model, "node=eks"), total(model, "node=eks,image=pull"));  // a new machine does not have the image
    EXPECT_LT(total(model, "node=eks,image=stream"), total(model, "node=eks"));
    EXPECT_GT(total(model, "image=stream"), total(model, "image=cached"));
  }
}

TEST(Startup, LargerModelsTakeLongerAndRangesContainTheTime) {
  for (const char* options : {"", "weights=stream,compile=cached", "weights=memory,compile=none", "wake=yes",
                              "node=aks,image=stream", "node=gke"}) {
    EXPECT_LT(total(model_of(16, 32, 1), options), total(model_of(140, 80, 1), options));
    const Startup startup = startup_of(model_of(140, 80, 4), *parse_startup(options));
    for (const Stage& stage : startup.stages) {
      EXPECT_LE(stage.low, stage.time) << stage.name;
      EXPECT_GE(stage.high, stage.time) << stage.name;
      EXPECT_FALSE(stage.source.empty()) << stage.name;
    }
  }
}

TEST(Startup, RefusesUnknownParts) {
  EXPECT_FALSE(parse_startup("weight=hub"));
  EXPECT_FALSE(parse_startup("weights=floppy"));
  EXPECT_FALSE(parse_startup("cold"));
}

}  // namespace
}  // namespace rightsize::autoscale
