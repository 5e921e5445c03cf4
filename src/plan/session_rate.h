// Users who wait for answers: how often they ask follows from how long a plan takes to answer, never from the limits.
#pragma once

#include <optional>

#include "market/price_book.h"
#include "plan/plan.h"

namespace rightsize::plan {

// The request with the traffic of users who wait this long for an answer. Empty: it has that traffic already, or its
// rate is given.
std::optional<Request> with_waiting(const Request& request, Seconds latency);

// How long users wait for an answer in this traffic. Empty: they do not.
std::optional<Seconds> waiting_in(const Request& request);

// The request with the traffic that read_request() gave it, before any plan was known.
void forget_waiting(Request& request);

// Plans the request until its traffic is that of the plan's own latency, in at most three rounds. `latency_of` plans a
// request and returns the mean latency of the best plan; zero: there is none.
template <class LatencyOf>
void settle(Request& request, const LatencyOf& latency_of) {
  constexpr int kRounds = 3;
  forget_waiting(request);  // a request and a change that leads to it take the same way
  for (int round = 1;; ++round) {
    std::optional<Request> changed = with_waiting(request, latency_of(request));
    if (!changed || round == kRounds) return;
    request = *std::move(changed);
  }
}

// The request with the traffic of its first plan's latency.
Request settled(Request request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
