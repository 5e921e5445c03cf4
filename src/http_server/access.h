// Who may ask: the rules every request passes before its route is looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http_server/exchange.h"

namespace rightsize::http_server {

struct Refusal {
  int status = 400;
  std::string reason;
};

struct Access {
  std::string token;          // empty: none is asked for; only loopback may do without
  bool loopback_only = true;  // then the Host header must name this machine, so that no foreign page reaches us by DNS
};

// "127.0.0.1", "127.8.8.8", "::1", "localhost".
bool is_loopback(std::string_view host);

// Host name and origin: for every request.
std::optional<Refusal> check_origin(const Access& access, const Request& request);
// The bearer token, compared in constant time: for what is not open to everybody.
std::optional<Refusal> check_token(const Access& access, const Request& request);

}  // namespace rightsize::http_server
