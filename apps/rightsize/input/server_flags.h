// How a metrics server is asked: what `fleet`, `exporter` and `service` share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "http/http.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct ServerFlags {
  std::string prometheus, window = "7d", end, match, timeout = "120s", retry_wait = "250ms";
  int tries = 5;
  std::string bearer_file, user, password_file, certificate, key, authority, org_id;
  std::vector<std::string> headers;
  bool insecure = false, progress = false;
};

// The address, the window and the matchers.
void add_window_flags(FlagSet& command, ServerFlags& flags);
// Patience and credentials.
void add_connection_flags(FlagSet& command, ServerFlags& flags);

struct ServerRequest {
  http::Auth auth;
  http::Policy policy;
  Seconds window;
  std::optional<TimePoint> end;  // nothing: now
};

// Every mistake of these flags at once. Secrets come from files or the environment, so that they show in no process
// list.
Checked<ServerRequest> read_server_flags(const ServerFlags& flags);

}  // namespace rightsize::app
