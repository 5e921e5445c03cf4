#include "mig/current.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "base/yaml.h"

namespace rightsize::mig {

Layout RunningGpu::layout() const {
  Layout layout;
  for (const RunningInstance& instance : instances) layout.push_back(instance.where);
  return layout;
}

namespace {

constexpr std::int64_t kMostSlices = 64;

// The words of a line of nvidia-smi's tables, without the border.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split_list(line, ' ');
  std::erase(words, "|");
  return words;
}

std::optional<int> number_up_to(std::string_view text, std::int64_t most) {
  const Result<std::int64_t> number = parse_integer(text);
  return number && *number >= 0 && *number <= most ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// The parts before and after the first `separator`; the second is empty without one.
std::pair<std::string_view, std::string_view> halves(std::string_view text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

class CurrentReader {
 public:
  CurrentReader(const std::string& file, const std::string& text, const Geometry& geometry)
      : file_(file), text_(text), geometry_(geometry) {}

  Checked<RunningGpus> read() {
    if (!listed_gpu(text_).empty())
      read_list();
    else if (text_.find("GPU instances") != std::string::npos || text_.find("MIG ") != std::string::npos)
      read_table();
    else if (text_.find("gpus:") != std::string::npos)
      read_yaml();
    else
      read_lines();
    if (errors_.empty() && fleet_.empty()) {
      errors_.push_back(
          bad_input(fmt::format("{} has no GPU", file_))
              .with_hint("pass the output of 'nvidia-smi mig -lgi', or one layout per line: 3g.40gb@0, 1g.10gb@4"));
    }
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(fleet_);
  }

 private:
  // The place of a part of the text.
  Place place(std::string_view part) const {
    return place_in(file_, text_, static_cast<std::size_t>(part.data() - text_.data()), part.size());
  }
  void mistake(const Place& where, std::string message, std::string hint = {}) {
    errors_.push_back(bad_input(std::move(message)).with_hint(std::move(hint)).at(where));
  }

  void read_instance(RunningGpu& gpu, std::string_view profile, std::string_view start, std::string workload,
                     const Place& where) {
    const Result<int> index = geometry_.find_profile(profile);
    const std::optional<int> begins = number_up_to(start, kMostSlices);
    if (!index) {
      errors_.push_back(Error(index.error()).at(where));
    } else if (!begins) {
      mistake(where, fmt::format("'{}' is not a slice number", start));
    } else {
      add(gpu, {*index, *begins}, std::move(workload), where);
    }
  }

  void add(RunningGpu& gpu, const Instance& instance, std::string workload, const Place& where) {
    const catalog::MigProfile& info = geometry_.profile(instance.profile);
    if (std::ranges::find(info.placements, instance.start) == info.placements.end()) {
      mistake(where,
              fmt::format("{} cannot start at slice {} on {}", info.profile, instance.start, geometry_.gpu().name),
              fmt::format("it may start at {}", fmt::join(info.placements, ", ")));
    } else if (!geometry_.may_join(gpu.layout(), instance)) {
      mistake(where, fmt::format("{} at slice {} does not fit next to {}", info.profile, instance.start,
                                 describe_layout(gpu.layout(), geometry_)));
    } else {
      gpu.instances.push_back({instance, std::move(workload)});
    }
  }

  // "|   0  MIG 1g.10gb          19        9          4:1     |"
  void read_table() {
    for (std::string_view line : split_list(text_, '\n')) {
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() < 6 || words[1] != "MIG") continue;
      const auto [start, size] = halves(words[5], ':');
      auto gpu = std::ranges::find(fleet_, words[0], &RunningGpu::name);
      if (gpu == fleet_.end()) gpu = fleet_.insert(gpu, {std::string(words[0]), {}});
      read_instance(*gpu, words[2], size.empty() ? words[5] : start, fmt::format("gpu{}-gi{}", words[0], words[4]),
                    place(line));
    }
  }

  // "GPU 0: NVIDIA A100-SXM4-80GB (UUID: ...)", "  MIG 3g.40gb     Device  0: (UUID: ...)". The list has no starts.
  void read_list() {
    Layout wanted;
    std::string_view last;
    const auto place_all = [&] {
      const std::optional<Layout> placed = geometry_.place(wanted);
      if (!placed) return mistake(place(last), fmt::format("these slices do not fit a {}", geometry_.gpu().name));
      for (const Instance& instance : *placed) {
        const std::size_t number = fleet_.back().instances.size();
        fleet_.back().instances.push_back({instance, fmt::format("gpu{}-{}", fleet_.back().name, number)});
      }
      wanted.clear();
    };
    for (const std::string_view line : split_list(text_, '\n')) {
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() > 2 && words[0] == "GPU" && words[1].ends_with(':')) {
        if (!fleet_.empty()) place_all();
        fleet_.push_back({std::string(words[1].substr(0, words[1].size() - 1)), {}});
        last = line;
      } else if (words.size() > 2 && words[0] == "MIG" && !fleet_.empty()) {
        if (const Result<int> profile = geometry_.find_profile(words[1]))
          wanted.push_back({*profile, -1});
        else
          errors_.push_back(Error(profile.error()).at(place(line)));
      }
    }
    place_all();
  }

  void read_lines() {
    for (std::string_view line : split_list(text_, '\n')) {
      const std::string_view text = trim(halves(line, '#').first);
      if (text.empty()) continue;
      RunningGpu gpu{std::to_string(fleet_.size()), {}};
      if (text != "-") {  // a GPU with nothing on it
        for (std::string_view word : split_list(text, ',')) read_word(gpu, word, place(word));
      }
      fleet_.push_back(std::move(gpu));
    }
  }

  void read_word(RunningGpu& gpu, std::string_view word, const Place& where) {
    const auto [slices, workload] = halves(word, '=');
    Checked<Layout> layout = parse_layout(trim(slices), geometry_);
    if (!layout) {
      for (Error& error : layout.error()) errors_.push_back(std::move(error).at(where));
      return;
    }
    for (const Instance& instance : *layout) {
      if (instance.start < 0) {
        mistake(where, fmt::format("'{}' has no start", trim(word)),
                "write the first memory slice after '@': 1g.10gb@4");
      } else {
        add(gpu, instance, std::string(trim(workload)), where);
      }
    }
  }

  void read_yaml() {
    Result<YamlDocument> document = YamlDocument::parse(file_, text_);
    if (!document) {
      errors_.push_back(std::move(document).error());
      return;
    }
    const YamlValue* gpus = document->root().find("gpus");
    if (gpus == nullptr || gpus->kind != YamlValue::Kind::kList)
      return mistake(document->place(document->root()), "'gpus' must be a list");
    for (const YamlValue& entry : gpus->list) {
      RunningGpu gpu{std::to_string(fleet_.size()), {}};
      if (const YamlValue* name = entry.find("name"); name != nullptr && !name->scalar.empty()) gpu.name = name->scalar;
      const YamlValue* instances = entry.find("instances");
      if (entry.kind != YamlValue::Kind::kMapping || instances == nullptr ||
          (instances->kind != YamlValue::Kind::kList && instances->kind != YamlValue::Kind::kNull)) {
        mistake(document->place(entry), "a GPU is a mapping with a list 'instances'");
        continue;
      }
      for (const YamlValue& item : instances->list) read_yaml_instance(*document, gpu, item);
      fleet_.push_back(std::move(gpu));
    }
  }

  void read_yaml_instance(const YamlDocument& document, RunningGpu& gpu, const YamlValue& item) {
    const YamlValue *profile = item.find("profile"), *start = item.find("start"), *workload = item.find("workload");
    if (profile == nullptr || start == nullptr)
      return mistake(document.place(item), "an instance needs 'profile' and 'start'");
    read_instance(gpu, profile->scalar, start->scalar, workload == nullptr ? "" : workload->scalar,
                  document.place(item));
  }

  const std::string& file_;
  const std::string& text_;
  const Geometry& geometry_;
  RunningGpus fleet_;
  Errors errors_;
};

// "GPU  0 Profile ID 15 Placements: {0,2,4,6}:2"; false if it cannot be read.
bool read_placements(std::string_view line, ListedProfile& profile) {
  const auto [starts, rest] = halves(halves(line, '{').second, '}');
  for (std::string_view word : split_list(starts, ',')) {
    const std::optional<int> start = number_up_to(word, kMostSlices);
    if (!start) return false;
    profile.placements.push_back(*start);
  }
  profile.size = number_up_to(trim(halves(rest, ':').second), kMostSlices).value_or(0);
  return profile.size > 0;
}

// "|   0  MIG 1g.18gb         19     7/7        16.00      No     16     1     0   |"
std::optional<ListedProfile> read_profile(const std::vector<std::string_view>& words) {
  const auto [free, total] = halves(words[4], '/');
  const std::optional<int> id = number_up_to(words[3], 10'000), sms = number_up_to(words[7], 10'000);
  const std::optional<int> open = number_up_to(free, 100), all = number_up_to(total, 100);
  const Result<double> memory = parse_number(words[5]);
  if (!id || !sms || !open || !all || !memory) return std::nullopt;
  return ListedProfile{std::string(words[2]), *id, *open, *all, gib(*memory), *sms, {}, 0};
}

}  // namespace

std::string listed_gpu(std::string_view text) {
  for (const std::string_view line : split_list(text, '\n')) {
    const std::size_t colon = line.find(": "), end = line.find(" (UUID");
    if (line.starts_with("GPU ") && colon < end && end != std::string_view::npos)
      return std::string(line.substr(colon + 2, end - colon - 2));
  }
  return {};
}

Checked<RunningGpus> read_current(const std::string& file, const std::string& text, const Geometry& geometry) {
  return CurrentReader(file, text, geometry).read();
}

bool is_mig_parted(const std::string& text) { return text.find("mig-configs:") != std::string::npos; }

Checked<std::vector<PartedLayout>> read_mig_parted(const std::string& file, const std::string& text,
                                                   const Geometry& geometry) {
  RIGHTSIZE_TRY(const YamlDocument document, YamlDocument::parse(file, text));
  std::vector<PartedLayout> layouts;
  Errors errors;
  const auto mistake = [&](const YamlValue& at, std::string what) {
    errors.push_back(bad_input(std::move(what)).at(document.place(at)));
  };
  const auto read_entry = [&](const YamlValue& name, const YamlValue& entry) {
    const YamlValue *devices = entry.find("devices"), *slices = entry.find("mig-devices");
    if (devices == nullptr) return mistake(entry, "'devices' is missing");
    PartedLayout& read = layouts.emplace_back(PartedLayout{name.scalar, devices->scalar, {}, {}});
    for (const YamlValue& device : devices->list) read.devices += (read.devices.empty() ? "" : ", ") + device.scalar;
    if (slices == nullptr || slices->kind != YamlValue::Kind::kMapping) return;
    for_each_entry(document, *slices, errors, [&](const YamlValue& profile, const YamlValue& count) {
      const Result<int> index = geometry.find_profile(profile.scalar);
      const std::optional<int> number = number_up_to(count.scalar, kMostSlices);
      if (!number) return mistake(count, fmt::format("'{}' is not a number of slices", count.scalar));
      if (!index) {
        read.problem = index.error().message;
      } else {
        read.layout.insert(read.layout.end(), static_cast<std::size_t>(*number), Instance{*index, -1});
      }
    });
    if (read.layout.size() > static_cast<std::size_t>(kMostSlices))
      read.layout.clear(), read.problem = "more slices than any GPU has";
  };
  const YamlValue* configs = document.root().find("mig-configs");
  if (configs == nullptr || configs->kind != YamlValue::Kind::kMapping)
    return fail(Errors{bad_input("'mig-configs' must be a mapping").at(document.place(document.root()))});
  for_each_entry(document, *configs, errors, [&](const YamlValue& name, const YamlValue& entries) {
    if (entries.kind != YamlValue::Kind::kList) return mistake(entries, "a configuration must be a list");
    for (const YamlValue& entry : entries.list) read_entry(name, entry);
  });
  // Without slices, MIG is off.
  std::erase_if(layouts, [](const PartedLayout& read) { return read.layout.empty() && read.problem.empty(); });
  if (errors.empty() && layouts.empty()) errors.push_back(bad_input(fmt::format("{} has no MIG slices", file)));
  if (!errors.empty()) return fail(std::move(errors));
  return layouts;
}

Checked<std::vector<ListedProfile>> read_profile_list(const std::string& file, const std::string& text) {
  std::vector<ListedProfile> profiles;
  Errors errors;
  std::string gpu;  // only the first GPU of the text counts
  for (std::string_view line : split_list(text, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    auto mistake = [&](std::string what) {
      const auto offset = static_cast<std::size_t>(line.data() - text.data());
      errors.push_back(bad_input(std::move(what)).at(place_in(file, text, offset, line.size())));
    };
    if (words.size() >= 8 && words[1] == "MIG") {
      if (gpu.empty()) gpu = words[0];
      if (words[0] != gpu) continue;
      if (std::optional<ListedProfile> profile = read_profile(words)) {
        profiles.push_back(*std::move(profile));
      } else {
        mistake("this row of the profile list cannot be read");
      }
    }
    if (words.size() >= 6 && words[0] == "GPU" && words[2] == "Profile" && words[3] == "ID" &&
        (gpu.empty() || words[1] == gpu)) {
      const auto profile = std::ranges::find(profiles, number_up_to(words[4], 10'000), &ListedProfile::id);
      if (profile == profiles.end()) {
        mistake("placements of a profile that is not listed above");
      } else if (!profile->placements.empty() || !read_placements(line, *profile)) {
        mistake("these placements cannot be read");
      }
    }
  }
  if (profiles.empty() && errors.empty())
    errors.push_back(
        bad_input(fmt::format("{} has no MIG profile", file)).with_hint("pass the output of 'nvidia-smi mig -lgip'"));
  if (!errors.empty()) return fail(std::move(errors));
  return profiles;
}

std::vector<std::string> differences(const std::vector<ListedProfile>& listed, const Geometry& geometry) {
  std::vector<std::string> found;
  std::vector<bool> seen(geometry.profiles().size(), false);
  for (const ListedProfile& theirs : listed) {
    const Result<int> index = geometry.find_profile(theirs.name);
    if (!index) {
      found.push_back(fmt::format("{}: not in our table", theirs.name));
      continue;
    }
    seen[static_cast<std::size_t>(*index)] = true;
    const catalog::MigProfile& ours = geometry.profile(*index);
    auto differ = [&](const char* what, const auto& a, const auto& b) {
      if (a != b) found.push_back(fmt::format("{}: {} {} in the list, {} in our table", theirs.name, what, a, b));
    };
    differ("name", theirs.name, ours.profile);
    differ("id", theirs.id, ours.id);
    differ("instances", theirs.total, ours.instances);
    if (ours.sms) differ("SMs", theirs.sms, *ours.sms);
    constexpr double kRounding = 0.006;  // GiB: the list shows two digits
    if (std::abs(in_gib(theirs.memory) - in_gib(ours.memory)) > kRounding)
      differ("memory", format_bytes(theirs.memory), format_bytes(ours.memory));
    if (theirs.size > 0) differ("memory slices", theirs.size, ours.memory_slices);
    if (!theirs.placements.empty())
      differ("placements", fmt::format("{}", fmt::join(theirs.placements, ",")),
             fmt::format("{}", fmt::join(ours.placements, ",")));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) found.push_back(fmt::format("{}: in our table, not in the list", geometry.profiles()[i].profile));
  }
  return found;
}

Fragmentation fragmentation(const Geometry& geometry, const Layout& occupied) {
  Fragmentation result;
  result.free_memory_slices = geometry.memory_slices();
  result.free_compute_slices = geometry.compute_slices();
  for (const Instance& instance : occupied) {
    result.free_memory_slices -= geometry.profile(instance.profile).memory_slices;
    result.free_compute_slices -= geometry.profile(instance.profile).compute_slices;
  }
  for (int profile : geometry.plain_profiles()) {
    const Fragmentation::Row& row = result.rows.emplace_back(
        Fragmentation::Row{geometry.profile(profile).profile, geometry.free_for(profile, occupied, false),
                           geometry.free_for(profile, occupied, true)});
    if (row.fits_repacked <= row.fits_now) continue;
    result.sentence = fmt::format(
        "{} of {} memory slices and {} of {} compute slices are free, but {} {} fits; {} would if other slices moved.",
        result.free_memory_slices, geometry.memory_slices(), result.free_compute_slices, geometry.compute_slices(),
        row.fits_now == 0 ? "no" : fmt::format("only {}", row.fits_now), row.profile, row.fits_repacked);
  }
  return result;
}

}  // namespace rightsize::mig
