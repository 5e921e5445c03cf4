// The cheapest GPUs for a workload, as `rightsize recommend` finds them.
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
  std::optional<double> usd_total, hours;            // jobs that end
  std::optional<double> ttft_seconds, tpot_seconds;  // services, at the SLO's percentile
  std::string price_source, price_date;
  std::vector<std::string> why;
  Document document;  // everything
};

struct Recommendation {
  std::vector<Plan> plans;  // cheapest first; if empty, report.document["rejected"] says why
  Report report;
};

// Settings as on the command line; "workload" is the path of a workload file.
Answer<Recommendation> recommend(const Settings& settings);

}  // namespace rightsize::v1
