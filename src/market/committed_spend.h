// What of a bill is drawn from spend that is committed already (agreements.h), and so costs no new money.
//
// Work that ends draws on all that is left, as far as it is paid for before the last day. A service goes on: it draws
// evenly until then, so that a month of it has its share of what is left.
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
  // Pools that have ended by `day` are left out. The catalogue must outlive this.
  CommittedSpends(const catalog::Catalog& catalog, Date day);

  bool empty() const { return pools_.empty(); }

  // Of a bill paid evenly over `time` from the day on. `goes_on`: the same again after it, and so on.
  std::vector<Draw> draws(const Offer& offer, Usd bill, Seconds time, bool goes_on) const;

  // The pools an offer counts towards, ended soonest first.
  std::vector<const catalog::CommittedSpend*> of(const Offer& offer) const;

 private:
  Date day_;
  std::vector<const catalog::CommittedSpend*> pools_;
};

Usd sum_of(const std::vector<Draw>& draws);

// "prod's commitment with azure, $150,000 left until 2027-06-30".
std::string describe(const catalog::CommittedSpend& pool);

}  // namespace rightsize::market
