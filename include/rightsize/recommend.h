// Which GPU, how many, from whom, on what terms, with which settings, for the least money: `rightsize recommend`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rightsize/answer.h>
#include <rightsize/document.h>
#include <rightsize/settings.h>

namespace rightsize::v1 {

struct Plan {
  int rank = 0, gpus = 0, instances = 0;
  std::string gpu, provider, instance, region, purchase;
  double usd_per_hour = 0;
  std::optional<double> usd_total, hours;            // of work that ends
  std::optional<double> ttft_seconds, tpot_seconds;  // of services, at the percentile asked for
  std::string price_source, price_date;
  std::vector<std::string> why;
  Document document;  // everything
};

struct Recommendation {
  std::vector<Plan> plans;  // the cheapest first; empty where nothing is feasible: report.document["rejected"] says why
  Report report;
};

// Settings as on the command line; "workload" is the path of a workload file.
Answer<Recommendation> recommend(const Settings& settings);

}  // namespace rightsize::v1
