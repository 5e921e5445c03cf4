#include "sim/arrival_list.h"

#include <algorithm>

#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

// Half of the properties keep their usual value, which takes no memory.
Arrival random_arrival(std::uint32_t set) {
  const auto some = [&](std::uint32_t bit, std::int32_t usual) {
    return (set >> bit & 1U) != 0 ? *rc::gen::inRange(0, 4) : usual;
  };
  return {*rc::gen::inRange<SimTime>(0, 100),    some(0, 1), some(1, 1), some(2, 0), some(3, 0),
          static_cast<std::uint32_t>(some(4, 0))};
}

RC_GTEST_PROP(ArrivalList, BehavesAsAVector, ()) {
  std::vector<Arrival> all;
  ArrivalList list;
  const auto set = *rc::gen::inRange(0U, 32U);
  const auto count = *rc::gen::inRange<std::size_t>(0, 30);
  // Properties that only later requests have.
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(random_arrival(i < count / 2 ? 0 : set));
    list.push_back(all.back());
  }
  const auto same = [&] {
    RC_ASSERT(std::ranges::equal(list, all));
    RC_ASSERT(list == ArrivalList(all));
    for (std::size_t i = 0; i < all.size(); ++i) RC_ASSERT(list[i] == all[i]);
  };
  same();
  const ArrivalList before = list, faster = list.faster(2);
  const std::vector<Arrival> unchanged = all;
  const auto change = [](Arrival& arrival) { arrival.at += 7, arrival.size = 1, arrival.kind += 1; };
  std::ranges::for_each(all, change);
  list.change(change);
  same();
  const auto late = [](const Arrival& arrival) { return arrival.at > 60; };
  std::erase_if(all, late);
  list.erase_if(late);
  same();
  const auto from = *rc::gen::inRange<std::size_t>(0, all.size() + 1);
  const auto until = *rc::gen::inRange<std::size_t>(from, all.size() + 1);
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  RC_ASSERT(list.part(from, until) == ArrivalList(std::vector(all.begin() + at(from), all.begin() + at(until))));
  RC_ASSERT(std::ranges::equal(before, unchanged));  // copies are independent
  for (std::size_t i = 0; i < unchanged.size(); ++i) {
    Arrival twice_as_early = unchanged[i];
    twice_as_early.at /= 2;
    RC_ASSERT(faster[i] == twice_as_early);
  }
  ArrivalList changed = faster;
  changed.change([](Arrival& arrival) { arrival.output = 5; });
  RC_ASSERT(std::ranges::equal(changed, faster, {}, &Arrival::at, &Arrival::at));
  all.resize(until);
  list.truncate(until);
  same();
}

}  // namespace
}  // namespace rightsize::sim
