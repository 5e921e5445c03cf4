#include "rightsize/typed/phrases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/phrase_words.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {
namespace {

constexpr double kPromptTokens = 1024;  // of a request of unknown length
constexpr std::string_view kAbout = "of with at having averaging about around roughly approximately up to each ~ some";

// What is said about the work: volumes of tokens, lengths, and what reinforcement learning counts.
class WorkPhrases : PhraseWords {
 public:
  explicit WorkPhrases(Typed& typed) : PhraseWords(typed) {}

  void run() {
    trains_ = says_job("train finetune dpo");
    if (!trains_) take_volumes();
    if (says_job("rl")) take_rl();
    take_lengths();
    if (says_job("rerank") || says_part("rerank")) take_candidates();
    if (!says_job("transcribe")) take_clips();
    name_batch();
    finish();
  }

 private:
  enum class Side { kNone, kIn, kOut };
  struct Volume {
    Side side = Side::kNone;
    double tokens = 0;
    std::optional<Seconds> per;  // "tokens/month"
    std::size_t end = 0;
  };

  // A number of tokens that no request has, on one side: "3B input tokens", "400M tokens out".
  Volume volume_at(std::size_t i) const {
    constexpr double kFewest = 1e6;
    const std::optional<double> count = count_at(i);
    if (!count || *count < kFewest) return {};
    const auto tokens = [&](std::size_t at) { return is_tokens(this->at(at).substr(0, this->at(at).find('/'))); };
    const auto side_of = [&](std::size_t at) {
      const std::string word = this->at(at), next = this->at(at + 1);
      const bool bare = next.empty() || tokens(at + 1) || lists_word("and plus with per a each", next);
      if (lists_word("input inputs prompt prompts", word) || (word == "in" && bare)) return Side::kIn;
      const bool out = lists_word("output outputs generated completion completions response responses", word);
      return out || (word == "out" && bare) ? Side::kOut : Side::kNone;
    };
    std::size_t at = i + 1;
    if (tokens(at)) at += this->at(at + 1) == "of" ? 2 : 1;
    Volume volume{side_of(at), *count, {}, at + 1};
    if (volume.side == Side::kNone) return {};
    if (tokens(volume.end)) ++volume.end;
    const std::string last = this->at(volume.end - 1);
    if (const std::size_t slash = last.find('/'); slash != last.npos)
      volume.per = parse_amount("1 x per " + last.substr(slash + 1)).value_or(Amount{}).per;
    return volume;
  }

  // "3 billion input and 400 million output tokens a month": the requests, whose lengths have the same ratio.
  void take_volumes() {
    double in = 0, out = 0;
    std::optional<Seconds> per;
    std::string said;
    std::size_t end = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const Volume volume = volume_at(i);
      if (volume.side == Side::kNone) continue;
      (volume.side == Side::kIn ? in : out) += volume.tokens;
      if (volume.per) per = volume.per;
      said += (said.empty() ? "" : " and ") + text(i, volume.end);
      const std::size_t first = i - lists_word("for of with and plus on", at(i - 1));
      erase(first, volume.end);
      end = first, i = first - 1;
    }
    const double all = in + out;
    if (const auto [at, time] = period_from(end); time) {  // of the volume, or of the bill
      if (!per) per = time;
      if (at == end && all > 0) erase(at, at + period_words(at));
    }
    take_bill(all > 0 ? all : plain_volume(), per);
    if (all <= 0) return;
    const double osl = kAnswerTokens,
                 isl = in > 0 && out > 0 ? std::max(1.0, std::round(osl * in / out)) : kPromptTokens;
    const double requests = out > 0 ? out / osl : in / isl;
    const std::string work = per ? "--rate=" + rate_text(requests / in_seconds(*per)) : "--items=" + whole(requests);
    for (const std::string& flag : {work, fmt::format("--isl={:.0f}", isl), fmt::format("--osl={:.0f}", osl)})
      put(flag);
    typed_.notes.push_back(fmt::format("assumed: answers of {:.0f} tokens, so {} are {}, with {:.0f} tokens in", osl,
                                       said, work.substr(work.find('=') + 1) + (per ? "" : " requests"), isl));
  }

  // The tokens of "2B tokens", without a side.
  double plain_volume() const {
    constexpr double kFewest = 1e6;
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (const auto count = count_at(i); count && *count >= kFewest && is_tokens(at(i + 1))) return *count;
    return 0;
  }

  // "we pay OpenAI 11,000 dollars monthly": the price of an API for these tokens, to compare with.
  void take_bill(double tokens, std::optional<Seconds> per) {
    if (tokens <= 0 || !says("openai api apis anthropic claude gpt gpt-4o gpt-4o-mini bedrock gemini")) return;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const std::string word = at(i);
      const auto bill = word.starts_with('$') ? parse_amount(word.substr(1)) : std::nullopt;
      if (!bill || !says_before(i, "pay pays paying paid spend spending spends bill invoice charges costs", 4))
        continue;
      const auto time = period_at(i + 1);
      const Seconds span = bill->per ? *bill->per : time.value_or(per.value_or(kMonth));
      const double price = bill->count / tokens * 1e6 * (per.value_or(span) / span);
      typed_.notes.push_back(fmt::format("{} for these tokens is ${:.4g} per 1M tokens of the API (--api-price)",
                                         text(i, i + 1 + (time ? period_words(i + 1) : 0)), price));
      put(fmt::format("--api-price={:.4g}", price));
      return erase(i, i + 1);
    }
  }

  // "8 answers each of 4096 tokens", "4k completions", "steps of 128 prompts".
  void take_rl() {
    constexpr std::string_view kAnswers =
        "answer answers response responses completion completions generation generations rollout rollouts sample "
        "samples output outputs reply replies";
    constexpr std::string_view kPrompts = "prompt prompts question questions problem problems";
    constexpr double kShortest = 256, kMostPrompts = 8192;  // of an answer's tokens; of a step
    for (std::size_t i = 0; i < words_.size(); ++i) {       // lengths first: their owners may be counted too
      if (!count_at(i) || !is_tokens(at(i + 1))) continue;
      std::size_t first = i, end = i + 2;
      std::string owner = at(end);
      if (lists_word(kAnswers, owner) || lists_word(kPrompts, owner)) {
        ++end;
      } else {
        while (lists_word(kAbout, at(first - 1)) || lists_word("long max maximum limit length", at(first - 1))) --first;
        owner = at(first - 1);
      }
      const bool answers = lists_word(kAnswers, owner);
      if (!answers && !lists_word(kPrompts, owner)) continue;
      put((answers ? "--osl=" : "--isl=") + bare_number(words_[i]));
      first -= first < i && !is_counted(first - 1);
      erase(first, end + lists_word("each long apiece", at(end)));
      i = first - 1;
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto count = count_at(i);
      const std::string noun = at(i + 1);
      std::size_t first = i, end = i + 2;
      if (count && lists_word(kAnswers, noun)) {
        put((*count >= kShortest ? "--osl=" : "--samples=") + bare_number(words_[i]));
        if (lists_word("per for a each every", at(end)) && lists_word(kPrompts, at(end + 1)))
          end += 2;
        else
          end += lists_word("each apiece", at(end));
      } else if (count && lists_word(kPrompts, noun) && *count <= kMostPrompts) {
        put("--prompts=" + bare_number(words_[i]));
        if (lists_word("per a each every in", at(end)) && lists_word("step steps batch iteration update", at(end + 1)))
          end += 2;
        if (lists_word("of with", at(i - 1))) first -= lists_word("batch batches", at(i - 2)) ? 2 : 1;
      } else if (count && at(i - 1) == "of" && lists_word("group groups", at(i - 2))) {
        put("--samples=" + bare_number(words_[i]));
        first -= 2, --end;
      } else {
        continue;
      }
      erase(first, end);
      i = first - 1;
    }
  }

  // "40 candidates per search".
  void take_candidates() {
    for (std::size_t i = 0; i + 3 < words_.size(); ++i) {
      if (!count_at(i) || thing_of(at(i + 1)) != Thing::kItem) continue;
      std::size_t query = i + 2;
      while (lists_word("per for each every a", at(query))) ++query;
      if (query == i + 2 || thing_of(at(query)) != Thing::kRequest) continue;
      put("--docs-per-query=" + bare_number(words_[i]));
      return erase(i, query + 1);
    }
  }

  // "passages of 256 tokens": the length of each, wherever it is said.
  void take_lengths() {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"token tokens tok", 1}, {"word words", 4.0 / 3}, {"page pages", 500}};
    constexpr std::string_view kAnswers =
        "answer answers response responses completion completions reply replies output outputs summary summaries";
    constexpr std::string_view kTexts = "prompt prompts input inputs context contexts";
    constexpr double kLongest = 1e6;  // a larger number is a total
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string noun = at(i);
      const Thing thing = thing_of(noun);
      const bool part = lists_word(kAnswers, noun) || lists_word(kTexts, noun);
      if (!part && thing != Thing::kItem && thing != Thing::kRequest) continue;
      std::size_t number = i + 1;
      while (lists_word(kAbout, at(number)) || lists_word("are is long length", at(number))) ++number;
      const auto count = count_at(number);
      const auto unit =
          std::ranges::find_if(kUnits, [&](const auto& one) { return lists_word(one.first, at(number + 1)); });
      const std::string after = at(number + 2);
      const bool side = lists_word(kAnswers, after) || lists_word(kTexts, after) ||
                        (lists_word("in out", after) && (at(number + 3).empty() || at(number + 3) == "and")) ||
                        (lists_word("per a", after) && lists_word("second sec s minute hour", at(number + 3)));
      if (number == i + 1 || !count || *count > kLongest || unit == std::end(kUnits) || side) continue;
      const bool sequence = trains_ || lists_word("sequence sequences", noun);
      const std::string tokens = unit->second == 1 ? bare_number(words_[number]) : whole(*count * unit->second);
      const std::string flag = (lists_word(kAnswers, noun) ? "--osl=" : sequence ? "--seq=" : "--isl=") + tokens;
      if (unit->second != 1)
        typed_.notes.push_back(
            fmt::format("assumed: {:g} {} are {} tokens ({})", *count, at(number + 1), tokens, flag));
      put(flag);
      erase(i + is_counted(i), number + 2 + lists_word("each long apiece", after));
    }
  }

  // Whether a noun has a number: "10k support tickets". Otherwise it only names what has the length.
  bool is_counted(std::size_t noun) const {
    std::size_t i = noun - 1;
    while (!at(i).empty() && !count_at(i) && !is_link(at(i)) && !continues_amount(at(i)) &&
           thing_of(at(i)) == Thing::kNone)
      --i;
    return count_at(i).has_value();
  }

  // "300 clips of 5 seconds 720p a day": the length and the size of a clip stand between the count and its period.
  void take_clips() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const bool clip = lists_word("video videos clip clips", at(i)), picture = thing_of(at(i)) == Thing::kImage;
      if (!clip && !picture) continue;
      for (bool found = true; std::exchange(found, false);) {
        std::size_t value = i + 1;
        while (lists_word("of at with in lasting each and", at(value))) ++value;
        const bool apart = count_at(value) && lists_word("s sec secs second seconds", at(value + 1));
        const auto time = parse_duration(apart ? at(value) + "s" : at(value));
        const std::string size = meant_value("--resolution", at(value));
        std::size_t end = value + 1 + apart;
        if (clip && time && (apart || !count_at(value))) {
          put(fmt::format("--video-seconds={:g}", in_seconds(*time)));
          end += lists_word("each long apiece", at(end));
        } else if (is_picture_size(at(value)) || (size != at(value) && !at(value).empty())) {
          put("--resolution=" + size);
        } else {
          break;
        }
        erase(i + 1, end);
        found = true;
      }
    }
  }

  // "largest batch" asks for a size; "batch" alone may be a job.
  void name_batch() {
    for (std::size_t i = 1; i < words_.size(); ++i)
      if (at(i) == "batch" && lists_word("largest biggest max maximum per-device micro", at(i - 1)) &&
          job_of(at(i + 1)).empty() && !lists_word("size sizes", at(i + 1)) && !count_at(i + 1))
        words_[i] = "batch-size";
  }

  bool trains_ = false;
};

// What is said about settings, prices and machines.
class SettingPhrases : PhraseWords {
 public:
  explicit SettingPhrases(Typed& typed) : PhraseWords(typed) {}

  void run() {
    take_limits();
    take_checkpoints();
    take_settings();
    name_change();
    take_kwh_price();
    take_quota();
    take_owned();
    finish();
  }

 private:
  // "p95 time to first token under 800 ms and p99 under 2 s": the second limit is on the same time as the first.
  void take_limits() {
    constexpr std::size_t kLongest = 9;
    std::optional<LatencyMetric> last;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::string name;
      std::optional<LatencyLimitName> limit;
      std::size_t end = i;
      for (std::size_t k = i; k < i + kLongest && !at(k).empty(); ++k) {
        if (lists_word("< <= = is be must should stay", at(k)) && k > i) {
          if (end == k) ++end;
          continue;
        }
        name += (name.empty() ? "" : "-") + at(k);
        if (const auto read = read_limit_name(name)) limit = read, end = k + 1;
      }
      if (limit && limit->metric && (i == 0 || !limit->percentile)) last = limit->metric;
      const bool named = limit && limit->percentile && read_limit_name(at(i)) && read_limit_name(at(i))->percentile;
      if (!named || !(limit->metric || last)) continue;
      last = limit->metric ? limit->metric : last;
      const bool apart = count_at(end) && lists_word("ms s sec secs second seconds milliseconds", at(end + 1));
      const std::string time = apart ? at(end) + (at(end + 1).starts_with('m') ? "ms" : "s") : at(end);
      if (!parse_duration(time) || parse_number(time)) continue;
      put(fmt::format("--p{:g}-{}={}", *limit->percentile,
                      *last == LatencyMetric::kTtft   ? "ttft"
                      : *last == LatencyMetric::kTpot ? "tpot"
                                                      : "latency",
                      time));
      const std::size_t first = i - lists_word("with and a the", at(i - 1));
      erase(first, end + 1 + apart);
      i = first - 1;
    }
  }

  // "checkpoint every 30 min".
  void take_checkpoints() {
    for (std::size_t i = 0; i + 2 < words_.size(); ++i) {
      if (!lists_word("checkpoint checkpoints checkpointing checkpointed", at(i)) ||
          !lists_word("every each", at(i + 1)))
        continue;
      const bool apart = count_at(i + 2).has_value(), once = !parse_duration(at(i + 2)) && !apart;  // "every hour"
      const std::string time = once ? "1 " + at(i + 2) : apart ? at(i + 2) + " " + at(i + 3) : at(i + 2);
      const auto read = parse_duration(time);
      if (!read) continue;
      put(fmt::format("--checkpoint-every={:g}min", in_seconds(*read) / 60));
      const std::size_t first = i - lists_word("a with and", at(i - 1));
      erase(first, i + 3 + apart);
      return;
    }
  }

  // The spoken names of settings; those without a value change nothing here.
  void take_settings() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (const std::size_t many : {4U, 3U, 2U, 1U}) {
        std::string name;
        for (std::size_t k = i; k < i + many; ++k) name += (k > i ? "-" : "") + (at(k).empty() ? "?" : at(k));
        const NameRow* row = row_of("spoken", name);
        if (row == nullptr || (i == 0 && many == 1)) continue;
        if (!row->meant.empty()) put(std::string(row->meant));
        erase(i, i + many);
        --i;
        break;
      }
    }
  }

  static bool is_format(const std::string& word) {
    return !word.empty() && !is_digits(word) &&
           settings::read(settings::get("precision"), meant_value("--precision", word)) &&
           kind_of_word(word) == WordKind::kOther;
  }

  // "going from bf16 to fp8", "from A100 to H100": a comparison.
  void name_change() {
    constexpr std::string_view kVerbs =
        "going moving switching changing migrating converting quantizing upgrading go move switch change migrate "
        "convert "
        "upgrade";
    for (std::size_t i = 0; i + 3 < words_.size(); ++i) {
      if (at(i) != "from") continue;
      const std::size_t one = is_format(at(i + 1)) ? 1 : gpu_words(words_, i + 1), to = i + 1 + one;
      if (one == 0 || !lists_word("to onto into", at(to))) continue;
      if (is_format(at(i + 1)) ? !is_format(at(to + 1)) : gpu_words(words_, to + 1) == 0) continue;
      words_[to] = "versus";
      const bool verb =
          lists_word(kVerbs, at(i - 1)) && is_format(at(i + 1));  // of GPUs, the verb asks for a comparison
      erase(i - verb, i + 1);
    }
  }

  // "power is 0.14 EUR/kWh": dollars by now.
  void take_kwh_price() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::size_t slash = at(i).find("/kwh");
      const std::string number = at(i).substr(at(i).starts_with('$') ? 1 : 0,
                                              slash == std::string::npos ? slash : slash - at(i).starts_with('$'));
      const bool apart = lists_word("per a", at(i + 1)) && lists_word("kwh kilowatt-hour", at(i + 2));
      if (!parse_number(number) || (slash == std::string::npos && !apart)) continue;
      std::size_t first = i;
      while (lists_word("is costs at of for price are", at(first - 1)) && first > i - std::min<std::size_t>(i, 3))
        --first;
      const bool stated = first < i && lists_word("is costs are", at(i - 1));
      if (stated && lists_word("power electricity energy", at(first - 1))) --first;
      if (first > 0 && lists_word("our the", at(first - 1)) && stated) --first;
      put("--kwh-price=" + number);
      erase(first, i + 1 + (apart ? 2 : 0));
      i = first - 1;
    }
  }

  // "our AWS quota is 192 vCPUs of P instances": the GPUs of the family's machines within it.
  void take_quota() {
    if (!says("quota quotas limit limited")) return;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto count = count_at(i);
      if (!count || !lists_word("vcpu vcpus", at(i + 1))) continue;
      const std::size_t of = i + 2 + lists_word("of for in on", at(i + 2));
      const bool family = lists_word("instance instances family machines vms", at(of + 1)) && at(of).size() < 4;
      const std::string letters = family ? at(of) : "";
      const std::size_t end = family ? of + 2 : i + 2;
      put_quota(*count, letters, text(i, end));
      std::size_t first = i;
      while (lists_word("is of are at a an", at(first - 1))) --first;
      erase(first, end);
      std::erase_if(words_, [](const auto& word) { return lists_word("quota quotas limit", bare_word(word)); });
      return;
    }
  }

  void put_quota(double vcpus, const std::string& family, const std::string& said) {
    std::map<std::string, double> gpus;  // of each model, within the quota
    for (const catalog::Machine& machine : word_facts()->machines) {
      const std::string instance = to_lower(machine.instance);
      const std::string name = instance.starts_with("standard_") ? instance.substr(9) : instance;
      if (!says(machine.provider) || !name.starts_with(family) || !machine.vcpus || machine.retired ||
          is_other_chip(machine.gpu))
        continue;
      double& most = gpus[machine.gpu];
      most = std::max(most, std::floor(vcpus / *machine.vcpus) * machine.gpus);
    }
    std::vector<double> counts;
    for (const auto& [gpu, count] : gpus)
      if (count >= 1) counts.push_back(count);
    if (counts.empty()) {
      typed_.refusal = bad_input(fmt::format("a quota of {} allows none of the machines on file", said))
                           .with_hint("--max-gpus limits the GPUs; the command below has no such limit");
      return;
    }
    // One number for all: the GPUs with few per vCPU would limit the others, so half of the models must allow it.
    std::ranges::sort(counts);
    const double most = counts[(counts.size() - 1) / 2];
    std::string names;
    for (const auto& [gpu, count] : gpus)
      if (count >= most) names += (names.empty() ? "" : ",") + gpu;
    put(fmt::format("--max-gpus={:.0f}", most));
    put("--gpu=" + names);
    typed_.notes.push_back(
        fmt::format("a quota of {} is {:.0f} GPUs on most of its machines: --max-gpus {:.0f}, without "
                    "machines that need more vCPUs for as many",
                    said, most, most));
  }

  // "we own 16 V100 32GB ... or rent L40S for serving MODEL": machines that are there, beside those for rent.
  void take_owned() {
    const bool model = std::ranges::any_of(words_, [](const auto& word) {
      return kind_of_word(bare_word(word)) == WordKind::kModel || is_size(bare_word(word));
    });
    if (!model || !says("rent renting rented lease leasing")) return;
    for (std::size_t i = 0; i + 2 < words_.size(); ++i) {
      if (!lists_word("own owned bought have", at(i))) continue;
      const auto apart = count_at(i + 1);
      const std::size_t named = gpu_words(words_, i + 1 + apart.has_value());
      if (named == 0) continue;
      std::string name = text(i + 1 + apart.has_value(), i + 1 + apart.has_value() + named);
      std::replace(name.begin(), name.end(), ' ', '-');
      const catalog::CountedGpu gpu = catalog::split_gpu_count(singular_gpu(name));
      constexpr double kMost = 8;  // GPUs of a machine
      const double count = std::max(1.0, apart.value_or(gpu.count.value_or(1))), machines = std::ceil(count / kMost);
      put(fmt::format("--on-prem={:g}x{}", std::ceil(count / machines), gpu.name));
      if (machines > 1) put(fmt::format("--on-prem-machines={:g}", machines));
      put("--gpu=" + std::string(gpu.name));
      return erase(i, i + 1 + apart.has_value() + named);
    }
  }
};

}  // namespace

void take_phrases(Typed& typed) {
  SettingPhrases(typed).run();
  WorkPhrases(typed).run();
}

}  // namespace rightsize::app
