// Reads a Catalog from the files of data/ and the user's overlay.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/format.h"
#include "base/list_of.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/fact_table.h"
#include "catalog/hardware.h"
#include "catalog/hourly_amount.h"

namespace rightsize::catalog {
namespace {

namespace fs = std::filesystem;

// A row that replaces another must have its own source, and a machine price its own price per GPU.
constexpr std::string_view kOrigin = "source,date,unverified,note";
const FactSchema kSources("key,title,address,licence,retrieved,note", "key");
const FactSchema kGpus(
    "name,vendor,architecture,year,memory,usable_memory,memory_type,bandwidth,fp64,fp32,tf32,fp16,bf16,fp8,int8,fp4,"
    "sparse_fp16,sparse_fp8,sparse_int8,sparse_fp4,nvlink,nvlink_kind,pcie,tdp,idle_power,sms,compute_capability,"
    "mig_instances,measured_bf16,measured_fp8,aliases,source,date,unverified,note",
    "name", kOrigin);
const FactSchema kMig(
    "gpu,profile,id,instances,memory,compute_slices,memory_slices,sms,placements,media,source,date,unverified,note",
    "gpu,profile", kOrigin);
const FactSchema kMachines(
    "provider,instance,gpu,gpus,vcpus,memory,local_ssd,interconnect,network,fabric,status,hosting,source,date,"
    "unverified,note",
    "provider,instance", kOrigin);
constexpr std::string_view kPriceHeader = "instance,region,zone,purchase,price,per_gpu,source,date,unverified,note";
const FactSchema kPrices("instance,region,zone,purchase,price,currency,per_gpu,source,date,unverified,note",
                         "instance,region,purchase", "currency,per_gpu,source,date,unverified,note", "zone");
const FactSchema kRates("currency,date,usd,source", "currency,date", "source");
const FactSchema kGpuRegions("provider,gpu,regions,source,date,unverified,note", "provider,gpu,source", kOrigin);
const FactSchema kProviders("provider,currency,minimum_rental,capacity,commitment,source,date,unverified,note",
                            "provider", kOrigin);

Source read_source(FactReader reader) {
  return {reader.required_text("key"), reader.required_text("title"), reader.text("address"),
          reader.text("licence"),      reader.date("retrieved"),      reader.text("note")};
}

std::optional<FlopsPerSecond> read_rate(FactReader& reader, const std::string& column) {
  return reader.quantity<FlopsPerSecond>(column, parse_flops, tflop_per_s(0.05), tflop_per_s(100'000), format_flops);
}

// The three rates of a number format. "none" in the dense column: the hardware does not have it.
Peak read_peak(FactReader& reader, NumberFormat format) {
  const std::string name(name_of(format));
  Peak peak;
  if (reader.text(name) == "none") return peak;
  peak.supported = true;
  peak.dense = read_rate(reader, name);
  const std::string sparse = "sparse_" + name;
  if (std::ranges::find(kGpus.columns, sparse) != kGpus.columns.end() && reader.text(sparse) != "none") {
    peak.sparse = read_rate(reader, sparse);
  }
  if (format == NumberFormat::kBf16) peak.measured = read_rate(reader, "measured_bf16");
  if (format == NumberFormat::kFp8) peak.measured = read_rate(reader, "measured_fp8");
  return peak;
}

Gpu read_gpu(FactReader reader) {
  Gpu gpu;
  gpu.name = reader.required_text("name");
  gpu.vendor = reader.required_text("vendor");
  gpu.architecture = reader.text("architecture");
  gpu.year = reader.integer("year", 2010, 2100);
  gpu.memory = reader.required_quantity<Bytes>("memory", parse_bytes, gib(1), gib(4096), format_bytes);
  gpu.usable_memory = reader.quantity<Bytes>("usable_memory", parse_bytes, gib(1), gpu.memory * 1.02, format_bytes);
  gpu.memory_type = reader.text("memory_type");
  gpu.bandwidth = reader.required_quantity<BytesPerSecond>("bandwidth", parse_bandwidth, gb_per_s(10),
                                                           gb_per_s(100'000), format_bandwidth);
  for (int i = 0; i < kNumberFormats; ++i) gpu.peaks[i] = read_peak(reader, static_cast<NumberFormat>(i));
  if (reader.text("nvlink") != "none")
    gpu.nvlink =
        reader.quantity<BytesPerSecond>("nvlink", parse_bandwidth, gb_per_s(10), gb_per_s(20'000), format_bandwidth);
  gpu.nvlink_kind = reader.text("nvlink_kind");
  gpu.pcie = reader.text("pcie");
  gpu.tdp = reader.quantity<Watts>("tdp", parse_power, watts(10), watts(5000), format_power);
  gpu.idle_power = reader.quantity<Watts>("idle_power", parse_power, watts(1), watts(1000), format_power);
  gpu.sms = reader.integer("sms", 1, 2000);
  gpu.compute_capability = reader.text("compute_capability");
  gpu.mig_instances = reader.text("mig_instances") == "none" ? 0 : reader.integer("mig_instances", 0, 16).value_or(0);
  gpu.aliases = reader.list("aliases");
  gpu.provenance = reader.provenance();
  return gpu;
}

void check_gpu(FactReader& reader, const std::string& name, const Catalog& catalog) {
  auto known = [&](const Gpu& gpu) { return gpu.name == name; };
  if (name.empty() || std::ranges::any_of(catalog.gpus, known)) return;
  reader.mistake("gpu",
                 bad_input(fmt::format("unknown GPU '{}'", name)).with_hint(did_you_mean(name, catalog.gpu_names())));
}

std::vector<MigProfile> read_mig(FactReader reader, const Catalog& catalog) {
  MigProfile profile;
  profile.profile = reader.required_text("profile");
  profile.id = reader.integer("id", 0, 1000).value_or(-1);
  profile.instances = reader.required_integer("instances", 1, 16);
  profile.memory = reader.required_quantity<Bytes>("memory", parse_bytes, gib(1), gib(4096), format_bytes);
  profile.compute_slices = reader.required_integer("compute_slices", 1, 16);
  profile.memory_slices = reader.required_integer("memory_slices", 1, 16);
  profile.sms = reader.integer("sms", 1, 2000);
  for (const std::string& start : reader.list("placements")) {
    Result<std::int64_t> slice = parse_integer(start);
    if (!slice || *slice < 0 || *slice > 15) {
      reader.mistake("placements", bad_input(fmt::format("'{}' is not a slice number", start)));
      continue;
    }
    profile.placements.push_back(static_cast<int>(*slice));
  }
  profile.media = reader.integer("media", 0, 1).value_or(0) == 1;
  profile.provenance = reader.provenance();
  std::vector<MigProfile> profiles;
  for (const std::string& gpu : reader.list("gpu")) {
    check_gpu(reader, gpu, catalog);
    profile.gpu = gpu;
    profiles.push_back(profile);
  }
  return profiles;
}

Machine read_machine(FactReader reader, const Catalog& catalog) {
  Machine machine;
  machine.provider = reader.required_text("provider");
  machine.instance = reader.required_text("instance");
  machine.gpu = reader.required_text("gpu");
  check_gpu(reader, machine.gpu, catalog);
  machine.gpus = reader.required_integer("gpus", 1, 128);
  machine.vcpus = reader.integer("vcpus", 1, 4096);
  machine.memory = reader.quantity<Bytes>("memory", parse_bytes, gib(1), gib(65536), format_bytes);
  machine.local_ssd = reader.text("local_ssd") == "none"
                          ? Bytes{}
                          : reader.quantity<Bytes>("local_ssd", parse_bytes, gb(1), gb(1e6), format_bytes);
  const auto word = [&](const char* column, const std::vector<std::string>& words) {
    return reader.text(column).empty() ? "" : reader.choice(column, words);
  };
  machine.interconnect = word("interconnect", {"nvswitch", "nvlink", "nvlink-pairs", "pcie", "fabric", "none"});
  machine.network =
      reader.quantity<BytesPerSecond>("network", parse_bandwidth, gbit_per_s(0.1), gbit_per_s(100'000), format_network);
  machine.fabric = reader.text("fabric");
  machine.retired = word("status", {"current", "retired"}) == "retired";
  machine.community = word("hosting", {"provider", "community"}) == "community";
  machine.provenance = reader.provenance();
  return machine;
}

template <class Rate>
std::string show_hourly(Rate price) {
  return format_usd_per_hour(price) + "/h";
}

// Machines by provider and name: every price looks its machine up.
using MachineIndex = std::unordered_map<std::string, const Machine*>;

std::string machine_key(const std::string& provider, const std::string& instance) { return provider + '\n' + instance; }

ExchangeRate read_rate_row(FactReader reader) {
  ExchangeRate rate;
  rate.currency = reader.required_text("currency");
  const Result<double> usd = parse_number(reader.text("usd"));
  if (!usd || !(*usd > 0)) {
    reader.mistake("usd", bad_input("dollars for one unit must be greater than 0"));
  } else {
    rate.usd = *usd;
  }
  rate.date = reader.date("date").value_or(Date{});
  rate.source = reader.required_text("source");
  return rate;
}

std::vector<GpuRegion> read_gpu_regions(FactReader reader, const Catalog& catalog) {
  GpuRegion row;
  row.provider = reader.required_text("provider");
  row.provenance = reader.provenance();
  std::vector<GpuRegion> rows;
  for (const std::string& gpu : reader.list("gpu")) {
    check_gpu(reader, gpu, catalog);
    row.gpu = gpu;
    for (const std::string& region : reader.list("regions")) {
      row.region = region;
      rows.push_back(row);
    }
  }
  return rows;
}

ProviderFacts read_provider(FactReader reader) {
  ProviderFacts facts;
  facts.provider = reader.required_text("provider");
  facts.currency = reader.text("currency");
  facts.minimum_rental = reader.text("minimum_rental");
  facts.capacity = reader.text("capacity");
  facts.commitment = reader.text("commitment");
  facts.provenance = reader.provenance();
  return facts;
}

// "2.6EUR/h", or "2.6" with a column that names the currency, into dollars at the rate of the price's day.
void read_amount(FactReader& reader, const Catalog& catalog, Price& price) {
  const Result<HourlyAmount> read = parse_hourly_amount(reader.text("price"));
  const std::string column = reader.text("currency");
  if (!read) return reader.mistake("price", read.error());
  if (!column.empty() && !read->currency.empty() && column != read->currency)
    return reader.mistake("currency", bad_input(fmt::format("the price is in {}, not {}", read->currency, column)));
  const std::string currency = column.empty() ? read->currency : column;
  if (currency.empty())
    return reader.mistake("price", bad_input(fmt::format("'{}' has no unit", reader.text("price")))
                                       .with_hint("write USD/h or EUR/h after the number, or add a column currency"));
  const Result<ExchangeRate> rate = catalog.exchange_rate(currency, price.provenance.date.value_or(today()));
  if (!rate) return reader.mistake(column.empty() ? "price" : "currency", rate.error());
  price.machine_price = usd_per_machine_hour(read->amount * rate->usd);
  if (currency != kDollars) price.converted = Conversion{read->amount, *rate};
  const UsdPerMachineSecond least = usd_per_machine_hour(0.005), most = usd_per_machine_hour(2000);
  if (price.machine_price < least || price.machine_price > most)
    reader.mistake("price",
                   bad_input(fmt::format("price of {} is not between {} and {}", show_hourly(price.machine_price),
                                         show_hourly(least), show_hourly(most))));
}

Price read_price(FactReader reader, const std::string& provider, const Catalog& catalog, const MachineIndex& machines) {
  static const auto kPurchaseNames =
      list_of<std::string>(kPurchases, [](Purchase purchase) { return name_of(purchase); });
  Price price;
  price.provider = provider;
  price.instance = reader.required_text("instance");
  price.region = reader.required_text("region");
  price.zone = reader.text("zone");
  price.purchase = parse_purchase(reader.choice("purchase", kPurchaseNames)).value_or(Purchase::kOnDemand);
  auto per_gpu = reader.quantity<UsdPerGpuSecond>("per_gpu", parse_usd_per_gpu_hour, usd_per_gpu_hour(0.005),
                                                  usd_per_gpu_hour(100), show_hourly<UsdPerGpuSecond>);
  price.provenance = reader.provenance();
  if (reader.text("price").empty()) {
    reader.missing("price");
  } else {
    read_amount(reader, catalog, price);
  }
  // One day ahead may be due to a time zone.
  if (price.provenance.date && *price.provenance.date - today() > 1)
    reader.mistake("date", bad_input(fmt::format("{} is in the future", format_date(*price.provenance.date))));

  const auto found = machines.find(machine_key(provider, price.instance));
  const Machine* machine = found == machines.end() ? nullptr : found->second;
  if (machine == nullptr) {
    std::vector<std::string> names;
    for (const Machine& known : catalog.machines) {
      if (known.provider == provider) names.push_back(known.instance);
    }
    reader.mistake("instance", bad_input(fmt::format("{} has no machine '{}'", provider, price.instance))
                                   .with_hint(did_you_mean(price.instance, names))
                                   .with_hint("add it to machines.csv first"));
  } else if (per_gpu && std::fabs(*per_gpu * gpus_per_machine(machine->gpus) / price.machine_price - 1) > 0.005) {
    reader.mistake("per_gpu", bad_input(fmt::format("{} per GPU times {} GPUs is not {}", show_hourly(*per_gpu),
                                                    machine->gpus, show_hourly(price.machine_price))));
  }
  return price;
}

// The user's price for a whole region replaces the built-in prices of its zones.
void drop_replaced_zones(std::vector<Price>& rows) {
  const auto key = [](const Price& row) { return std::tie(row.instance, row.region, row.purchase); };
  const auto by_key = [&](const Price* a, const Price* b) { return key(*a) < key(*b); };
  std::set<const Price*, decltype(by_key)> whole(by_key);
  const auto built_in = [](const Price& row) { return row.provenance.file.starts_with("data/"); };
  for (const Price& row : rows) {
    if (row.zone.empty() && !built_in(row)) whole.insert(&row);
  }
  if (whole.empty()) return;
  std::vector<Price> kept;
  for (const Price& row : rows) {
    if (row.zone.empty() || !built_in(row) || !whole.contains(&row)) kept.push_back(row);
  }
  rows = std::move(kept);
}

void check_sources_exist(const Provenance& provenance, const Catalog& catalog, Errors& errors) {
  if (!provenance.file.starts_with("data/")) return;  // the user's rows need no bibliography
  for (const std::string& key : provenance.sources) {
    if (catalog.find_source(key) != nullptr) continue;
    errors.push_back(bad_input(fmt::format("source '{}' is not in sources.csv", key))
                         .at(Place{provenance.file, provenance.line, 0, 1, {}}));
  }
}

void check_references(const Catalog& catalog, Errors& errors) {
  for (const Gpu& gpu : catalog.gpus) check_sources_exist(gpu.provenance, catalog, errors);
  for (const MigProfile& profile : catalog.mig) check_sources_exist(profile.provenance, catalog, errors);
  for (const Machine& machine : catalog.machines) check_sources_exist(machine.provenance, catalog, errors);
  const std::vector<std::string>* last = nullptr;  // rows of one source are adjacent
  for (const Price& price : catalog.prices) {
    if (last != nullptr && *last == price.provenance.sources) continue;
    check_sources_exist(price.provenance, catalog, errors);
    last = &price.provenance.sources;
  }
}

// The files of one kind: the built-in one and the overlay's, if it has one.
class Loader {
 public:
  explicit Loader(std::string overlay) : overlay_(std::move(overlay)) {}

  FactTable table(const FactSchema& schema, const std::string& name) {
    FactTable table(schema, errors);
    if (std::string_view text = embedded_file(name); !text.empty()) table.add("data/" + name, std::string(text), false);
    if (overlay_.empty()) return table;
    const fs::path path = fs::path(overlay_) / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return table;
    Result<std::string> text = read_file(path.string());
    if (text) {
      table.add(path.string(), *std::move(text), true);
    } else {
      errors.push_back(std::move(text).error());
    }
    return table;
  }

  bool has_overlay(const std::string& name) const {
    std::error_code ignored;
    return !overlay_.empty() && fs::exists(fs::path(overlay_) / name, ignored);
  }

  // "aws", "gcp" ...: every provider with a price file in either place.
  std::vector<std::string> providers() const {
    std::vector<std::string> names;
    auto add = [&](const fs::path& file) {
      if (file.extension() == ".csv") names.push_back(file.stem().string());
    };
    for (const EmbeddedFile& file : embedded_files()) {
      if (file.name.starts_with("prices/")) add(fs::path(file.name));
    }
    std::error_code ignored;
    if (!overlay_.empty()) {
      for (const auto& entry : fs::directory_iterator(fs::path(overlay_) / "prices", ignored)) add(entry.path());
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  Errors errors;

 private:
  std::string overlay_;
};

Catalog read_hardware(Loader& loader) {
  Catalog catalog;
  FactTable sources = loader.table(kSources, "sources.csv");
  for (const FactRow& row : sources.rows()) catalog.sources.push_back(read_source({row, loader.errors}));
  FactTable gpus = loader.table(kGpus, "gpus.csv");
  for (const FactRow& row : gpus.rows()) catalog.gpus.push_back(read_gpu({row, loader.errors}));
  FactTable mig = loader.table(kMig, "mig.csv");
  for (const FactRow& row : mig.rows()) {
    for (MigProfile& profile : read_mig({row, loader.errors}, catalog)) catalog.mig.push_back(std::move(profile));
  }
  FactTable machines = loader.table(kMachines, "machines.csv");
  for (const FactRow& row : machines.rows()) catalog.machines.push_back(read_machine({row, loader.errors}, catalog));
  FactTable rates = loader.table(kRates, "exchange_rates.csv");
  for (const FactRow& row : rates.rows()) catalog.exchange_rates.push_back(read_rate_row({row, loader.errors}));
  return catalog;
}

// The tables that prices need besides the machines.
void read_market(Loader& loader, Catalog& catalog) {
  FactTable regions = loader.table(kGpuRegions, "gpu_regions.csv");
  for (const FactRow& row : regions.rows()) {
    for (GpuRegion& one : read_gpu_regions({row, loader.errors}, catalog))
      catalog.gpu_regions.push_back(std::move(one));
  }
  FactTable providers = loader.table(kProviders, "providers.csv");
  for (const FactRow& row : providers.rows()) catalog.providers.push_back(read_provider({row, loader.errors}));
}

enum PriceColumn { kInstance, kRegion, kZone, kPurchase, kAmount, kPerGpu, kSource, kDate, kUnverified, kNote };
using PriceCells = std::array<std::string_view, kNote + 1>;

// Splits a line into cells. Only the last cell, the note, may be quoted, and it has no line end.
bool split(std::string_view line, PriceCells& cells) {
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos || line.front() == '"') return false;
    cells[i] = line.substr(0, comma);
    line.remove_prefix(comma + 1);
  }
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  cells[kNote] = line;
  return line.find('"') == std::string_view::npos;
}

bool read_dollars(std::string_view text, UsdPerMachineSecond& price) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  price = usd_per_machine_hour(value);
  return problem == std::errc() && std::string_view(end, text.data() + text.size()) == "USD/h";
}

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> found;
  for (std::string_view word : split_list(list, '|')) found.emplace_back(word);
  return found;
}

// The rows of an embedded data/prices/<provider>.csv, read fast: thousands are read at every start, and catalog_test.cc
// has validated each with the full reader. Empty if a row is not in the expected form; the full reader then reports the
// mistake.
std::optional<std::vector<Price>> read_built_in_prices(const std::string& provider, std::string_view text) {
  std::vector<Price> prices;
  prices.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')));
  const std::string file = "data/prices/" + provider + ".csv";
  std::string_view source_text, date_text;  // of the previous row; they seldom change
  std::vector<std::string> sources;
  std::optional<Date> date;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (++number == 1) {
      if (line != kPriceHeader) return std::nullopt;
      continue;
    }
    PriceCells cells;
    if (!split(line, cells)) return std::nullopt;
    if (cells[kSource] != source_text) sources = words(source_text = cells[kSource]);
    if (cells[kDate] != date_text) {
      const Result<Date> read = parse_date(date_text = cells[kDate]);
      date = read ? std::optional(*read) : std::nullopt;
    }
    const std::optional<Purchase> purchase = parse_purchase(cells[kPurchase]);
    Price& price = prices.emplace_back();
    if (!purchase || !date || !read_dollars(cells[kAmount], price.machine_price)) return std::nullopt;
    price.provider = provider;
    price.instance = cells[kInstance];
    price.region = cells[kRegion];
    price.zone = cells[kZone];
    price.purchase = *purchase;
    price.provenance = {sources, date, words(cells[kUnverified]), std::string(cells[kNote]), file, number};
  }
  return prices;
}

std::vector<Price> read_prices(Loader& loader, const std::string& provider, const Catalog& catalog) {
  const std::string file = "prices/" + provider + ".csv";
  if (!loader.has_overlay(file)) {
    if (std::optional<std::vector<Price>> known = read_built_in_prices(provider, embedded_file(file)))
      return *std::move(known);
  }
  MachineIndex index;
  for (const Machine& machine : catalog.machines)
    index.emplace(machine_key(machine.provider, machine.instance), &machine);
  FactTable prices = loader.table(kPrices, file);
  std::vector<Price> rows;
  for (const FactRow& row : prices.rows()) rows.push_back(read_price({row, loader.errors}, provider, catalog, index));
  drop_replaced_zones(rows);
  return rows;
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::string usual_overlay() { return user_path("XDG_CONFIG_HOME", ".config", "catalog"); }

}  // namespace

Checked<Catalog> load_hardware(const std::string& overlay) {
  Loader loader(overlay);
  Catalog catalog = read_hardware(loader);
  check_references(catalog, loader.errors);
  if (!loader.errors.empty()) return fail(std::move(loader.errors));
  return catalog;
}

Checked<Catalog> load_catalog(const std::string& overlay) {
  Loader loader(overlay);
  Catalog catalog = read_hardware(loader);
  read_market(loader, catalog);
  std::vector<std::vector<Price>> by_provider;
  std::size_t count = 0;
  for (const std::string& provider : loader.providers())
    count += by_provider.emplace_back(read_prices(loader, provider, catalog)).size();
  catalog.prices.reserve(count);
  for (std::vector<Price>& rows : by_provider) std::move(rows.begin(), rows.end(), std::back_inserter(catalog.prices));
  check_references(catalog, loader.errors);
  if (!loader.errors.empty()) return fail(std::move(loader.errors));
  return catalog;
}

Result<std::string> overlay_directory(std::string_view flag) {
  std::error_code ignored;
  auto named = [&](std::string path, std::string_view how) -> Result<std::string> {
    if (fs::is_directory(path, ignored)) return path;
    return fail(unreadable(fmt::format("{} names '{}', which is not a folder", how, path)));
  };
  if (!flag.empty()) return named(std::string(flag), "--catalog");
  if (const char* variable = environment("RIGHTSIZE_CATALOG")) return named(variable, "RIGHTSIZE_CATALOG");
  const std::string usual = usual_overlay();
  return fs::is_directory(usual, ignored) ? usual : std::string{};
}

Result<std::string> overlay_target(std::string_view flag) {
  if (!flag.empty()) return std::string(flag);
  if (const char* variable = environment("RIGHTSIZE_CATALOG")) return std::string(variable);
  const std::string usual = usual_overlay();
  if (usual.empty()) return fail(bad_input("no home folder to write to").with_hint("name one with --catalog"));
  return usual;
}

}  // namespace rightsize::catalog
