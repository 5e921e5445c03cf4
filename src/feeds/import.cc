#include "feeds/import.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::feeds {
namespace {

using catalog::Gpu;
using catalog::Machine;
using catalog::Price;
using catalog::Purchase;

// Reasons may quote the feed, so their number is bounded.
void note(Findings& findings, std::string why, std::string example) {
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
                     price.zone.empty() ? "" : " ", price.zone, catalog::name_of(price.purchase),
                     in_usd_per_machine_hour(price.machine_price));
}

double dollars(const Price& price) { return in_usd_per_machine_hour(price.machine_price); }

bool is_doubted(const Price& price) {
  return std::ranges::find(price.provenance.unverified, "price") != price.provenance.unverified.end();
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
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

// Stated memory is as sold or as the driver reports; both are within this of the catalogue's.
bool memory_agrees(const Gpu& gpu, double gib) {
  const double ratio = gib / in_gib(gpu.memory);
  return ratio > 0.88 && ratio < 1.1;
}

std::string plain(std::string_view text) {
  std::string letters;
  for (const char c : to_lower(text)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  return letters;
}

// Without what feeds add to the name of a GPU: memory in gigabytes, the vendor, "NVIDIA ", "-80G-".
std::vector<std::string> spellings(std::string_view name) {
  std::vector<std::string> all{std::string(name)};
  std::string shorter(name);
  for (const char* part : {"NVIDIA ", "Tesla ", "GeForce ", "-MEGA", "-CC", " 96GB", "-NVLink", "-NVLINK", "-40GB",
                           "-80GB", "-32GB", "-16GB"}) {
    const std::size_t at = shorter.find(part);
    if (at != std::string::npos) shorter.erase(at, std::string_view(part).size());
  }
  for (const char* part : {"-80G-", "-40G-"}) {
    const std::size_t at = shorter.find(part);
    if (at != std::string::npos) shorter.replace(at, 5, "-");
  }
  if (shorter != name) all.push_back(shorter);
  return all;
}

bool is_form(const Gpu& gpu, std::string_view form) { return gpu.name.find(form) != std::string::npos; }

// The form factor in the texts, as our names write it.
std::string form_of(const FeedRow& row) {
  const std::string text = plain(row.gpu) + " " + plain(row.instance);
  for (const char* form : {"pcie", "nvl", "sxm"}) {
    if (text.find(form) != std::string::npos &&
        !(std::string_view(form) == "nvl" && text.find("nvlink") != std::string::npos)) {
      return form;
    }
  }
  if (row.provider == "aws" || row.provider == "gcp" || row.provider == "oci" || row.provider == "mithril")
    return "sxm";
  return {};
}

struct ResolvedGpu {
  const catalog::Gpu* gpu = nullptr;
  bool assumed = false;  // the feed does not say whether it is SXM or PCIe: the slower is taken
};

std::vector<const Gpu*> matching_gpus(const catalog::Catalog& catalog, std::string_view spelled) {
  for (const std::string& name : spellings(spelled)) {
    if (Result<std::vector<const Gpu*>> matched = catalog.match_gpus(name)) return *std::move(matched);
  }
  return {};
}

// The GPU of the catalogue for a feed's spelling: by name or alias; families ("A100") by stated memory, then by what
// name and instance say of the form (SXM, PCIe, NVL). Fails where the catalogue does not have it, or where its memory
// contradicts what is stated.
Result<ResolvedGpu> resolve_gpu(const catalog::Catalog& catalog, const FeedRow& row) {
  std::vector<const Gpu*> found = matching_gpus(catalog, row.gpu);
  if (found.empty()) return fail(bad_input("GPU not in the catalogue"));
  bool named_exactly = found.size() == 1;
  // An alias such as "A100-80GB" names one form; the family has the others.
  if (found.size() == 1) {
    const std::size_t dash = found[0]->name.rfind('-');
    const std::string family = found[0]->name.substr(0, dash);
    const bool formed = dash != std::string::npos && (is_form(*found[0], "-sxm") || is_form(*found[0], "-pcie"));
    if (formed && plain(row.gpu).find("sxm") == std::string::npos && plain(row.gpu).find("pcie") == std::string::npos &&
        plain(row.gpu).find("hbm3") == std::string::npos) {
      // Not by match_gpus(): "a100-80gb" is itself an alias of one form.
      found.clear();
      for (const Gpu& gpu : catalog.gpus) {
        if (gpu.name.starts_with(family + "-")) found.push_back(&gpu);
      }
      named_exactly = false;
    }
  }
  if (row.gpu_memory_gib) {
    std::erase_if(found, [&](const Gpu* gpu) { return !memory_agrees(*gpu, *row.gpu_memory_gib); });
    if (found.empty()) return fail(bad_input("memory contradicts the GPU"));
  }
  const std::string form = form_of(row);
  // A GPU with another form factor than stated, or with one where none is stated, is the closest match.
  const auto has_form = [](const Gpu& gpu) { return is_form(gpu, "-sxm") || is_form(gpu, "-pcie"); };
  if (found.size() == 1) {
    const bool stated = !form.empty() && is_form(*found[0], "-" + form);
    return ResolvedGpu{found[0], !named_exactly && has_form(*found[0]) && !stated};
  }
  std::vector<const Gpu*> formed;
  for (const Gpu* gpu : found) {
    if (!form.empty() && is_form(*gpu, "-" + form)) formed.push_back(gpu);
  }
  const bool assumed = formed.empty();
  const std::vector<const Gpu*>& candidates = assumed ? found : formed;
  const Gpu* slowest = *std::min_element(candidates.begin(), candidates.end(), [](const Gpu* a, const Gpu* b) {
    return std::pair(a->bandwidth, a->memory) < std::pair(b->bandwidth, b->memory);
  });
  return ResolvedGpu{slowest, assumed || candidates.size() > 1};
}

}  // namespace

Importer::Importer(const catalog::Catalog& catalog, Date date, std::string source, DateIs known)
    : catalog_(catalog), date_(date), date_is_(known), source_(std::move(source)) {
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
  // A day ahead is another time zone.
  if (row.date && *row.date - today() > 1) return refuse("date in the future", where(row), row.line);
  if (row.gpus && (*row.gpus < 1 || *row.gpus != std::floor(*row.gpus))) {
    return refuse("a fraction of a GPU", where(row), row.line);
  }
  if (!convert(row)) return;
  correct_memory(row);
  const Machine* machine = machine_of(row);
  if (machine == nullptr || !is_plausible(row, *machine)) return;
  if (prices_.size() >= kMostPrices || new_machines_.size() >= kMostPrices)
    return refuse("more prices than any provider has", where(row), row.line);
  if (!row.corrected.empty()) note(import_.audit.corrected, row.corrected, where(row));
  keep(row);
}

// Into dollars, at the rate of the price's day.
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

// Where the stated memory fits no such GPU, but its share per GPU does.
void Importer::correct_memory(FeedRow& row) const {
  if (!row.gpu_memory_gib || row.gpus.value_or(1) < 2) return;
  const double each = *row.gpu_memory_gib / *row.gpus;
  bool whole = false, share = false;
  for (const Gpu* gpu : matching_gpus(catalog_, row.gpu)) {
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
  if (resolved->assumed)
    machine.provenance.note = "the source does not say whether it is SXM or PCIe; the slower is assumed";
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
  Price price;
  price.provider = row.provider;
  price.instance = row.instance;
  price.region = row.region;
  price.zone = row.zone;
  price.purchase = row.purchase;
  price.machine_price = usd_per_machine_hour(row.usd_per_hour);
  price.provenance.sources = {source_};
  price.provenance.date = row.date.value_or(date_);
  if (!row.date) ++import_.audit.dateless;
  if (!row.date && date_is_ != DateIs::kStated && date_is_ != DateIs::kFetched)
    price.provenance.unverified = {"date"};  // until settle_dates()
  price.converted = row.converted;
  price.provenance.note = row.note;
  price.provenance.line = static_cast<int>(row.line);
  const auto [at, is_new] = prices_.insert(price);
  if (is_new) return;
  // Listed twice: the newer counts, of one day the cheaper (hosts of a marketplace, a reservation and a savings plan).
  const bool usual = row.community || price.purchase == Purchase::kOneYear || price.purchase == Purchase::kThreeYears ||
                     price.purchase == Purchase::kBlock;
  if (!usual && price.provenance.date == at->provenance.date) {
    const bool same = dollars(price) == dollars(*at);
    note(import_.audit.suspicious,
         same ? "listed twice at the same price" : "listed twice at different prices: the lower was taken",
         fmt::format("{} and ${:.4g}/h", where(*at), dollars(price)));
  }
  const auto rank = [](const Price& one) {
    return std::tuple(one.provenance.date->day, -dollars(one), std::string_view(one.provenance.note));
  };
  if (rank(price) > rank(*at)) prices_.insert(prices_.erase(at), std::move(price));
}

bool Importer::ByOffer::operator()(const Price& a, const Price& b) const {
  return std::tie(a.provider, a.instance, a.purchase, a.region, a.zone) <
         std::tie(b.provider, b.instance, b.purchase, b.region, b.zone);
}

void Importer::suspect(const std::string& why, const Price& price) {
  note(import_.audit.suspicious, why, where(price));
}

void Importer::doubt(const Price& price, const std::string& why) {
  auto node = prices_.extract(prices_.find(price));
  catalog::Provenance& from = node.value().provenance;
  if (std::ranges::find(from.unverified, "price") == from.unverified.end()) from.unverified.emplace_back("price");
  if (from.note.find(why) == std::string::npos) from.note += (from.note.empty() ? "" : "; ") + why;
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
  // The listed price on demand over the spot price, in the zone or the region; 0 where there is none.
  const auto ratio_of = [&](const Price& spot) {
    Price list = spot;
    list.purchase = Purchase::kOnDemand;
    auto found = prices_.find(list);
    list.zone.clear();
    if (found == prices_.end()) found = prices_.find(list);
    // A list price that is itself in doubt says nothing about spot.
    if (found != prices_.end() && is_doubted(*found)) return 0.0;
    return spot.purchase != Purchase::kSpot || found == prices_.end() ? 0.0 : dollars(spot) / dollars(*found);
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

// Compared with what other providers ask for the same GPU on the same terms, each provider counted once however many
// regions it has: a price far outside is a mistake or bait, and an extreme one cannot be true.
void Importer::check_band() {
  using Terms = std::pair<std::string, Purchase>;                     // GPU
  std::map<Terms, std::map<std::string, std::vector<double>>> known;  // by provider
  for (const Price& price : catalog_.prices) {
    const auto machine = machines_.find({price.provider, price.instance});
    if (machine == machines_.end() || is_doubted(price)) continue;
    known[{machine->second->gpu, price.purchase}][price.provider].push_back(dollars(price) / machine->second->gpus);
  }
  std::map<Terms, double> usual;
  for (const auto& [what, providers] : known) {
    std::vector<double> each;
    for (const auto& [provider, prices] : providers) each.push_back(median_of(prices));
    usual[what] = median_of(each);
  }
  const auto ratio_of = [&](const Price& price) {
    const Machine& machine = machine_of(price);
    const auto others = usual.find({machine.gpu, price.purchase});
    return others == usual.end() ? 1 : dollars(price) / machine.gpus / others->second;
  };
  refuse_prices("price beyond all reason for this GPU", [&](const Price& price) {
    const double ratio = ratio_of(price);
    return ratio < 0.03 || ratio > 30;
  });
  const std::string low = "under 30 % of what others ask for this GPU";
  std::vector<const Price*> doubtful;
  for (const Price& price : prices_) {
    const double ratio = ratio_of(price);
    if (ratio < 0.3) suspect(low, price);
    if (ratio < 0.3 && price.purchase != Purchase::kSpot) doubtful.push_back(&price);
    if (ratio > 4) suspect("over four times what others ask for this GPU", price);
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
    const auto now = prices_.find(before);
    if (now == prices_.end() || before.purchase == Purchase::kSpot) continue;
    const double ratio = dollars(*now) / dollars(before);
    if (ratio < 0.67 || ratio > 1.5) {
      note(import_.audit.suspicious, "jump against the last price",
           fmt::format("{}, was ${:.4g}/h", where(*now), dollars(before)));
    }
  }
}

void Importer::merge_groups(const std::function<bool(const Price&, const Price&)>& same_group,
                            const std::function<std::optional<Price>(const std::vector<const Price*>&)>& merge) {
  Prices merged;
  for (auto at = prices_.begin(); at != prices_.end();) {
    std::vector<const Price*> group;
    for (const Price& first = *at; at != prices_.end() && same_group(first, *at); ++at) group.push_back(&*at);
    if (std::optional<Price> whole = merge(group)) {
      merged.insert(merged.end(), *std::move(whole));
    } else {
      for (const Price* price : group) merged.insert(merged.end(), *price);
    }
  }
  prices_ = std::move(merged);
}

// A copy of a list does not say how old its prices are: what is known about the same offer decides.
void Importer::settle_dates() {
  std::map<std::tuple<std::string_view, std::string_view, Purchase, std::string_view, std::string_view>, const Price*>
      known;
  const auto key = [](const Price& p) {
    return std::tuple<std::string_view, std::string_view, Purchase, std::string_view, std::string_view>(
        p.provider, p.instance, p.purchase, p.region, p.zone);
  };
  if (date_is_ != DateIs::kCopied && date_is_ != DateIs::kWritten) return;
  // The store names a source by its feed: "skypilot" for "skypilot-catalog".
  const auto is_ours = [&](const Price& price) {
    return std::ranges::any_of(price.provenance.sources,
                               [&](const std::string& source) { return source_.starts_with(source); });
  };
  std::set<std::string_view> listed_before;  // providers whose list this source had before
  for (const Price& price : catalog_.prices) {
    known[key(price)] = &price;
    if (is_ours(price)) listed_before.insert(price.provider);
  }
  Prices settled;
  for (const Price& one : prices_) {
    Price price = one;
    std::vector<std::string>& doubts = price.provenance.unverified;
    const bool undated = std::ranges::find(doubts, "date") != doubts.end();
    const auto before = known.find(key(price));
    if (undated && before != known.end() && before->second->provenance.date) {
      const catalog::Provenance& from = before->second->provenance;
      const bool ours = is_ours(*before->second);
      // Amounts in other currencies are compared as listed.
      const auto listed = [](const Price& p) { return p.converted ? p.converted->amount : dollars(p); };
      const bool same = std::fabs(listed(price) / listed(*before->second) - 1) < 1e-4;
      if (same) price.provenance.date = from.date;
      if (same && price.converted && before->second->converted) {
        price.converted = before->second->converted;
        price.machine_price = before->second->machine_price;
      }
      if (same || (ours && date_is_ == DateIs::kCopied)) std::erase(doubts, "date");
    } else if (undated && date_is_ == DateIs::kCopied && listed_before.contains(price.provider)) {
      std::erase(doubts, "date");  // added to the list since
    }
    if (std::ranges::find(doubts, "date") != doubts.end()) ++import_.audit.undated;
    settled.insert(settled.end(), std::move(price));
  }
  prices_ = std::move(settled);
}

std::set<std::string> Importer::providers_with_chosen_regions() const {
  std::map<std::string, std::map<std::string, std::set<std::string>>> regions;  // by provider and machine
  for (const Price& price : prices_) {
    if (price.purchase == Purchase::kOnDemand) regions[price.provider][price.instance].insert(price.region);
  }
  std::set<std::string> found;
  for (const auto& [provider, machines] : regions) {
    const bool differ =
        std::ranges::any_of(machines, [&](const auto& machine) { return machine.second != machines.begin()->second; });
    if (differ) found.insert(provider);
  }
  return found;
}

Import Importer::finish() {
  check_band();
  check_spot();
  check_zones();
  const auto alike = [](const std::vector<const Price*>& group) {
    return std::ranges::all_of(group, [&](const Price* p) { return p->machine_price == group[0]->machine_price; });
  };
  const auto same_machine = [](const Price& a, const Price& b) {
    return a.provider == b.provider && a.instance == b.instance && a.purchase == b.purchase;
  };
  // Zones of a region with one price are the region's. A spot price of a single zone stays that zone's: nothing is
  // known about the others.
  merge_groups([&](const Price& a, const Price& b) { return same_machine(a, b) && a.region == b.region; },
               [&](const std::vector<const Price*>& zones) -> std::optional<Price> {
                 const Price& first = *zones.front();
                 const bool alone = zones.size() == 1 && first.purchase == Purchase::kSpot;
                 if (!alike(zones) || alone || first.zone.empty()) return std::nullopt;
                 Price whole = first;
                 whole.zone.clear();
                 return whole;
               });
  // The same price in five regions or more, with no other, is the provider's price everywhere. Prices of the large
  // clouds match by chance, and a region without the machine matters. Where machines of a provider are in different
  // regions, the list says where each is; where all are in the same ones, it may only be a product of two lists.
  const std::set<std::string> selective = providers_with_chosen_regions();
  merge_groups(same_machine, [&](const std::vector<const Price*>& regions) -> std::optional<Price> {
    const Price& first = *regions.front();
    const bool hyperscaler = first.provider == "aws" || first.provider == "gcp" || first.provider == "azure";
    const bool zones = std::ranges::any_of(regions, [](const Price* price) { return !price->zone.empty(); });
    if (regions.size() < 5 || hyperscaler || zones || selective.contains(first.provider) || !alike(regions))
      return std::nullopt;
    Price whole = first;
    whole.region = "any";
    if (whole.provenance.note.empty()) whole.provenance.note = fmt::format("the same in {} regions", regions.size());
    return whole;
  });
  check_jumps();
  settle_dates();
  while (!prices_.empty()) import_.prices.push_back(std::move(prices_.extract(prices_.begin()).value()));
  for (auto& [key, machine] : new_machines_) import_.machines.push_back(std::move(machine));
  return std::move(import_);
}

}  // namespace rightsize::feeds
