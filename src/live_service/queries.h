// PromQL queries about one service, for Prometheus 2.26 and later.
#pragma once

#include <string>
#include <vector>

#include "live_service/metric_names.h"

namespace rightsize::live_service {

// Selects the series of one service.
struct Selection {
  std::string matchers;  // given by the user
  std::string space_label, space;
  std::string id_label;  // identifies a replica: pod, instance
  std::vector<std::string> ids;
  std::string model_label, model;
};

// A regular expression that matches exactly these pods or instances, with common prefixes factored out.
std::string any_of(const std::vector<std::string>& ids);

// name{matchers, namespace="x", pod=~"a|b", ...}
std::string series_of(const Selection& selection, const std::string& name, std::string_view matcher = {});

// The increase of a signal in the last `range` seconds over all replicas: one number, or one per bucket. `part` is
// "_bucket", "_sum", "_count" or empty. Replicas that publish a signal under two names count once.
std::string growth(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view part,
                   double range);

// The last value of a counter within `range` seconds, per replica.
std::string last_values(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view part,
                        double range);

// The last value of a gauge within `range` seconds, aggregated over replicas by `how` ("sum", "avg", "max").
std::string gauge_now(const Selection& selection, const std::vector<PublishedMetric>& names, std::string_view how,
                      double range);

}  // namespace rightsize::live_service
