// `rightsize estimate` for loops: facts, models and GPUs are read once, so that an answer takes microseconds.
//
//   Estimator estimator = *Estimator::open({});
//   EstimateFlags flags;
//   flags.job = {"llama-3.1-8b", "h100-sxm", {{"job", "serve"}, {"concurrency", "32"}}};
//   Json document = *estimator.document(flags);
//
// The answers are those of the command: estimator_test compares them over random jobs. Not for use from two threads at
// once; one a thread shares its facts.
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

  // The document of `rightsize estimate --format json` without what takes longer than the estimate: the warning of a
  // training job that would run out of memory. --sweep and --roofline are not looked at.
  Checked<Json> document(const EstimateFlags& flags);

  // The estimate itself, for whoever writes its members in another form. The input is the estimator's, until it is
  // asked again.
  struct Answer {
    const SpeedInput* input;
    Result<SpeedEstimate> estimate;  // or why the job cannot run so
  };
  Checked<Answer> answer(const EstimateFlags& flags);

 private:
  Checked<const SpeedInput*> input(const EstimateFlags& flags);

  // Models are large: a loop over thousands of configurations must not keep them all.
  static constexpr std::size_t kMostKept = 64;

  std::shared_ptr<const Facts> facts_;
  std::map<std::string, SpeedInput, std::less<>> inputs_;  // by model, GPU and what else decides more than the job
  std::string key_;
};

}  // namespace rightsize::app
