// Any bytes as the target and the body of an API request: they are understood or refused with an explanation, and never
// produce an argument that names a file unexpectedly.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "http_server/target.h"
#include "rightsize/page/api_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string target = text.substr(0, line), body = line == std::string::npos ? "" : text.substr(line + 1);
  const auto parsed = http_server::parse_target(target);
  if (!parsed) {
    if (describe(parsed.error()).empty()) std::abort();
    return 0;
  }
  if ((parsed->path + "/").find("/../") != std::string::npos) std::abort();
  // The endpoint of the path; for unknown paths, one chosen by the length of the input.
  const std::vector<app::Endpoint>& all = app::endpoints();
  const std::string_view path = parsed->path;
  const app::Endpoint* named = app::find_endpoint(path.substr(path.rfind('/') + 1));
  const app::Endpoint& endpoint = named != nullptr ? *named : all[size % all.size()];
  const auto asked = app::parse_api_request(endpoint, parsed->query, body);
  if (!asked) {
    if (describe(asked.error()).empty()) std::abort();
    return 0;
  }
  if (asked->cache_key().empty()) std::abort();
  bool arguments = false;
  for (const std::string& word : asked->arguments()) {
    arguments = arguments || word == "--";
    if (!arguments && (!word.starts_with("--") || word.starts_with("--catalog") || word.starts_with("--store")))
      std::abort();
  }
  return 0;
}
