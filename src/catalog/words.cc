#include "catalog/words.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {
namespace {

// A row of data/places.csv, which describes the columns.
struct PlaceRow {
  std::string_view meaning, names, inside, codes, regions;
};

const std::vector<PlaceRow>& rows_of(std::string_view kind) {
  static const Csv kTable = *Csv::parse("data/places.csv", std::string(embedded_file("places.csv")));
  static const auto kRows = [] {
    std::map<std::string_view, std::vector<PlaceRow>> rows;
    for (const CsvRow& row : kTable.rows())
      rows[row.cells[0]].push_back({row.cells[1], row.cells[2], row.cells[3], row.cells[4], row.cells[5]});
    return rows;
  }();
  return kRows.at(kind);
}

// Whether `matches` holds for one of the names in a list.
template <class Matches>
bool any_of(std::string_view names, const Matches& matches) {
  const std::vector<std::string_view> all = split_list(names, ' ');
  return std::ranges::any_of(all, matches);
}
bool lists(std::string_view names, std::string_view name) {
  return any_of(names, [&](std::string_view one) { return one == name; });
}

// The first row of a kind with this name in a column; nullptr if there is none.
const PlaceRow* find_row(std::string_view kind, std::string_view PlaceRow::*column, std::string_view name) {
  const std::vector<PlaceRow>& rows = rows_of(kind);
  const auto found = std::ranges::find_if(rows, [&](const PlaceRow& row) { return lists(row.*column, name); });
  return found == rows.end() ? nullptr : &*found;
}

// The first run of letters: "us" of "us-east-1", "tor" of "tor1".
std::string first_word(const std::string& name) {
  const auto end = std::ranges::find_if_not(name, [](unsigned char c) { return std::isalpha(c) != 0; });
  return {name.begin(), end};
}

// Azure: "eastus2", "southcentralus".
bool ends_in_us(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return name.ends_with("us") && name.find_first_of("-_ ") == std::string::npos;
}

Error unknown(const char* what, std::string_view word, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  constexpr std::size_t kFew = 30;
  Error error = bad_input(fmt::format("unknown {} '{}'", what, word)).with_hint(did_you_mean(word, names));
  if (error.hints.empty() && names.size() <= kFew)
    error.hints.push_back(fmt::format("known: {}", fmt::join(names, ", ")));
  return error;
}

std::optional<int> as_count(std::string_view text) {
  int count = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = problem == std::errc() && stop == text.data() + text.size();
  return whole && count >= 1 && count <= 65536 ? std::optional(count) : std::nullopt;
}

std::set<std::string> in_prices(const Catalog& catalog, std::string Price::*field) {
  std::set<std::string> names;
  const std::string* last = nullptr;  // rows with the same value are adjacent
  for (const Price& price : catalog.prices) {
    if (last == nullptr || *last != price.*field) names.insert(price.*field);
    last = &(price.*field);
  }
  return names;
}

// Sockets before slots, then by how many machines have it.
auto usualness(const Catalog& catalog, const Gpu& gpu) {
  const auto machines =
      std::ranges::count_if(catalog.machines, [&](const Machine& machine) { return machine.gpu == gpu.name; });
  return std::pair(gpu.name.ends_with("-sxm"), machines);
}

bool is_in_place(std::string_view region, const PlaceRow& place) {
  const std::string name = to_lower(trim(region)), folded = fold_name(name);
  // Marketplaces write "Frankfurt, DE, EU".
  std::vector<std::string_view> parts = split_list(name, ',');
  const std::string first = first_word(name);
  parts.emplace_back(first);
  return lists(place.regions, name) ||
         any_of(place.inside, [&](std::string_view word) { return folded.find(word) != std::string::npos; }) ||
         any_of(place.codes, [&](std::string_view code) { return std::ranges::find(parts, code) != parts.end(); });
}

// "eu" is part of "europe".
bool is_in(std::string_view region, std::string_view part) {
  if (part != "eu") return part_of_world(region) == part;
  return part_of_world(region) == "europe" && !is_in_place(region, rows_of("outside-eu").front());
}

}  // namespace

std::string_view part_of_world(std::string_view region) {
  const std::string name = to_lower(trim(region));
  if (const PlaceRow* part = find_row("part", &PlaceRow::regions, name)) return part->meaning;
  // Marketplaces write "Indiana, US, NA" and "Bulgaria, BG, EU": the codes decide.
  if (name.find(',') != std::string::npos) {
    const std::vector<std::string_view> parts = split_list(name, ',');
    for (auto code = parts.rbegin(); code != parts.rend(); ++code) {
      if (const PlaceRow* part = find_row("part", &PlaceRow::codes, *code)) return part->meaning;
    }
  }
  const std::string folded = fold_name(name);
  for (const PlaceRow& part : rows_of("part")) {
    if (any_of(part.inside, [&](std::string_view word) { return folded.find(word) != std::string::npos; }))
      return part.meaning;
  }
  if (const PlaceRow* part = find_row("part", &PlaceRow::codes, first_word(name))) return part->meaning;
  return ends_in_us(name) ? "us" : "";
}

std::set<std::string> known_providers(const Catalog& catalog) { return in_prices(catalog, &Price::provider); }

std::set<std::string> known_regions(const Catalog& catalog) {
  std::set<std::string> names = in_prices(catalog, &Price::region);
  for (const GpuRegion& row : catalog.gpu_regions) names.insert(row.region);
  return names;
}

Result<std::vector<std::string>> match_regions(std::string_view words, const std::set<std::string>& known) {
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    const std::string wanted = to_lower(word);
    const PlaceRow* world = find_row("part", &PlaceRow::names, fold_name(wanted));
    const std::string_view part = world == nullptr ? "" : world->meaning;
    const PlaceRow* place = world == nullptr ? find_row("place", &PlaceRow::names, fold_name(wanted)) : nullptr;
    const std::size_t before = chosen.size();
    for (const std::string& name : known) {
      const bool begins = part != "eu" && place == nullptr && to_lower(name).starts_with(wanted);  // eu-west-2: London
      const bool there = place != nullptr ? is_in_place(name, *place) : !part.empty() && is_in(name, part);
      if (name == kAnyRegion ? wanted == name : begins || there) chosen.push_back(name);
    }
    if (chosen.size() == before) {
      const std::string_view near = part_of_world(word);
      if (!near.empty() && suggest(word, std::vector<std::string>(known.begin(), known.end())).empty())
        return fail(bad_input(fmt::format("no price in region '{}'", word))
                        .with_hint(fmt::format("did you mean '{}'? It covers every region there", near)));
      return fail(unknown("region", word, known)
                      .with_hint("a region's name, its beginning, or us, eu, europe, asia, canada, oceania, ..."));
    }
  }
  return chosen;
}

Result<Purchase> read_purchase(std::string_view word) {
  if (const auto purchase = parse_purchase(to_lower(word))) return *purchase;
  std::set<std::string> names;
  for (Purchase purchase : kPurchases) names.emplace(name_of(purchase));
  return fail(unknown("purchase terms", word, names));
}

Result<std::vector<Purchase>> read_purchases(std::string_view words) {
  std::vector<Purchase> chosen;
  for (std::string_view word : split_list(words, ',')) {
    RIGHTSIZE_TRY(const Purchase purchase, read_purchase(word));
    chosen.push_back(purchase);
  }
  return chosen;
}

Result<std::vector<std::string>> match_providers(std::string_view words, const std::set<std::string>& known) {
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    std::string wanted = fold_name(word);
    if (const PlaceRow* row = find_row("provider", &PlaceRow::names, wanted)) wanted = row->meaning;
    const auto found = std::ranges::find_if(known, [&](const std::string& name) { return fold_name(name) == wanted; });
    if (found == known.end()) return fail(unknown("provider", word, known));
    chosen.push_back(*found);
  }
  return chosen;
}

Result<std::vector<const Gpu*>> gpus_meant(std::string_view words, const Catalog& catalog) {
  std::vector<const Gpu*> chosen;
  for (std::string_view word : split_list(words, ',')) {
    std::vector<const Gpu*> found;
    for (const Gpu& gpu : catalog.gpus) {
      if (fold_name(gpu.vendor) == fold_name(word)) found.push_back(&gpu);
    }
    if (found.empty()) {
      RIGHTSIZE_TRY(found, catalog.match_gpus(word));
    }
    chosen.insert(chosen.end(), found.begin(), found.end());
  }
  return chosen;
}

Result<std::vector<std::string>> match_instances(std::string_view words, const Catalog& catalog) {
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    const std::string wanted = to_lower(word);
    const std::size_t before = chosen.size();
    for (const Machine& machine : catalog.machines) {
      if (to_lower(machine.instance) == wanted) chosen.push_back(machine.instance);
    }
    if (chosen.size() > before) continue;
    std::set<std::string> known;
    for (const Machine& machine : catalog.machines) known.insert(machine.instance);
    return fail(unknown("instance type", word, known));
  }
  return chosen;
}

Result<std::vector<std::string>> match_names(std::string_view words, const Catalog& catalog) {
  std::set<std::string> known;
  for (const Machine& machine : catalog.machines) known.insert(machine.provider);
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    if (const auto providers = match_providers(word, known)) {
      chosen.insert(chosen.end(), providers->begin(), providers->end());
    } else if (const auto gpus = gpus_meant(word, catalog)) {
      for (const Gpu* gpu : *gpus) chosen.push_back(gpu->name);
    } else if (const auto instances = match_instances(word, catalog)) {
      chosen.insert(chosen.end(), instances->begin(), instances->end());
    } else {
      for (const Gpu& gpu : catalog.gpus) known.insert({gpu.name, gpu.vendor});
      return fail(unknown("provider, GPU or instance type", word, known));
    }
  }
  return chosen;
}

bool is_superchip(const Gpu& gpu) { return gpu.name.starts_with("gh") || gpu.name.starts_with("gb"); }

CountedGpu split_gpu_count(std::string_view text) {
  text = trim(text);
  constexpr std::string_view kSigns = "xX*:";
  const auto parts = [&](std::size_t at) { return std::pair(trim(text.substr(0, at)), trim(text.substr(at + 1))); };
  if (const std::size_t x = text.find_first_of(kSigns.substr(0, 3));
      x != std::string_view::npos && x + 1 < text.size()) {
    const auto [count, name] = parts(x);  // "8xH100"; "4090x2" is two of them
    const auto many = as_count(count), other = as_count(name);
    if (many && !(other && *other < *many)) return {std::string(name), many};
  }
  // "H100:8", "h100*8", "h100x8": not the "x" of an RTX.
  const std::size_t sign = text.find_last_of(kSigns);
  if (sign == std::string_view::npos || sign == 0) return {std::string(text), std::nullopt};
  const auto [name, count] = parts(sign);
  const bool ends = text[sign] == ':' || text[sign] == '*' || (name.back() >= '0' && name.back() <= '9');
  if (const auto many = as_count(count); many && ends && !name.empty()) return {std::string(name), many};
  return {std::string(text), std::nullopt};
}

Result<UsualGpu> usual_gpu(const Catalog& catalog, std::string_view name) {
  RIGHTSIZE_TRY(const std::vector<const Gpu*> found, catalog.match_gpus(name));
  const Gpu* usual = *std::ranges::max_element(
      found, [&](const Gpu* a, const Gpu* b) { return usualness(catalog, *a) < usualness(catalog, *b); });
  UsualGpu chosen{usual, {}};
  for (const Gpu* gpu : found) {
    if (gpu != usual) chosen.others.push_back(gpu->name);
  }
  return chosen;
}

}  // namespace rightsize::catalog
