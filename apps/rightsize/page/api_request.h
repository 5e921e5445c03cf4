// A parsed API request: a command and its arguments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "rightsize/page/endpoints.h"

namespace rightsize::app {

struct ApiRequest {
  const Endpoint* endpoint = nullptr;
  report::Format format = report::Format::kJson;
  std::map<std::string, std::vector<std::string>> flags;  // by name, repeated ones in order
  std::map<std::string, std::string> documents;           // by name

  // Equal for requests with the same meaning, regardless of order and spelling.
  std::string cache_key() const;
  // The command line, without documents.
  std::vector<std::string> arguments() const;
};

using Query = std::vector<std::pair<std::string, std::string>>;

// Body: {"model": "llama-3.1-8b", "gpus": 8, "explain": true, "price": ["h100-sxm=2", "l4=0.5"]}; the query holds the
// same as text. Reports every mistake: unknown names get a suggestion, and values that would read files are refused.
Checked<ApiRequest> parse_api_request(const Endpoint& endpoint, const Query& query, const std::string& body);

}  // namespace rightsize::app
