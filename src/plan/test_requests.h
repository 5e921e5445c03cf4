// For tests: requests from settings, and the built-in prices.
#pragma once

#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "perf/test_constants.h"
#include "plan/plan.h"
#include "plan/read_request.h"

namespace rightsize {

inline const market::PriceBook& built_in_prices() {
  static const market::PriceBook kBook(built_in_catalog());
  return kBook;
}

}  // namespace rightsize

namespace rightsize::plan {

// Settings as flags give them: name and value.
using Given = std::vector<std::pair<std::string, std::string>>;

inline std::vector<model::Setting> settings_of(const Given& given) {
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : given) settings.push_back({name, value, {}});
  return settings;
}

inline Checked<Request> read_given(const Given& given, const catalog::Catalog& catalog = built_in_catalog()) {
  return read_request(settings_of(given), catalog);
}

inline Request request_of(const Given& given, const catalog::Catalog& catalog = built_in_catalog()) {
  Checked<Request> request = read_given(given, catalog);
  EXPECT_TRUE(request) << describe(request.error());
  return *request;
}

}  // namespace rightsize::plan
