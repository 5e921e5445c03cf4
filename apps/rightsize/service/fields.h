// The fields of `rightsize service`'s results.
#pragma once

#include <fmt/format.h>

#include "report/fields.h"
#include "rightsize/service/report.h"

namespace rightsize::app {

struct RankedPlan {
  const live_service::SizedPlan* plan = nullptr;
  std::size_t rank = 1;
  std::optional<Usd> now;  // current monthly cost
};
extern const report::Fields<RankedPlan> kServicePlanFields;

inline std::optional<std::size_t> rank(const std::optional<std::size_t>& index) {
  return index ? std::optional(*index + 1) : std::nullopt;
}

inline std::vector<RankedPlan> ranked_plans(const SizedService& one) {
  std::vector<RankedPlan> all;
  if (!one.sized) return all;
  for (const live_service::SizedPlan& plan : one.sized->plans)
    all.push_back({&plan, all.size() + 1, one.description.month});
  return all;
}

inline std::string machines_shown(const live_service::SizedPlan& p) {
  return p.move ? fmt::format("{} x {} ({})", p.move->machines, p.move->offer.machine->instance,
                              p.move->offer.machine->provider)
                : "current machines";
}

report::Json service_document(const ServiceInput& input, const ServiceFacts& facts);

}  // namespace rightsize::app
