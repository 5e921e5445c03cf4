// Options for workloads that are described by their work: model, traffic, tokens, deadline.
#pragma once

#include "market/price_book.h"
#include "perf/perf.h"
#include "portfolio/organisation.h"

namespace rightsize::portfolio {

// Every plan of `recommend` becomes an option that is bought by itself, so a portfolio is never worse than the
// individual recommendations. In each pool, another option has the GPUs of the best plan on the pool's GPU. A training
// run or offline job occupies a pool in a block that is long enough for it.
Checked<> add_work_options(Organisation& organisation, const market::PriceBook& book, const perf::Constants& constants);

// The organisation with one limit of a workload relaxed, to find the value of a deadline or SLO. Existing options stay,
// and those that the new limit allows are added.
struct RelaxedLimit {
  std::string what;  // "deadline:NAME", one hour later; "slo:NAME", its limits on TTFT and TPOT 10 ms longer
  Organisation organisation;
};
Checked<std::vector<RelaxedLimit>> relaxed_limits(const Organisation& organisation, const market::PriceBook& book,
                                                  const perf::Constants& constants);

}  // namespace rightsize::portfolio
