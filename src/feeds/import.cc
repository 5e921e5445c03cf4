#include "feeds/import.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "feeds/resolve_gpu.h"

namespace rightsize::feeds {
namespace {

using catalog::Machine;
using catalog::Price;
using catalog::Purchase;

void note(Findings& findings, const std::string& why, std::string example) {
  Finding& finding = findings[why];
  ++finding.count;
  if (finding.examples.size() < 5) finding.examples.push_back(std::move(example));
}

std::string where(const FeedRow& row) {
  return fmt::format("{} {} {}{}{}", row.provider, row.instance, row.region, row.zone.empty() ? "" : " ", row.zone);
}

std::string where(const Price& price) {
  return fmt::format("{} {} {}{}{} {} ${:.4g}/h", price.provider, price.instance, price.region,
                     price.zone.empty() ? "" : " ", price.zone, catalog::name_of(price.purchase),
                     in_usd_per_machine_hour(price.machine_price));
}

double dollars(const Price& price) { return in_usd_per_machine_hour(price.machine_price); }

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void doubt(Price& price, const std::string& why) {
  price.provenance.unverified = {"price"};
  if (price.provenance.note.find(why) == std::string::npos) {
    price.provenance.note += (price.provenance.note.empty() ? "" : "; ") + why;
  }
}

std::string interconnect_of(const catalog::Gpu& gpu, int gpus) {
  if (gpus == 1) return "none";
  if (gpu.nvlink_kind == "switch") return "nvswitch";
  if (gpu.nvlink_kind == "mesh") return "nvlink";
  if (gpu.nvlink_kind == "fabric") return "fabric";
  return "pcie";
}

}  // namespace

Importer::Importer(const catalog::Catalog& catalog, Date date, std::string source)
    : catalog_(catalog), date_(date), source_(std::move(source)) {
  for (const Machine& machine : catalog.machines) machines_[{machine.provider, machine.instance}] = &machine;
}

void Importer::refuse(std::string_view why, std::string_view what, long line) {
  ++import_.audit.refused_rows;
  note(import_.audit.refused, std::string(why), line > 0 ? fmt::format("{} (line {})", what, line) : std::string(what));
}

void Importer::take(InterruptionRow row) {
  ++import_.audit.taken;
  import_.providers.insert(row.provider);
  import_.interruptions.push_back(std::move(row));
}

void Importer::take(FeedRow row) {
  if (row.instance.empty() || row.region.empty()) return refuse("no machine or region", where(row), row.line);
  if (!std::isfinite(row.usd_per_hour) || row.usd_per_hour < 0) {
    return refuse("price is not a number from 0 up", where(row), row.line);
  }
  if (row.usd_per_hour == 0) return refuse("price of $0: not offered", where(row), row.line);
  if (row.gpus && (*row.gpus < 1 || *row.gpus != std::floor(*row.gpus))) {
    return refuse("a fraction of a GPU", where(row), row.line);
  }
  const Machine* machine = machine_of(row);
  if (machine == nullptr || !is_plausible(row, *machine)) return;
  if (!row.corrected.empty()) note(import_.audit.corrected, row.corrected, where(row));
  keep(row);
}

const Machine* Importer::machine_of(const FeedRow& row) {
  const auto known = machines_.find({row.provider, row.instance});
  if (known != machines_.end()) return known->second;
  const auto added = new_machines_.find({row.provider, row.instance});
  if (added != new_machines_.end()) return &added->second;
  return new_machine(row);
}

const Machine* Importer::new_machine(const FeedRow& row) {
  if (row.gpu.empty() || !row.gpus) {
    refuse("machine not in the catalogue", where(row), row.line);
    return nullptr;
  }
  const Result<ResolvedGpu> resolved = resolve_gpu(catalog_, row);
  if (!resolved) {
    refuse(fmt::format("{}: {}", resolved.error().message, row.gpu), where(row), row.line);
    return nullptr;
  }
  Machine machine;
  machine.provider = row.provider;
  machine.instance = row.instance;
  machine.gpu = resolved->gpu->name;
  machine.gpus = static_cast<int>(*row.gpus);
  if (row.vcpus && *row.vcpus >= 1) machine.vcpus = std::floor(*row.vcpus);
  if (row.memory_gib && *row.memory_gib >= 1) machine.memory = gib(*row.memory_gib);
  machine.interconnect = interconnect_of(*resolved->gpu, machine.gpus);
  machine.community = row.community;
  machine.provenance.sources = {source_};
  machine.provenance.date = date_;
  machine.provenance.unverified = {"interconnect"};
  if (resolved->assumed) machine.provenance.unverified.emplace_back("gpu");
  if (resolved->assumed) machine.provenance.note = "the source does not say SXM or PCIe: the slower is assumed";
  return &new_machines_.emplace(MachineKey{row.provider, row.instance}, std::move(machine)).first->second;
}

// Whether count and memory can be true.
bool Importer::is_plausible(const FeedRow& row, const Machine& machine) {
  const auto gpu = std::find_if(catalog_.gpus.begin(), catalog_.gpus.end(),
                                [&](const catalog::Gpu& one) { return one.name == machine.gpu; });
  if (row.gpus && *row.gpus != machine.gpus) {
    refuse(fmt::format("GPU count contradicts the catalogue: {:g}, not {}", *row.gpus, machine.gpus), where(row),
           row.line);
    return false;
  }
  // Boards on an NVSwitch come in eights, sixteen of them once (a2-megagpu-16g); no server holds twelve.
  if (gpu != catalog_.gpus.end() && gpu->nvlink_kind == "switch" && machine.gpus > 8 && machine.gpus != 16 &&
      !machine.instance.starts_with("tpu")) {
    refuse(fmt::format("no machine holds {} of these GPUs", machine.gpus), where(row), row.line);
    return false;
  }
  if (row.gpu_memory_gib && gpu != catalog_.gpus.end()) {
    const double ratio = *row.gpu_memory_gib / in_gib(gpu->memory);
    if (ratio < 0.85 || ratio > 1.15) {
      refuse(fmt::format("memory contradicts the GPU: {:.0f} GiB stated, {} has {:.0f}", *row.gpu_memory_gib, gpu->name,
                         in_gib(gpu->memory)),
             where(row), row.line);
      return false;
    }
  }
  return true;
}

void Importer::keep(const FeedRow& row) {
  ++import_.audit.taken;
  import_.providers.insert(row.provider);
  Price price;
  price.provider = row.provider;
  price.instance = row.instance;
  price.region = row.region;
  price.zone = row.zone;
  price.purchase = row.purchase;
  price.machine_price = usd_per_machine_hour(row.usd_per_hour);
  price.provenance.sources = {source_};
  price.provenance.date = row.date.value_or(date_);
  price.provenance.note = row.note;
  price.provenance.line = static_cast<int>(row.line);
  const auto [at, is_new] =
      prices_.try_emplace(Key{row.provider, row.instance, row.region, row.zone, row.purchase}, price);
  if (is_new) return;
  // Twice the same: the newer, of one day the cheaper (hosts of a marketplace, a reservation beside a savings plan).
  Price& kept = at->second;
  const auto rank = [](const Price& one) { return std::pair(one.provenance.date->day, -dollars(one)); };
  if (rank(price) > rank(kept)) kept = price;
}

void Importer::suspect(const std::string& why, const Price& price) {
  note(import_.audit.suspicious, why, where(price));
}

void Importer::check_spot() {
  std::vector<Key> placeholders;
  for (auto& [key, price] : prices_) {
    if (price.purchase != Purchase::kSpot) continue;
    const auto& [provider, instance, region, zone, purchase] = key;
    auto list = prices_.find({provider, instance, region, zone, Purchase::kOnDemand});
    if (list == prices_.end()) list = prices_.find({provider, instance, region, "", Purchase::kOnDemand});
    if (list == prices_.end()) continue;
    const double ratio = dollars(price) / dollars(list->second);
    if (ratio > 1.001) {
      suspect("spot above on-demand", price);
      doubt(price, "spot above on-demand");
    } else if (ratio > 0.999 && provider != "aws") {
      // AWS caps spot there when capacity is scarce; elsewhere the column is filled with the list price.
      placeholders.push_back(key);
    } else if (ratio > 0.999) {
      suspect("spot equal to on-demand", price);
    } else if (std::fabs(ratio - 0.1) < 5e-5) {
      suspect("spot at the floor of a tenth of on-demand", price);
    }
  }
  for (const Key& key : placeholders) {
    refuse("spot price is the list price: no spot offered", where(prices_.at(key)), 0);
    --import_.audit.taken;
    prices_.erase(key);
  }
}

// Against what other providers ask for the same GPU on the same terms, each provider counted once however many regions
// it has: a price far outside is a mistake or a bait, one beyond all reason cannot be true.
void Importer::check_band() {
  std::map<MachineKey, const Machine*> machines = machines_;
  for (const auto& [key, machine] : new_machines_) machines[key] = &machine;
  std::map<std::pair<std::string, Purchase>, std::map<std::string, std::vector<double>>> known;  // by provider
  for (const Price& price : catalog_.prices) {
    const auto machine = machines.find({price.provider, price.instance});
    if (machine == machines.end() || !price.provenance.unverified.empty()) continue;
    known[{machine->second->gpu, price.purchase}][price.provider].push_back(dollars(price) / machine->second->gpus);
  }
  std::map<std::pair<std::string, Purchase>, double> usual;
  for (const auto& [what, providers] : known) {
    std::vector<double> each;
    for (const auto& [provider, prices] : providers) each.push_back(median_of(prices));
    usual[what] = median_of(each);
  }
  std::vector<Key> impossible;
  for (auto& [key, price] : prices_) {
    const Machine& machine = *machines.at({price.provider, price.instance});
    const auto others = usual.find({machine.gpu, price.purchase});
    if (others == usual.end()) continue;
    const double ratio = dollars(price) / machine.gpus / others->second;
    if (ratio < 0.03 || ratio > 30) {
      impossible.push_back(key);
    } else if (ratio < 0.3) {
      const std::string why = "under 30 % of what others ask for this GPU";
      suspect(why, price);
      if (price.purchase != Purchase::kSpot) doubt(price, why);
    } else if (ratio > 4) {
      suspect("over four times what others ask for this GPU", price);
    }
  }
  for (const Key& key : impossible) {
    refuse("price beyond all reason for this GPU", where(prices_.at(key)), 0);
    --import_.audit.taken;
    prices_.erase(key);
  }
}

void Importer::check_zones() {
  std::map<MachineKey, std::vector<const Price*>> spot;
  for (const auto& [key, price] : prices_) {
    if (price.purchase == Purchase::kSpot) spot[{price.provider, price.instance}].push_back(&price);
  }
  for (const auto& [machine, rows] : spot) {
    if (rows.size() < 4) continue;
    std::vector<double> all;
    for (const Price* row : rows) all.push_back(dollars(*row));
    const double middle = median_of(all);
    for (const Price* row : rows) {
      if (dollars(*row) < middle / 3 || dollars(*row) > middle * 3) suspect("one zone far from the others", *row);
    }
  }
}

void Importer::check_jumps() {
  for (const Price& before : catalog_.prices) {
    auto now = prices_.find({before.provider, before.instance, before.region, before.zone, before.purchase});
    if (now == prices_.end() || before.purchase == Purchase::kSpot) continue;
    const double ratio = dollars(now->second) / dollars(before);
    if (ratio < 0.67 || ratio > 1.5) {
      note(import_.audit.suspicious, "jump against the last price",
           fmt::format("{}, was ${:.4g}/h", where(now->second), dollars(before)));
    }
  }
}

// Zones of a region with one price are the region's. A spot price of a single zone stays that zone's: of the others
// nothing is known.
void Importer::merge_zones() {
  std::map<std::tuple<std::string, std::string, std::string, Purchase>, std::vector<Key>> regions;
  for (const auto& [key, price] : prices_) {
    regions[{price.provider, price.instance, price.region, price.purchase}].push_back(key);
  }
  for (const auto& [region, keys] : regions) {
    const Price first = prices_.at(keys.front());
    const bool alike = std::all_of(
        keys.begin(), keys.end(), [&](const Key& key) { return prices_.at(key).machine_price == first.machine_price; });
    const bool alone = keys.size() == 1 && first.purchase == Purchase::kSpot;
    if (!alike || alone || first.zone.empty()) continue;
    for (const Key& key : keys) prices_.erase(key);
    Price whole = first;
    whole.zone.clear();
    prices_[{whole.provider, whole.instance, whole.region, "", whole.purchase}] = whole;
  }
}

// A provider that asks the same everywhere has one price: at least five regions, none different.
void Importer::merge_regions() {
  std::map<std::tuple<std::string, std::string, Purchase>, std::vector<Key>> machines;
  for (const auto& [key, price] : prices_) machines[{price.provider, price.instance, price.purchase}].push_back(key);
  for (const auto& [machine, keys] : machines) {
    const Price first = prices_.at(keys.front());
    const bool alike = keys.size() >= 5 && std::all_of(keys.begin(), keys.end(), [&](const Key& key) {
                         const Price& price = prices_.at(key);
                         return price.zone.empty() && price.machine_price == first.machine_price;
                       });
    const bool hyperscaler = first.provider == "aws" || first.provider == "gcp" || first.provider == "azure";
    if (!alike || hyperscaler) continue;  // theirs are alike by chance, and a region without the machine matters
    for (const Key& key : keys) prices_.erase(key);
    Price whole = first;
    whole.region = "any";
    if (whole.provenance.note.empty()) whole.provenance.note = fmt::format("the same in {} regions", keys.size());
    prices_[{whole.provider, whole.instance, "any", "", whole.purchase}] = whole;
  }
}

Import Importer::finish() {
  check_spot();
  check_band();
  check_zones();
  merge_zones();
  merge_regions();
  check_jumps();
  for (auto& [key, price] : prices_) import_.prices.push_back(std::move(price));
  for (auto& [key, machine] : new_machines_) import_.machines.push_back(std::move(machine));
  return std::move(import_);
}

}  // namespace rightsize::feeds
