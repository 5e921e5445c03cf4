// The jobs, amounts of work, limits and users that a command line names, and the remaining words.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/model_shape.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

struct SaidAmount {
  std::string flag, value;  // as typed: "--docs", "50M/day"; the flag is empty for a bare phrase
  Thing thing = Thing::kNone;
  Amount amount;
  bool is_rate = false;  // --rate, --rps

  std::string text() const { return flag.empty() ? value : flag + " " + value; }
};

struct Said {
  std::string command, job;
  std::vector<SaidAmount> amounts;
  std::vector<LatencyLimit> limits;
  std::optional<double> percentile;    // of the limits that have none
  std::optional<double> concurrency;   // requests in flight
  std::optional<double> copies;        // --dp, where the command has no such flag
  bool sentence = false;               // several words that are not flags
  bool asks_rate = false;              // "tokens per second" without a number
  std::optional<double> think, turns;  // seconds; messages of a user
  std::optional<Seconds> turns_per;
  std::string parameters, like;           // of a model that is known only by its size: --params 34B --like llama
  std::optional<double> nodes, per_node;  // machines, and GPUs of each
  std::optional<double> epochs;           // where the command has no such flag
  std::optional<double> longest;          // tokens of the longest request: --max-model-len
  std::string ignored;                    // words without a meaning, joined
  Typed rest;                             // everything else, as typed
};

Said read_said(Typed typed, const std::deque<FlagInfo>& declared);

// Whether the command plans any kind of work: recommend, checklist, init.
bool plans_work(const std::deque<FlagInfo>& declared);
bool is_workload_file(const std::string& word);

// The model among these words: --model=NAME or a bare word; empty if there is none. The second returns its shape, if
// known.
std::string model_among(const std::vector<std::string>& words);
std::optional<model::ModelShape> shape_among(const std::vector<std::string>& words);

}  // namespace rightsize::app
