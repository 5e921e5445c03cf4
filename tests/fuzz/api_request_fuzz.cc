// Any bytes as the target and the body of a request to the API: understood, or explained; and never a word that names a
// file where none was asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rightsize/serve/asked.h"
#include "server/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string target = text.substr(0, line), body = line == std::string::npos ? "" : text.substr(line + 1);
  const auto parsed = server::parse_target(target);
  if (!parsed) {
    if (describe(parsed.error()).empty()) std::abort();
    return 0;
  }
  if ((parsed->path + "/").find("/../") != std::string::npos) std::abort();
  for (const app::Endpoint& endpoint : app::endpoints()) {
    const auto asked = app::read_asked(endpoint, parsed->query, body);
    if (!asked && describe(asked.error()).empty()) std::abort();
    if (!asked) continue;
    if (asked->key().empty()) std::abort();
    bool arguments = false;
    for (const std::string& word : asked->words()) {
      arguments = arguments || word == "--";
      if (!arguments && (!word.starts_with("--") || word.starts_with("--catalog") || word.starts_with("--store")))
        std::abort();
    }
  }
  return 0;
}
