// Agreements of a company with its providers: discounts on list prices, reservations that are already paid for, and
// committed spend. They are read from agreements.csv in the user's catalogue folder and change the catalogue's prices
// before any command uses them:
//
//   account,kind,provider,instance,gpu,region,purchase,percent,machines,amount,planned,until,note
//   prod,discount,aws,,,,on-demand,12,,,,2027-06-30,enterprise agreement
//   prod,reservation,aws,p5.48xlarge,,us-east-1,,,2,,,2027-01-31,bought in January
//   prod,pool,azure,,,,,8,,400000,250000,2027-06-30,MACC
//
// A discount applies to every price that matches its row; if several match, only the largest counts. A reservation is a
// number of machines at no further cost: they are paid whether they run or not. A pool is spend that is due by a date
// (AWS EDP or PPA, Azure MACC, Google commitments): `amount` is the remaining spend, `planned` the part that other work
// will use by then. The rest would be billed anyway, so drawing on it costs no new money (committed_spend.h). `percent`
// is a discount on everything that counts towards the pool.
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
  std::optional<Date> until;  // the last day it is valid; empty: no end
  int line = 0;
};

// Every mistake at once: unknown kinds, columns, providers, machines and GPUs, with suggestions.
Checked<std::vector<Agreement>> read_agreements(const std::string& file, std::string text,
                                                const catalog::Catalog& catalog);

// Applies the agreements that are valid on `day` to the prices of the catalogue.
void apply_agreements(catalog::Catalog& catalog, const std::vector<Agreement>& agreements, Date day,
                      const std::string& file);

}  // namespace rightsize::market
