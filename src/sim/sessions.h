// Conversations and agents as traffic: users who come back, with prompts that contain the conversation so far.
//
//   Result<Sessions> sessions = parse_sessions("users=2000,turns=6,think=30s,system=1200,turn-in=150,turn-out=300");
//   Trace trace = trace_of(*sessions, {.rate = sessions->rate(seconds(6))});
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "sim/arrivals.h"

namespace rightsize::sim {

struct Sessions {
  double users = 1;           // active at once, each in one conversation
  double turns = 1;           // requests of a conversation; the user then begins another one
  Seconds think = {};         // from an answer to the next request of the user; for agents, the time that tools take
  double system = 0;          // tokens of the system prompt
  double system_prompts = 1;  // distinct system prompts, each used by an equal share of users
  double turn_in = 1;         // new prompt tokens of a turn
  double turn_out = 1;        // tokens of an answer
  double fan_out = 1;         // requests of a turn that run side by side, with the same context
  bool repeat = false;        // each user repeats the same prompt

  auto operator<=>(const Sessions&) const = default;

  // Requests per second of all users if an answer takes this long.
  RequestsPerSecond rate(Seconds answer) const;
};

// "users=2000,turns=6,think=30s,system=1200,turn-in=150,turn-out=300"; also systems=N (different system prompts),
// fan-out=N and repeat=yes. users, turn-in and turn-out are required.
Result<Sessions> parse_sessions(std::string_view text);

struct SessionTrace {
  RequestsPerSecond rate = {};                 // of all users
  Seconds answer = {};                         // the shortest time between two requests of a user
  bool closed = false;                         // also as users who wait for their answers (Trace::closed)
  std::uint64_t requests = 0;                  // to measure, after the warm-up; 0: enough for the planner
  double in_variation = 0, out_variation = 0;  // coefficient of variation of the lengths of turns
  std::int32_t longest = 0;                    // tokens of prompt and answer that end a conversation; 0: no limit
  std::uint64_t seed = 1;

  auto operator<=>(const SessionTrace&) const = default;
};

// Users begin at a random turn. The trace's warm-up is long enough for each to have come back, up to 200,000 requests.
Trace trace_of(const Sessions& sessions, const SessionTrace& wanted);

// Mean tokens per request that an unlimited cache has seen before: an upper bound on hits.
double repeated_tokens(const Trace& trace);

}  // namespace rightsize::sim
