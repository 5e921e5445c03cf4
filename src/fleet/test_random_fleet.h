// Random fleets for property tests.
#pragma once

#include <string>
#include <vector>

#include <rapidcheck.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {

// Random fleets for properties: the activity and the owner of each GPU.
struct Made {
  std::vector<Life> lives;
  std::vector<std::size_t> kinds;
  std::vector<int> minutes;

  std::vector<GpuUse> uses(bool with_labels) const {
    static const std::vector<double (*)(int)> kActivities = {busy, nothing, trickle, mornings, evenings};
    UseAccumulator sum({});
    for (std::size_t i = 0; i < lives.size(); ++i) {
      Life life = lives[i];
      if (!with_labels) life.team.clear();
      live(sum, life, minutes[i], kActivities[kinds[i]]);
    }
    return sum.finish();
  }
};

// `apart`: no two GPUs share a Deployment. Otherwise one pod may keep another from being moved or removed.
inline Made random_fleet(bool apart = false) {
  Made made;
  const int count = *rc::gen::inRange(1, 9);
  for (int i = 0; i < count; ++i) {
    Life life;
    life.uuid = "GPU-" + std::to_string(i);
    life.index = i;
    life.team = *rc::gen::element<std::string>("a", "b");
    life.pod = *rc::gen::element<std::string>("x-", "y-", "z-7d4b9c6f5-x2x5", "chat-", "400", "fit-worker-", "") +
               std::to_string(2 + i);
    if (apart) life.pod = "w" + std::to_string(i) + "-7d4b9c6f5-x2x5b";
    life.memory = *rc::gen::element(0.4, 5.0, 20.0, 70.0) * kGiB;
    life.tensor = *rc::gen::element(0.05, 0.6);
    life.dram = *rc::gen::element(0.05, 0.3);
    life.model = *rc::gen::element<std::string>("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB");
    made.lives.push_back(life);
    made.kinds.push_back(*rc::gen::inRange<std::size_t>(0, 5));
    made.minutes.push_back(kDay);
  }
  return made;
}

}  // namespace rightsize::fleet
