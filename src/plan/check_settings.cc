#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/suggest.h"
#include "memory/memory.h"
#include "plan/read_parts.h"
#include "plan/read_request.h"

namespace rightsize::plan {
namespace {

using model::Setting;

bool is_of_job(const Setting& setting) {
  const auto& all = model::job_settings();
  return std::find(all.begin(), all.end(), setting.name) != all.end();
}

// The stored place is that of the value; the name comes before it, usually on the same line.
Place place_of_name(const Setting& setting) {
  Place place = setting.place;
  const std::size_t at = place.excerpt.find(setting.name);
  if (at == std::string::npos) return place;
  place.column = static_cast<int>(at) + 1;
  place.length = static_cast<int>(setting.name.size());
  return place;
}

}  // namespace

Error placed(Error error, const Setting& setting) {
  const std::string flag = "--" + setting.name;
  if (setting.place.line == 0 && !error.message.starts_with(flag)) error.message = flag + ": " + error.message;
  return std::move(error).at(setting.place);
}

void check_names(const std::vector<Setting>& settings, Errors& errors) {
  for (const Setting& setting : settings) {
    if (is_of_job(setting)) continue;
    errors.push_back(bad_input(fmt::format("unknown setting '{}'", setting.name))
                         .at(place_of_name(setting))
                         .with_hint(did_you_mean(setting.name, request_settings())));
  }
}

Result<std::string> parse_cluster_name(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-";
  if (text.empty() || text.find_first_not_of(kPlain) != std::string::npos)
    return fail(bad_input(fmt::format("'{}' is not a name: use letters, digits, '-', '_' and '.'", text)));
  return text;
}

bool speaks_of_serving(const std::vector<Setting>& settings) {
  const auto any_only_of = [&](model::JobKind kind) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const Setting& s) { return model::belongs_only_to(kind, s.name); });
  };
  return any_only_of(model::JobKind::kServe) && !any_only_of(model::JobKind::kTrain);
}

void check_kind(const std::vector<Setting>& settings, model::JobKind kind, Errors& errors) {
  // Amounts of work are refused elsewhere, with a suggestion.
  static const std::set<std::string> kWork{"rate",    "mix",    "items",          "audio-hours",    "tokens",
                                           "samples", "epochs", "dataset-tokens", "dataset-samples"};
  const bool serving = kind == model::JobKind::kServe;
  for (const Setting& setting : settings) {
    if (is_of_job(setting) || kWork.contains(setting.name)) continue;
    if (!model::belongs_only_to(serving ? model::JobKind::kTrain : model::JobKind::kServe, setting.name)) continue;
    errors.push_back(placed(bad_input(fmt::format("'{}' is a setting of {}, but this job is {}", setting.name,
                                                  serving ? "training" : "serving", serving ? "serving" : "training"))
                                .with_hint(fmt::format("leave it out, or use --job {}", serving ? "train" : "serve")),
                            setting));
  }
}

void refuse_decided(const std::vector<Setting>& job_settings, Errors& errors) {
  for (const Setting& setting : job_settings) {
    if (setting.name == "concurrency") {
      errors.push_back(placed(bad_input("a plan is sized by the arrival rate, not by concurrency")
                                  .with_hint("use --rate: 100 concurrent requests of 2 s each are --rate 50/s"),
                              setting));
    } else if (setting.name == "accumulate") {
      errors.push_back(placed(bad_input("micro-batch and accumulation are chosen by the search")
                                  .with_hint("use --global-batch for the exact number of samples per step"),
                              setting));
    }
  }
}

Errors check_methods(const Request& request) {
  const std::vector<model::Method>& listed = request.choices.methods;
  for (const model::Method method : listed.empty() ? std::vector{request.job.train.method} : listed) {
    model::Job job = request.job;
    job.train.method = method;
    if (Errors wrong = memory::check_job(request.model, job); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace rightsize::plan
