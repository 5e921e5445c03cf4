#include "rightsize/input/server_flags.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/date.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::app {
namespace {

// Secrets come from files or the environment: arguments are visible in process lists.
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
  auth.user = flags.http_user;
  if (!flags.http_user.empty()) auth.password = take(secret(flags.password_file, "RIGHTSIZE_PASSWORD"));
  auth.certificate = flags.certificate;
  auth.key = flags.key;
  auth.authority = flags.authority;
  auth.insecure = flags.insecure;
  if (!flags.org_id.empty()) auth.headers.emplace_back("X-Scope-OrgID", flags.org_id);
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || header.find_first_of("\r\n") != std::string::npos) {
      errors.push_back(bad_input(fmt::format("--header '{}' is not 'Name: value'", header)));
      continue;
    }
    auth.headers.emplace_back(trim(header.substr(0, colon)), trim(header.substr(colon + 1)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return auth;
}

}  // namespace

Result<TimePoint> parse_moment(std::string_view flag, const std::string& text, bool whole_day) {
  if (const std::optional<TimePoint> time = telemetry::parse_iso_time(text)) return *time;
  if (const Result<Date> date = parse_date(text))
    return TimePoint{} + days(static_cast<double>(date->day + (whole_day ? 1 : 0)));
  if (Result<double> since_1970 = parse_number(text); since_1970 && *since_1970 > 1e8) return unix_seconds(*since_1970);
  return fail(bad_input(fmt::format("{} '{}' is not a time", flag, text))
                  .with_hint("for example 2026-11-01 or 2026-11-01T00:00:00Z"));
}

Result<> check_server_flags(const ServerFlags& flags, const std::vector<std::string_view>& more) {
  if (flags.command == nullptr || !flags.prometheus.empty()) return {};
  for (const FlagInfo& flag : flags.command->declared()) {
    const bool of_server = flag.setting->heading == settings::get("prometheus").heading || flag.name == "--timeout" ||
                           std::ranges::find(more, flag.name) != more.end();
    if (of_server && !flags.command->given(flag.name).empty())
      return fail(bad_input(fmt::format("{} applies to a metrics server only", flag.name))
                      .with_hint("name the server with --prometheus URL"));
  }
  return {};
}

Checked<ServerRequest> read_server_flags(const ServerFlags& flags) {
  ServerRequest request;
  RIGHTSIZE_TRY(request.auth, read_auth(flags));
  if (!flags.end.empty()) {
    RIGHTSIZE_TRY(request.end, parse_moment("--end", flags.end));
  }
  request.window = flags.window;
  request.policy.tries = flags.tries;
  request.policy.limit = flags.timeout;
  request.policy.first_wait = flags.retry_wait;
  constexpr Seconds kShortest = seconds(600);  // a shorter window has too few readings to judge waste
  if (request.window < kShortest) return fail(bad_input("--window must be at least 10min"));
  return request;
}

void add_window_flags(FlagSet& command, ServerFlags& flags) {
  flags.command = &command;
  command.add("prometheus", flags.prometheus);
  command.add("window", flags.window);
  command.add("end", flags.end);
  command.add("match", flags.match);
}

void add_connection_flags(FlagSet& command, ServerFlags& flags) {
  command.add("timeout", flags.timeout)->or_else("120s")->meaning("longest wait for one answer of the server");
  command.add("tries", flags.tries);
  command.add("retry-wait", flags.retry_wait);
  command.add("bearer-file", flags.bearer_file);
  command.add("http-user", flags.http_user);
  command.add("password-file", flags.password_file);
  command.add("cert", flags.certificate);
  command.add("key", flags.key);
  command.add("ca", flags.authority);
  command.add("insecure", flags.insecure);
  command.add("org-id", flags.org_id);
  command.add("header", flags.headers)->single_words();
  command.add("progress", flags.progress);
}

}  // namespace rightsize::app
