#include "rightsize/recommend/price_fields.h"

namespace rightsize::app {

using plan::Commitment;
using plan::SpotPrice;
using report::Fields;
using report::positive;

const Fields<market::Draw>& draw_fields() {
  static const Fields<market::Draw> kFields = {
      {"account", "account of the commitment", [](const market::Draw& d) { return d.from->account; }},
      {"provider", "provider of the commitment", [](const market::Draw& d) { return d.from->provider; }},
      {"drawn_usd", "what this plan draws", &market::Draw::amount},
      {"left_usd", "what is left to spend", [](const market::Draw& d) { return d.from->left; }},
      {"until", "when the commitment ends", [](const market::Draw& d) { return d.from->until; }},
  };
  return kFields;
}

const Fields<SpotPrice>& spot_fields() {
  static const Fields<SpotPrice> kFields = {
      {"low", "10th percentile over the job", [](const SpotPrice& s) { return s.price.low; }},
      {"likely", "mean over the job", [](const SpotPrice& s) { return s.price.likely; }},
      {"median", "median over zones and regions", [](const SpotPrice& s) { return s.price.median; }},
      {"high", "90th percentile over the job", [](const SpotPrice& s) { return s.price.high; }},
      {"region", "region of the offer", [](const SpotPrice& s) { return s.offer.price->region; }},
      {"zone", "zone of the offer", [](const SpotPrice& s) { return s.offer.price->zone; }},
      {"age_days?", "age of the price", [](const SpotPrice& s) { return s.price.age; }},
  };
  return kFields;
}

const Fields<Commitment>& commitment_fields() {
  static const Fields<Commitment> kFields = {
      {"term", "1y or 3y", [](const Commitment& c) { return c.offer.price->purchase; }},
      {"total_usd", "cost of all machines to the end of the term", &Commitment::total},
      {"usd_per_machine_hour", "price of one machine", [](const Commitment& c) { return c.offer.rate(); }},
      {"region", "region of the offer", [](const Commitment& c) { return c.offer.price->region; }},
      {"break_even_utilization?", "use above which it costs less than on demand",
       [](const Commitment& c) { return positive(c.break_even); }},
  };
  return kFields;
}

const Fields<plan::Quota>& quota_fields() {
  static const Fields<plan::Quota> kFields = {
      {"name", "the quota, as the provider spells it", &plan::Quota::name},
      {"code", "its code", &plan::Quota::code},
      {"amount", "what the plan needs", &plan::Quota::amount},
      {"unit", "vcpu or gpu", [](const plan::Quota& q) { return q.vcpus ? "vcpu" : "gpu"; }},
  };
  return kFields;
}

}  // namespace rightsize::app
