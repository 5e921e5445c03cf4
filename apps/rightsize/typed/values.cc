#include "rightsize/typed/values.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "catalog/gpu_words.h"
#include "rightsize/typed/spellings.h"

namespace rightsize::app {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool means_any(const std::string& flag, const std::string& value) {
  return is_one_of(flag, {"--gpu", "--provider", "--providers", "--region", "--regions"}) &&
         is_one_of(to_lower(value), {"any", "all", "*", "global", "everything", "everywhere"});
}

// "{H100:8, A100-80GB:8}" -> "H100:8, A100-80GB:8"
std::string_view without_brackets(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && is_one_of(text.substr(0, 1), {"{", "["})) return trim(text.substr(1, text.size() - 2));
  return text;
}

// Several GPUs, each so many: one number for all of them, or a refusal.
Result<MeantValues> gpu_list(const std::string& value, const HasFlag& has) {
  std::vector<std::string> names;
  std::set<int> counts;
  for (const std::string_view part : split_list(without_brackets(value), ',')) {
    const catalog::CountedGpu counted = catalog::split_gpu_count(part);
    names.push_back(counted.name);
    if (counted.count) counts.insert(*counted.count);
  }
  MeantValues meant{{{"--gpu", fmt::format("{}", fmt::join(names, ","))}}};
  if (counts.empty()) return meant;
  if (counts.size() > 1 || !has("--gpus")) {
    return fail(bad_input(fmt::format("'{}': the number of GPUs is one for all", value))
                    .with_hint(fmt::format("--gpu {} --gpus {}", fmt::join(names, ","), *counts.begin()))
                    .with_hint("without --gpus the best number of each is found; --max-gpus limits it"));
  }
  meant.flags.push_back({"--gpus", std::to_string(*counts.begin())});
  return meant;
}

// SkyPilot's "gcp/us-central1/us-central1-a".
MeantValues place(const std::string& flag, const std::string& value, const HasFlag& has) {
  const auto parts = split_list(value, '/');
  MeantValues meant{{{flag, std::string(parts[0])}}};
  for (const char* region : {"--region", "--regions"}) {
    if (parts.size() > 1 && parts[1] != "*" && meant.flags.size() == 1 && has(region))
      meant.flags.push_back({region, std::string(parts[1])});
  }
  return meant;
}

// accelerate's mixed precision keeps fp32 weights; our bf16 is pure.
std::string mixed_precision(const std::string& value) {
  const std::string folded = fold_name(value);
  if (folded == "no" || folded == "none") return "fp32";
  return folded == "bf16" || folded == "fp16" ? "amp-" + folded : value;
}

// "q_proj,v_proj": adapters on some matrices of the attention, or on others too.
std::string lora_targets(const std::string& value) {
  bool attention = true, known = true;
  for (const std::string_view part : split_list(value, ',')) {
    const std::string name = fold_name(part);
    const bool of_attention =
        is_one_of(name, {"qproj", "kproj", "vproj", "oproj", "qkvproj", "cattn", "querykeyvalue"});
    attention &= of_attention;
    known &= of_attention || is_one_of(name, {"gateproj", "upproj", "downproj", "gateupproj", "lmhead", "dense"});
  }
  return !known ? value : attention ? "attention" : "all-linear";
}

// Slurm's 1-12:00:00 and 24:00:00.
std::string slurm_time(const std::string& value) {
  const std::size_t dash = value.find('-');
  const auto parts = split_list(std::string_view(value).substr(dash == std::string::npos ? 0 : dash + 1), ':');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (parts.size() < 2 || parts.size() > 3 || !std::all_of(parts.begin(), parts.end(), digits)) return value;
  const std::string days = dash == std::string::npos ? "" : value.substr(0, dash) + "d";
  if (parts.size() == 2) return days + fmt::format("{}min{}s", parts[0], parts[1]);
  return days + fmt::format("{}h{}min", parts[0], parts[1]);
}

// A file where a format is meant: --output plan.json.
std::optional<Error> file_as_format(const std::string& value) {
  const std::size_t dot = value.rfind('.');
  if (dot == std::string::npos || value.find('(') != std::string::npos) return std::nullopt;
  const std::string ending = to_lower(value.substr(dot + 1));
  if (!is_one_of(ending, {"json", "csv", "html", "md", "txt", "yaml"})) return std::nullopt;
  return bad_input(fmt::format("--format takes a format, not the file '{}'", value))
      .with_hint(fmt::format("--format {} > {}", ending == "txt" || ending == "yaml" ? "text" : ending, value));
}

}  // namespace

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,") == std::string_view::npos;
}

Result<MeantValues> meant_values(const std::string& flag, std::string_view typed, const std::string& value,
                                 const HasFlag& has) {
  if (means_any(flag, value)) return MeantValues{{}, fmt::format("{} {} is not needed: any will do", typed, value)};
  if (typed == "--infra" && value.find('/') != std::string::npos) return place(flag, value, has);
  if (typed == "--infra" && is_one_of(to_lower(value), {"k8s", "kubernetes", "slurm", "ssh"})) {
    return fail(bad_input(fmt::format("'{}' sells no machines", value))
                    .with_hint("'recommend --emit kubernetes' (or slurm) writes the files for a cluster; --price says "
                               "what its GPUs cost"));
  }
  if (flag == "--precision" && typed != "--precision" && to_lower(value) == "auto")
    return MeantValues{{}, fmt::format("{} auto is not needed: the checkpoint's own format is taken", typed)};
  if (typed == "--mixed-precision") return MeantValues{{{flag, mixed_precision(value)}}};
  if (flag == "--lora-targets") return MeantValues{{{flag, meant_value(flag, lora_targets(value))}}};
  if (flag == "--deadline") return MeantValues{{{flag, slurm_time(value)}}};
  if (flag == "--min-memory" && value.ends_with('+')) {
    const std::string least = value.substr(0, value.size() - 1);
    return MeantValues{{{flag, least + (is_number(least) ? "GB" : "")}}};
  }
  if (flag == "--budget" && value.find("/h") != std::string::npos) {
    return fail(
        bad_input(fmt::format("{} {}: a budget is for the whole job (a service: a month), not an hour", typed, value))
            .with_hint("--budget 500; 'prices --sort usd-per-gpu-hour' lists what an hour costs"));
  }
  if (typed == "--concurrency-range") return MeantValues{{{flag, value.substr(value.find(':') + 1)}}};
  const bool list = value.find(',') != std::string::npos || value != without_brackets(value);
  const bool counted = value.find(':') != std::string::npos || value.find_first_of("xX") != std::string::npos;
  if (list && ((flag == "--gpus" && has("--gpu") && !is_number(value)) || (flag == "--gpu" && counted)))
    return gpu_list(value, has);
  if (flag == "--format") {
    if (auto refused = file_as_format(value)) return fail(*std::move(refused));
  }
  return MeantValues{{{flag, meant_value(flag, value)}}};
}

std::optional<MeantFlag> meant_filter(const std::string& text, const HasFlag& has) {
  std::string key, value;
  const std::size_t values = text.find(",Values=");
  if (const std::size_t equals = text.find_first_of("=:~"); text.starts_with("Name=") && values != std::string::npos) {
    key = text.substr(5, values - 5), value = text.substr(values + 8);
  } else if (equals != std::string::npos) {
    key = text.substr(0, equals);
    const std::size_t begin = text.find_first_not_of("=:~ ", equals);
    value = begin == std::string::npos ? "" : text.substr(begin);
  } else {
    value = text;
  }
  key = fold_name(key), value = trim(value);
  if (value.empty()) return std::nullopt;
  const auto any_of = [&](std::initializer_list<const char*> flags) -> std::optional<MeantFlag> {
    for (const char* flag : flags) {
      if (has(flag)) return MeantFlag{flag, value};
    }
    return std::nullopt;
  };
  if (is_one_of(key, {"", "name", "gpu", "gpuname", "accelerator", "acceleratorname", "model"}))
    return any_of({"--gpu", "--model"});
  if (is_one_of(key, {"instancetype", "machinetype", "instance", "machine", "vmsize"})) return any_of({"--instance"});
  if (is_one_of(key, {"region", "location"})) return any_of({"--region", "--regions"});
  if (is_one_of(key, {"cloud", "provider"})) return any_of({"--provider", "--providers"});
  if (key == "vendor") return any_of({"--vendor"});
  return std::nullopt;
}

}  // namespace rightsize::app
