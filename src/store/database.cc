#include "store/database.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace rightsize::store {

bool is_server(std::string_view url) { return url.starts_with("postgres://") || url.starts_with("postgresql://"); }

Result<std::unique_ptr<Database>> open(const std::string& url, Access access) {
  if (is_server(url)) return open_postgres(url, access);
  return open_sqlite(url.starts_with("sqlite:") ? url.substr(7) : url, access);
}

Result<bool> exists(const std::string& url) {
  if (url.empty() || is_server(url)) return !url.empty();
  std::error_code problem;
  const bool found = std::filesystem::exists(url, problem);
  if (problem) return fail(unreadable(fmt::format("{}: {}", url, problem.message())));
  return found;
}

std::string default_location(std::string_view flag, const char* variable, const char* file) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (!flag.empty()) return std::string(flag);
  if (std::string named = value_of(variable); !named.empty()) return named;
  // The XDG specification has relative paths ignored.
  if (const std::string data = value_of("XDG_DATA_HOME"); data.starts_with('/')) return data + "/rightsize/" + file;
  const std::string home = value_of("HOME");
  return home.empty() ? "" : home + "/.local/share/rightsize/" + file;
}

}  // namespace rightsize::store
