#include "catalog/places.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {
namespace {

struct PlaceName {
  std::string_view name, part;
};

// Names of countries and cities that stand anywhere in a region's name: "westeurope", "tokyo-japan-5", "FIN-01".
constexpr PlaceName kInside[] = {
    {"europe", "europe"},
    {"uksouth", "europe"},
    {"ukwest", "europe"},
    {"france", "europe"},
    {"germany", "europe"},
    {"sweden", "europe"},
    {"norway", "europe"},
    {"poland", "europe"},
    {"italy", "europe"},
    {"spain", "europe"},
    {"switzerland", "europe"},
    {"finland", "europe"},
    {"iceland", "europe"},
    {"netherlands", "europe"},
    {"austria", "europe"},
    {"belgium", "europe"},
    {"denmark", "europe"},
    {"ireland", "europe"},
    {"frankfurt", "europe"},
    {"london", "europe"},
    {"amsterdam", "europe"},
    {"paris", "europe"},
    {"japan", "asia"},
    {"tokyo", "asia"},
    {"osaka", "asia"},
    {"korea", "asia"},
    {"seoul", "asia"},
    {"india", "asia"},
    {"mumbai", "asia"},
    {"asia", "asia"},
    {"singapore", "asia"},
    {"taiwan", "asia"},
    {"hongkong", "asia"},
    {"indonesia", "asia"},
    {"malaysia", "asia"},
    {"jioindia", "asia"},
    {"australia", "oceania"},
    {"sydney", "oceania"},
    {"newzealand", "oceania"},
    {"canada", "canada"},
    {"toronto", "canada"},
    {"montreal", "canada"},
    {"brazil", "latin-america"},
    {"chile", "latin-america"},
    {"mexico", "latin-america"},
    {"southamerica", "latin-america"},
    {"uae", "middle-east"},
    {"qatar", "middle-east"},
    {"israel", "middle-east"},
    {"saudi", "middle-east"},
    {"africa", "africa"},
    {"northamerica", "canada"},
    {"usa", "us"},
    {"eastcoast", "us"},
    {"westcoast", "us"},
};

// Codes that are a word of their own: "eu-west-1", "US-1", "fr-par", "tor1".
constexpr PlaceName kWords[] = {
    {"us", "us"},
    {"usw", "us"},
    {"use", "us"},
    {"nyc", "us"},
    {"sfo", "us"},
    {"atl", "us"},
    {"ric", "us"},
    {"eu", "europe"},
    {"uk", "europe"},
    {"gb", "europe"},
    {"de", "europe"},
    {"fr", "europe"},
    {"fi", "europe"},
    {"fin", "europe"},
    {"no", "europe"},
    {"se", "europe"},
    {"it", "europe"},
    {"es", "europe"},
    {"pl", "europe"},
    {"nl", "europe"},
    {"is", "europe"},
    {"ch", "europe"},
    {"at", "europe"},
    {"be", "europe"},
    {"cz", "europe"},
    {"ro", "europe"},
    {"bg", "europe"},
    {"pt", "europe"},
    {"ie", "europe"},
    {"dk", "europe"},
    {"ams", "europe"},
    {"fra", "europe"},
    {"gra", "europe"},
    {"waw", "europe"},
    {"sbg", "europe"},
    {"lon", "europe"},
    {"lhr", "europe"},
    {"ap", "asia"},
    {"asia", "asia"},
    {"jp", "asia"},
    {"kr", "asia"},
    {"in", "asia"},
    {"sg", "asia"},
    {"tw", "asia"},
    {"hk", "asia"},
    {"id", "asia"},
    {"my", "asia"},
    {"tyo", "asia"},
    {"sgp", "asia"},
    {"blr", "asia"},
    {"ca", "canada"},
    {"bhs", "canada"},
    {"tor", "canada"},
    {"au", "oceania"},
    {"syd", "oceania"},
    {"nz", "oceania"},
    {"sa", "latin-america"},
    {"br", "latin-america"},
    {"mx", "latin-america"},
    {"cl", "latin-america"},
    {"me", "middle-east"},
    {"il", "middle-east"},
    {"ae", "middle-east"},
    {"af", "africa"},
    {"za", "africa"},
};

// AWS and OCI count Australia to ap; Azure writes the country behind the direction.
constexpr PlaceName kWhole[] = {{"ap-southeast-2", "oceania"}, {"ap-southeast-4", "oceania"},
                                {"ap-southeast-6", "oceania"}, {"ap-sydney-1", "oceania"},
                                {"ap-melbourne-1", "oceania"}, {"me-west1", "middle-east"}};

// What people call the parts.
constexpr PlaceName kCalled[] = {{"us", "us"},
                                 {"usa", "us"},
                                 {"unitedstates", "us"},
                                 {"america", "us"},
                                 {"eu", "europe"},
                                 {"europe", "europe"},
                                 {"emea", "europe"},
                                 {"asia", "asia"},
                                 {"apac", "asia"},
                                 {"ap", "asia"},
                                 {"asiapacific", "asia"},
                                 {"ca", "canada"},
                                 {"canada", "canada"},
                                 {"oceania", "oceania"},
                                 {"au", "oceania"},
                                 {"australia", "oceania"},
                                 {"me", "middle-east"},
                                 {"middleeast", "middle-east"},
                                 {"africa", "africa"},
                                 {"sa", "latin-america"},
                                 {"latam", "latin-america"},
                                 {"southamerica", "latin-america"},
                                 {"latinamerica", "latin-america"}};

template <std::size_t N>
std::string_view look_up(const PlaceName (&table)[N], std::string_view name) {
  for (const PlaceName& row : table) {
    if (row.name == name) return row.part;
  }
  return {};
}

// The first run of letters: "us" of "us-east-1", "tor" of "tor1".
std::string first_word(const std::string& name) {
  const auto end = std::find_if_not(name.begin(), name.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return {name.begin(), end};
}

// Azure: "eastus2", "southcentralus".
bool ends_in_us(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return name.ends_with("us") && name.find_first_of("-_ ") == std::string::npos;
}

constexpr std::array<PlaceName, 12> kCompanies{{{"amazon", "aws"},
                                                {"ec2", "aws"},
                                                {"google", "gcp"},
                                                {"gce", "gcp"},
                                                {"googlecloud", "gcp"},
                                                {"microsoft", "azure"},
                                                {"oracle", "oci"},
                                                {"digitalocean", "do"},
                                                {"lambdalabs", "lambda"},
                                                {"lambdacloud", "lambda"},
                                                {"datacrunch", "verda"},
                                                {"ovh", "ovhcloud"}}};

Error unknown(const char* what, std::string_view word, const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  constexpr std::size_t kFew = 30;
  Error error = bad_input(fmt::format("unknown {} '{}'", what, word)).with_hint(did_you_mean(word, names));
  if (error.hints.empty() && names.size() <= kFew)
    error.hints.push_back(fmt::format("known are {}", fmt::join(names, ", ")));
  return error;
}

}  // namespace

std::string_view part_of_world(std::string_view region) {
  const std::string name = to_lower(trim(region));
  if (const auto part = look_up(kWhole, name); !part.empty()) return part;
  const std::string folded = fold_name(name);
  for (const PlaceName& row : kInside) {
    if (folded.find(row.name) != std::string::npos) return row.part;
  }
  if (const auto part = look_up(kWords, first_word(name)); !part.empty()) return part;
  return ends_in_us(name) ? "us" : "";
}

Result<std::vector<std::string>> match_regions(std::string_view words, const std::set<std::string>& known) {
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    const std::string wanted = to_lower(word);
    const std::string_view part = look_up(kCalled, fold_name(wanted));
    const std::size_t before = chosen.size();
    for (const std::string& name : known) {
      const bool everywhere = name == kAnyRegion;
      if (everywhere ? !part.empty() || wanted == name
                     : to_lower(name).starts_with(wanted) || (!part.empty() && part_of_world(name) == part))
        chosen.push_back(name);
    }
    if (chosen.size() == before) {
      return fail(unknown("region", word, known)
                      .with_hint("a region's name, its beginning, or us, europe, asia, canada, oceania, ..."));
    }
  }
  return chosen;
}

Result<std::vector<std::string>> match_providers(std::string_view words, const std::set<std::string>& known) {
  std::vector<std::string> chosen;
  for (std::string_view word : split_list(words, ',')) {
    std::string wanted = fold_name(word);
    for (const PlaceName& company : kCompanies) {
      if (company.name == wanted) wanted = company.part;
    }
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const std::string& name) { return fold_name(name) == wanted; });
    if (found == known.end()) return fail(unknown("provider", word, known));
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace rightsize::catalog
