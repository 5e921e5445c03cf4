// Access rules that every request must pass: host name, origin and token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http_server/message.h"

namespace rightsize::http_server {

struct Refusal {
  int status = 400;
  std::string reason;
};

struct AccessRules {
  std::string token;          // empty: no token required, which only loopback addresses allow
  bool loopback_only = true;  // the Host header must then name this machine, which stops DNS rebinding
};

// "127.0.0.1", "127.8.8.8", "::1", "localhost".
bool is_loopback(std::string_view host);

// Refuses requests that a page of another site makes. A link to a page (`is_page`) may be followed from anywhere.
std::optional<Refusal> check_origin(const AccessRules& access, const Request& request, bool is_page);
// The bearer token, compared in constant time.
std::optional<Refusal> check_token(const AccessRules& access, const Request& request);

}  // namespace rightsize::http_server
