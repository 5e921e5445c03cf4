#include "mig/current.h"

#include <algorithm>
#include <cmath>
#include <map>

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

struct Line {
  std::string_view text;
  std::size_t offset = 0;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({text.substr(begin, end - begin), begin});
    begin = end + 1;
  }
  return lines;
}

// The words of a table's row, without its border.
std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word : split_list(line, ' ')) {
    if (word != "|") words.push_back(word);
  }
  return words;
}

class CurrentReader {
 public:
  CurrentReader(const std::string& file, const std::string& text, const Geometry& geometry)
      : file_(file), text_(text), geometry_(geometry) {}

  Checked<RunningGpus> read() {
    if (text_.find("GPU instances") != std::string::npos || text_.find("MIG ") != std::string::npos)
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
  Place at(std::size_t offset, std::size_t length) const { return place_in(file_, text_, offset, length); }
  void mistake(const Place& place, std::string message, std::string hint = {}) {
    errors_.push_back(bad_input(std::move(message)).with_hint(std::move(hint)).at(place));
  }

  void add(RunningGpu& gpu, int profile, int start, std::string workload, const Place& place) {
    const Instance instance{profile, start};
    const catalog::MigProfile& info = geometry_.profile(profile);
    if (std::find(info.placements.begin(), info.placements.end(), start) == info.placements.end()) {
      mistake(place, fmt::format("{} cannot start at slice {} on {}", info.profile, start, geometry_.gpu().name),
              fmt::format("it may start at {}", fmt::join(info.placements, ", ")));
    } else if (!geometry_.may_join(gpu.layout(), instance)) {
      mistake(place, fmt::format("{} at slice {} does not fit next to {}", info.profile, start,
                                 describe_layout(gpu.layout(), geometry_)));
    } else {
      gpu.instances.push_back({instance, std::move(workload)});
    }
  }

  // "|   0  MIG 1g.10gb          19        9          4:1     |"
  void read_table() {
    std::map<std::string, std::size_t> by_name;
    for (const Line& line : lines_of(text_)) {
      const std::vector<std::string_view> words = cells(line.text);
      const Place place = at(line.offset, line.text.size());
      if (words.size() < 6 || words[1] != "MIG") continue;
      const Result<int> profile = geometry_.find_profile(words[2]);
      const std::size_t colon = words[5].find(':');
      const Result<std::int64_t> start = parse_integer(words[5].substr(0, std::min(colon, words[5].size())));
      if (!profile) {
        errors_.push_back(Error(profile.error()).at(place));
      } else if (!start || *start > 64 || colon == std::string_view::npos) {
        mistake(place, fmt::format("'{}' is not a placement", words[5]));
      } else {
        const std::string name(words[0]);
        const auto [index, fresh] = by_name.try_emplace(name, fleet_.size());
        if (fresh) fleet_.push_back({name, {}});
        add(fleet_[index->second], *profile, static_cast<int>(*start), fmt::format("gpu{}-gi{}", name, words[4]),
            place);
      }
    }
  }

  void read_lines() {
    for (const Line& line : lines_of(text_)) {
      std::string_view text = line.text.substr(0, std::min(line.text.find('#'), line.text.size()));
      if (trim(text).empty()) continue;
      RunningGpu gpu{std::to_string(fleet_.size()), {}};
      if (trim(text) != "-") {  // a GPU with nothing on it
        for (std::string_view word : split_list(text, ',')) read_word(gpu, word, at(offset_of(word), word.size()));
      }
      fleet_.push_back(std::move(gpu));
    }
  }
  std::size_t offset_of(std::string_view part) const { return static_cast<std::size_t>(part.data() - text_.data()); }

  void read_word(RunningGpu& gpu, std::string_view word, const Place& place) {
    const std::size_t equals = word.find('=');
    const std::string workload(equals == std::string_view::npos ? "" : trim(word.substr(equals + 1)));
    Checked<Layout> layout = parse_layout(trim(word.substr(0, std::min(equals, word.size()))), geometry_);
    if (!layout) {
      for (Error& error : layout.error()) errors_.push_back(std::move(error).at(place));
      return;
    }
    for (const Instance& instance : *layout) {
      if (instance.start < 0) {
        mistake(place, fmt::format("'{}' has no start", trim(word)),
                "write the first memory slice after '@': 1g.10gb@4");
      } else {
        add(gpu, instance.profile, instance.start, workload, place);
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
    if (gpus == nullptr || gpus->kind != YamlValue::Kind::kList) {
      return mistake(document->place(document->root()), "'gpus' must be a list");
    }
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
    if (profile == nullptr || start == nullptr) {
      return mistake(document.place(item), "an instance needs 'profile' and 'start'");
    }
    const Result<int> index = geometry_.find_profile(profile->scalar);
    const Result<std::int64_t> begins = parse_integer(start->scalar);
    if (!index) {
      errors_.push_back(Error(index.error()).at(document.place(*profile)));
    } else if (!begins || *begins > 64) {
      mistake(document.place(*start), fmt::format("'{}' is not a slice number", start->scalar));
    } else {
      add(gpu, *index, static_cast<int>(*begins), workload == nullptr ? "" : workload->scalar, document.place(item));
    }
  }

  const std::string& file_;
  const std::string& text_;
  const Geometry& geometry_;
  RunningGpus fleet_;
  Errors errors_;
};

// "{0,2,4}:2" -> starts and size.
bool read_placements(std::string_view text, ListedProfile& profile) {
  const std::size_t open = text.find('{'), close = text.find('}'),
                    colon = text.find(':', close == std::string_view::npos ? 0 : close);
  if (open == std::string_view::npos || close == std::string_view::npos || colon == std::string_view::npos ||
      close < open)
    return false;
  for (std::string_view word : split_list(text.substr(open + 1, close - open - 1), ',')) {
    const Result<std::int64_t> start = parse_integer(word);
    if (!start || *start < 0 || *start > 64) return false;
    profile.placements.push_back(static_cast<int>(*start));
  }
  const Result<std::int64_t> size = parse_integer(trim(text.substr(colon + 1)));
  if (!size || *size < 1 || *size > 64) return false;
  profile.size = static_cast<int>(*size);
  return true;
}

}  // namespace

Checked<RunningGpus> read_current(const std::string& file, const std::string& text, const Geometry& geometry) {
  return CurrentReader(file, text, geometry).read();
}

Checked<std::vector<ListedProfile>> read_profile_list(const std::string& file, const std::string& text) {
  std::vector<ListedProfile> profiles;
  Errors errors;
  std::string gpu;  // only the first GPU of the text counts
  for (const Line& line : lines_of(text)) {
    const std::vector<std::string_view> words = cells(line.text);
    auto mistake = [&](std::string what) {
      errors.push_back(bad_input(std::move(what)).at(place_in(file, text, line.offset, line.text.size())));
    };
    // "|   0  MIG 1g.18gb         19     7/7        16.00      No     16     1     0   |"
    if (words.size() >= 8 && words[1] == "MIG") {
      if (gpu.empty()) gpu = words[0];
      if (words[0] != gpu) continue;
      const std::size_t slash = words[4].find('/');
      const Result<std::int64_t> id = parse_integer(words[3]), sms = parse_integer(words[7]);
      const Result<std::int64_t> free = parse_integer(words[4].substr(0, std::min(slash, words[4].size())));
      const Result<std::int64_t> total =
          parse_integer(slash == std::string_view::npos ? "" : words[4].substr(slash + 1));
      const Result<double> memory = parse_number(words[5]);
      const bool sane =
          id && sms && free && total && memory && *id < 10'000 && *sms < 10'000 && *free < 100 && *total < 100;
      if (!sane) {
        mistake("this row of the profile list cannot be read");
        continue;
      }
      profiles.push_back({std::string(words[2]),
                          static_cast<int>(*id),
                          static_cast<int>(*free),
                          static_cast<int>(*total),
                          gib(*memory),
                          static_cast<int>(*sms),
                          {},
                          0});
    }
    // "GPU  0 Profile ID 15 Placements: {0,2,4,6}:2"
    if (words.size() >= 6 && words[0] == "GPU" && words[2] == "Profile" && words[3] == "ID" &&
        (gpu.empty() || words[1] == gpu)) {
      const Result<std::int64_t> id = parse_integer(words[4]);
      auto profile =
          std::find_if(profiles.begin(), profiles.end(), [&](const ListedProfile& p) { return id && p.id == *id; });
      if (profile == profiles.end()) {
        mistake("placements of a profile that is not listed above");
      } else if (!profile->placements.empty() || !read_placements(line.text, *profile)) {
        mistake("these placements cannot be read");
      }
    }
  }
  if (profiles.empty() && errors.empty()) {
    errors.push_back(
        bad_input(fmt::format("{} has no MIG profile", file)).with_hint("pass the output of 'nvidia-smi mig -lgip'"));
  }
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
    if (!theirs.placements.empty()) {
      differ("placements", fmt::format("{}", fmt::join(theirs.placements, ",")),
             fmt::format("{}", fmt::join(ours.placements, ",")));
    }
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
    result.rows.push_back(
        {profile, geometry.free_for(profile, occupied, false), geometry.free_for(profile, occupied, true)});
    const Fragmentation::Row& row = result.rows.back();
    if (row.fits_repacked <= row.fits_now) continue;
    const std::string& name = geometry.profile(profile).profile;
    result.sentence = fmt::format(
        "{} of {} memory slices and {} of {} compute slices are free, but {} {} fits; {} would if other slices moved.",
        result.free_memory_slices, geometry.memory_slices(), result.free_compute_slices, geometry.compute_slices(),
        row.fits_now == 0 ? "no" : fmt::format("only {}", row.fits_now), name, row.fits_repacked);
  }
  return result;
}

}  // namespace rightsize::mig
