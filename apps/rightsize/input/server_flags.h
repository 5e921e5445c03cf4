// The flags for a metrics server that `fleet`, `exporter`, `service`, `verify` and `rollout` share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/usage_units.h"
#include "http/http.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct ServerFlags {
  std::string prometheus, end, match;
  Seconds window = days(7), timeout = seconds(120), retry_wait = milliseconds(250);
  int tries = 5;
  std::string bearer_file, http_user, password_file, certificate, key, authority, org_id;
  std::vector<std::string> headers;
  bool insecure = false, progress = false;
  const FlagSet* command = nullptr;  // tells which flags were given; set by add_window_flags()
};

// The address, the window and the matchers.
void add_window_flags(FlagSet& command, ServerFlags& flags);
// Timeouts, retries and credentials.
void add_connection_flags(FlagSet& command, ServerFlags& flags);

// If no server is read, refuses flags that apply only to a server, and those in `more`.
Result<> check_server_flags(const ServerFlags& flags, const std::vector<std::string_view>& more = {});

// An ISO time, a day (its beginning; its end with `whole_day`), or seconds since 1970.
Result<TimePoint> parse_moment(std::string_view flag, const std::string& text, bool whole_day = false);

struct ServerRequest {
  http::Auth auth;
  http::Policy policy;
  Seconds window;
  std::optional<TimePoint> end;  // empty: now
};

// Reads the credentials: secrets come from files or the environment, because arguments are visible in process lists.
Checked<ServerRequest> read_server_flags(const ServerFlags& flags);

}  // namespace rightsize::app
