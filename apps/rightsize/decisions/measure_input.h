// What was measured of a decision: numbers by hand, a recording of a GPU, or a metrics server. For verify, rollout and
// decisions review.
#pragma once

#include <string>
#include <vector>

#include "decisions/evidence.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct MeasureFlags {
  std::vector<std::string> measured, queries;  // METRIC=VALUE[,VALUE...], METRIC=PROMQL
  std::string profile, step = "5min";
  int oom = -1;  // below 0: not said
  ServerFlags server;
};

void add_measure_flags(FlagSet& command, MeasureFlags& flags);

struct Measured {
  std::vector<decisions::Sample> samples;
  std::string how;                 // "by hand", "profile run.csv", "prometheus http://..."
  std::vector<std::string> notes;  // "the server has no series for ttft_seconds"
};

// Everything the flags ask for; empty where they ask for nothing. A metrics server is asked --query, or, without one,
// what vLLM and dcgm-exporter publish of the decision's own predictions.
Checked<Measured> measure(const MeasureFlags& flags, const decisions::Decision& decision);

// Without what the ledger has already: a server's samples by their time, a recording by its name.
std::vector<decisions::Sample> only_new(std::vector<decisions::Sample> fresh,
                                        const std::vector<decisions::Sample>& known);

}  // namespace rightsize::app
