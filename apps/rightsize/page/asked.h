// A request to an endpoint, understood: what the command would have been given.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "rightsize/page/endpoints.h"

namespace rightsize::app {

struct Asked {
  const Endpoint* endpoint = nullptr;
  report::Format format = report::Format::kJson;
  std::map<std::string, std::vector<std::string>> flags;  // by name, in the order given where repeated
  std::map<std::string, std::string> documents;           // by name

  // The same for requests that mean the same, whatever their order and way of writing.
  std::string key() const;
  // What the command line would say, without documents.
  std::vector<std::string> words() const;
};

using Query = std::vector<std::pair<std::string, std::string>>;

// {"model": "llama-3.1-8b", "gpus": 8, "explain": true, "price": ["h100-sxm=2", "l4=0.5"]}; the query's values are the
// same as text. Every mistake at once: unknown names get a suggestion, and what reads files is refused.
Checked<Asked> read_asked(const Endpoint& endpoint, const Query& query, const std::string& body);

}  // namespace rightsize::app
