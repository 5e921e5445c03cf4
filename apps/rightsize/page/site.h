// The web page: files built from web/ and embedded in the program.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "http_server/message.h"

namespace rightsize::app {

struct WebFile {
  std::string_view path;  // "/assets/index-3f2a.js"
  std::string_view content;
  std::string_view gzip;  // the same, compressed
};

// Sorted by path. Generated at build time by tools/build_web.
const std::vector<WebFile>& web_files();

// The file at this path, or the page for the path of one of its views.
std::optional<http_server::Response> find_page(const http_server::Request& request);

}  // namespace rightsize::app
