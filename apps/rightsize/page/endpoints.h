// The commands and flags that the API offers: the table behind the routes, the OpenAPI file and the checks of requests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "http_server/server.h"
#include "rightsize/flags.h"

namespace rightsize::app {

// Text that a client sends where a command line would name a file. "upload:ID" means a file that was uploaded earlier
// (page/uploads.h).
struct SentDocument {
  const char* name;  // in the request: "model_config"
  const char* flag;  // the flag that takes its path: "--model"; empty: an argument
  const char* file;  // its name in errors
  const char* meaning;
};

struct Endpoint {
  std::string name;  // of the command, and of /api/NAME
  std::string summary;
  std::vector<std::string> withheld;  // flags it does not offer, besides those that no endpoint offers
  std::vector<SentDocument> documents;
  http_server::Lane lane = http_server::Lane::kHeavy;
  std::vector<std::string> answers = {};  // schemas of its responses; empty: the one with its name
  bool cached = true;
  bool changes = false;  // it writes, so only POST may call it
  // The command's flags that it offers, by name without dashes.
  std::map<std::string, FlagInfo> flags = {};
};

// No endpoint offers flags that name a file or folder of this machine or an address, or that set the output format.
const std::vector<Endpoint>& endpoints();
const Endpoint* find_endpoint(std::string_view name);

// The OpenAPI description of the API, from the flags of the endpoints and the schemas of their documents.
Json openapi_document();

}  // namespace rightsize::app
