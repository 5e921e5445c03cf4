#include "sim/router.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

RC_GTEST_PROP(Router, ChoosesOneWithTheLeastWork, ()) {
  const std::size_t replicas = *rc::gen::inRange<std::size_t>(1, 20);
  std::vector<double> times;
  Router router(3);
  for (std::size_t i = 0; i < replicas; ++i) {
    times.push_back(*rc::gen::element(1.0, 1.0, 2.5));
    router.add(times.back());
  }
  std::vector<std::size_t> present(replicas, 0);
  const auto load = [&](std::size_t i) { return static_cast<double>(present[i] + 1) * times[i]; };
  for (int step = 0; step < 200; ++step) {
    const std::size_t chosen = router.choose();
    for (std::size_t i = 0; i < replicas; ++i) RC_ASSERT(load(chosen) <= load(i));
    router.set_present(chosen, ++present[chosen]);
    const std::size_t done = *rc::gen::inRange<std::size_t>(0, replicas);
    present[done] -= std::min<std::size_t>(present[done], static_cast<std::size_t>(*rc::gen::inRange(0, 4)));
    router.set_present(done, present[done]);
  }
}

TEST(Router, EqualReplicasAreChosenEqually) {
  Router router(1);
  for (int i = 0; i < 5; ++i) router.add(1);
  std::map<std::size_t, int> chosen;
  for (int i = 0; i < 10'000; ++i) ++chosen[router.choose()];
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(chosen[i], 2'000, 200) << i;
}

}  // namespace
}  // namespace rightsize::sim
