// The page itself: files built from web/ and kept inside the program.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "http_server/exchange.h"

namespace rightsize::app {

struct WebFile {
  std::string_view path;  // "/assets/index-3f2a.js"
  std::string_view content;
  std::string_view gzip;  // the same, compressed
};

// In the order of their paths. Made at build by tools/embed_web.
const std::vector<WebFile>& web_files();

// The file of this path; the page for the address of each of its views; nothing for anything else.
std::optional<http_server::Response> find_page(const http_server::Request& request);

}  // namespace rightsize::app
