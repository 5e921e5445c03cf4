#include "rightsize/mig/input.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "diagnose/observer.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/sentence.h"
#include "telemetry/live.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using mig::Geometry;
using mig::GpuType;
using mig::RunningGpus;

std::vector<std::string> partitionable(const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Gpu& gpu : catalog.gpus) {
    if (Geometry::of(catalog, gpu)) names.push_back(gpu.name);
  }
  return names;
}

Error not_partitionable(const Gpu& gpu, const catalog::Catalog& catalog) {
  return bad_input(fmt::format("{} does not support MIG", gpu.name))
      .with_hint(fmt::format("these do: {}", fmt::join(partitionable(catalog), ", ")));
}

// The GPUs of this machine in MIG mode.
Result<std::vector<telemetry::MigLayout>> layouts_here() {
  RIGHTSIZE_TRY(std::vector<telemetry::MigLayout> layouts, telemetry::read_mig_layout());
  std::erase_if(layouts, [](const telemetry::MigLayout& layout) { return !layout.enabled; });
  if (!layouts.empty()) return layouts;
  return fail(unreadable("no GPU of this machine is in MIG mode").with_hint("'nvidia-smi -i 0 -mig 1' turns it on"));
}

Result<const Gpu*> chosen_gpu(const MigFlags& flags, const catalog::Catalog& catalog) {
  if (flags.gpus.size() == 1) return named_gpu(catalog, flags.gpus[0]);
  if (flags.gpus.empty() && !flags.current.empty() && flags.current != "nvml") {
    RIGHTSIZE_TRY(const std::string text, read_file(flags.current));
    if (const std::string named = mig::listed_gpu(text); !named.empty()) {
      note("'nvidia-smi -L' lists no placements: the driver's usual ones are assumed");
      return named_gpu(catalog, named);
    }
  }
  if (!flags.gpus.empty() || flags.current != "nvml")
    return fail(bad_input("--gpu is missing").with_hint("for example --gpu h100-sxm"));
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, layouts_here());
  if (const Gpu* gpu = diagnose::identify(catalog, layouts.front().gpu)) return gpu;
  return fail(bad_input(fmt::format("'{}' is not in the catalogue", layouts.front().gpu.name))
                  .with_hint("pass its name: --gpu h100-sxm"));
}

// The GPUs of this machine. NVML does not report who uses an instance, so every instance counts as used, under its name
// in `nvidia-smi mig -lgi`.
Checked<RunningGpus> gpus_here(const Geometry& geometry) {
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, layouts_here());
  RunningGpus gpus;
  for (const telemetry::MigLayout& layout : layouts) {
    mig::RunningGpu gpu{std::to_string(layout.gpu.index), {}};
    for (const telemetry::MigInstance& instance : layout.instances) {
      RIGHTSIZE_TRY(const int profile, geometry.find_profile(instance.profile));
      const mig::Instance where{profile, instance.start};
      if (!geometry.may_join(gpu.layout(), where)) {
        return fail(bad_input(fmt::format("GPU {} has {} at {}, which does not fit a {}", layout.gpu.index,
                                          instance.profile, instance.start, geometry.gpu().name))
                        .with_hint(fmt::format("check --gpu: the driver calls it '{}'", layout.gpu.name)));
      }
      gpu.instances.push_back({where, fmt::format("gpu{}-gi{}", layout.gpu.index, instance.id)});
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string as_name(std::string_view text) {
  std::string name = to_lower(trim(text));
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
  return name;
}

// Columns of a table of workloads and the keys that they mean. Other columns are keys themselves.
constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"workload service app", "name"},
    {"mem vram gpumemory memorygb memorygib memgb gpumem size", "memory"},
    {"compute sm sms util utilization gpuutil busy", "load"},
    {"count copies instances n number", "replicas"},
    {"rps qps requests", "rate"},
};

std::string key_of(std::string_view column) {
  const std::string folded = fold_name(column);
  for (const auto& [columns, key] : kColumns) {
    const std::vector<std::string_view> names = split_list(columns, ' ');
    if (std::ranges::find(names, folded) != names.end()) return std::string(key);
  }
  return to_lower(trim(column));
}

// latency_ms, memory_gb, rate_per_s: the key and its unit. A limit that slices are not planned for keeps its name.
std::pair<std::string, std::string> key_of_column(const std::string& column) {
  const auto [name, unit] = split_unit("--" + tidied(trim(column)));
  const std::optional<LatencyLimitName> limit = read_limit_name(name.substr(2));
  if (limit && limit->metric == LatencyMetric::kLatency) return {"latency", unit};
  if (limit && limit->metric) return {column, unit};
  return {key_of(unit.empty() ? column : name.substr(2)), unit};
}

// A table with a header as workloads; nothing where the text is none.
std::optional<WorkloadsText> workloads_of_table(const std::string& file, const std::string& text) {
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (first.find(',') == std::string_view::npos || first.find_first_of(":{[") != std::string_view::npos)
    return std::nullopt;
  const Checked<Csv> csv = Csv::parse(file, text);
  if (!csv) return std::nullopt;
  WorkloadsText yaml{"workloads:\n", {csv->header_place(0)}};
  for (const CsvRow& row : csv->rows()) {
    bool first_entry = true;
    for (const std::string& column : csv->header()) {
      const auto [key, unit] = key_of_column(column);
      std::string value(trim(csv->cell(row, column)));
      if (value.empty()) continue;
      if (parse_number(value)) value += unit;
      if (key == "name") value = as_name(value);
      if (key == "memory" && parse_number(value)) value += "GiB";
      yaml.text += fmt::format("{} {}: '{}'\n", std::exchange(first_entry, false) ? "-" : " ", key, value);
      yaml.places.push_back(csv->place(row, column));
    }
  }
  return yaml;
}

// "3x10GB, 2x5GB", "4 models of 5GB and one of 18GB": workloads that are known by their memory.
std::optional<std::string> workloads_of_sizes(const std::string& text) {
  std::map<std::string, int> sizes;
  std::string number;
  int count = 1;
  const std::string lower = to_lower(text) + " ";
  for (std::size_t at = 0; at < lower.size();) {
    const bool digit = lower[at] >= '0' && lower[at] <= '9';
    if (!digit) {
      ++at;
      continue;
    }
    const std::size_t end = lower.find_first_not_of("0123456789.", at);
    const std::string value = lower.substr(at, end - at);
    const std::size_t unit = lower.find_first_not_of(' ', end);
    at = end;
    const bool size = unit != std::string::npos && (lower[unit] == 'g' || lower[unit] == 'm') &&
                      (lower.compare(unit + 1, 1, "b") == 0 || lower.compare(unit + 1, 2, "ib") == 0);
    if (size) {
      sizes[value + (lower[unit] == 'g' ? "GiB" : "MiB")] += std::exchange(count, 1);
    } else if (const Result<std::int64_t> many = parse_integer(value); many && *many > 0 && *many < 1000) {
      count = static_cast<int>(*many);
    }
  }
  if (sizes.empty()) return std::nullopt;
  std::string yaml = "workloads:\n";
  for (const auto& [size, replicas] : sizes)
    yaml += fmt::format("- {{name: '{}', memory: {}, replicas: {}}}\n", as_name("model-" + size), size, replicas);
  return yaml;
}

}  // namespace

std::string workload_key(const std::string& key) {
  const std::optional<LatencyLimitName> limit = read_limit_name(key);
  if (limit && limit->metric) return limit->metric == LatencyMetric::kLatency ? "latency" : "unused";
  const std::string named = key_of(key);
  const bool known = named == "load" || named == "memory" || named == "replicas" || named == "rate";
  return known && named != to_lower(key) ? named : our_key(key);
}

void WorkloadsText::move(Place& place) const {
  const auto line = static_cast<std::size_t>(std::max(place.line, 1)) - 1;
  if (line < places.size()) place = places[line];
}

Result<WorkloadsText> workloads_text(const std::string& typed) {
  std::error_code ignored;
  if (typed != "-" && !std::filesystem::exists(typed, ignored)) {
    if (std::optional<std::string> sizes = workloads_of_sizes(typed)) return WorkloadsText{*std::move(sizes), {}};
  }
  RIGHTSIZE_TRY(std::string text, read_file(typed));
  return workloads_of_table(typed, text).value_or(WorkloadsText{text, {}});
}

std::string_view without_marks(std::string_view word) {
  constexpr std::string_view kMarks = ",;:?!.()\"'";
  while (!word.empty() && kMarks.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  while (!word.empty() && kMarks.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
  return word;
}

std::string slices_in(std::string_view sentence) {
  std::string slices;
  std::int64_t count = 1;
  for (std::string_view word : split_list(sentence, ' ')) {
    word = without_marks(word);
    std::string lower = to_lower(word);
    if (lower.starts_with("mig-")) lower.erase(0, 4);
    if (lower.ends_with("gbs")) lower.pop_back();
    // "3g.40gb", "2x3g.40gb", "1g.10gb+me".
    const std::size_t g = lower.find("g."), gb = lower.find("gb", std::min(g, lower.size()));
    const bool slice = g != std::string::npos && g > 0 && gb != std::string::npos && gb > g + 2 &&
                       lower.find_first_not_of("0123456789x") == g &&
                       lower.find_first_not_of("0123456789", g + 2) == gb;
    if (slice)
      slices += fmt::format("{}{}{}", slices.empty() ? "" : ",", count > 1 ? fmt::format("{}x", count) : "", lower);
    if (lower.ends_with('x')) lower.pop_back();
    const std::string digits = digits_of(lower).empty() ? lower : digits_of(lower);
    // Words between the number and the slice keep it: "two of the 3g.40gb".
    const Result<std::int64_t> number = parse_integer(digits);
    if (number && *number > 0) count = *number;
    if (slice) count = 1;
  }
  return slices;
}

std::string workloads_of(const std::vector<std::string>& models) {
  std::map<std::string, int> counts;
  for (const std::string& model : models) {  // "3x bert-base" and "3 bert-base" are three
    static const std::regex kMany("([0-9]{1,3})(?: *x *| +)(.+)");
    std::smatch parts;
    const bool many = std::regex_match(model, parts, kMany);
    counts[many ? parts[2].str() : model] += many ? std::atoi(parts[1].str().c_str()) : 1;
  }
  std::string text = "workloads:\n";
  for (const auto& [model, count] : counts)
    text += fmt::format("- {{name: '{}', model: '{}', replicas: {}}}\n", as_name(model.substr(model.rfind('/') + 1)),
                        model, count);
  return text;
}

Result<std::vector<GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                           const market::PriceBook& prices, catalog::Purchase purchase) {
  const catalog::Catalog& catalog = prices.catalog();
  const std::vector<std::string>& names = flags.gpus.empty() ? file.gpus : flags.gpus;
  std::vector<GpuType> types;
  const auto add = [&](const Gpu& gpu) -> Result<> {
    if (std::ranges::find(types, &gpu, &GpuType::gpu) != types.end()) return {};
    if (!Geometry::of(catalog, gpu)) return fail(not_partitionable(gpu, catalog));
    std::optional<GpuType> type = mig::priced_type(prices, gpu, purchase);
    if (!type)
      return fail(bad_input(fmt::format("the catalogue has no {} price for {}", catalog::name_of(purchase), gpu.name))
                      .with_hint(fmt::format("pass yours: --price {}=2.50USD/h", gpu.name)));
    types.push_back(*std::move(type));
    return {};
  };
  if (names.empty()) {
    for (const Gpu& gpu : catalog.gpus) static_cast<void>(add(gpu));
  }
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(const std::vector<const Gpu*> matched, catalog.match_gpus(name));
    // From a GPU family, take the members that support MIG.
    std::optional<Error> first;
    bool any = false;
    for (const Gpu* gpu : matched) {
      const Result<> added = add(*gpu);
      any = any || added.has_value();
      if (!added && !first) first = added.error();
    }
    if (!any) return fail(*first);
  }
  return types;
}

Result<Geometry> chosen_geometry(const MigFlags& flags, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const Gpu* gpu, chosen_gpu(flags, catalog));
  if (std::optional<Geometry> geometry = Geometry::of(catalog, *gpu)) return *std::move(geometry);
  return fail(not_partitionable(*gpu, catalog));
}

Checked<RunningGpus> read_current_gpus(const Geometry& geometry, const std::string& current) {
  if (current == "nvml") return gpus_here(geometry);
  RIGHTSIZE_TRY(const std::string text, read_file(current));
  return mig::read_current(current, text, geometry);
}

}  // namespace rightsize::app
