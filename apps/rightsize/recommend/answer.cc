#include "rightsize/recommend/answer.h"

#include "plan/read_request.h"
#include "plan/session_rate.h"
#include "plan/widen.h"

namespace rightsize::app {

Checked<Recommended> recommend_for(const std::vector<model::Setting>& settings, const Facts& facts, bool plans_only) {
  RIGHTSIZE_TRY(plan::Request request, plan::read_request(settings, facts.catalog));
  request.plans_only = plans_only;
  const auto catalog = std::make_shared<catalog::Catalog>(facts.catalog);
  if (Result<> added = market::add_own_hardware(*catalog, request.own); !added) return fail(std::move(added).error());
  const auto prices = std::make_shared<const market::PriceBook>(*catalog, request.prices);
  request = plan::settled(std::move(request), *prices, facts.constants);
  plan::Recommendation found = plan::recommend_widely(request, *prices, facts.constants);
  return Recommended{std::move(request), catalog, prices, std::move(found)};
}

}  // namespace rightsize::app
