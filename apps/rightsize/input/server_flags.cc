#include "rightsize/input/server_flags.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::app {
namespace {

// Secrets come from files or the environment, so that they show in no process list.
Result<std::string> secret(const std::string& file, const char* variable) {
  if (!file.empty()) {
    RIGHTSIZE_TRY(const std::string text, read_file(file, 1U << 20));
    return std::string(trim(text));
  }
  const char* value = std::getenv(variable);
  return std::string(value != nullptr ? value : "");
}

Checked<http::Auth> read_auth(const ServerFlags& flags) {
  http::Auth auth;
  Errors errors;
  auto take = [&](Result<std::string> text) {
    if (text) return *std::move(text);
    errors.push_back(std::move(text).error());
    return std::string();
  };
  auth.bearer = take(secret(flags.bearer_file, "RIGHTSIZE_BEARER"));
  auth.user = flags.user;
  if (!flags.user.empty()) auth.password = take(secret(flags.password_file, "RIGHTSIZE_PASSWORD"));
  auth.certificate = flags.certificate;
  auth.key = flags.key;
  auth.authority = flags.authority;
  auth.insecure = flags.insecure;
  if (!flags.org_id.empty()) auth.headers.emplace_back("X-Scope-OrgID", flags.org_id);
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || header.find_first_of("\r\n") != std::string::npos) {
      errors.push_back(bad_input("--header: 'Name: value' expected"));
      continue;
    }
    auth.headers.emplace_back(trim(header.substr(0, colon)), trim(header.substr(colon + 1)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return auth;
}

// An ISO time, or seconds since 1970.
Result<std::optional<TimePoint>> parse_end(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const std::optional<TimePoint> time = telemetry::parse_iso_time(text)) return time;
  if (Result<double> since_1970 = parse_number(text); since_1970 && *since_1970 > 1e8) return unix_seconds(*since_1970);
  return fail(
      bad_input(fmt::format("--end '{}': a time expected", text)).with_hint("for example 2026-11-01T00:00:00Z"));
}

}  // namespace

Checked<ServerRequest> read_server_flags(const ServerFlags& flags) {
  ServerRequest request;
  RIGHTSIZE_TRY(request.auth, read_auth(flags));
  request.policy.tries = std::max(1, flags.tries);
  Errors errors;
  auto take = [&](auto value, auto& into) {
    if (value) {
      into = *std::move(value);
    } else {
      errors.push_back(std::move(value).error());
    }
  };
  take(parse_duration(flags.window), request.window);
  take(parse_end(flags.end), request.end);
  take(parse_duration(flags.timeout), request.policy.limit);
  take(parse_duration(flags.retry_wait), request.policy.first_wait);
  if (errors.empty() && request.window < seconds(600)) errors.push_back(bad_input("--window: at least 10min expected"));
  if (!errors.empty()) return fail(std::move(errors));
  return request;
}

void add_window_flags(FlagSet& command, ServerFlags& flags) {
  command.add_option("--prometheus", flags.prometheus, "a Prometheus-compatible server, e.g. http://prometheus:9090");
  command.add_option("--window", flags.window, "how far back to look")->default_str("7d");
  command.add_option("--end", flags.end, "where the window ends, e.g. 2026-11-01T00:00:00Z; now when not given");
  command.add_option("--match", flags.match, "more label matchers for the server: 'cluster=\"a\",env=\"prod\"'");
}

void add_connection_flags(FlagSet& command, ServerFlags& flags) {
  command.add_option("--timeout", flags.timeout, "for one answer of the server")->default_str("120s");
  command.add_option("--tries", flags.tries, "how often a question is asked before it is given up")->default_str("5");
  command.add_option("--retry-wait", flags.retry_wait, "before the second try; doubles with each")
      ->default_str("250ms");
  command.add_option("--bearer-file", flags.bearer_file, "file with a bearer token (or $RIGHTSIZE_BEARER)");
  command.add_option("--user", flags.user, "user name, with the password from --password-file");
  command.add_option("--password-file", flags.password_file, "file with the password (or $RIGHTSIZE_PASSWORD)");
  command.add_option("--cert", flags.certificate, "client certificate (PEM file)");
  command.add_option("--key", flags.key, "its private key (PEM file)");
  command.add_option("--ca", flags.authority, "authority to trust (PEM file)");
  command.add_flag("--insecure", flags.insecure, "do not check the server's certificate");
  command.add_option("--org-id", flags.org_id, "tenant for Mimir, Cortex, Grafana Cloud (X-Scope-OrgID)");
  command.add_option("--header", flags.headers, "another header, 'Name: value'; repeat");
  command.add_flag("--progress", flags.progress, "show progress on standard error even when it is no terminal");
}

}  // namespace rightsize::app
