#include "launch/write_workload_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "hand_over/template.h"
#include "settings/setting.h"

namespace rightsize::launch {
namespace {

using model::Setting;

struct Section {
  const char* title;
  std::vector<std::string_view> names;
};

// Groups of settings in the order of the file; settings in no group come last.
const std::vector<Section>& sections() {
  static const std::vector<Section> kAll = {
      {"The work",
       {"name", "model", "job", "method", "tokens", "samples", "epochs", "dataset-tokens", "dataset-samples", "seq",
        "global-batch", "from-scratch", "items", "per-item", "rate", "isl", "osl", "mix"}},
      {"Limits",
       {"deadline", "budget", "ttft-slo", "tpot-slo", "latency-slo", "max-gpus", "gpus", "max-power", "max-carbon",
        "power-cap"}},
      {"Where to look", {"objective", "providers", "regions", "purchase", "price", "gpu"}},
      {"Settings: the search chooses what is left out; a list [a, b] restricts it",
       {"precision", "stack", "batch", "recompute", "optimizer", "tp", "pp", "zero", "kv-precision"}},
      {"A machine you own", {"on-prem", "on-prem-machines", "kwh-price", "amortise-years", "busy-share", "pue"}},
      {"Assumptions",
       {"startup", "restart", "interruptions", "checkpoint-rate", "checkpoint-every", "storage", "storage-price",
        "egress", "egress-price", "top"}}};
  return kAll;
}

const Setting* find(const std::vector<Setting>& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

// Whether a setting applies to the work: training settings do not apply to a service, and a rate not to offline work.
bool suits(std::string_view name, const std::vector<Setting>& settings) {
  constexpr std::string_view kOnline[] = {"rate", "mix", "ttft-slo", "tpot-slo", "latency-slo"};
  const Setting* job = find(settings, "job");
  const bool serve = job != nullptr && to_lower(job->value) == "serve";
  const bool offline = serve && find(settings, "items") != nullptr;
  if (offline && std::find(std::begin(kOnline), std::end(kOnline), name) != std::end(kOnline)) return false;
  const settings::Jobs jobs = settings::get(name).jobs;
  return jobs == settings::Jobs::kTrain || name == "seq" ? !serve
         : jobs == settings::Jobs::kServe                ? serve
                                                         : offline || jobs == settings::Jobs::kAll;
}

std::string scalar(const std::string& value) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/,+$-";
  const bool plain = !value.empty() && value.find_first_not_of(kPlain) == std::string::npos && value.front() != '-' &&
                     value.front() != ',' && to_lower(value) != "null";
  return plain ? value : hand_over::double_quoted(value);
}

// The values, the meaning and the default.
std::string explanation(std::string_view name) {
  const settings::Setting& row = settings::get(name);
  std::string values = settings::placeholder(row);
  constexpr std::size_t kLongest = 60;
  if (values.size() > kLongest) {  // make it wrappable
    for (std::size_t at = values.find('|'); at != std::string::npos; at = values.find('|', at + 3))
      values.replace(at, 1, " | ");
  }
  const std::string_view preset = row.preset_words.empty() ? row.preset : row.preset_words;
  const std::string meaning = plan::meaning_of(name) + (preset.empty() ? "" : fmt::format(" (default {})", preset));
  return values == "N" || values == "X" ? meaning : values + ": " + meaning;
}

// "deadline: 14d                # TIME: time limit", wrapped at the width of a screen.
std::string line(const std::string& name, const Setting* given) {
  constexpr std::size_t kColumn = 26, kWidth = 100;
  std::string text = given != nullptr ? name + ": " + scalar(given->value) : "# " + name + ":";
  const std::string first = explanation(name);
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
  std::vector<std::string> left = plan::request_settings();
  std::string out =
      "# A workload for rightsize: rightsize recommend THIS_FILE\n"
      "# Remove a '#' and add a value to set more. Flags of the command take precedence over this file.\n";
  const auto take = [&](std::string_view name, bool only_given) {
    const auto at = std::find(left.begin(), left.end(), name);
    if (at == left.end()) return;
    const Setting* given = find(settings, name);
    if (given != nullptr || (!only_given && suits(name, settings))) out += line(*at, given);
    left.erase(at);
  };
  for (const Section& section : sections()) {
    out += fmt::format("\n# {}\n", section.title);
    for (std::string_view name : section.names) take(name, false);
  }
  const std::size_t before = out.size();
  while (!left.empty()) take(std::string(left.front()), true);
  const std::vector<std::string>& known = plan::request_settings();
  for (const Setting& setting : settings) {  // settings of other jobs (rl)
    if (std::find(known.begin(), known.end(), setting.name) == known.end()) out += line(setting.name, &setting);
  }
  if (out.size() > before)
    out.insert(before, "\n# More settings of the job ('rightsize recommend --help' lists all)\n");
  return out;
}

}  // namespace rightsize::launch
