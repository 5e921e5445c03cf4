// Access rules that every request must pass: host name, origin and token.
#pragma once

#include <chrono>
#include <map>
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
  std::string token;          // empty: no token required; only for loopback addresses
  bool loopback_only = true;  // the Host header must name this machine, against DNS rebinding
};

// "127.0.0.1", "127.8.8.8", "::1", "localhost".
bool is_loopback(std::string_view host);

// Refuses requests from pages of other sites. A link to a page (`is_page`) may be followed from anywhere.
std::optional<Refusal> check_origin(const AccessRules& access, const Request& request, bool is_page);
// The bearer token, compared in constant time.
std::optional<Refusal> check_token(const AccessRules& access, const Request& request);

// Wrong tokens by client: after `kMost` within a minute, a client has to wait, even with the right token; otherwise it
// could keep guessing.
class TokenGuesses {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMost = 20;
  static constexpr std::chrono::seconds kPeriod{60};

  void count(const std::string& peer, Clock::time_point now = Clock::now());
  bool must_wait(const std::string& peer, Clock::time_point now = Clock::now()) const;

 private:
  struct Period {
    Clock::time_point begun;
    int wrong = 0;
  };
  static constexpr std::size_t kMostPeers = 4096;
  std::map<std::string, Period> by_peer_;
};

}  // namespace rightsize::http_server
