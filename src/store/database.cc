#include "store/database.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"

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

Result<> put(Database& database, const std::string& table, const std::vector<std::string>& columns,
             const std::vector<Value>& values, const std::string& key) {
  std::vector<std::string> marks, updates;
  for (const std::string& column : columns) {
    marks.push_back(fmt::format("${}", marks.size() + 1));
    updates.push_back(fmt::format("{0} = EXCLUDED.{0}", column));
  }
  std::string sql =
      fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(columns, ", "), fmt::join(marks, ", "));
  if (!key.empty()) sql += fmt::format(" ON CONFLICT ({}) DO UPDATE SET {}", key, fmt::join(updates, ", "));
  return database.run(sql, values);
}

void Where::among(const char* column, const std::vector<std::string>& wanted) {
  std::string marks;
  for (const std::string& text : wanted) {
    if (!text.empty()) marks += (marks.empty() ? "" : ", ") + mark(text);
  }
  if (!marks.empty()) add(fmt::format("{} IN ({})", column, marks));
}

void Where::compare(const std::string& column_and_sign, const std::optional<std::int64_t>& value) {
  if (value) add(column_and_sign + " " + mark(*value));
}

std::string Where::mark(Value value) {
  values_.push_back(std::move(value));
  return fmt::format("${}", values_.size());
}

std::string default_location(std::string_view flag, const char* variable, const char* file) {
  if (!flag.empty()) return std::string(flag);
  if (const char* named = std::getenv(variable); named != nullptr && *named != '\0') return named;
  return user_path("XDG_DATA_HOME", ".local/share", file);
}

}  // namespace rightsize::store
