#include "catalog/words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {
namespace {

// Names that mean the same, separated by spaces.
struct NameRow {
  std::string_view meaning, names;
};

// Countries and cities anywhere in a region's name: "westeurope", "tokyo-japan-5".
constexpr NameRow kInside[] = {
    {"europe",
     "europe uksouth ukwest france germany sweden norway poland italy spain switzerland finland iceland netherlands "
     "austria belgium denmark ireland frankfurt london amsterdam paris"},
    {"asia", "japan tokyo osaka korea seoul india mumbai asia singapore taiwan hongkong indonesia malaysia jioindia"},
    {"oceania", "australia sydney newzealand"},
    {"canada", "canada toronto montreal northamerica"},
    {"latin-america", "brazil chile mexico southamerica"},
    {"middle-east", "uae qatar israel saudi"},
    {"africa", "africa"},
    {"us", "usa eastcoast westcoast"},
};

// Codes that a region's name begins with: "eu-west-1", "US-1", "fr-par", "tor1".
constexpr NameRow kCodes[] = {
    {"us", "us usw use nyc sfo atl ric"},
    {"europe",
     "eu uk gb de fr fi fin no se it es pl nl is ch at be cz ro bg pt ie dk hu hr si sk lt lv ee gr lu ams fra gra waw "
     "sbg lon lhr"},
    {"asia", "ap as asia jp kr in sg tw hk id my th vn ph cn tyo sgp blr"},
    {"canada", "ca bhs tor"},
    {"oceania", "au syd nz"},
    {"latin-america", "sa br mx cl"},
    {"middle-east", "me il ae"},
    {"africa", "af za"},
};

// AWS and OCI put Australia into ap; Google's me-west1 is Tel Aviv.
constexpr NameRow kWholeNames[] = {
    {"oceania", "ap-southeast-2 ap-southeast-4 ap-southeast-6 ap-sydney-1 ap-melbourne-1"},
    {"middle-east", "me-west1"},
};

// Common names for the parts of the world.
constexpr NameRow kPartNames[] = {
    {"us", "us usa unitedstates america"},
    {"eu", "eu eea europeanunion"},
    {"europe", "europe emea"},
    {"asia", "asia apac ap asiapacific"},
    {"canada", "ca canada"},
    {"oceania", "oceania au australia"},
    {"middle-east", "me middleeast"},
    {"africa", "africa"},
    {"latin-america", "sa latam southamerica latinamerica"},
};

// Countries, states and cities: what people call them, words anywhere in a region's name, codes that it begins with or
// lists, and the regions of large clouds there.
struct PlaceRow {
  std::string_view names, inside, codes, regions;
};
// In Europe, but neither in the EU nor in the EEA: the UK, Switzerland and Serbia.
constexpr PlaceRow kOutsideEu = {"", "uksouth ukwest london cardiff switzerland zurich geneva serbia jovanovac",
                                 "uk gb ch lon lhr rs", "eu-gb eu-west-2 eu-central-2 europe-west2 europe-west6"};
constexpr PlaceRow kPlaces[] = {
    {"germany de deutschland", "germany frankfurt", "de fra", "eu-central-1 europe-west3 europe-west10 eu-de"},
    {"france fr", "france paris", "fr gra sbg", "eu-west-3 europe-west9"},
    {"unitedkingdom uk gb britain greatbritain england", "uksouth ukwest london", "uk gb lon lhr",
     "eu-west-2 europe-west2 eu-gb"},
    {"ireland ie", "ireland northeurope", "ie", "eu-west-1"},
    {"netherlands nl holland", "netherlands amsterdam westeurope", "nl ams", "europe-west4"},
    {"belgium be", "belgium", "be", "europe-west1"},
    {"sweden se", "sweden", "se", "eu-north-1 europe-north2"},
    {"finland fi", "finland", "fi fin", "europe-north1 eu-north1"},
    {"norway no", "norway", "no", ""},
    {"denmark dk", "denmark", "dk", ""},
    {"iceland is", "iceland", "is", ""},
    {"poland pl", "poland warsaw", "pl waw", "europe-central2"},
    {"italy it", "italy milan", "it", "eu-south-1 europe-west8 europe-west12"},
    {"spain es", "spain madrid", "es", "eu-south-2 europe-southwest1"},
    {"switzerland ch", "switzerland zurich geneva", "ch", "eu-central-2 europe-west6"},
    {"austria at", "austria", "at", ""},
    {"japan jp", "japan tokyo osaka", "jp tyo", "ap-northeast-1 ap-northeast-3 asia-northeast1 asia-northeast2"},
    {"korea southkorea kr", "korea seoul", "kr", "ap-northeast-2 asia-northeast3"},
    {"india in", "india mumbai bangalore", "in blr", "ap-south-1 ap-south-2 asia-south1 asia-south2"},
    {"singapore sg", "singapore southeastasia", "sg sgp", "ap-southeast-1 asia-southeast1"},
    {"hongkong hk", "hongkong", "hk", "ap-east-1 asia-east2"},
    {"taiwan tw", "taiwan", "tw", "asia-east1"},
    {"indonesia id", "indonesia", "id", "ap-southeast-3 asia-southeast2"},
    {"brazil br", "brazil", "br", "sa-east-1 southamerica-east1"},
    {"israel il", "israel", "il", "il-central-1 me-west1"},
    // Cities and states, from the lists of regions of AWS, Google Cloud and Azure, 2026-11.
    {"frankfurt", "frankfurt germanywestcentral", "fra", "eu-central-1 europe-west3"},
    {"berlin", "berlin", "", "europe-west10"},
    {"london", "london uksouth", "lon lhr", "eu-west-2 europe-west2 eu-gb"},
    {"paris", "paris francecentral", "", "eu-west-3 europe-west9"},
    {"dublin", "dublin northeurope", "", "eu-west-1"},
    {"amsterdam", "amsterdam westeurope", "ams", "europe-west4"},
    {"stockholm", "stockholm swedencentral", "", "eu-north-1 europe-north2"},
    {"warsaw", "warsaw polandcentral", "waw", "europe-central2"},
    {"milan", "milan italynorth", "", "eu-south-1 europe-west8"},
    {"madrid", "madrid spaincentral", "", "eu-south-2 europe-southwest1"},
    {"zurich", "zurich switzerlandnorth", "", "eu-central-2 europe-west6"},
    {"virginia northernvirginia ashburn", "virginia ashburn", "iad", "us-east-1 us-east4 eastus eastus2"},
    {"ohio columbus", "ohio", "", "us-east-2 us-east5"},
    {"oregon", "oregon", "pdx", "us-west-2 us-west1"},
    {"iowa", "iowa", "", "us-central1 centralus"},
    {"texas dallas", "texas dallas", "dfw", "us-south1 southcentralus"},
    {"california", "california sanfrancisco", "sjc sfo", "us-west-1 us-west2"},
    {"toronto", "toronto canadacentral", "tor", "northamerica-northeast2"},
    {"montreal", "montreal", "", "ca-central-1 northamerica-northeast1"},
    {"tokyo", "tokyo japaneast", "tyo", "ap-northeast-1 asia-northeast1"},
    {"osaka", "osaka japanwest", "", "ap-northeast-3 asia-northeast2"},
    {"seoul", "seoul koreacentral", "", "ap-northeast-2 asia-northeast3"},
    {"mumbai", "mumbai", "bom", "ap-south-1 asia-south1"},
    {"sydney", "sydney australiaeast", "syd", "ap-southeast-2 australia-southeast1"},
    {"saopaulo", "saopaulo brazilsouth", "gru", "sa-east-1 southamerica-east1"},
};

constexpr NameRow kCompanies[] = {
    {"aws", "amazon ec2"},  {"gcp", "google gce googlecloud"},    {"azure", "microsoft"},  {"oci", "oracle"},
    {"do", "digitalocean"}, {"lambda", "lambdalabs lambdacloud"}, {"verda", "datacrunch"}, {"ovhcloud", "ovh"},
};

// The meaning of the first name for which `matches` holds; empty if there is none. Earlier rows win.
template <std::size_t N, class Matches>
std::string_view meaning_of(const NameRow (&table)[N], const Matches& matches) {
  for (const NameRow& row : table) {
    for (std::string_view name : split_list(row.names, ' ')) {
      if (matches(name)) return row.meaning;
    }
  }
  return {};
}
template <std::size_t N>
std::string_view meaning_of(const NameRow (&table)[N], const std::string& word) {
  return meaning_of(table, [&](std::string_view name) { return name == word; });
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

const PlaceRow* place_of(const std::string& word) {
  const auto found = std::find_if(std::begin(kPlaces), std::end(kPlaces), [&](const PlaceRow& row) {
    const std::vector<std::string_view> names = split_list(row.names, ' ');
    return std::ranges::find(names, word) != names.end();
  });
  return found == std::end(kPlaces) ? nullptr : found;
}

bool is_in_place(std::string_view region, const PlaceRow& place) {
  const std::string name = to_lower(trim(region)), folded = fold_name(name);
  const auto any = [](std::string_view names, const auto& matches) {
    const std::vector<std::string_view> all = split_list(names, ' ');
    return std::ranges::any_of(all, matches);
  };
  // Marketplaces write "Frankfurt, DE, EU".
  std::vector<std::string_view> parts = split_list(name, ',');
  const std::string first = first_word(name);
  parts.emplace_back(first);
  return any(place.regions, [&](std::string_view whole) { return name == whole; }) ||
         any(place.inside, [&](std::string_view word) { return folded.find(word) != std::string::npos; }) ||
         any(place.codes, [&](std::string_view code) { return std::ranges::find(parts, code) != parts.end(); });
}

// Whether a region is in a part of the world of kPartNames: "eu" is part of "europe".
bool is_in(std::string_view region, std::string_view part) {
  if (part != "eu") return part_of_world(region) == part;
  return part_of_world(region) == "europe" && !is_in_place(region, kOutsideEu);
}

}  // namespace

std::string_view part_of_world(std::string_view region) {
  const std::string name = to_lower(trim(region));
  if (const auto part = meaning_of(kWholeNames, name); !part.empty()) return part;
  // Marketplaces write "Indiana, US, NA" and "Bulgaria, BG, EU": the codes decide.
  if (name.find(',') != std::string::npos) {
    const std::vector<std::string_view> parts = split_list(name, ',');
    for (auto code = parts.rbegin(); code != parts.rend(); ++code) {
      if (const std::string_view part = meaning_of(kCodes, std::string(*code)); !part.empty()) return part;
    }
  }
  const std::string folded = fold_name(name);
  const auto inside = [&](std::string_view word) { return folded.find(word) != std::string::npos; };
  if (const auto part = meaning_of(kInside, inside); !part.empty()) return part;
  if (const auto part = meaning_of(kCodes, first_word(name)); !part.empty()) return part;
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
    const std::string_view part = meaning_of(kPartNames, fold_name(wanted));
    const PlaceRow* place = part.empty() ? place_of(fold_name(wanted)) : nullptr;
    const std::size_t before = chosen.size();
    for (const std::string& name : known) {
      const bool begins = part != "eu" && place == nullptr && to_lower(name).starts_with(wanted);  // eu-west-2: London
      const bool there = place != nullptr ? is_in_place(name, *place) : !part.empty() && is_in(name, part);
      if (name == kAnyRegion ? wanted == name : begins || there) chosen.push_back(name);
    }
    if (chosen.size() == before) {
      const std::string_view world = part_of_world(word);
      if (!world.empty() && suggest(word, std::vector<std::string>(known.begin(), known.end())).empty())
        return fail(bad_input(fmt::format("no price in region '{}'", word))
                        .with_hint(fmt::format("did you mean '{}'? It covers every region there", world)));
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
    if (const std::string_view ours = meaning_of(kCompanies, wanted); !ours.empty()) wanted = ours;
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
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos && colon > 0) {
    if (const auto count = as_count(trim(text.substr(colon + 1))))
      return {std::string(trim(text.substr(0, colon))), count};
  }
  const std::size_t x = text.find_first_of("xX*");
  if (x != std::string_view::npos && x + 1 < text.size()) {
    if (const auto count = as_count(trim(text.substr(0, x)))) return {std::string(trim(text.substr(x + 1))), count};
  }
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
