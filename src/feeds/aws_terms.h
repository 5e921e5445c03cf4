// What the AWS price list's CSV and JSON mean alike: which products are a plain Linux machine, and how hourly and
// upfront prices of a reservation become one price an hour.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "feeds/readers.h"

namespace rightsize::feeds {

struct AwsProduct {
  std::string_view system, tenancy, capacity, software, licence, market, operation;
};

// Linux, shared, without licences or pre-installed software, used on demand or in a Capacity Block. Rows of capacity
// reservations cost $0.
bool is_plain_linux(const AwsProduct& product);
bool is_capacity_block(const AwsProduct& product);

struct AwsPrice {
  std::string_view sku, instance, region, term, lease, option, offering, unit;
  std::optional<double> usd;
  long line = 0;
  bool block = false;  // in a Capacity Block
};

class AwsTerms {
 public:
  explicit AwsTerms(FeedSink& sink) : sink_(sink) {}

  // On-demand prices go straight on; parts of reservations are kept until finish().
  void take(const AwsPrice& price);
  void finish();

 private:
  struct Reservation {
    double hourly = 0, upfront = 0;
    long line = 0;
  };
  // instance, region, years, payment: 0 nothing upfront, 1 a part, 2 all
  std::map<std::tuple<std::string, std::string, int, int>, Reservation> reserved_;
  FeedSink& sink_;
};

}  // namespace rightsize::feeds
