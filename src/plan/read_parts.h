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

// `settings` are those that are not of the request; they must be settings of the job.
void check_names(const std::vector<model::Setting>& settings, Errors& errors);

// Refuses settings that the search chooses itself.
void refuse_decided(const std::vector<model::Setting>& job_settings, Errors& errors);

// Whether some settings belong only to serving and none to training, so that "job: serve" can be left out.
bool speaks_of_serving(const std::vector<model::Setting>& settings);

// Refuses settings of the other kind of work, such as an SLO of a training job.
void check_kind(const std::vector<model::Setting>& settings, model::JobKind kind, Errors& errors);

// The work is `gpu_hours` of the first GPU of the profile; every GPU of its projection does that work at its projected
// speed, if it has enough memory and keeps up. Work that arrives at its own pace gets one GPU. Fails on other
// documents, and on profiles of a GPU that is not in the catalogue.
Checked<Work> read_profile(const std::string& file, std::string text, double gpu_hours, PlanLimits& limits);

// Takes the distribution of the lengths out of the settings `isl` and `osl`; the mean stays there for the
// job.
struct GivenLengths {
  std::optional<capacity::Length> isl = {}, osl = {};
};
Errors take_lengths(std::vector<model::Setting>& job_settings, GivenLengths& lengths);
// Sets how far lengths vary, without mix and trace: as given, else as in public traces.
void set_lengths(Request& request, const GivenLengths& lengths);

// "1024:256=0.7,8192:512=0.3": tokens in and out of each request size and its share; shares are normalized.
Result<std::vector<capacity::RequestSize>> parse_mix(const std::string& text);

// Times and tokens of requests (for the columns, see sim::parse_trace()). Fails on a trace without tokens or without a
// rate.
Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file);

// Columns hour (from 0) and rate ("20/s", or requests per second): 24 rows of a day or 168 of a week. In requests per
// second.
Checked<std::vector<double>> read_rate_profile(const std::string& file);

// Ends lengths at --max-model-len.
Errors cut_context(Request& request);

// Requests of a mix or a trace that the model's context does not hold.
Errors check_lengths(const Request& request);

// The kinds of machines of --on-prem, and with the settings they share; one number of machines is that of every kind.
Result<std::vector<market::OwnHardware>> read_own_machines(const std::string& text, const catalog::Catalog& catalog);
Result<std::vector<market::OwnHardware>> own_fleet(const std::vector<market::OwnHardware>& kinds,
                                                   const std::vector<int>& counts, const market::OwnHardware& common);

// A name that becomes part of a script, so only letters, digits and a few signs.
Result<std::string> parse_cluster_name(const std::string& text);

// Whether training starts from random weights, where --from-scratch does not say it.
Result<> choose_weights(Request& request);

// Samples of an optimizer step where none are given.
std::int64_t usual_batch(const Request& request);

}  // namespace rightsize::plan
