#include "plan/write_workload_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "hand_over/template.h"

namespace rightsize::plan {
namespace {

using model::Setting;
using model::SettingInfo;

struct Section {
  const char* title;
  std::vector<std::string_view> names;
};

// Groups of settings in the order of the file; settings in no group come last.
const std::vector<Section>& sections() {
  static const std::vector<Section> kAll = {
      {"The work",
       {"name", "model", "job", "method", "tokens", "samples", "epochs", "dataset-tokens", "dataset-samples", "seq",
        "global-batch", "items", "per-item", "rate", "isl", "osl", "mix"}},
      {"What must hold", {"deadline", "budget", "ttft-slo", "tpot-slo", "max-gpus", "gpus"}},
      {"Where", {"objective", "providers", "regions", "purchase", "price", "gpu"}},
      {"How: left open, the best is chosen; a list [a, b] leaves these",
       {"precision", "stack", "batch", "recompute", "optimizer", "tp", "pp", "zero", "kv-precision"}},
      {"A machine of your own", {"on-prem", "on-prem-machines", "kwh-price", "amortise-years", "busy-share", "pue"}},
      {"What is assumed",
       {"startup", "restart", "interruptions", "checkpoint-rate", "checkpoint-every", "storage", "storage-price",
        "egress", "egress-price", "top"}}};
  return kAll;
}

std::vector<SettingInfo> all_settings() {
  std::vector<SettingInfo> all = request_settings();
  const std::vector<SettingInfo> job = job_settings_of_requests();
  all.insert(all.end(), job.begin(), job.end());
  return all;
}

const Setting* find(const std::vector<Setting>& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

// Settings that apply to one kind of work only.
constexpr std::string_view kTraining[] = {"method",         "tokens",          "samples", "epochs",
                                          "dataset-tokens", "dataset-samples", "seq",     "global-batch",
                                          "recompute",      "optimizer",       "zero"};
constexpr std::string_view kServing[] = {"isl", "osl", "kv-precision"};
constexpr std::string_view kOnline[] = {"rate", "mix", "ttft-slo", "tpot-slo"};
constexpr std::string_view kOffline[] = {"items", "per-item"};

bool suits(std::string_view name, const std::vector<Setting>& settings) {
  const auto is_of = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  const Setting* job = find(settings, "job");
  const bool serve = job != nullptr && to_lower(job->value) == "serve";
  const bool offline = serve && find(settings, "items") != nullptr;
  return (!is_of(kTraining) || !serve) && (!is_of(kServing) || serve) && (!is_of(kOnline) || (serve && !offline)) &&
         (!is_of(kOffline) || offline);
}

std::string scalar(const std::string& value) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/,+$-";
  const bool plain = !value.empty() && value.find_first_not_of(kPlain) == std::string::npos && value.front() != '-' &&
                     value.front() != ',' && to_lower(value) != "null";
  return plain ? value : hand_over::double_quoted(value);
}

// The values and the meaning, without the kind of work.
std::string explanation(const SettingInfo& info) {
  std::string_view meaning = info.meaning;
  for (std::string_view work : {"train: ", "serve: ", "offline: ", "on-prem: "}) {
    if (meaning.starts_with(work) && meaning.find("serve:", work.size()) == std::string_view::npos)
      meaning.remove_prefix(work.size());
  }
  if (meaning == "train") meaning = {};
  if (info.values == "TEXT" || info.values == "N" || info.values == "X") return std::string(meaning);
  return info.values + (meaning.empty() ? "" : ": ") + std::string(meaning);
}

// "deadline: 14d                # TIME: time limit", wrapped at the width of a screen.
std::string line(const SettingInfo& info, const Setting* given) {
  constexpr std::size_t kColumn = 26, kWidth = 100;
  std::string text = given != nullptr ? info.name + ": " + scalar(given->value) : "# " + info.name + ":";
  const std::string first = explanation(info);
  text.resize(std::max(kColumn, text.size() + 1), ' ');
  std::string out;
  for (std::string_view word : split_list(first, ' ')) {
    const bool begins = text.find("  # ") == std::string::npos && text.find_last_not_of(' ') < text.size() - 1;
    if (!begins && text.size() + 1 + word.size() > kWidth) {
      out += text + "\n";
      text = std::string(kColumn, ' ') + "#  ";
    }
    text += (begins ? "# " : " ") + std::string(word);
  }
  return out + text + "\n";
}

}  // namespace

std::string write_workload_file(const std::vector<Setting>& settings) {
  std::vector<SettingInfo> left = all_settings();
  std::string out =
      "# A workload for rightsize: rightsize recommend THIS_FILE\n"
      "# Take away a '#' and give a value to say more. Flags of the command win over this file.\n";
  const auto take = [&](std::string_view name, bool only_given) {
    const auto info = std::find_if(left.begin(), left.end(), [&](const SettingInfo& i) { return i.name == name; });
    if (info == left.end()) return;
    const Setting* given = find(settings, name);
    if (given != nullptr || (!only_given && suits(name, settings))) out += line(*info, given);
    left.erase(info);
  };
  for (const Section& section : sections()) {
    out += fmt::format("\n# {}\n", section.title);
    for (std::string_view name : section.names) take(name, false);
  }
  const std::size_t before = out.size();
  while (!left.empty()) take(std::string(left.front().name), true);
  if (out.size() > before)
    out.insert(before, "\n# More settings of the job ('rightsize recommend --help' lists all)\n");
  return out;
}

}  // namespace rightsize::plan
