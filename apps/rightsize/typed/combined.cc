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
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/by_value.h"
#include "rightsize/typed/flag_edits.h"
#include "rightsize/typed/foreign_file.h"
#include "rightsize/typed/foreign_keys.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

class Combiner : private FlagEdits {
 public:
  using FlagEdits::FlagEdits;

  void run() {
    put_foreign_files(typed_, declared_);
    name_by_value(typed_, declared_);
    if (has("--resolution")) put_resolution();
    if (has("--listen")) put_address();
    if (has("--base")) put_instances(), put_peak();
    if (has("--kv-precision")) put_cache_types();
    if (has("--speculate")) put_draft();
    if (has("--algorithm")) put_rl();
    if (has("--provider")) put_place();
    if (has("--carbon")) put_grid();
    if (has("--slo") || has("--ttft-slo")) put_goodput();
    if (has("--scaling-policy")) put_target(), put_peak_rate();
    if (has("--audio-hours")) put_audio();
    if (has("--images")) put_pages();
    if (has("--team-budget")) put_budget();
    if (has("--since") && has("--until")) put_period();
    if (has("--best-per")) put_verb();
    if (has("--rate")) put_streams();
    if (has("--sessions")) put_sessions();
    if (has("--preference")) put_preference();
    if (has("--volume") && has("--window")) put_clock();
    if (has("--item-time")) put_speed();
    if (has("--frames")) put_seconds();
    if (has("--status") && has("--since")) drop_group();
    if (has("--against")) put_revision();
    if (has("--measured") && has("--profile")) put_recording();
    if (has("--list-layouts")) put_layout();
    if (has("--match") && has("--prometheus")) put_matcher();
    if (has("--disaggregated")) drop_switch();
    if (has("--hours-per-day")) put_hours();
    if (has("--accumulate") || has("--global-batch")) drop_mfu();
  }

 private:
  void put_resolution() {
    const auto height = take("--height"), width = take("--width");
    if (!height && !width) return;
    std::string size = width && height ? *width + "x" + *height : height.value_or(width.value_or(""));
    if (!width)
      size = meant_value("--resolution", size + "p").find('x') == std::string::npos
                 ? size
                 : meant_value("--resolution", size + "p");
    put("--resolution", size), say(fmt::format("width and height are --resolution {}", size));
  }

  // A peak is the maximum of a curve: a constant load leaves nothing to scale.
  void put_peak_rate() {
    const auto is_rate = [](const std::string& value) {
      return parse_amount(value).value_or(Amount{}).per.has_value();
    };
    auto peak = take("--peak-rps --peak-qps --peak-rate --peak-requests-per-second --max-rps --max-qps");
    if (!peak) peak = take("--peak --max --maximum --peak-traffic --high", is_rate);
    const auto least = take("--min --minimum --base --low --trough --off-peak", is_rate);
    const std::optional<Amount> amount = peak ? parse_amount(*peak) : std::nullopt;
    if (least && !peak) return put("--arrivals", *least);
    if (!peak) return;
    if (!amount || !(amount->count > 0)) return put("--arrivals", *peak);
    constexpr double kPeakToMean = 1.8;
    const auto per_second = [](const Amount& one) { return one.count / in_seconds(one.per.value_or(seconds(1))); };
    const double most = per_second(*amount),
                 mean = least ? (most + per_second(*parse_amount(*least))) / 2 : most / kPeakToMean;
    put("--arrivals", fmt::format("diurnal:{:.6g},{:.4g}", mean, most / mean));
    typed_.notes.push_back(
        fmt::format("assumed: a daily curve with a peak of {:.4g} requests/s, {:.4g} times its mean (--arrivals "
                    "diurnal:MEAN,PEAK or --rate-profile FILE gives yours)",
                    most, most / mean));
  }

  void put_address() {
    const auto host = take("--host --bind --address"), port = take("--port -p");
    if (!host && !port) return;
    const std::string address = host.value_or("127.0.0.1") + ":" + port.value_or("8080");
    put("--listen", address), say(fmt::format("host and port are --listen {}", address));
  }

  // llama.cpp has one format for keys and one for values.
  void put_cache_types() {
    const auto keys = take("--cache-type-k -ctk"), values = take("--cache-type-v -ctv");
    if (keys || values) put("--kv-precision", keys ? *keys : *values), say("--cache-type-k is --kv-precision");
  }

  // --instance-type p5.48xlarge --instance-count 4: 32 GPUs.
  void put_instances() {
    const auto count = take("--instance-count --num-instances --machine-count --node-count");
    if (!count) return;
    double each = 1;
    for (const std::string& word : typed_.words) {
      const std::string gpus = gpus_of_instance(word.substr(word.find('=') + 1));
      if (!gpus.empty()) each = catalog::split_gpu_count(gpus).count.value_or(1);
    }
    put("--base", fmt::format("{:g}", each * std::atof(count->c_str())));
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

  void put_rl() {
    if (!says_rl(typed_.words)) return;
    put_prompts();
    rename("--train-batch-size --train-prompts", "--prompts");
    rename("--rollout-n --num-samples -n", "--samples");
    // verl counts the prompts of a mini-batch, each with all its answers.
    if (const auto prompts = take("--ppo-mini-batch-size")) {
      const double samples = std::atof(value_of(typed_.words, "--samples").c_str());
      put("--train-batch", fmt::format("{:.0f}", std::atof(prompts->c_str()) * std::max(1.0, samples)));
    }
    // A limit on the length of an answer is not its mean.
    if (const auto most = take(listed("limits of answers"))) put_longest(*most);
    std::vector<std::string>& words = typed_.words;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool number = i + 1 < words.size() && words[i + 1].find_first_not_of("0123456789.") == std::string::npos;
      if (words[i] == "--async" && !number) words[i] = "--async=1", say("--async is --async 1");
    }
    if (take_switch("--disaggregated"))
      typed_.notes.emplace_back("layouts with separate GPUs for trainer and rollout are searched; --layout fixes one");
  }

  // More prompts than a step has are a data set, which is read once: --prompts 20k, --dataset-samples 20k.
  void put_prompts() {
    static constexpr double kMostOfStep = 4096, kUsualStep = 128;
    const auto number = [](const std::string& text) { return parse_amount(text).value_or(Amount{}).count; };
    const std::vector<std::string>& words = typed_.words;
    if (!value_of(words, "--steps").empty() || !value_of(words, "--max-steps").empty()) return;
    auto data = take("--dataset-samples --dataset-prompts --num-prompts --dataset-size --dataset",
                     [](const std::string& value) { return parse_amount(value).has_value(); });
    if (!data)
      data = take("--prompts",
                  [](const std::string& value) { return parse_amount(value).value_or(Amount{}).count > kMostOfStep; });
    if (!data) return;
    const auto epochs = take("--epochs", [](const std::string& value) { return parse_amount(value).has_value(); });
    const double given = number(value_of(words, "--prompts")), step = given > 0 ? given : kUsualStep;
    const double prompts = number(*data) * (epochs ? number(*epochs) : 1);
    const std::string steps = fmt::format("{:.0f}", std::ceil(prompts / step));
    put("--steps", steps);
    typed_.notes.push_back(
        fmt::format("assumed: {:g} prompts are the data set, read in {} steps of {:g} prompts (--steps, --prompts)",
                    prompts, steps, step));
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

  // --carbon alone: the grid of each plan's region.
  void put_grid() {
    if (take_switch("--carbon") || take_switch("--co2")) put("--carbon=region", ""), say("--carbon is --carbon region");
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
    const bool zero = take_switch("--scale-to-zero");
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
    const auto place = take("--infra --cloud --provider --providers",
                            [](const std::string& value) { return value.find('/') != std::string::npos; });
    if (!place) return;
    const std::vector<std::string_view> parts = split_list(*place, '/');
    const std::string provider(parts[0]), region(parts.size() > 1 ? parts[1] : "*");
    say(fmt::format("{} is --provider {}{}", *place, provider, region == "*" ? "" : " --region " + region));
    put("--provider", provider);
    if (region != "*") put("--region", region);
  }

  // --hours of a job that transcribes are hours of audio.
  void put_audio() {
    const bool audio = std::any_of(typed_.words.begin(), typed_.words.end(), [](const std::string& word) {
      return to_lower(word).find("whisper") != std::string::npos ||
             job_of(std::string_view(word).substr(word.find('=') + 1)) == "transcribe";
    });
    if (audio) rename("--hours", "--audio-hours");
  }

  // Pages to be read are images.
  void put_pages() {
    const auto says = [&](auto&& test) { return std::any_of(typed_.words.begin(), typed_.words.end(), test); };
    const bool reads = says([](const std::string& word) { return to_lower(word.substr(word.find('=') + 1)) == "ocr"; });
    if (!reads || says([](const std::string& word) { return word.starts_with("--image"); })) return;
    put("--images", "1");
    typed_.notes.emplace_back("assumed: a page is one image (--images 1, --image-size)");
  }

  // prices --history 90d: the verb, and the time it looks back.
  void put_verb() {
    rename("--min-gpus --min-num-gpus --gpus-per-node --gpus-per-machine --gpus-per-instance", "--gpus");
    const bool bare = take_switch("--history");
    const auto time = take("--history");
    if (!time && !bare) return;
    typed_.words.insert(typed_.words.begin() + 1, "history");
    if (time) put("--since", *time);
    say(fmt::format("--history{} is 'prices history'", time ? " " + *time : ""));
  }

  // --sessions 500, with the lengths as flags: conversations of this many users.
  void put_sessions() {
    auto users = take("--sessions --conversations --chats", [](const std::string& value) { return is_digits(value); });
    if (has("--system-prompt") && users) return put("--users", *users), say("--sessions is --users");
    const auto system = take("--system-prompt --system-prompt-tokens --system-tokens");
    if (!users && system) users = take("--users --concurrent-users", [](const std::string&) { return true; });
    if (!users) return system ? put("--system-prompt", *system) : void();
    if (!system) return put("--users", *users), say(fmt::format("--sessions {0} is --users {0}", *users));
    const auto or_else = [&](std::string_view flag, const char* usual) {
      return take(flag, [](const std::string&) { return true; }).value_or(usual);
    };
    const std::string turns = or_else("--turns", "6"), think = or_else("--think --think-time", "30s"),
                      in = or_else("--isl --input-len --turn-in", "200"),
                      out = or_else("--osl --output-len --turn-out", "300");
    const std::string sessions = fmt::format("users={},turns={},think={},system={},turn-in={},turn-out={}", *users,
                                             turns, think, *system, in, out);
    put("--sessions", sessions), say("users with a system prompt are --sessions " + sessions);
  }

  // Cameras with frames per second are a rate.
  void put_streams() {
    const auto streams = take("--streams --cameras --num-streams"), frames = take("--fps --frame-rate");
    if (!streams && !frames) return;
    const auto many = parse_amount(streams.value_or("1")), each = parse_amount(frames.value_or(""));
    if (!many || !each) return put("--streams", streams.value_or(*frames));
    const std::string rate = fmt::format("{:g}/s", many->count * each->count);
    put("--rate", rate);
    say(fmt::format("{} streams of {} frames/s are --rate {}", streams.value_or("1"), *frames, rate));
  }

  // --method dpo, --algorithm orpo: training on preferences is a job.
  void put_preference() {
    const auto method = take("--method --algorithm --algo --trainer --loss",
                             [](const std::string& value) { return job_of(value) == "dpo"; });
    if (!method) return;
    take("--job --task", [](const std::string&) { return true; });
    put("--job", *method);
  }

  // A limit on a bill is the budget of all teams.
  void put_budget() {
    std::erase_if(typed_.words, [&](const std::string& word) {  // always shown
      return lists_word("--compare --month-over-month --mom --changes --trend", word) && !has(word);
    });
    if (const auto most = take("--limit --amount --max"))
      put("--team-budget", "*=" + *most), say(fmt::format("--limit is --team-budget '*={}'", *most));
  }

  // --month 2026-10, --quarter Q3, --period "last month".
  void put_period() {
    const auto typed = take("--month --quarter --year --period");
    if (!typed) return;
    const std::optional<Period> period = parse_period(*typed, today());
    if (!period) return put("--period", *typed);
    put("--since", format_date(period->first));
    put("--until", format_date(period->last));
    say(fmt::format("{} is --since {} --until {}", *typed, format_date(period->first), format_date(period->last)));
  }

  // Work of a day that runs at night: --volume 200k/night --window 22:00-06:00.
  void put_clock() {
    std::erase_if(typed_.words,
                  [&](const std::string& word) { return word == "--spot" && !has(word); });  // always shown
    if (const auto hours = take("--between --run-between --schedule --run-at --hours --time")) put("--window", *hours);
    const auto from = take("--from --start --start-time --begin --after --not-before");
    const auto to = take("--to --end --end-time --finish --stop --before --until --not-after");
    if (from && to && hours_of_day(*from + "-" + *to)) {
      put("--window", *from + "-" + *to);
      return say(fmt::format("{} to {} is --window {}-{}", *from, *to, *from, *to));
    }
    if (from) put("--from", *from);
    if (to) put("--to", *to);
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
    put(fmt::format("--frames={}", frames_in(amount->count, typed_)), "");
  }

  // --disaggregated without a value: plans with separate workers for prefill and decode are searched anyway.
  void drop_switch() {
    if (take_switch("--disaggregated"))
      typed_.notes.emplace_back(
          "separate workers for prefill and decode are used where they cost less; --disaggregated "
          "prefill=2x2,decode=2x2 fixes them");
  }

  // A namespace at a metrics server is a label.
  void put_matcher() {
    const bool server = std::any_of(typed_.words.begin(), typed_.words.end(), [](const std::string& word) {
      return word.starts_with("--prom") || word.starts_with("http");
    });
    const auto name = server ? take("--namespace", [](const std::string&) { return true; }) : std::nullopt;
    if (!name) return;
    put("--match", fmt::format("namespace=\"{}\"", *name));
    say(fmt::format("--namespace {} is --match 'namespace=\"{}\"'", *name, *name));
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

  // `verify chat smi.csv`, `verify chat first.txt second.txt`: a recording of its GPUs, scrapes of its engine.
  void put_recording() {
    std::vector<std::string>& words = typed_.words;
    std::vector<std::string> files;
    if (const auto file = take("--replay --file --recording --input -f")) files.push_back(*file);
    bool listed = false;  // --from takes several files
    for (std::size_t i = 2; i < words.size(); ++i) {
      const bool is_flag = is_flag_word(words[i]);
      if (is_flag) listed = lists_word("--from --metrics --metrics-file --logs", words[i]);
      std::error_code ignored;
      if (is_flag || listed || is_flag_word(words[i - 1]) || !std::filesystem::is_regular_file(words[i], ignored))
        continue;
      files.push_back(words[i]);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    for (const std::string& file : files) {
      const std::vector<std::string> reader = command_for_file(file);
      const char* flag = !reader.empty() && reader.front() == "service" ? "--from" : "--profile";
      put(flag, file);
      say(fmt::format("{} is {} {}", file, flag, file));
    }
  }

  // `diff HEAD~1 HEAD`: revisions of git, compared with the files that are here.
  void put_revision() {
    std::vector<std::string>& words = typed_.words;
    std::error_code ignored;
    const auto is_revision = [&](const std::string& word) {
      return !is_flag_word(word) && word != "-" && !std::filesystem::exists(word, ignored) && !word.ends_with("yaml") &&
             !word.ends_with(".tf") && word.find("://") == word.npos;
    };
    const std::vector<std::string> bare(words.begin() + 1, std::ranges::find_if(words, is_flag_word));
    const auto revisions = std::ranges::count_if(bare, is_revision);
    if (!std::filesystem::exists(".git", ignored) || (revisions == 0 && value_of(words, "--against").empty())) return;
    std::erase_if(words,
                  [&](const auto& word) { return &word != words.data() && holds(bare, word) && is_revision(word); });
    const auto first = std::ranges::find_if(bare, is_revision);
    if (first != bare.end()) put("--against", *first), say(fmt::format("{} is --against {}", *first, *first));
    if (std::ranges::count(bare, "HEAD") < revisions - 1)
      typed_.notes.emplace_back("the files that are here are compared, not those of another revision");
    if (static_cast<std::ptrdiff_t>(bare.size()) == revisions) words.insert(words.begin() + 1, ".");
  }

  // The share of the peak is an answer here, not a setting.
  void drop_mfu() {
    const auto share = take("--mfu --target-mfu --assumed-mfu --hfu");
    if (share)
      typed_.notes.push_back(
          fmt::format("--mfu {0} is not used: the speed is estimated for this GPU and stack, and 'estimate' states its "
                      "MFU; at {0}, the time changes by the ratio of the two",
                      *share));
  }

  // Savings are always shown by decision and by team; --by names a person.
  void drop_group() {
    const auto by = take("--by --group-by", [](const std::string& value) {
      return lists_word("team teams decision workload owner month quarter", to_lower(value));
    });
    if (by)
      typed_.notes.emplace_back("decisions are shown one by one and by team; --by NAME selects those of a person");
  }
};

}  // namespace

int frames_in(double seconds, Typed& typed) {
  constexpr std::pair<std::string_view, int> kRates[] = {{"wan", 16}, {"cogvideo", 8}, {"mochi", 30}};
  int rate = 24;
  for (const std::string& word : typed.words) {
    const std::string name = word.substr(word.starts_with("--model=") ? word.find('=') + 1 : 0);
    for (const auto& [family, frames] : kRates) {
      if (model::is_known_name(name) && to_lower(name).find(family) != std::string::npos) rate = frames;
    }
  }
  const int frames = static_cast<int>(std::lround(seconds * rate)) + 1;
  typed.notes.push_back(fmt::format("a video of {:g} s at {} frames/s: --frames {}", seconds, rate, frames));
  return frames;
}

void combine_flags(Typed& typed, const std::deque<FlagInfo>& declared) { Combiner(typed, declared).run(); }

std::string algorithm_of(std::string_view word) {
  const std::string meant = meant_value("--algorithm", to_lower(word));
  return settings::read(settings::get("algorithm"), meant) ? meant : std::string();
}

bool says_rl(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    const std::string_view value = std::string_view(word).substr(word.find('=') + 1);
    return word.starts_with("--algorithm") || word.starts_with("--rollout-") ||
           (job_of(value) == "rl" && (value == word || word.starts_with("--job=")));
  });
}

}  // namespace rightsize::app
