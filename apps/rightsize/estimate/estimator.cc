#include "rightsize/estimate/estimator.h"

namespace rightsize::app {

void set(EstimateFlags& flags, const std::string& name, std::string value) {
  if (name == "machine")
    flags.machine = std::move(value);
  else if (name == "power-cap")
    flags.power_cap = std::move(value);
  else if (name == "tokens")
    flags.tokens = std::move(value);
  else if (name == "network")
    flags.network = std::move(value);
  else if (name == "rate")
    flags.rate = std::move(value), flags.job.settings.try_emplace("job", "serve");  // a rate implies serving
  else if (name == "slot-wait")
    flags.slot_wait = std::move(value);
  else if (name == "sessions")
    flags.sessions = std::move(value), flags.job.settings.try_emplace("job", "serve");
  else if (name == "trace")
    flags.trace = std::move(value), flags.job.settings.try_emplace("job", "serve");
  else if (name == "routing")
    flags.routing = std::move(value);
  else
    flags.job.settings.insert_or_assign(name, std::move(value));
}

Checked<Estimator> Estimator::open(const std::string& catalog_flag) {
  RIGHTSIZE_TRY(Facts facts, open_facts(catalog_flag));
  return Estimator(std::make_shared<const Facts>(std::move(facts)));
}

Checked<const SpeedInput*> Estimator::input(const EstimateFlags& flags) {
  const auto& settings = flags.job.settings;
  const auto resolution = settings.find("resolution");
  key_.clear();
  for (const std::string* part : {&flags.job.model, &flags.job.gpu, &flags.machine, &flags.network})
    key_.append(*part).push_back('\n');
  if (resolution != settings.end()) key_ += resolution->second;
  if (const auto frames = settings.find("frames"); frames != settings.end()) key_.append("\n").append(frames->second);
  auto kept = inputs_.find(key_);
  if (kept == inputs_.end() || settings.contains("images") ||
      (resolution != settings.end() && kept->second.model.vision)) {
    RIGHTSIZE_TRY(SpeedInput read, read_input(facts_->catalog, facts_->constants, flags, flags.job));
    if (inputs_.size() >= kMostKept) inputs_.clear();
    return &inputs_.insert_or_assign(key_, std::move(read)).first->second;
  }
  SpeedInput& input = kept->second;
  if (input.model.tower) {  // the cached model includes images: read it again without them
    inputs_.erase(kept);
    return this->input(flags);
  }
  RIGHTSIZE_TRY(model::Job job, read_job(flags.job, input.model));
  use_formats_of(*input.gpu, flags.job, job);
  split_if_too_large(flags.job, input.model, *input.gpu, job, true);
  narrow_if_too_large(flags.job, input.model, *input.gpu, job);
  input.job = perf::fitted_to(input.work, job);
  input.rate = {};
  RIGHTSIZE_TRY(input.find_power_cap, read_power_cap(flags.power_cap, *input.gpu, input.speed.power));
  if (Result<> load = read_load(flags, flags.job, input); !load) return fail(load.error());
  if (Result<> sessions = read_sessions(facts_->constants, flags, flags.job, input); !sessions)
    return fail(sessions.error());
  return &input;
}

Checked<Estimator::Answer> Estimator::answer(const EstimateFlags& flags) {
  RIGHTSIZE_TRY(const SpeedInput* input, this->input(flags));
  return Answer{input, estimate_speed(facts_->constants, *input)};
}

Checked<Json> Estimator::document(const EstimateFlags& flags) {
  RIGHTSIZE_TRY(const Answer answer, this->answer(flags));
  return document_of({*answer.input, answer.estimate});
}

}  // namespace rightsize::app
