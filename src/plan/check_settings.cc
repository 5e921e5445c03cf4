#include "plan/check_settings.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/suggest.h"
#include "plan/read_request.h"
#include "plan/settings.h"

namespace rightsize::plan {
namespace {

using model::Setting;
using model::SettingInfo;

const SettingInfo* find(const std::vector<SettingInfo>& infos, const std::string& name) {
  const auto found =
      std::find_if(infos.begin(), infos.end(), [&](const SettingInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

// The place of a setting is that of its value; its name is before it, usually on the same line.
Place place_of_name(const Setting& setting) {
  Place place = setting.place;
  const std::size_t at = place.excerpt.find(setting.name);
  if (at == std::string::npos) return place;
  place.column = static_cast<int>(at) + 1;
  place.length = static_cast<int>(setting.name.size());
  return place;
}

}  // namespace

void check_names(const std::vector<Setting>& settings, Errors& errors) {
  std::vector<std::string> names;
  for (const auto* infos : {&model::job_settings(), &request_settings()}) {
    for (const SettingInfo& info : *infos) names.push_back(info.name);
  }
  for (const Setting& setting : settings) {
    if (find(model::job_settings(), setting.name) != nullptr) continue;
    errors.push_back(bad_input(fmt::format("unknown setting '{}'", setting.name))
                         .at(place_of_name(setting))
                         .with_hint(did_you_mean(setting.name, names)));
  }
}

bool speaks_of_serving(const std::vector<Setting>& settings) {
  const auto any_only_of = [&](model::JobKind kind) {
    return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
      const SettingInfo* info = find(request_settings(), setting.name);
      if (info == nullptr) info = find(model::job_settings(), setting.name);
      return info != nullptr && belongs_only_to(kind, *info);
    });
  };
  return any_only_of(model::JobKind::kServe) && !any_only_of(model::JobKind::kTrain);
}

void check_kind(const std::vector<Setting>& settings, model::JobKind kind, Errors& errors) {
  // Amounts of work are refused elsewhere, with what to use instead.
  static const std::set<std::string> kWork{"rate",    "mix",    "items",          "audio-hours",    "tokens",
                                           "samples", "epochs", "dataset-tokens", "dataset-samples"};
  const bool serving = kind == model::JobKind::kServe;
  for (const Setting& setting : settings) {
    const SettingInfo* info = find(request_settings(), setting.name);
    if (info == nullptr || kWork.contains(setting.name)) continue;
    if (!belongs_only_to(serving ? model::JobKind::kTrain : model::JobKind::kServe, *info)) continue;
    errors.push_back(placed(bad_input(fmt::format("'{}' is a setting of {}, but this job is {}", setting.name,
                                                  serving ? "training" : "serving", serving ? "serving" : "training"))
                                .with_hint(fmt::format("leave it out, or use --job {}", serving ? "train" : "serve")),
                            setting));
  }
}

}  // namespace rightsize::plan
