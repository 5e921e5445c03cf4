// `rightsize estimate` for loops: reads facts, models and GPUs once; an answer then takes microseconds.
//
//   Estimator estimator = *Estimator::open({});
//   EstimateFlags flags;
//   flags.job = {"llama-3.1-8b", "h100-sxm", {{"job", "serve"}, {"concurrency", "32"}}};
//   Json document = *estimator.document(flags);
//
// The answers are those of the command: estimator_test compares them over random jobs. Use one estimator per thread;
// they can share facts.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "rightsize/estimate/estimate.h"
#include "rightsize/estimate/report.h"

namespace rightsize::app {

class Estimator {
 public:
  explicit Estimator(std::shared_ptr<const Facts> facts) : facts_(std::move(facts)) {}
  static Checked<Estimator> open(const std::string& catalog_flag);

  // The document of `rightsize estimate --format json` for the job as given: training that would run out of memory is
  // neither sharded nor warned about, which would take longer than the estimate. Ignores --sweep, --roofline, --tokens.
  Checked<Json> document(const EstimateFlags& flags);

  // The estimate itself. The input belongs to the estimator and is valid until the next call.
  struct Answer {
    const SpeedInput* input;
    Result<SpeedEstimate> estimate;  // or why the job cannot run
  };
  Checked<Answer> answer(const EstimateFlags& flags);

 private:
  Checked<const SpeedInput*> input(const EstimateFlags& flags);

  // Models are large, so a loop over thousands of configurations must not keep them all.
  static constexpr std::size_t kMostKept = 64;

  std::shared_ptr<const Facts> facts_;
  std::map<std::string, SpeedInput, std::less<>> inputs_;  // by model, GPU and the flags that affect more than the job
  std::string key_;
};

}  // namespace rightsize::app
