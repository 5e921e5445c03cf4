#include "feeds/fetch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/located_json.h"
#include "http/http.h"

namespace rightsize::feeds {
namespace {

constexpr const char* kSkyPilot =
    "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8/{}/vms.csv";
constexpr const char* kAwsPrices =
    "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/{}/index.csv";
constexpr const char* kSpotAdvisor = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json";
// GPU machines are those of the N series.
constexpr const char* kAzure =
    "https://prices.azure.com/api/retail/prices?$filter=serviceName%20eq%20%27Virtual%20Machines%27%20and%20"
    "contains(armSkuName,%27Standard_N%27)";
constexpr int kMostPages = 2000;

// The clouds of SkyPilot's public catalogue.
const std::vector<std::string>& catalogue_clouds() {
  static const std::vector<std::string> kClouds = {
      "aws",   "azure",   "gcp",        "lambda",         "runpod",   "nebius",     "oci",
      "verda", "seeweb",  "shadeform",  "cudo",           "do",       "fluidstack", "hyperstack",
      "ibm",   "mithril", "paperspace", "primeintellect", "scaleway", "vast",       "yotta"};
  return kClouds;
}

std::string filled(std::string pattern, const std::string& with) {
  const std::size_t at = pattern.find("{}");
  return at == std::string::npos ? pattern : pattern.replace(at, 2, with);
}

std::string file_for(const Download& download, const std::string& folder) {
  std::string name = download.what;
  std::ranges::replace(name, ' ', '-');
  return fmt::format("{}/{}-{:016x}", folder, name, std::hash<std::string>{}(download.url));
}

http::Client client() {
  http::Policy policy;
  policy.limit = seconds(1800);  // a price list has hundreds of megabytes
  return http::Client({}, policy, nullptr);
}

Error refused(const std::string& url, const http::Answer& answer) {
  return unreadable(fmt::format("{} answered {}", http::shown_url(url), answer.status));
}

// "https://host:1/path" -> "https://host:1"
std::string_view origin(std::string_view url) {
  const std::size_t scheme = url.find("://");
  return url.substr(0, scheme == std::string_view::npos ? url.find('/') : url.find('/', scheme + 3));
}

// The address of the next page; empty after the last. A page must not redirect to another server.
Result<std::string> next_page(const std::string& page, const std::string& url) {
  const Checked<LocatedJson> json = LocatedJson::parse(http::shown_url(url), page);
  if (!json || json->root().find("Items") == nullptr)
    return fail(unreadable(fmt::format("{} did not return a page of prices", http::shown_url(url))));
  const JsonMember* link = json->root().find("NextPageLink");
  const std::string next = link == nullptr ? "" : link->value.text;
  if (!next.empty() && origin(next) != origin(url))
    return fail(unreadable(
        fmt::format("{} refers to a next page on another server, {}", http::shown_url(url), http::shown_url(next))));
  return next;
}

// Pages one after the other in one file; FILE.next names the page to continue with.
Result<> fetch_pages(const std::string& first, const std::string& file) {
  http::Client asking = client();
  std::string url;
  std::getline(std::ifstream(file + ".next"), url);
  if (url.empty() || origin(url) != origin(first)) {
    url = first;
    std::ofstream(file, std::ios::trunc);
  }
  for (int page = 0; !url.empty(); ++page) {
    if (page == kMostPages)
      return fail(unreadable(fmt::format("{} has over {} pages", http::shown_url(first), kMostPages)));
    RIGHTSIZE_TRY(const http::Answer answer, asking.get(url, {}));
    if (answer.status != 200) return fail(refused(url, answer));
    RIGHTSIZE_TRY(url, next_page(answer.body, url));
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out << answer.body << '\n';
    out.close();
    if (!out) return fail(unreadable(fmt::format("cannot write '{}'", file)));
    if (Result<> kept = write_file(file + ".next", url); !kept) return kept;
  }
  return {};
}

}  // namespace

Result<std::vector<Download>> downloads_of(const std::string& feed, const std::vector<std::string>& providers,
                                           const std::vector<std::string>& regions, const std::string& url) {
  std::vector<Download> all;
  const auto from = [&](const char* address) { return url.empty() ? std::string(address) : url; };
  if (feed == "skypilot") {
    if (!regions.empty())
      return fail(bad_input("--region applies only to --feed aws; SkyPilot's files contain all regions"));
    for (const std::string& cloud : providers.empty() ? catalogue_clouds() : providers)
      all.push_back({feed, cloud, filled(from(kSkyPilot), cloud), cloud});
  } else if (feed == "aws") {
    for (const std::string& region : regions.empty() ? std::vector<std::string>{"us-east-1"} : regions)
      all.push_back({feed, "aws", filled(from(kAwsPrices), region), "aws " + region});
    if (url.empty()) all.push_back({feed, "aws", kSpotAdvisor, "aws spot advisor"});
  } else if (feed == "azure") {
    if (!regions.empty()) return fail(bad_input("--region goes with --feed aws: Azure's answer holds all regions"));
    all.push_back({feed, "azure", from(kAzure), "azure", true});
  } else {
    return fail(bad_input(fmt::format("'prices update' cannot fetch '{}'", feed))
                    .with_hint("it fetches skypilot, aws and azure; download others with the provider's tool, then use "
                               "'prices import'"));
  }
  if (feed != "skypilot" && !providers.empty())
    return fail(bad_input(fmt::format("--provider goes with --feed skypilot, not with {}", feed)));
  return all;
}

Result<std::string> fetch(const Download& download, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(unreadable(fmt::format("cannot create {}: {}", folder, problem.message())));
  const std::string file = file_for(download, folder);
  if (download.paged) {
    if (Result<> done = fetch_pages(download.url, file); !done) return fail(std::move(done).error());
    return file;
  }
  RIGHTSIZE_TRY(const http::Answer answer, client().download(download.url, file));
  if (answer.status != 200) return fail(refused(download.url, answer));
  return file;
}

void forget_fetched(const std::string& file) {
  std::error_code ignored;
  for (const char* end : {"", ".etag", ".next"}) std::filesystem::remove(file + end, ignored);
}

}  // namespace rightsize::feeds
