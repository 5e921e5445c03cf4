// How the files of an offline job divide its items.
//
// Each replica works through its own parts, and finished parts are not repeated. An interruption therefore costs half a
// part on average, and parts are as short as the plan's running time assumes (market/interruptions.h).
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace rightsize::plan {

struct Parts {
  std::int64_t items = 1;  // of one part
  std::int64_t count = 1;
  Seconds length = {};     // of one part on its replica
  Seconds in_flight = {};  // time of a request: running ones are lost, too
};
Parts parts_of(const Request& request, const Plan& plan);

// The data that an offline job reads and writes, as far as the model determines it; zero: unknown.
struct DataSize {
  Bytes in, out;
  Bytes both() const { return in + out; }
};
DataSize data_size(const Request& request);

// "about 320 GB in and 4.38 TB out, with storage of 4.7 TB in the cost (--storage)"; empty: unknown.
std::string describe_data(const Request& request, const Plan& plan);

}  // namespace rightsize::plan
