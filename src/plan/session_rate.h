// The request rate of users who wait for answers. It follows from the latency of a plan, never from the limits.
#pragma once

#include <optional>

#include "market/price_book.h"
#include "plan/plan.h"

namespace rightsize::plan {

// The request with the traffic of users who wait this long for an answer. Empty if the request already has that
// traffic, or if its rate is given.
std::optional<Request> with_waiting(const Request& request, Seconds latency);

// How long users wait for an answer in this traffic; empty if they do not wait.
std::optional<Seconds> waiting_in(const Request& request);

// Restores the traffic that read_request() set before any plan was known.
void forget_waiting(Request& request);

// Plans the request until its traffic matches the latency of the plan, in at most three rounds. `latency_of` plans a
// request and returns the mean latency of the best plan; zero if there is none.
template <class LatencyOf>
void settle(Request& request, const LatencyOf& latency_of) {
  constexpr int kRounds = 3;
  forget_waiting(request);  // a request and a change that leads to it must take the same path
  for (int round = 1;; ++round) {
    std::optional<Request> changed = with_waiting(request, latency_of(request));
    if (!changed || round == kRounds) return;
    request = *std::move(changed);
  }
}

// The request with traffic that matches its first plan's latency.
Request settled(Request request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
