#include "store/database.h"

namespace rightsize::store {

bool is_server(std::string_view url) { return url.starts_with("postgres://") || url.starts_with("postgresql://"); }

Result<std::unique_ptr<Database>> open(const std::string& url, Access access) {
  if (is_server(url)) return open_postgres(url);
  return open_sqlite(url.starts_with("sqlite:") ? url.substr(7) : url, access);
}

}  // namespace rightsize::store
