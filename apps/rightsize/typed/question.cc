#include "rightsize/typed/question.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/input/electricity.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/asked.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

// A place whose electricity is on file.
bool is_grid(const std::string& word) {
  return word.find_first_of("0123456789") == std::string::npos && !is_flag_word(word) && !is_link(word) &&
         read_electricity({{}, word, {}}).has_value();
}

// A provider, a place or terms.
bool names_offer(const Sentence& said) {
  return said.says("on-demand spot in-us in-eu in-uk") || std::ranges::any_of(said.words, [&](const std::string& word) {
           return !holds(said.gpus, word) && !lists_word("nvidia amd intel google", word) &&
                  (is_vendor_or_provider(word) || is_region(word) ||
                   (word.size() > 2 && lists_word(listed("places"), word)) || catalog::read_purchase(word));
         });
}

bool applies(const QuestionKind& kind, const Sentence& said) {
  return (kind.needs & ~said.has) == 0 && (kind.asked.empty() || said.says(kind.asked)) &&
         (kind.with.empty() || said.says(kind.with));
}

// `mig` reads slices and sizes itself; a model is placed on the GPU, and the GPU alone has its profiles listed.
std::vector<std::string> mig_words(const Sentence& said, const std::vector<std::string>& typed,
                                   std::vector<std::string>& notes) {
  const bool slices = !said.memory.empty() || std::ranges::any_of(said.words, [](const std::string& word) {
    return word.find("g.") != std::string::npos;
  });
  Typed names{{"memory"}};
  names.words.insert(names.words.end(), typed.begin(), typed.end());
  join_names(names);
  std::vector<std::string> all;  // each as often as it is said: "three 7B models"
  for (std::size_t i = 0; i < names.words.size(); ++i) {
    const std::string& word = names.words[i];
    const bool guessed = model::note_on_name(word).find("by its name") != std::string::npos;
    const bool of_size = i > 0 && is_size(names.words[i - 1]);  // "1B llama"
    std::string model = is_size(word) ? word + " like llama" : "";
    if (model.empty() && !guessed && !of_size && kind_of_word(word) == WordKind::kModel) model = word;
    if (model.empty()) continue;
    std::size_t at = i;  // "7 copies of whisper-small"
    while (at > 0 && lists_word("of copies copy instances instance replicas replica", bare_word(names.words[at - 1])))
      --at;
    std::string before = at == 0 ? "" : names.words[at - 1];  // "3", "3x", "three"; not the rate of the model before
    if (const std::string digits = digits_of(before); !digits.empty()) before = digits;
    if (before.size() > 1 && before.ends_with('x')) before.pop_back();
    constexpr double kMost = 56;  // slices of eight GPUs
    const double copies = is_digits(before) ? std::clamp(std::atof(before.c_str()), 1.0, kMost) : 1;
    all.insert(all.end(), static_cast<std::size_t>(copies), model);
  }
  if (said.says("how-many") && all.size() < 2) return {"--gpu=" + said.gpus.front()};  // the number of each profile
  if (slices && all.empty()) return {fmt::format("{}", fmt::join(typed, " "))};
  std::vector<std::string> words{"--gpu=" + said.gpus.front()};
  if (!all.empty()) words.push_back(fmt::format("--models={}", fmt::join(all, ",")));
  for (const std::string& word : said.words)
    if (!all.empty() && word.find("g.") != std::string::npos)
      notes.push_back(fmt::format("ignored: {}; the plan chooses the slices", word));
    else if (const auto rate = parse_amount(bare_word(word)); !all.empty() && rate && rate->per)
      notes.push_back(fmt::format("ignored: {}; a file of workloads gives each its rate ('rightsize help mig')", word));
  return words;
}

// The words that are left for the settings of a job.
std::vector<std::string> job_words(const QuestionKind& kind, const Sentence& said,
                                   const std::vector<std::string>& words, bool load) {
  const auto is_question = [&](const std::string& word) {
    const Thing thing = thing_of(word);
    const bool of_load = lists_word(listed("load"), word) || thing == Thing::kUser || thing == Thing::kRequest;
    return lists_word(listed("asking"), word) || (job_of(word).empty() && is_asked(kind, said, word)) ||
           (load && of_load);
  };
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word.starts_with('-')) {
      kept.push_back(std::move(word));
      continue;
    }
    // "100 candidates per query" is a number of each request, not a rate.
    const std::string of_each = i + 1 < words.size() ? bare_word(words[i + 1]) : "";
    if (bare_word(word) == "per" && i > 1 && parse_amount(words[i - 2]) && !continues_amount(of_each) &&
        thing_of(of_each) != Thing::kNone) {
      kept.insert(kept.end(), {word, of_each});
      ++i;
      continue;
    }
    // "cost per month": every answer has it.
    const bool period = i + 1 < words.size() && lists_word("per a each", bare_word(word)) && continues_amount(of_each);
    if (period && i > 0 && lists_word(kCosts, bare_word(words[i - 1]))) {
      ++i;
      continue;
    }
    const bool each = i > 0 && i + 1 < words.size() && lists_word("a an every each", bare_word(word)) &&
                      thing_of(words[i - 1]) != Thing::kNone && continues_amount(bare_word(words[i + 1]));
    if (each) word = "per";  // "3 questions a day"
    word = word.substr(0, bare_word(word).size());
    const bool computes = lists_word("memory estimate", kind.command);
    if (const std::string inside = gpus_of_instance(word); computes && !inside.empty()) word = inside;
    if (kind.command == "models" && (is_link(word) || lists_word(listed("load"), word))) continue;  // "have active"
    // "p99 latency" of an estimate, which has no percentiles.
    if (computes && word.size() < 4 && word.starts_with('p') && is_digits(word.substr(1))) continue;
    const bool counted =
        lists_word("gpu gpus", bare_word(word)) && !kept.empty() && is_digits(kept.back());  // "4 GPUs"
    const bool pronoun =
        bare_word(word) == "one" || (word == "1" && i > 0 && lists_word("which this that", bare_word(words[i - 1])));
    // "under 1 s", "from 10 to 20 rps": parts of numbers, not of the question.
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const bool of_number =
        i > 0 && is_digits(words[i - 1]) && (bare_word(word) == "s" || (bare_word(word) == "to" && is_digits(next)));
    const Thing thing = thing_of(bare_word(word));  // "with 10 users"
    const bool of_load = (kind.needs & kSpeed) && i > 0 && is_digits(words[i - 1]) &&
                         (thing == Thing::kUser || thing == Thing::kRequest);
    const bool question = is_question(bare_word(word)) && !counted && !of_number && !of_load && !is_in_name(words, i);
    if (word.empty() || pronoun || question || (i == 0 && word == kind.command)) continue;
    if (is_digits(word) && i + 1 < words.size() && lists_word("gb gib", bare_word(words[i + 1]))) word += words[++i];
    kept.push_back(std::move(word));
  }
  return kept;
}

// "with activation checkpointing": a setting that only training has.
bool sets_training(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](const std::string& flag) {
    const settings::Setting* row =
        settings::find(flag.substr(std::min<std::size_t>(2, flag.size()), flag.find('=') - 2));
    return row != nullptr && row->jobs == settings::Jobs::kTrain;
  });
}

// "I have a 3090 and two 4070s, can they run mixtral?": one model on all of them, not a choice between them.
bool share_a_model(const Sentence& said) {
  const bool differ = std::ranges::any_of(said.gpus, [&](const auto& gpu) { return gpu != said.gpus.front(); });
  return differ && !said.says("or vs versus") &&
         (said.says("together both combined") || (said.says("and plus +") && said.says(kPresent)));
}

// The words with one kind of GPU: the smallest decides, since engines split a model evenly.
std::vector<std::string> on_mixed_gpus(const Sentence& said, std::vector<std::string> kept,
                                       std::vector<std::string>& notes) {
  std::string smallest;
  std::optional<Bytes> least;
  double all = 0;
  for (std::size_t i = 0; i < said.gpus.size(); ++i) {
    all += said.counts[i];
    const auto gpu = word_facts() ? word_facts()->find_gpu(said.gpus[i]) : Result<const catalog::Gpu*>(nullptr);
    if (!gpu || *gpu == nullptr || (least && (*gpu)->capacity() >= *least)) continue;
    smallest = (*gpu)->name;
    least = (*gpu)->capacity();
  }
  if (!least) return kept;
  for (const std::string& gpu : said.gpus) drop_gpu(kept, gpu);
  kept.insert(kept.end(), {fmt::format("--gpu={:g}x{}", all, smallest), fmt::format("--tp={:g}", all)});
  notes.push_back(
      fmt::format("the model is split evenly over {:g} GPUs, so the smallest, {}, decides; llama.cpp can "
                  "give a larger one a larger part",
                  all, smallest));
  return kept;
}

}  // namespace

bool answer_question(Typed& typed, bool quoted) {
  std::vector<std::string>& words = typed.words;
  const bool command_named = holds(command_names(), words.front());
  if (words.size() < 2 || (command_named && !quoted && !lists_word("gpus prices", words.front()))) return false;
  const bool file = std::ranges::any_of(words, [](const auto& word) { return !command_for_file(word).empty(); });
  const Sentence said(words, quoted);
  const auto found = std::ranges::find_if(kKinds, [&](const QuestionKind& one) { return applies(one, said); });
  const bool known = found != std::end(kKinds);
  // A symptom is a question in any form: "training is slow", "slow training".
  const bool worded = words.size() > 2 &&
                      (job_of(words.front()).empty() || words.front() == "rank" || (known && (said.has & kAsks) != 0));
  if (file || (!worded && !(known && (lists_word("profile mig", found->command) || found->command == "prices spot"))) ||
      (command_named && !quoted && !(said.flags.empty() && said.gpus.empty())))
    return false;
  const unsigned enough = kPhrase | kModel;  // "monthly bill for serving llama-3.1-70b at 3 requests per second"
  if (!known && (command_named || ((said.has & kAsks) == 0 && (said.has & enough) != enough))) return false;
  QuestionKind kind = known ? *found : QuestionKind{"recommend", "", ""};
  if (!known && (said.has & kGpu) && (said.has & kNoModel) && (said.has & kNoWork)) kind.command = "prices";
  // GPUs without a price cannot be rented, and how long it takes on those that are there needs none.
  constexpr unsigned kNothing = kNoAmount | kNoTokens;
  const bool worked = kind.command == "recommend" && said.gpus.size() == 1 && !(said.has & kNoModel) &&
                      (said.has & kNothing) != kNothing;
  const bool owned = worked && said.says("how-long") && said.says(kPresent);
  const auto prices = worked && !owned ? call("prices", {said.gpus.front()}) : Checked<Outcome>(Outcome{});
  if (owned || !prices || prices->exit_code != kDone) kind.command = "estimate";
  // "H100 vs H200 on AWS in Mumbai": offers, not data sheets; two instance types are compared by their prices.
  const auto types = std::ranges::count_if(said.gpus, [](const auto& gpu) { return !gpus_of_instance(gpu).empty(); });
  if (lists_word("gpus", kind.command) && (said.has & kTwoGpus) && !said.says(kPower) && names_offer(said))
    kind.command = "prices compare";
  if (types > 1 && (kind.command == "gpus" || kind.command == "prices compare")) kind.command = "prices";
  const std::string command(kind.command), first = command.substr(0, command.find(' '));
  std::vector<std::string> kept;
  if (first == "mig") {
    kept = mig_words(said, words, typed.notes);
    if (said.says("requests req/s rps qps per-second tokens ms p99 p95 latency"))
      typed.refusal =
          bad_input("rates, lengths and latencies of small models are read from a file of workloads")
              .with_hint(
                  "give each workload its model, replicas, rate, isl and latency (examples/mig/workloads.yaml) and "
                  "run 'rightsize mig FILE'; the command below places the models without them");
  } else if (lists_word("gpus prices", first)) {
    kept = offer_words(kind, said, typed.notes, typed.used);
    kept.insert(kept.end(), said.flags.begin(), said.flags.end());
  } else if (lists_word("profile fleet", first)) {
    kept = said.flags;
    std::vector<std::string> numbers = said.words;
    std::erase_if(numbers, [](const std::string& word) { return !is_digits(word.substr(0, 1)); });
    if (!numbers.empty()) typed.notes.push_back(fmt::format("ignored: {}", fmt::join(numbers, ", ")));
  } else {
    const bool load = command == "recommend" && (kind.needs & kModel) && (kind.needs & kGpu) && !(said.has & kTwoGpus);
    const bool asks_load = load && !(kind.needs & kTraffic);  // otherwise the traffic is said
    kept = job_words(kind, said, words, asks_load || (kind.needs & kSpeed));
    if (owned) std::erase_if(kept, [](const auto& word) { return lists_word(kPresent, to_lower(word)); });
    if (first == "memory" && share_a_model(said)) kept = on_mixed_gpus(said, std::move(kept), typed.notes);
    const bool today = said.gpus.size() == 1 && said.says(kPresent) && said.says(kChanged);
    if (first == "recommend" && today)
      typed.notes.push_back("today: " + take_present(said.words, said.gpus.front(), std::max(said.count, 1.0), kept));
    if (load) kept.insert(kept.end(), {fmt::format("--gpus={:g}", std::max(said.count, 1.0)), "--job=serve"});
    bool no_job = true;  // "batch 4" is a setting
    for (std::size_t i = 0; i < kept.size(); ++i)
      no_job &= job_of(kept[i]).empty() || is_in_name(kept, i) ||
                (to_lower(kept[i]) == "batch" && i + 1 < kept.size() && is_digits(kept[i + 1]));
    const bool trained = (kind.needs & kModel) && (said.says(kTrainParts) || sets_training(said.flags));
    constexpr std::size_t kModelFlag = 2;
    if (lists_word("memory estimate", first) && no_job && (first == "memory" || said.flags.size() <= kModelFlag))
      kept.emplace_back(trained ? "--job=train" : "--job=serve");
    const bool trains = std::ranges::any_of(
        kept, [](const auto& word) { return lists_word("train finetune dpo", job_of(word)) || word == "--job=train"; });
    // "embeddings per second at 512 tokens": the length of each.
    for (std::size_t i = 0; (kind.needs & kSpeed) && !trains && i + 1 < kept.size(); ++i) {
      if (!parse_amount(kept[i]) || !lists_word("token tokens", kept[i + 1]) ||
          (i + 2 < kept.size() && lists_word("in out per", kept[i + 2])))
        continue;
      kept[i] = "--isl=" + kept[i];
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i + 1));
    }
    for (const char* unit : {"minute", "hour", "day", "week", "month"})
      if ((kind.needs & kSpeed) && said.says(fmt::format("per-{0} a-{0} an-{0} each-{0} {0}ly", unit)))
        kept.push_back(fmt::format("--per={}", unit));
    for (std::size_t i = 0; first == "models" && i + 1 < kept.size(); ++i) {  // "with 16k context"
      if (!parse_amount(kept[i]) || bare_word(kept[i + 1]) != "context") continue;
      kept[i] = "--min-context=" + kept[i];
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i + 1));
    }
    // "enough for 20 tokens per second": the answer states the speed of a request.
    for (std::size_t i = 0;
         first == "estimate" && kind.with.starts_with("tokens-per-second") && i + 1 < said.words.size(); ++i)
      if (is_digits(said.words[i]) && lists_word("tokens tok/s tokens/s tokens/sec tps t/s", said.words[i + 1]))
        typed.notes.push_back(fmt::format("asked: {} tokens/s of a request, a TPOT of at most {:.3g} ms", said.words[i],
                                          1000 / std::max(1e-3, std::atof(said.words[i].c_str()))));
    if (kind.needs & kLongest) kept.emplace_back("--longest");
    if ((kind.needs & kLongest) && !trains) kept.push_back(fmt::format("--tp={:g}", std::max(said.count, 1.0)));
    // "we pay an API 8000 dollars a month for 2 billion tokens": the traffic of a month.
    const auto tokens = std::ranges::find(kept, "tokens");
    if (command.ends_with("--job=serve") && said.says("month monthly") && tokens != kept.end())
      kept.insert(tokens + 1, {"per", "month"});
  }
  // "How much CO2 does ... emit in Sweden", "how many kWh": a place on file, otherwise that of each plan.
  const bool energy = said.says(kPower);
  if (const auto in = std::ranges::find(kept, "in"); energy && first == "recommend") {
    const bool place = kept.end() - in > 1 && !is_vendor_or_provider(*(in + 1));
    const std::string where = place ? *(in + 1) : std::string("region"), carbon = "--carbon=" + where;
    std::vector<std::string> there{"--region=" + where};
    there.insert(there.end(), said.gpus.begin(), said.gpus.end());
    if (place) kept.erase(in, in + 2);
    const bool several = place && std::ranges::any_of(kept, is_grid);  // "in Sweden or Virginia": of each plan's place
    if (const auto offers = call("prices", there); place && offers && offers->exit_code == kDone)
      kept.push_back(there.front());  // the machines are there too
    std::erase_if(kept, [](const auto& word) { return lists_word(kPower, bare_word(word)); });
    kept.push_back(several ? "--carbon=region" : carbon);
  }
  // An answer that ignores what is asked for is none.
  const bool named = (said.has & kNoModel) && std::ranges::any_of(words, is_unknown_name);  // its error names it
  // A phrase with a model and its work needs no more, and a plan answers what it costs.
  const bool plan =
      (said.has & kNoWork) == 0 && (!(said.has & kAsks) || said.says("pay worth host setup budget money"));
  for (std::size_t i = 0; !known && !named && !plan && i < words.size() && typed.object.empty(); ++i) {
    const std::string word = bare_word(words[i]);
    const bool names = word.find('\'') == word.npos && word.find_first_of("0123456789") == word.npos;  // not "we've"
    if (names && !lists_word(listed("asking"), word) && !is_link(word)) typed.object = word;
  }
  if (kind.asked.starts_with("openai") && !(said.has & kMoney) && value_of(said.flags, "--api-price").empty())
    typed.notes.emplace_back(
        "the API's price is not on file: --api-price IN/OUT, in USD per 1M tokens, compares it with this plan");
  std::ptrdiff_t verbs = 0;  // "prices spot"; flags follow the words, which together may be a name
  for (const std::string_view word : split_list(command, ' '))
    kept.emplace(word.starts_with('-') ? kept.end() : kept.begin() + verbs++, word);
  words = std::move(kept);
  return true;
}

}  // namespace rightsize::app
