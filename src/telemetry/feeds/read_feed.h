// Reads any number of files of any supported kind, plain or compressed, into Samples.
//
//   RIGHTSIZE_TRY(const FeedOutcome outcome, read_feeds({"node-1.csv.gz", "prometheus.json"}, options, sink));
//
// Each file's kind is detected from its beginning. CloudWatch query files are always read first because they name the
// results.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/feeds/feeds.h"
#include "telemetry/feeds/interpret.h"
#include "telemetry/feeds/kubernetes.h"
#include "telemetry/feeds/slurm.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

struct ReadFeedsOptions {
  NameMap names;
  Seconds interval = seconds(30);  // between readings of texts that carry no time
};

// The results, and what could not be read.
struct FeedOutcome {
  std::size_t files = 0;  // files that could be read
  std::size_t readings = 0;
  std::vector<std::string> kinds;         // of the files, each once: "Prometheus JSON", "nvidia-smi csv"
  std::vector<std::string> notes;         // partial pages, unknown names, refused lines
  std::vector<std::string> failures;      // files that could not be read, and why
  std::map<std::string, Metric> metrics;  // of stores: the names that were understood
  JobTable jobs;                          // from Slurm's accounting, which has no readings for the sink
  ClusterState cluster;                   // from kubectl: the same
};

// Reads every path ("-" is standard input) into the sink. Fails only if no file had a reading; the error is then the
// first failure.
Result<FeedOutcome> read_feeds(const std::vector<std::string>& paths, const ReadFeedsOptions& options,
                               SampleSink& sink);

}  // namespace rightsize::telemetry
