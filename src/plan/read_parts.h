// The steps of read_request(): checks of settings, profiles, traffic.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/request.h"

namespace rightsize::plan {

// Adds the place of a setting to an error: its line in a file, or its flag.
Error placed(Error error, const model::Setting& setting);

// Every setting in `settings` must be one of the job; those of the request are already removed.
void check_names(const std::vector<model::Setting>& settings, Errors& errors);

// Refuses settings that the search chooses itself.
void refuse_decided(const std::vector<model::Setting>& job_settings, Errors& errors);

// Whether some settings belong only to serving and none to training, so that "job: serve" can be left out.
bool speaks_of_serving(const std::vector<model::Setting>& settings);

// Refuses settings of the other kind of work, such as an SLO of a training job.
void check_kind(const std::vector<model::Setting>& settings, model::JobKind kind, Errors& errors);

// Checks the job with each method that may be searched.
Errors check_methods(const Request& request);

// The work is `gpu_hours` of the first GPU of the profile; every other GPU in the profile does that work at its
// projected speed, if it has enough memory and keeps up. Work that arrives at its own pace gets one GPU. Fails on other
// documents, and on profiles of a GPU that is not in the catalogue.
Checked<Work> read_profile(const std::string& file, std::string text, double gpu_hours, PlanLimits& limits);

// Takes the distribution of the lengths out of the settings `isl` and `osl`; the mean stays there for the job.
struct GivenLengths {
  std::optional<capacity::Length> isl = {}, osl = {};
};
Errors take_lengths(std::vector<model::Setting>& job_settings, GivenLengths& lengths);
// Sets how much lengths vary (without mix and trace): as given, otherwise as in public traces.
void set_lengths(Request& request, const GivenLengths& lengths);

// "1024:256=0.7,8192:512=0.3": tokens in and out of each request size and its share; shares are normalized.
Result<std::vector<capacity::RequestSize>> parse_mix(const std::string& text);

// Times and tokens of requests (for the columns, see sim::parse_trace()). Fails on a trace without tokens or without a
// rate.
Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file);

// Columns hour (from 0) and rate ("20/s", or requests per second): 24 rows of a day or 168 of a week. In requests per
// second.
Checked<std::vector<double>> read_rate_profile(const std::string& file);
// Rates by the hour: from a profile, or the same rate in the first `hours` of a day. A rate per day is its whole
// traffic.
Errors set_hourly_rates(Request& request, const std::string& profile, int hours, bool rate_is_per_day);

// A model known only by its name may have a longer context than the model with its shape: --max-model-len decides.
void assume_context(Request& request);
// Truncates lengths at --max-model-len.
Errors cut_context(Request& request);
// The share of requests that are longer than the context; of sessions, the share of turns that do not fit in it.
double beyond_context(const Request& request);

// Refuses a limit on TPOT where an answer has no second token, and documents per query where each is a request.
Errors check_answers(const Request& request, const std::vector<model::Setting>& settings);

// Reports requests of a mix or a trace that exceed the model's context.
Errors check_lengths(Request& request);

// Accepts only letters, digits and a few signs, because the name becomes part of a script.
Result<std::string> parse_cluster_name(const std::string& text);

// Without --from-scratch, decides whether training starts from random weights.
Result<> choose_weights(Request& request);

// The default number of samples per optimizer step.
std::int64_t usual_batch(const Request& request);

}  // namespace rightsize::plan
