#include "rightsize/typed/combined.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/date.h"
#include "base/suggest.h"
#include "base/text.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/foreign_file.h"
#include "rightsize/typed/foreign_keys.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

class Combiner {
 public:
  Combiner(Typed& typed, const std::deque<FlagInfo>& declared) : typed_(typed), declared_(declared) {}

  void run() {
    put_foreign_files(typed_, declared_);
    if (has("--resolution")) put_resolution();
    if (has("--listen")) put_address();
    if (has("--base")) put_peak();
    if (has("--speculate")) put_draft();
    if (has("--algorithm")) put_rl();
    if (has("--provider")) put_place();
    if (has("--carbon")) put_grid();
    if (has("--slo") || has("--ttft-slo")) put_goodput();
    if (has("--scaling-policy")) put_target();
    if (has("--audio-hours")) put_audio();
    if (has("--images")) put_pages();
    if (has("--team-tag") && !has("--by")) put_group();
    if (has("--since") && has("--until")) put_month();
    if (has("--since") && has("--until")) put_quarter();
    if (has("--volume") && has("--window")) put_clock();
    if (has("--item-time")) put_speed();
    if (has("--frames")) put_seconds();
    if (has("--status") && has("--since")) drop_group();
    if (has("--measured") && has("--profile")) put_recording();
    if (has("--list-layouts")) put_layout();
    if (has("--match") && has("--prometheus")) put_matcher();
    if (has("--disaggregated")) drop_switch();
    if (has("--hours-per-day")) put_hours();
  }

 private:
  bool has(std::string_view name) const { return find_flag(declared_, name) != nullptr; }

  // Removes a flag that the command does not have, in any of its spellings, and returns its value.
  std::optional<std::string> take(std::string_view names) {
    std::vector<std::string>& words = typed_.words;
    for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
      std::string name = words[i].substr(0, words[i].find('='));
      std::replace(name.begin(), name.end(), '_', '-');
      if (!is_flag_word(name) || !lists_word(names, to_lower(name)) || has(name)) continue;
      const bool joined = words[i].find('=') != std::string::npos;
      if (!joined && (i + 1 >= words.size() || is_flag_word(words[i + 1]))) continue;
      const std::string value = joined ? words[i].substr(words[i].find('=') + 1) : words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                  words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
      return value;
    }
    return std::nullopt;
  }
  void put(const std::string& flag, const std::string& value) {
    typed_.words.push_back(flag);
    if (!value.empty()) typed_.words.push_back(value);
  }
  void say(const std::string& text) { typed_.renamed.push_back(text); }

  void put_resolution() {
    const auto height = take("--height"), width = take("--width");
    if (!height && !width) return;
    std::string size = width && height ? *width + "x" + *height : height.value_or(width.value_or(""));
    if (!width)
      size = meant_value("--resolution", size + "p").find('x') == std::string::npos
                 ? size
                 : meant_value("--resolution", size + "p");
    const bool both = width && height;
    say(fmt::format("{} --resolution {}",
                    both    ? "--width and --height are"
                    : width ? "--width is"
                            : "--height is",
                    size));
    put("--resolution", size);
  }

  void put_address() {
    const auto host = take("--host --bind --address"), port = take("--port -p");
    if (!host && !port) return;
    const std::string address = host.value_or("127.0.0.1") + ":" + port.value_or("8080");
    const bool both = host && port;
    say(fmt::format("{} --listen {}", both ? "--host and --port are" : host ? "--host is" : "--port is", address));
    put("--listen", address);
  }

  void put_peak() {
    const auto peak = take("--peak --max --maximum --burst"), share = take("--share --peak-share");
    if (!peak) return;
    for (std::size_t i = 1; i < typed_.words.size(); ++i) {
      std::string& word = typed_.words[i];
      const auto is_base = [&](const std::string& flag) {
        return flag == "--base" || (is_flag_word(flag) && meant_flag(flag, declared_, false) == "--base");
      };
      const std::size_t equals = std::min(word.find('='), word.size());
      const bool value = i > 1 && is_base(typed_.words[i - 1]);
      if (!value && (equals == word.size() || !is_base(word.substr(0, equals)))) continue;
      double part = share ? std::atof(share->c_str()) : 0.3;
      if (share && share->ends_with('%')) part /= 100;
      word += fmt::format(",peak={},share={:g}", *peak, part);
      say(fmt::format("--peak is --base {}", value ? word : word.substr(equals + 1)));
      if (!share) typed_.notes.emplace_back("assumed: the peak lasts 30 % of the time (share=0.3)");
      return;
    }
    put("--peak", *peak);  // without a base, the parser reports what is missing
  }

  void put_draft() {
    const auto draft = take("--speculative-model --draft-model --speculative-draft-model-path");
    const auto tokens = take("--num-speculative-tokens --speculative-num-draft-tokens --speculative-num-steps");
    if (!draft && !tokens) return;
    put("--speculate", tokens.value_or("3"));
    typed_.notes.push_back(fmt::format(
        "{}drafts {} tokens at a time: --speculate {}; whether they are accepted is assumed (--speculate N,ACCEPTANCE)",
        draft ? *draft + " " : "a draft model ", tokens.value_or("3"), tokens.value_or("3")));
  }

  bool says_rl() const {
    for (std::size_t i = 1; i < typed_.words.size(); ++i) {
      const std::string& word = typed_.words[i];
      if (word.starts_with("--job=") && job_of(word.substr(6)) == "rl") return true;
      if (typed_.words[i - 1] == "--job" && job_of(word) == "rl") return true;
      if (word.starts_with("--algorithm") || word.starts_with("--rollout-")) return true;
    }
    return false;
  }

  void put_rl() {
    put_keys();
    if (!says_rl()) return;
    if (const auto batch = take("--train-batch-size --train-prompts")) {
      put("--prompts", *batch);
      say("--train-batch-size is --prompts");
    }
    if (const auto samples = take("--rollout-n --num-samples -n")) {
      put("--samples", *samples);
      say("--rollout-n is --samples");
    }
    // verl counts the prompts of a mini-batch, each with all its answers.
    if (const auto prompts = take("--ppo-mini-batch-size")) {
      double samples = 1;
      for (std::size_t i = 1; i < typed_.words.size(); ++i) {
        if (typed_.words[i - 1] == "--samples") samples = std::atof(typed_.words[i].c_str());
        if (typed_.words[i].starts_with("--samples=")) samples = std::atof(typed_.words[i].c_str() + 10);
      }
      put("--train-batch", fmt::format("{:.0f}", std::atof(prompts->c_str()) * std::max(1.0, samples)));
    }
    // A limit on the length of an answer is not its mean.
    constexpr std::string_view kLimits =
        "--max-response-length --max-completion-length --max-new-tokens --max-response-len --response-length "
        "--max-output-tokens --rollout-len --rollout-length";
    if (const auto most = take(kLimits)) put_longest(*most);
    std::vector<std::string>& words = typed_.words;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool number = i + 1 < words.size() && words[i + 1].find_first_not_of("0123456789.") == std::string::npos;
      if (words[i] == "--async" && !number) words[i] = "--async=1", say("--async is --async 1");
    }
    const auto asked = std::find(words.begin(), words.end(), "--disaggregated");
    if (asked != words.end() && (asked + 1 == words.end() || is_flag_word(*(asked + 1)))) {
      words.erase(asked);
      typed_.notes.emplace_back("layouts with separate GPUs for trainer and rollout are searched; --layout fixes one");
    }
  }

  void put_longest(const std::string& most) {
    for (std::size_t i = 1; i < typed_.words.size(); ++i) {
      std::string& word = typed_.words[i];
      if (!word.starts_with("--osl=") && typed_.words[i - 1] != "--osl") continue;
      word += ",max=" + most;
      return;
    }
    put("--osl", "max=" + most);
  }

  // verl: data.train_batch_size=1024 actor_rollout_ref.model.path=Qwen/Qwen3-8B.
  void put_keys() {
    std::vector<std::string> flags;
    std::erase_if(typed_.words, [&](const std::string& word) {
      const std::size_t equals = word.find('='), dot = word.find('.');
      if (is_flag_word(word) || equals == std::string::npos || dot > equals) return false;
      const std::string key = word.substr(0, equals);
      const std::optional<std::string> flag = flag_of_foreign_key(key);
      if (!flag) return false;
      say(fmt::format("{} is {}", key, flag->empty() ? "not needed" : *flag));
      if (!flag->empty()) flags.insert(flags.end(), {*flag, word.substr(equals + 1)});
      return true;
    });
    typed_.words.insert(typed_.words.end(), flags.begin(), flags.end());
  }

  // --carbon alone: the grid of each plan's region.
  void put_grid() {
    for (std::size_t i = 1; i < typed_.words.size(); ++i) {
      std::string& word = typed_.words[i];
      const bool alone = i + 1 == typed_.words.size() || is_flag_word(typed_.words[i + 1]);
      if (alone && lists_word("--carbon --co2", word)) word = "--carbon=region", say("--carbon is --carbon region");
    }
  }

  // vLLM's benchmark: --goodput ttft:500 tpot:30, in milliseconds.
  void put_goodput() {
    std::vector<std::string>& words = typed_.words;
    const auto flag = std::ranges::find(words, "--goodput");
    if (flag == words.end()) return;
    std::string limits;
    auto end = flag + 1;
    for (; end != words.end() && !is_flag_word(*end) && end->find(':') != std::string::npos; ++end) {
      const std::size_t colon = end->find(':');
      const std::string name = end->substr(0, colon) == "e2el" ? "latency" : end->substr(0, colon);
      const bool bare = std::isdigit(static_cast<unsigned char>(end->back())) != 0;
      limits += fmt::format("{}{}={}{}", limits.empty() ? "" : ",", name, end->substr(colon + 1), bare ? "ms" : "");
    }
    if (limits.empty()) return;
    words.erase(flag, end);
    say(fmt::format("--goodput is --slo {}", limits));
    put("--slo", limits);
  }

  // Knative's settings: a target of requests in flight, no replica without traffic, and how long the last one stays.
  void put_target() {
    const auto target = take("--target-concurrency --concurrency-target --target-in-flight");
    const auto idle = take("--idle-timeout --scale-down-delay --scale-to-zero-grace-period");
    const std::size_t words = typed_.words.size();
    std::erase(typed_.words, "--scale-to-zero");
    const bool zero = typed_.words.size() < words;
    if (!target && !idle && !zero) return;
    constexpr const char* kUsual = "8";
    const std::string policy = fmt::format("knative:target={}{}{}", target.value_or(kUsual), zero ? ",min=0" : "",
                                           idle ? ",grace=" + *idle : "");
    put("--policy", policy);
    say("the target of each replica is --policy " + policy);
    if (!target) typed_.notes.emplace_back("assumed: 8 requests in flight on each replica (--policy knative:target=8)");
  }

  // SkyPilot: --infra gcp/europe-west4 or aws/us-east-1/us-east-1a.
  void put_place() {
    for (std::size_t i = 1; i < typed_.words.size(); ++i) {
      std::string& word = typed_.words[i];
      constexpr std::string_view kNames = "--infra --cloud --provider --providers";
      const std::size_t equals = word.find('=');
      const bool joined = equals != std::string::npos && lists_word(kNames, word.substr(0, equals));
      if (!joined && !lists_word(kNames, typed_.words[i - 1])) continue;
      const std::string place = joined ? word.substr(equals + 1) : word;
      const std::vector<std::string_view> parts = split_list(place, '/');
      if (parts.size() < 2) continue;
      const std::string provider(parts[0]), region(parts[1]);
      say(fmt::format("{}/{} is --provider {} --region {}", provider, region, provider, region));
      word = joined ? word.substr(0, equals + 1) + provider : provider;
      if (region != "*") put("--region", region);
      return;
    }
  }

  // --hours of a job that transcribes are hours of audio.
  void put_audio() {
    const bool audio = std::any_of(typed_.words.begin(), typed_.words.end(), [](const std::string& word) {
      return to_lower(word).find("whisper") != std::string::npos ||
             job_of(std::string_view(word).substr(word.find('=') + 1)) == "transcribe";
    });
    if (!audio) return;
    if (const auto hours = take("--hours")) {
      put("--audio-hours", *hours);
      say("--hours is --audio-hours");
    }
  }

  // Pages to be read are images.
  void put_pages() {
    const auto says = [&](auto&& test) { return std::any_of(typed_.words.begin(), typed_.words.end(), test); };
    const bool reads = says([](const std::string& word) { return to_lower(word.substr(word.find('=') + 1)) == "ocr"; });
    if (!reads || says([](const std::string& word) { return word.starts_with("--image"); })) return;
    put("--images", "1");
    typed_.notes.emplace_back("assumed: a page is one image (--images 1, --image-size)");
  }

  // A bill is grouped by team unless another tag is named.
  void put_group() {
    const auto by = take("--by --group-by --groupby");
    if (by && !lists_word("team teams", to_lower(*by))) {
      put("--team-tag", *by);
      say("--by is --team-tag");
    }
  }

  // The first day of a month and the last day of the `months` that begin with it.
  void put_days(const std::string& flag, const std::string& typed, const Date& first, int months) {
    Date last = first;
    for (int i = 0; i < months; ++i) {
      const std::string month = format_date(last).substr(0, 7);
      while (format_date(last).starts_with(month)) ++last.day;
    }
    --last.day;
    put("--since", format_date(first));
    put("--until", format_date(last));
    say(fmt::format("{} {} is --since {} --until {}", flag, typed, format_date(first), format_date(last)));
  }

  // --month 2026-10.
  void put_month() {
    const auto month = take("--month");
    if (!month) return;
    const Result<Date> first = parse_date(*month + "-01");
    if (!first) return put("--month", *month);
    put_days("--month", *month, *first, 1);
  }

  // --quarter 2026-Q3; --quarter Q3: the last one that has begun.
  void put_quarter() {
    const auto quarter = take("--quarter");
    if (!quarter) return;
    const std::size_t q = to_lower(*quarter).find('q');
    const int number = q == std::string::npos ? 0 : std::atoi(quarter->c_str() + q + 1);
    if (number < 1 || number > 4) return put("--quarter", *quarter);
    const auto begins = [&](int year) { return parse_date(fmt::format("{}-{:02}-01", year, 3 * number - 2)); };
    int year = std::atoi(quarter->c_str());
    if (year == 0) {
      year = std::atoi(format_date(today()).c_str());
      if (const Result<Date> first = begins(year); first && first->day > today().day) --year;
    }
    const Result<Date> first = begins(year);
    if (!first) return put("--quarter", *quarter);
    put_days("--quarter", *quarter, *first, 3);
  }

  // Work of a day that runs at night: --volume 200k/night --window 22:00-06:00.
  void put_clock() {
    std::erase_if(typed_.words,
                  [&](const std::string& word) { return word == "--spot" && !has(word); });  // always shown
    if (const auto hours = take("--between --run-between --schedule --run-at --hours --time")) put("--window", *hours);
  }

  // --throughput 25/s: items that a GPU completes, so an item takes 40 ms.
  void put_speed() {
    const auto speed =
        take("--throughput --speed --items-per-second --images-per-second --docs-per-second --items-per-s --ips --fps");
    if (!speed) return;
    const std::optional<Amount> amount = parse_amount(*speed);
    if (!amount || !(amount->count > 0)) return put("--throughput", *speed);
    const std::string time =
        fmt::format("{:.6g}ms", 1e3 * in_seconds(amount->per.value_or(seconds(1))) / amount->count);
    put("--item-time", time);
    say(fmt::format("--throughput {} is --item-time {}", *speed, time));
  }

  // Seconds of a video as its frames, at the rate of the model's family.
  void put_seconds() {
    const auto length = take("--seconds --video-seconds --clip-seconds --clip-length --video-length --duration");
    const std::optional<Amount> amount = length ? parse_amount(*length) : std::nullopt;
    if (!amount) return;
    constexpr std::pair<std::string_view, int> kRates[] = {{"wan", 16}, {"cogvideo", 8}, {"mochi", 30}};
    int rate = 24;
    for (const std::string& word : typed_.words) {
      const std::string name = word.substr(word.starts_with("--model=") ? word.find('=') + 1 : 0);
      for (const auto& [family, frames] : kRates) {
        if (model::is_known_name(name) && to_lower(name).find(family) != std::string::npos) rate = frames;
      }
    }
    const std::string frames = fmt::format("{:.0f}", amount->count * rate + 1);
    put("--frames", frames);
    typed_.notes.push_back(fmt::format("a video of {:g} s at {} frames/s: --frames {}", amount->count, rate, frames));
  }

  // --disaggregated without a value: plans with separate workers for prefill and decode are searched anyway.
  void drop_switch() {
    std::vector<std::string>& words = typed_.words;
    const auto asked = std::find(words.begin(), words.end(), "--disaggregated");
    if (asked == words.end() || (asked + 1 != words.end() && !is_flag_word(*(asked + 1)))) return;
    words.erase(asked);
    typed_.notes.emplace_back(
        "separate workers for prefill and decode are used where they cost less; --disaggregated "
        "prefill=2x2,decode=2x2 fixes them");
  }

  // A namespace at a metrics server is a label.
  void put_matcher() {
    std::vector<std::string>& words = typed_.words;
    const bool server = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word.starts_with("--prom") || word.starts_with("http");
    });
    for (std::size_t i = 1; server && i < words.size(); ++i) {
      const bool joined = words[i].starts_with("--namespace=");
      if (!joined && (words[i] != "--namespace" || i + 1 >= words.size())) continue;
      const std::string name = joined ? words[i].substr(words[i].find('=') + 1) : words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                  words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
      put("--match", fmt::format("namespace=\"{}\"", name));
      return say(fmt::format("--namespace {} is --match 'namespace=\"{}\"'", name, name));
    }
  }

  // --hours 9-17: the hours of a day with traffic.
  void put_hours() {
    const auto hours = take("--hours --office-hours --business-hours --active-hours");
    if (!hours) return;
    std::string length = length_of_hours(*hours);
    if (int from = 0, to = 0, used = 0; std::sscanf(hours->c_str(), "%2d-%2d%n", &from, &to, &used) == 2 &&
                                        static_cast<std::size_t>(used) == hours->size())
      length = fmt::format("{}min", 60 * ((to - from + 23) % 24 + 1));
    if (length.empty()) return put("--hours", *hours);
    const std::string day = fmt::format("{}", std::max(1, (std::atoi(length.c_str()) + 59) / 60));
    put("--hours-per-day", day);
    say(fmt::format("--hours {} is --hours-per-day {}", *hours, day));
  }

  // mig --profiles 1g.10gb:4,3g.40gb:1 names slices; --profiles alone lists them.
  void put_layout() {
    for (std::size_t i = 1; i + 1 < typed_.words.size(); ++i) {
      if (lists_word("--profiles --mig-profiles", typed_.words[i]) &&
          typed_.words[i + 1].find("g.") != std::string::npos)
        typed_.words[i] = "--check";
    }
  }

  // `verify chat --from smi.csv`, `verify chat smi.csv`: a recording of its GPUs.
  void put_recording() {
    std::optional<std::string> file = take("--from --replay --file --recording --input -f");
    std::error_code ignored;
    for (std::size_t i = 2; !file && i < typed_.words.size(); ++i) {
      if (is_flag_word(typed_.words[i]) || is_flag_word(typed_.words[i - 1]) ||
          !std::filesystem::is_regular_file(typed_.words[i], ignored))
        continue;
      file = typed_.words[i];
      typed_.words.erase(typed_.words.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!file) return;
    put("--profile", *file);
    say(fmt::format("{} is --profile {}", *file, *file));
  }

  // Savings are always shown by decision and by team; --by names a person.
  void drop_group() {
    std::vector<std::string>& words = typed_.words;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool joined = words[i].starts_with("--by=") || words[i].starts_with("--group-by=");
      if (!joined && !lists_word("--by --group-by", words[i])) continue;
      const std::string value = joined                 ? words[i].substr(words[i].find('=') + 1)
                                : i + 1 < words.size() ? words[i + 1]
                                                       : "";
      if (!lists_word("team teams decision workload owner month quarter", to_lower(value))) continue;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                  words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
      typed_.notes.emplace_back("decisions are shown one by one and by team; --by NAME selects those of a person");
      return;
    }
  }

  Typed& typed_;
  const std::deque<FlagInfo>& declared_;
};

}  // namespace

void combine_flags(Typed& typed, const std::deque<FlagInfo>& declared) { Combiner(typed, declared).run(); }

std::string algorithm_of(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kAlgorithms[] = {
      {"grpo", "grpo"},
      {"ppo", "ppo"},
      {"rlhf", "ppo"},
      {"dapo", "dapo"},
      {"rloo", "rloo"},
      {"reinforce", "reinforce++"},
      {"reinforce++", "reinforce++"},
      {"distill", "distill"},
  };
  const std::string folded = to_lower(word);
  for (const auto& [typed, ours] : kAlgorithms) {
    if (typed == folded) return std::string(ours);
  }
  return {};
}

}  // namespace rightsize::app
