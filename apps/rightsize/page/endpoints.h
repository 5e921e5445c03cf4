// The commands the page may ask, and which of their flags: the one table behind the routes, the OpenAPI file and the
// checks of a request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rightsize/flags.h"

namespace rightsize::app {

// Text a client sends along where a command line would name a file.
struct Document {
  const char* name;  // in the request: "model_config"
  const char* flag;  // what its path is given to: "--model", or empty for an argument
  const char* file;  // what the file is called: errors name it
  const char* meaning;
};

struct Endpoint {
  std::string name;  // of the command, and of /api/NAME
  std::string summary;
  std::vector<std::string> withheld;  // flags that are not offered, beside those no endpoint has
  std::vector<Document> documents;
  std::vector<std::string> answers = {};  // its documents by name, as schemas/ has them; empty: that of its own name
  bool kept = true;                       // whether an answer holds for a while
  // What it can be asked: the command's flags without those withheld, by name without dashes.
  std::map<std::string, FlagInfo> flags = {};
};

// Every endpoint with its flags. Never offered: what names a file or folder of this machine, an address to ask, or the
// output's form.
const std::vector<Endpoint>& endpoints();
const Endpoint* find_endpoint(std::string_view name);

}  // namespace rightsize::app
