// Fetching public price files over HTTPS: SkyPilot's catalogue, AWS's price lists and spot advisor, Azure's retail
// prices.
//
// Files stay in a folder until they are imported. An interrupted download resumes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize::feeds {

// A file to fetch, and the feed that reads it.
struct Download {
  std::string feed;      // "skypilot", "aws", "azure"
  std::string provider;  // for files that do not name it
  std::string url;
  std::string what;    // "aws", "azure", "aws us-east-1", "aws spot advisor"
  bool paged = false;  // each page names the next one
};

// The downloads of `prices update`: the named clouds of SkyPilot; for AWS a price list per region and the spot advisor;
// for Azure the prices of its GPU machines. `url` replaces the public address; {} in it is replaced by the cloud or
// region.
Result<std::vector<Download>> downloads_of(const std::string& feed, const std::vector<std::string>& providers,
                                           const std::vector<std::string>& regions, const std::string& url);

// The downloaded file in `folder`. An incomplete download is kept for the next attempt.
Result<std::string> fetch(const Download& download, const std::string& folder);

// Removes the files of fetch().
void forget_fetched(const std::string& file);

}  // namespace rightsize::feeds
