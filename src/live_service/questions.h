// The questions about one service, as PromQL that Prometheus 2.26 and everything later understands.
#pragma once

#include <string>
#include <vector>

#include "live_service/metric_names.h"

namespace rightsize::live_service {

// A service on a server: which series are its.
struct Selection {
  std::string matchers;  // the user's
  std::string space_label, space;
  std::string id_label;  // tells replicas apart: pod, instance
  std::vector<std::string> ids;
  std::string model_label, model;
};

// name{matchers, namespace="x", pod=~"a|b", ...}
// A regular expression of exactly these pods or instances; what their names have in common is said once.
std::string any_of(const std::vector<std::string>& ids);

std::string series_of(const Selection& selection, const std::string& name, std::string_view matcher = {});

// What a signal grew by in the last `range` seconds, all replicas together: one number, or one a bucket. `part` is
// "_bucket", "_sum", "_count" or nothing. Replicas that publish a signal by two names count once.
std::string growth(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view part,
                   double range);

// The last value of a counter in `range` seconds, one number a replica.
std::string last_values(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view part,
                        double range);

// A gauge's last value in `range` seconds, by `how` ("sum", "avg", "max") over replicas.
std::string gauge_now(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view how,
                      double range);

}  // namespace rightsize::live_service
