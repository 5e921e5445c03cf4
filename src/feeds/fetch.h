// Fetching public price files over HTTPS: SkyPilot's catalogue, AWS's price lists and spot advisor, Azure's retail
// prices.
//
// What is fetched lies in a folder until it is imported. A fetch that is cut off goes on where it stopped.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize::feeds {

// One file to fetch and the feed it is then read with.
struct Download {
  std::string feed;      // "skypilot", "aws", "azure"
  std::string provider;  // where the file does not say
  std::string url;
  std::string what;    // "aws", "azure", "aws us-east-1", "aws spot advisor"
  bool paged = false;  // pages that name the next one
};

// The clouds of SkyPilot's public catalogue.
const std::vector<std::string>& catalogue_clouds();

// What `prices update` fetches: of SkyPilot the clouds named, of AWS a price list a region and the spot advisor, of
// Azure the prices of its GPU machines. `url` replaces the public address; {} in it stands for the cloud or region.
Result<std::vector<Download>> downloads_of(const std::string& feed, const std::vector<std::string>& providers,
                                           const std::vector<std::string>& regions, const std::string& url);

// The file it came to, in `folder`. What does not come whole is not returned and stays there for the next time.
Result<std::string> fetch(const Download& download, const std::string& folder);

// Removes what `fetch` left there.
void forget_fetched(const std::string& file);

}  // namespace rightsize::feeds
