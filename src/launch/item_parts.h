// How the files of an offline job divide its items.
//
// Each replica works through its own parts, and finished parts are not repeated. An interruption therefore costs half a
// part on average, and parts are as short as the plan's running time assumes (market/interruptions.h).
#pragma once

#include <cstdint>

#include "launch/hand_over.h"

namespace rightsize::launch {

struct Parts {
  std::int64_t items = 1;  // of one part
  std::int64_t count = 1;
  Seconds length = {};     // of one part on its replica
  Seconds in_flight = {};  // time of a request: running ones are lost, too
};
Parts parts_of(const Request& request, const Plan& plan);

}  // namespace rightsize::launch
