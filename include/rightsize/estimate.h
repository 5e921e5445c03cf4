// How fast a job runs on a GPU, its bottleneck, and the confidence interval: `rightsize estimate`.
//
// A model is a built-in name, the path of a Hugging Face config.json, or the text of one. `low` and `high` are the 80 %
// interval of the rate (training), of TPOT (serving) or of the time of a batch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <rightsize/answer.h>
#include <rightsize/document.h>
#include <rightsize/settings.h>

namespace rightsize::v1 {

struct Estimate {
  bool feasible = true;
  std::string reason;  // if not feasible
  std::string model, gpu, job, stack, precision;
  int gpus = 1;

  // Training.
  std::optional<double> tokens_per_second_per_gpu, samples_per_second_per_gpu, step_seconds, mfu;
  // Serving token by token.
  std::optional<double> prefill_seconds, decode_step_seconds, ttft_seconds, tpot_seconds,
      output_tokens_per_second_per_gpu, requests_per_second, max_concurrency;
  // Serving in one pass.
  std::optional<double> batch_seconds;

  std::optional<double> low, high;
  std::string bound;  // compute, memory, communication or host
  std::string basis;  // measured, calibrated, transferred or specification

  Document document;  // everything
};

// Reads the catalogue and the constants on first use, and caches them and the models: an estimate takes microseconds.
// Use one per thread. It does not check whether a training job fits; memory() does.
class Estimator {
 public:
  Estimator();
  ~Estimator();
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  Answer<Estimate> estimate(const std::string& model, const std::string& gpu, const Settings& settings = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::v1
