// The part of a bill that spend commitments cover (agreements.h) and that therefore costs no new money.
//
// A job draws on the whole remaining amount, as far as it is paid before the last day. A service draws evenly until
// then, so a month gets its share of the remaining amount.
#pragma once

#include <string>
#include <vector>

#include "base/date.h"
#include "base/units.h"
#include "market/offers.h"

namespace rightsize::market {

struct Draw {
  const catalog::CommittedSpend* from = nullptr;
  Usd amount;
};

class CommittedSpends {
 public:
  // Pools that ended before `day` are left out. The catalogue must outlive this object.
  CommittedSpends(const catalog::Catalog& catalog, Date day);

  bool empty() const { return pools_.empty(); }

  // For a bill paid evenly over `time` from the day on. `goes_on`: the bill repeats.
  std::vector<Draw> draws(const Offer& offer, Usd bill, Seconds time, bool goes_on) const;

  // The pools that an offer counts towards, earliest end first.
  std::vector<const catalog::CommittedSpend*> of(const Offer& offer) const;

 private:
  Date day_;
  std::vector<const catalog::CommittedSpend*> pools_;
};

Usd sum_of(const std::vector<Draw>& draws);

// "prod's commitment with azure, $150,000 left until 2027-06-30".
std::string describe(const catalog::CommittedSpend& pool);

}  // namespace rightsize::market
