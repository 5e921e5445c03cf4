#include "rightsize/page/site.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

namespace rightsize::app {
namespace {

// Paths that the page routes itself; links to them open the page.
constexpr std::array<std::string_view, 16> kViews = {
    "/",    "/recommend", "/fleet",  "/service", "/batching", "/autoscale", "/cache", "/rl",
    "/mig", "/portfolio", "/window", "/commit",  "/energy",   "/prices",    "/live",  "/decisions"};

const char* type_of(std::string_view path) {
  static const std::map<std::string_view, const char*> kTypes = {
      {".html", "text/html; charset=utf-8"},        {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},          {".svg", "image/svg+xml"},
      {".json", "application/json; charset=utf-8"}, {".png", "image/png"}};
  const auto found = kTypes.find(path.substr(std::min(path.size(), path.rfind('.'))));
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

// The prepared responses for a file.
struct Ready {
  http_server::Response plain, compressed, unchanged;
  std::string tag;
};

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

Ready make_ready(const WebFile& file) {
  Ready ready;
  ready.tag = fmt::format("\"{:016x}\"", hash(file.content));
  // Files under assets/ have a hash in their name, so they never change.
  const bool forever = file.path.starts_with("/assets/");
  ready.plain = http_server::text_response(200, std::string(file.content), type_of(file.path));
  ready.plain.headers = {{"ETag", ready.tag},
                         {"Cache-Control", forever ? "public, max-age=31536000, immutable" : "no-cache"},
                         {"Vary", "Accept-Encoding"}};
  ready.compressed = ready.plain;
  ready.compressed.body = std::make_shared<const std::string>(file.gzip);
  ready.compressed.headers.emplace_back("Content-Encoding", "gzip");
  ready.unchanged = {304, type_of(file.path), nullptr, ready.plain.headers};
  return ready;
}

const std::map<std::string_view, Ready>& all_ready() {
  static const std::map<std::string_view, Ready> kReady = [] {
    std::map<std::string_view, Ready> made;
    for (const WebFile& file : web_files()) made.emplace(file.path, make_ready(file));
    return made;
  }();
  return kReady;
}

}  // namespace

std::optional<http_server::Response> find_page(const http_server::Request& request) {
  const bool is_view = std::find(kViews.begin(), kViews.end(), request.path) != kViews.end();
  auto found = all_ready().find(is_view ? "/index.html" : request.path);
  if (found == all_ready().end() && request.fetch_dest == "document" && !request.path.starts_with("/api/")) {
    // For a mistyped address, the page shows an error and its menu.
    found = all_ready().find("/index.html");
    if (found == all_ready().end()) return std::nullopt;
    http_server::Response missing = found->second.plain;
    missing.status = 404;
    return missing;
  }
  if (found == all_ready().end()) return std::nullopt;
  const Ready& ready = found->second;
  if (request.if_none_match.find(ready.tag) != std::string::npos) return ready.unchanged;
  const bool gzip = http_server::accepts_gzip(request.accept_encoding) && !ready.compressed.body->empty();
  return gzip ? ready.compressed : ready.plain;
}

}  // namespace rightsize::app
