#include "feeds/import.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/list_of.h"
#include "feeds/gpu_names.h"

namespace rightsize::feeds {
namespace {

using catalog::Gpu;
using catalog::Machine;
using catalog::Purchase;
using Price = ImportedPrice;

constexpr std::size_t kLongestText = 200, kMostText = 8 << 20;

// Reasons and examples may quote the feed, so their number and length are bounded.
void note(Findings& findings, std::string why, std::string example) {
  why.resize(std::min(why.size(), kLongestText));
  example.resize(std::min(example.size(), kLongestText));
  if (findings.size() >= 1000 && !findings.contains(why)) why = "other reasons";
  Finding& finding = findings[why];
  ++finding.count;
  if (finding.examples.size() < 5) finding.examples.push_back(std::move(example));
}

std::string where(const FeedRow& row) {
  return fmt::format("{} {} {}{}{}", row.provider, row.instance, row.region, row.zone.empty() ? "" : " ", row.zone);
}

std::string where(const Price& price) {
  return fmt::format("{} {} {}{}{} {} ${:.4g}/h", price.provider, price.instance, price.region,
                     price.zone.empty() ? "" : " ", price.zone, catalog::name_of(price.purchase), price.usd_per_hour);
}

double dollars(const catalog::Price& price) { return in_usd_per_machine_hour(price.machine_price); }

bool is_doubted(const catalog::Price& price) {
  return std::ranges::find(price.provenance.unverified, "price") != price.provenance.unverified.end();
}

// A key to find the imported price of the same offer.
Price offer_of(const catalog::Price& price) {
  return {.provider = price.provider,
          .instance = price.instance,
          .region = price.region,
          .zone = price.zone,
          .purchase = price.purchase};
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string interconnect_of(const catalog::Gpu& gpu, int gpus) {
  if (gpus == 1) return "none";
  if (gpu.nvlink_kind == "switch") return "nvswitch";
  if (gpu.nvlink_kind == "mesh") return "nvlink";
  if (gpu.nvlink_kind == "fabric") return "fabric";
  return "pcie";
}

}  // namespace

std::string_view Shared::text(std::string_view text) {
  if (const auto at = texts_.find(text); at != texts_.end()) return *at;
  bytes_ += text.size();
  return *texts_.emplace(text).first;
}

const catalog::ExchangeRate* Shared::rate(const catalog::ExchangeRate& rate) {
  return &rates_.try_emplace({rate.currency, rate.date.day}, rate).first->second;
}

std::vector<std::string> ImportedPrice::unverified() const {
  std::vector<std::string> columns;
  if (undated) columns.emplace_back("date");
  if (doubted) columns.emplace_back("price");
  return columns;
}

bool ByOffer::operator()(const Price& a, const Price& b) const {
  return std::tie(a.provider, a.instance, a.purchase, a.region, a.zone) <
         std::tie(b.provider, b.instance, b.purchase, b.region, b.zone);
}

Importer::Importer(const catalog::Catalog& catalog, Date date, std::string source, DateIs known)
    : catalog_(catalog), date_(date), date_is_(known) {
  import_.source = std::move(source);
  for (const Machine& machine : catalog.machines) machines_[{machine.provider, machine.instance}] = &machine;
}

void Importer::refuse(std::string_view why, std::string_view what, long line) {
  ++import_.audit.refused_rows;
  note(import_.audit.refused, std::string(why), line > 0 ? fmt::format("{} (line {})", what, line) : std::string(what));
}

void Importer::take(InterruptionRow row) {
  if (import_.interruptions.size() >= kMostPrices) return refuse(kTooMany, row.instance, 0);
  ++import_.audit.taken;
  import_.providers.insert(row.provider);
  import_.interruptions.push_back(std::move(row));
}

void Importer::take(FeedRow row) {
  if (row.instance.empty() || row.region.empty()) return refuse("no machine or region", where(row), row.line);
  if (!std::isfinite(row.usd_per_hour) || row.usd_per_hour < 0)
    return refuse("price is not a number from 0 up", where(row), row.line);
  if (row.usd_per_hour == 0) return refuse("price of $0: not offered", where(row), row.line);
  // One day ahead may be due to a time zone.
  if (row.date && *row.date - today() > 1) return refuse("date in the future", where(row), row.line);
  if (row.gpus && (*row.gpus < 1 || *row.gpus != std::floor(*row.gpus)))
    return refuse("a fraction of a GPU", where(row), row.line);
  for (const std::string* name : {&row.provider, &row.instance, &row.region, &row.zone, &row.gpu}) {
    if (name->size() > kLongestText) return refuse("a name is longer than 200 characters", where(row), row.line);
  }
  if (prices_.size() >= kMostPrices || import_.shared->bytes() >= kMostText)
    return refuse(kTooMany, where(row), row.line);
  if (!convert(row)) return;
  correct_memory(row);
  const Machine* machine = machine_of(row);
  if (machine == nullptr || !is_plausible(row, *machine)) return;
  if (!row.corrected.empty()) note(import_.audit.corrected, row.corrected, where(row));
  keep(row);
}

// Converts to dollars, at the rate of the price's day.
bool Importer::convert(FeedRow& row) {
  if (row.currency.empty() || row.currency == catalog::kDollars) {
    row.currency.clear();
    return true;
  }
  const Result<catalog::ExchangeRate> rate = catalog_.exchange_rate(row.currency, row.date.value_or(date_));
  if (!rate) {
    refuse(fmt::format("no exchange rate for {}", row.currency.substr(0, 20)), where(row), row.line);
    return false;
  }
  row.converted = catalog::Conversion{row.usd_per_hour, *rate};
  row.usd_per_hour *= rate->usd;
  return true;
}

// Applies if the stated memory fits no such GPU, but its share per GPU does.
void Importer::correct_memory(FeedRow& row) {
  if (!row.gpu_memory_gib || row.gpus.value_or(1) < 2) return;
  const double each = *row.gpu_memory_gib / *row.gpus;
  bool whole = false, share = false;
  for (const Gpu* gpu : matching_gpus(row.gpu)) {
    whole = whole || memory_agrees(*gpu, *row.gpu_memory_gib);
    share = share || memory_agrees(*gpu, each);
  }
  if (whole || !share) return;
  row.gpu_memory_gib = each;
  row.corrected = kMemoryOfAll;
}

const Machine* Importer::machine_of(const FeedRow& row) {
  const auto known = machines_.find({row.provider, row.instance});
  if (known != machines_.end()) return known->second;
  const auto added = new_machines_.find({row.provider, row.instance});
  if (added != new_machines_.end()) return &added->second;
  return new_machine(row);
}

const Machine& Importer::machine_of(const Price& price) const {
  const auto known = machines_.find({price.provider, price.instance});
  return known != machines_.end() ? *known->second : new_machines_.at({price.provider, price.instance});
}

const std::vector<const Gpu*>& Importer::matching_gpus(const std::string& spelled) {
  if (matched_.size() > 1000) matched_.clear();
  const auto [at, is_new] = matched_.try_emplace(spelled);
  if (!is_new) return at->second;
  for (const std::string& name : spellings(spelled)) {
    Result<std::vector<const Gpu*>> matched = catalog_.match_gpus(name);
    if (!matched) continue;
    at->second = *std::move(matched);
    break;
  }
  return at->second;
}

const Machine* Importer::new_machine(const FeedRow& row) {
  if (row.gpu.empty() || !row.gpus) {
    refuse("machine not in the catalogue", where(row), row.line);
    return nullptr;
  }
  if (new_machines_.size() >= kMostMachines) {
    refuse("more machine types than any provider lists", where(row), row.line);
    return nullptr;
  }
  const Result<ResolvedGpu> resolved = resolve_gpu(catalog_, row, matching_gpus(row.gpu));
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
  machine.provenance.sources = {import_.source};
  machine.provenance.date = date_;
  machine.provenance.unverified = {"interconnect"};
  if (resolved->assumed) machine.provenance.unverified.emplace_back("gpu");
  if (resolved->assumed)
    machine.provenance.note = "the source does not say whether it is SXM or PCIe; the slower is assumed";
  const MachineKey key(import_.shared->text(row.provider), import_.shared->text(row.instance));
  return &new_machines_.emplace(key, std::move(machine)).first->second;
}

// Whether count and memory are plausible.
bool Importer::is_plausible(const FeedRow& row, const Machine& machine) {
  const auto gpu =
      std::ranges::find_if(catalog_.gpus, [&](const catalog::Gpu& one) { return one.name == machine.gpu; });
  if (row.gpus && *row.gpus != machine.gpus) {
    refuse(fmt::format("GPU count contradicts the catalogue: {:g}, not {}", *row.gpus, machine.gpus), where(row),
           row.line);
    return false;
  }
  // NVSwitch machines hold eight GPUs, once sixteen (a2-megagpu-16g), never twelve.
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
  Shared& shared = *import_.shared;
  Price price{row.provider, row.instance, row.region, row.zone, row.note, row.purchase};
  price.note = price.note.substr(0, kLongestText);
  price.usd_per_hour = row.usd_per_hour;
  price.date = row.date.value_or(date_);
  if (!row.date) ++import_.audit.dateless;
  price.undated = !row.date && date_is_ != DateIs::kStated && date_is_ != DateIs::kFetched;  // until settle_dates()
  if (row.converted) price.rate = shared.rate(row.converted->rate), price.list_price = row.converted->amount;
  const auto at = prices_.find(price);
  if (at != prices_.end()) {
    // For a duplicate, the newer price counts or, on the same day, the cheaper one (hosts of a marketplace, a
    // reservation and a savings plan).
    const bool usual = row.community || price.purchase == Purchase::kOneYear ||
                       price.purchase == Purchase::kThreeYears || price.purchase == Purchase::kBlock;
    if (!usual && price.date == at->date) {
      const bool same = price.usd_per_hour == at->usd_per_hour;
      note(import_.audit.suspicious,
           same ? "listed twice at the same price" : "listed twice at different prices: the lower was taken",
           fmt::format("{} and ${:.4g}/h", where(*at), price.usd_per_hour));
    }
    const auto rank = [](const Price& one) { return std::tuple(one.date.day, -one.usd_per_hour, one.note); };
    if (rank(price) <= rank(*at)) return;
    prices_.erase(at);
  }
  for (std::string_view* text : {&price.provider, &price.instance, &price.region, &price.zone, &price.note})
    *text = shared.text(*text);
  prices_.insert(price);
}

void Importer::suspect(const std::string& why, const Price& price) {
  note(import_.audit.suspicious, why, where(price));
}

void Importer::doubt(const Price& price, const std::string& why) {
  auto node = prices_.extract(prices_.find(price));
  Price& doubted = node.value();
  doubted.doubted = true;
  if (doubted.note.find(why) == std::string_view::npos)
    doubted.note = import_.shared->text(fmt::format("{}{}{}", doubted.note, doubted.note.empty() ? "" : "; ", why));
  prices_.insert(std::move(node));
}

void Importer::refuse_prices(const std::string& why, const std::function<bool(const Price&)>& wrong) {
  std::erase_if(prices_, [&](const Price& price) {
    if (!wrong(price)) return false;
    refuse(why, where(price), 0);
    --import_.audit.taken;
    return true;
  });
}

void Importer::check_spot() {
  // The on-demand list price divided by the spot price, in the zone or the region; 0 if there is none.
  const auto ratio_of = [&](const Price& spot) {
    Price list = spot;
    list.purchase = Purchase::kOnDemand;
    auto found = prices_.find(list);
    list.zone = {};
    if (found == prices_.end()) found = prices_.find(list);
    // A doubtful list price says nothing about spot.
    if (found != prices_.end() && found->doubted) return 0.0;
    return spot.purchase != Purchase::kSpot || found == prices_.end() ? 0.0 : spot.usd_per_hour / found->usd_per_hour;
  };
  std::vector<const Price*> above;
  for (const Price& price : prices_) {
    const double ratio = ratio_of(price);
    if (ratio > 1.001) {
      suspect("spot above on-demand", price);
      above.push_back(&price);
    } else if (ratio > 0.999 && price.provider == "aws") {
      suspect("spot equal to on-demand", price);
    } else if (std::fabs(ratio - 0.1) < 5e-5) {
      suspect("spot at the floor of a tenth of on-demand", price);
    }
  }
  for (const Price* price : above) doubt(*price, "spot above on-demand");
  // AWS caps spot there when capacity is scarce; elsewhere the column is filled with the list price.
  refuse_prices("spot price is the list price: no spot offered", [&](const Price& price) {
    const double ratio = ratio_of(price);
    return ratio > 0.999 && ratio <= 1.001 && price.provider != "aws";
  });
}

// Compares with other providers' prices for the same GPU and terms; each provider counts once, regardless of its number
// of regions. A price far outside is a mistake or bait, and an extreme one cannot be true.
void Importer::check_band() {
  using Terms = std::pair<std::string, Purchase>;                     // GPU
  std::map<Terms, std::map<std::string, std::vector<double>>> known;  // by provider
  for (const catalog::Price& price : catalog_.prices) {
    const auto machine = machines_.find({price.provider, price.instance});
    if (machine == machines_.end() || is_doubted(price)) continue;
    known[{machine->second->gpu, price.purchase}][price.provider].push_back(dollars(price) / machine->second->gpus);
  }
  std::map<Terms, double> usual;
  for (const auto& [what, providers] : known) {
    usual[what] = median_of(list_of(providers, [](const auto& prices) { return median_of(prices.second); }));
  }
  const auto ratio_of = [&](const Price& price) {
    const Machine& machine = machine_of(price);
    const auto others = usual.find({machine.gpu, price.purchase});
    return others == usual.end() ? 1 : price.usd_per_hour / machine.gpus / others->second;
  };
  refuse_prices("implausible price for this GPU", [&](const Price& price) {
    const double ratio = ratio_of(price);
    return ratio < 0.03 || ratio > 30;
  });
  const std::string low = "under 30 % of other providers' prices for this GPU";
  std::vector<const Price*> doubtful;
  for (const Price& price : prices_) {
    const double ratio = ratio_of(price);
    if (ratio < 0.3) suspect(low, price);
    if (ratio < 0.3 && price.purchase != Purchase::kSpot) doubtful.push_back(&price);
    if (ratio > 4) suspect("over four times other providers' prices for this GPU", price);
  }
  for (const Price* price : doubtful) doubt(*price, low);
}

void Importer::check_zones() {
  std::map<MachineKey, std::vector<const Price*>> spot;
  for (const Price& price : prices_) {
    if (price.purchase == Purchase::kSpot) spot[{price.provider, price.instance}].push_back(&price);
  }
  for (const auto& [machine, rows] : spot) {
    if (rows.size() < 4) continue;
    const double middle = median_of(list_of(rows, &Price::usd_per_hour));
    for (const Price* row : rows) {
      if (row->usd_per_hour < middle / 3 || row->usd_per_hour > middle * 3)
        suspect("one zone far from the others", *row);
    }
  }
}

void Importer::check_jumps() {
  for (const catalog::Price& before : catalog_.prices) {
    const auto now = prices_.find(offer_of(before));
    if (now == prices_.end() || before.purchase == Purchase::kSpot) continue;
    const double ratio = now->usd_per_hour / dollars(before);
    if (ratio < 0.67 || ratio > 1.5)
      note(import_.audit.suspicious, "jump against the last price",
           fmt::format("{}, was ${:.4g}/h", where(*now), dollars(before)));
  }
}

void Importer::merge_groups(const std::function<bool(const Price&, const Price&)>& same_group,
                            const std::function<std::optional<Price>(const std::vector<const Price*>&)>& merge) {
  std::vector<const Price*> group;
  for (auto at = prices_.begin(); at != prices_.end();) {
    group.clear();
    const auto first = at;
    for (; at != prices_.end() && same_group(*first, *at); ++at) group.push_back(&*at);
    const std::optional<Price> whole = merge(group);
    if (!whole) continue;
    prices_.erase(first, at);
    prices_.insert(at, *whole);
  }
}

// A copy of a list does not show the age of its prices, so the known prices of the same offer decide.
void Importer::settle_dates() {
  if (date_is_ != DateIs::kCopied && date_is_ != DateIs::kWritten) return;
  // The store names a source after its feed: "skypilot" for "skypilot-catalog".
  const auto is_ours = [&](const catalog::Price& price) {
    return std::ranges::any_of(price.provenance.sources,
                               [&](const std::string& source) { return import_.source.starts_with(source); });
  };
  std::vector<Price>& prices = import_.prices;
  std::vector<const catalog::Price*> known(prices.size());  // the same offer in the catalogue
  std::set<std::string_view> listed_before;                 // providers already listed by this source
  for (const catalog::Price& before : catalog_.prices) {
    const Price offer = offer_of(before);
    const auto at = std::ranges::lower_bound(prices, offer, ByOffer());
    if (at != prices.end() && !ByOffer()(offer, *at)) known[static_cast<std::size_t>(at - prices.begin())] = &before;
    if (is_ours(before)) listed_before.insert(before.provider);
  }
  for (std::size_t i = 0; i < prices.size(); ++i) {
    Price& price = prices[i];
    const catalog::Price* before = known[i];
    if (price.undated && before != nullptr && before->provenance.date) {
      // Amounts in other currencies are compared in the list currency.
      const double now = price.rate != nullptr ? price.list_price : price.usd_per_hour;
      const bool same = std::fabs(now / (before->converted ? before->converted->amount : dollars(*before)) - 1) < 1e-4;
      if (same) price.date = *before->provenance.date;
      if (same && price.rate != nullptr && before->converted) {
        price.rate = import_.shared->rate(before->converted->rate);
        price.list_price = before->converted->amount;
        price.usd_per_hour = dollars(*before);
      }
      if (same || (is_ours(*before) && date_is_ == DateIs::kCopied)) price.undated = false;
    } else if (price.undated && date_is_ == DateIs::kCopied && listed_before.contains(price.provider)) {
      price.undated = false;  // added to the list since the last import
    }
    if (price.undated) ++import_.audit.undated;
  }
}

std::set<std::string_view> Importer::providers_with_chosen_regions() const {
  std::map<std::string_view, std::map<std::string_view, std::set<std::string_view>>> regions;  // by provider, machine
  for (const Price& price : prices_) {
    if (price.purchase == Purchase::kOnDemand) regions[price.provider][price.instance].insert(price.region);
  }
  std::set<std::string_view> found;
  for (const auto& [provider, machines] : regions) {
    const auto& first = machines.begin()->second;
    const bool differ = std::ranges::any_of(machines, [&](const auto& machine) { return machine.second != first; });
    if (differ) found.insert(provider);
  }
  return found;
}

Import Importer::finish() {
  check_band();
  check_spot();
  check_zones();
  const auto alike = [](const std::vector<const Price*>& group) {
    return std::ranges::all_of(group, [&](const Price* p) { return p->usd_per_hour == group[0]->usd_per_hour; });
  };
  const auto same_machine = [](const Price& a, const Price& b) {
    return a.provider == b.provider && a.instance == b.instance && a.purchase == b.purchase;
  };
  // Zones of a region with the same price become one price of the region. A spot price of a single zone stays with that
  // zone, because nothing is known about the others.
  merge_groups([&](const Price& a, const Price& b) { return same_machine(a, b) && a.region == b.region; },
               [&](const std::vector<const Price*>& zones) -> std::optional<Price> {
                 const Price& first = *zones.front();
                 const bool alone = zones.size() == 1 && first.purchase == Purchase::kSpot;
                 if (!alike(zones) || alone || first.zone.empty()) return std::nullopt;
                 Price whole = first;
                 whole.zone = {};
                 return whole;
               });
  // The same price in five or more regions, and no other price, is the provider's price everywhere. Large clouds are
  // excluded: their prices may match by chance, and regions without the machine matter. If the machines of a provider
  // are in different regions, the list shows where each is; if all are in the same regions, the list may only be a
  // product of machines and regions.
  const std::set<std::string_view> selective = providers_with_chosen_regions();
  merge_groups(same_machine, [&](const std::vector<const Price*>& regions) -> std::optional<Price> {
    const Price& first = *regions.front();
    const bool hyperscaler = first.provider == "aws" || first.provider == "gcp" || first.provider == "azure";
    const bool zones = std::ranges::any_of(regions, [](const Price* price) { return !price->zone.empty(); });
    if (regions.size() < 5 || hyperscaler || zones || selective.contains(first.provider) || !alike(regions))
      return std::nullopt;
    Price whole = first;
    whole.region = "any";
    if (whole.note.empty()) whole.note = import_.shared->text(fmt::format("the same in {} regions", regions.size()));
    return whole;
  });
  check_jumps();
  import_.prices.assign(prices_.begin(), prices_.end());
  prices_.clear();
  settle_dates();
  for (auto& [key, machine] : new_machines_) import_.machines.push_back(std::move(machine));
  return std::move(import_);
}

}  // namespace rightsize::feeds
