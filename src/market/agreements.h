// What a company has agreed with its providers: discounts on list prices, reservations that are paid for already, and
// spend it has committed to.
// They stand in agreements.csv of the user's catalogue folder, and change the catalogue's prices before any command
// looks at them:
//
//   account,kind,provider,instance,gpu,region,purchase,percent,machines,amount,planned,until,note
//   prod,discount,aws,,,,on-demand,12,,,,2027-06-30,enterprise agreement
//   prod,reservation,aws,p5.48xlarge,,us-east-1,,,2,,,2027-01-31,bought in January
//   prod,pool,azure,,,,,8,,400000,250000,2027-06-30,MACC
//
// A discount applies to every price its row does not rule out; of several the largest counts, they do not add up. A
// reservation is so many machines at no further cost: its money is spent whether they run or not. A pool is spend that
// is owed by a day (AWS EDP or PPA, Azure MACC, Google commitments): `amount` is what is left of it, `planned` what
// other work will draw from it by then. The rest would be billed for nothing, so that drawing on it costs no new money
// (committed_spend.h); with `percent` what counts towards it is that much cheaper.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::market {

struct Agreement {
  enum Kind { kDiscount, kReservation, kPool } kind = kDiscount;
  std::string account, provider, instance, gpu, region, note;  // empty: any
  std::optional<catalog::Purchase> purchase;
  double percent = 0;         // of a discount, of a pool
  int machines = 0;           // of a reservation
  Usd amount, planned;        // of a pool
  std::optional<Date> until;  // the last day it holds; nothing: no end
  int line = 0;
};

// Every mistake at once: unknown kinds, columns, providers, machines and GPUs, with suggestions.
Checked<std::vector<Agreement>> read_agreements(const std::string& file, std::string text,
                                                const catalog::Catalog& catalog);

// Changes the prices of the catalogue as the agreements that hold on `day` say.
void apply_agreements(catalog::Catalog& catalog, const std::vector<Agreement>& agreements, Date day,
                      const std::string& file);

}  // namespace rightsize::market
