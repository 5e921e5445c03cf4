// The catalogue: GPUs, their MIG profiles, machines that hold them, and prices. Facts, each with its source and date;
// nothing here computes.
//
//   auto catalog = load_catalog(overlay_directory);      // built-in facts, overlaid by the user's own files
//   auto gpu = catalog->find_gpu("A100-SXM4-80GB");      // names, aliases; an unknown name gets a suggestion
//
// Unknown is std::nullopt, never zero.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "base/units.h"

namespace rightsize::catalog {

// The origin of a row.
struct Provenance {
  std::vector<std::string> sources;     // keys of Catalog::sources
  std::optional<Date> date;             // when the fact was read there
  std::vector<std::string> unverified;  // columns of the row no readable source confirms
  std::string note;
  std::string file;  // "data/gpus.csv" for a built-in row, the overlay file's path for a user's
  int line = 0;
};

struct Source {
  std::string key;
  std::string title;
  std::string address;
  std::string licence;
  std::optional<Date> retrieved;
  std::string note;
};

enum class NumberFormat { kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8, kFp4 };
inline constexpr int kNumberFormats = 8;
std::string_view name_of(NumberFormat format);

// Peak arithmetic of one number format.
struct Peak {
  bool supported = false;                  // false: the hardware does not have this format
  std::optional<FlopsPerSecond> dense;     // empty: supported, but the rate is unknown
  std::optional<FlopsPerSecond> sparse;    // structured 2:4 sparsity, kept separate
  std::optional<FlopsPerSecond> measured;  // best published matrix product
};

struct Gpu {
  std::string name;
  std::string vendor;
  std::string architecture;
  std::optional<int> year;
  Bytes memory;                        // as sold
  std::optional<Bytes> usable_memory;  // what the driver reports as total
  std::string memory_type;
  BytesPerSecond bandwidth;
  Peak peaks[kNumberFormats];
  std::optional<BytesPerSecond> nvlink;  // both directions together, per GPU
  std::string nvlink_kind;               // switch, mesh, bridge, c2c, fabric, none
  std::string pcie;                      // "4.0x16"
  std::optional<Watts> tdp;
  std::optional<Watts> idle_power;
  std::optional<int> sms;
  std::string compute_capability;
  int mig_instances = 0;  // 0: cannot be partitioned
  std::vector<std::string> aliases;
  Provenance provenance;

  const Peak& peak(NumberFormat format) const { return peaks[static_cast<int>(format)]; }
  // The memory that a program can allocate: the driver's figure if known, else the capacity as sold.
  Bytes capacity() const { return usable_memory.value_or(memory); }
  // The fastest dense 16-bit matrix rate: bf16, or fp16 on hardware without bf16.
  std::optional<FlopsPerSecond> half_rate() const;
};

// A MIG profile. A slice of `memory_slices` may begin at each of `placements`.
struct MigProfile {
  std::string gpu;
  std::string profile;  // "1g.10gb"
  int id = 0;
  int instances = 0;  // at most this many at once
  Bytes memory;
  int compute_slices = 0;
  int memory_slices = 0;
  std::optional<int> sms;
  std::vector<int> placements;
  bool media = false;  // a "+me" variant
  Provenance provenance;
};

struct Machine {
  std::string provider;
  std::string instance;
  std::string gpu;
  int gpus = 0;
  std::optional<double> vcpus;
  std::optional<Bytes> memory;
  std::optional<Bytes> local_ssd;
  std::string interconnect;  // between its GPUs: nvswitch, nvlink, nvlink-pairs, pcie, none
  std::optional<BytesPerSecond> network;
  std::string fabric;
  bool retired = false;
  bool community = false;  // peer-hosted or resold, not in the provider's data centres
  Provenance provenance;
};

// A block is a cluster booked in advance for some days and paid upfront (AWS Capacity Blocks).
enum class Purchase { kOnDemand, kSpot, kOneYear, kThreeYears, kBlock };
inline constexpr Purchase kPurchases[] = {Purchase::kOnDemand, Purchase::kSpot, Purchase::kOneYear,
                                          Purchase::kThreeYears, Purchase::kBlock};
std::string_view name_of(Purchase purchase);
std::optional<Purchase> parse_purchase(std::string_view name);

inline constexpr std::string_view kDollars = "USD";

// Dollars for one unit of a currency on a day.
struct ExchangeRate {
  std::string currency;  // ISO 4217: "EUR"
  double usd = 1;
  Date date;
  std::string source;  // key of Catalog::sources
};

// A list price that is not in dollars, and the rate at which it was converted.
struct Conversion {
  double amount = 0;  // per hour of the machine, in the currency of the rate
  ExchangeRate rate;
};

struct Price {
  std::string provider;
  std::string instance;
  std::string region;  // "any" if the price is the same in all regions
  std::string zone;    // empty: one price for the whole region
  Purchase purchase = Purchase::kOnDemand;
  UsdPerMachineSecond machine_price;
  std::optional<int> available = {};         // machines at this price: the user's machines, a reservation
  std::optional<Date> since = {};            // the first day with a known price of this offer; empty: no history
  std::optional<Conversion> converted = {};  // empty: the list price is in dollars
  Provenance provenance;
};

// A region where a provider has a GPU, according to its documentation or API. Needed for offers of region "any".
struct GpuRegion {
  std::string provider, gpu, region;
  Provenance provenance;
};

// Facts about a provider besides its prices. Empty text: unknown.
struct ProviderFacts {
  std::string provider;
  std::string currency;        // of its price list; empty: dollars
  std::string minimum_rental;  // "billed by the minute"
  std::string capacity;        // how to obtain capacity, and how long that takes
  std::string commitment;      // its statement about unpublished commitment prices: "up to 35 % less"
  Provenance provenance;
};

// Spend that a company has committed to: it is billed whether used or not, so drawing from it costs nothing more. Empty
// names match anything.
struct CommittedSpend {
  std::string account, provider, instance, gpu, region;
  std::optional<Purchase> purchase;
  Usd left;
  Date until;  // the last day it can be drawn from
};

class Catalog {
 public:
  std::vector<Source> sources;
  std::vector<Gpu> gpus;
  std::vector<MigProfile> mig;
  std::vector<Machine> machines;
  std::vector<Price> prices;
  std::vector<CommittedSpend> committed;  // of the user's agreements
  std::vector<ExchangeRate> exchange_rates;
  std::vector<GpuRegion> gpu_regions;
  std::vector<ProviderFacts> providers;

  // One GPU by name or alias. Case, '-', '_' and spaces do not matter. An unknown or ambiguous name fails with a hint.
  Result<const Gpu*> find_gpu(std::string_view name) const;

  // Every GPU that matches a filter: a name, an alias, a family such as "a100" or "h100" (the first parts of a name),
  // an architecture ("hopper") or a maker ("amd").
  Result<std::vector<const Gpu*>> match_gpus(std::string_view filter) const;

  const Machine* find_machine(std::string_view provider, std::string_view instance) const;
  const Source* find_source(std::string_view key) const;
  const ProviderFacts* find_provider(std::string_view name) const;

  // The rate of a currency on a day, or of the nearest day in the month before it, else of the nearest day on file.
  // Dollars are 1. Fails with the currencies on file.
  Result<ExchangeRate> exchange_rate(std::string_view currency, Date day) const;

  std::vector<std::string> gpu_names() const;
};

// The folder of the user's own facts: `flag` if given, else $RIGHTSIZE_CATALOG, else rightsize/catalog under the XDG
// configuration folder if that exists; empty if there is none. A folder named by flag or variable must exist.
Result<std::string> overlay_directory(std::string_view flag);

// The folder to write the user's own facts to: that of overlay_directory(), whether it exists or not.
Result<std::string> overlay_target(std::string_view flag);

// The built-in facts, then those of the overlay folder (the same file names and columns; any of the files may be
// missing) row by row: a row with the same key replaces the built-in row, but columns that the overlay file lacks keep
// their values; a new key adds a row. Any mistake anywhere means no catalogue, and every mistake is reported.
Checked<Catalog> load_catalog(const std::string& overlay);

}  // namespace rightsize::catalog
