#include "rightsize/typed/work.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/hub_names.h"
#include "presets/presets.h"
#include "rightsize/typed/account.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {
namespace {

// Assumptions for what people leave out. A note names each one that is used.
constexpr double kThinkSeconds = 60, kMessagesPerDay = 10, kFirstTokenSeconds = 1, kTokenSeconds = 0.03;
constexpr double kPromptTokens = 1024, kDocumentTokens = 512;
constexpr Seconds kContinuous = seconds(60);  // work that arrives at least this often is served as it arrives

}  // namespace

std::string rate_text(double per_second) { return fmt::format("{:.4g}/s", per_second); }
std::string whole(double number) { return fmt::format("{:.0f}", std::ceil(number - 1e-9)); }

Typed WorkWriter::run() {
  note_ignored();
  const std::string ignored = fmt::format(" {} ", to_lower(said_.ignored));
  if (!out_.object.empty() && ignored.find(" " + out_.object) != std::string::npos)
    out_.refusal = bad_input(fmt::format("the word '{}' in the question is not understood", out_.object))
                       .with_hint("the command below leaves it out");
  put_model();
  note_chips();
  put_gpu_list();
  put_nodes();
  put_owned();
  put_copies();
  put_epochs();
  put_global_batch(out_, declared_, generates());
  if (!plans_ && is_training() && generates()) put_steps(out_, declared_);
  if (plans_ && trains()) put_few_samples();
  if (plans_ && (trains() || given("--job") == "train" || (said_.job.empty() && any_given(settings::Jobs::kTrain))))
    put_trainer(out_, !said_.amounts.empty());
  put_gpu_range();
  infer_serving();
  put_job();
  infer_stack();
  put_lengths();
  split_long_texts();
  if (plans_)
    put_request();
  else
    put_other();
  put_limits();
  put_budget();
  note_limits();
  note_paid_machines();
  put_compared();
  if (said_.command == "recommend" || said_.command == "checklist") assume_work();
  const std::string job = given("--job");
  for (const FlagInfo& flag : declared_) {
    if (job.empty() || job == "rl" || !flag.setting->heading.starts_with("Reinforcement") || given(flag.name).empty())
      continue;
    out_.refusal = bad_input(fmt::format("{} belongs to reinforcement learning, and this is {}", flag.name,
                                         job == "serve" ? "serving" : "training"))
                       .with_hint("leave it out, or use --job rl");
  }
  return std::move(out_);
}

void WorkWriter::note_ignored() {
  constexpr std::string_view kLimits = "under below most least max min maximum minimum only must never without within";
  std::string kept;
  const auto earlier = std::ranges::find_if(out_.notes, [](const auto& text) { return text.starts_with("ignored: "); });
  std::string all = said_.ignored;
  if (earlier != out_.notes.end()) {
    all = earlier->substr(9) + (all.empty() ? "" : "," + all);
    out_.notes.erase(earlier);
  }
  for (const std::string_view phrase : split_list(all, ',')) {
    const std::string text = to_lower(trim(phrase));
    const bool limit = std::ranges::any_of(split_list(text, ' '), [&](std::string_view word) {
      return lists_word(kLimits, word) || lists_word(listed("requirements"), word);
    });
    if (limit || text.find_first_of("0123456789-") != std::string::npos)
      kept += (kept.empty() ? "" : ", ") + std::string(trim(phrase));
  }
  if (!kept.empty()) out_.notes.push_back("ignored: " + kept);
}

std::string WorkWriter::given(std::string_view name) const {
  for (const std::string& word : out_.words) {
    if (word == name) return "yes";
    if (word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
  }
  return {};
}

bool WorkWriter::any_given(settings::Jobs jobs) const {
  return std::any_of(declared_.begin(), declared_.end(),
                     [&](const FlagInfo& flag) { return flag.setting->jobs == jobs && !given(flag.name).empty(); });
}

bool WorkWriter::generates() const {
  const auto shape = shape_among(out_.words);
  return !shape || shape->kind == model::ModelKind::kDecoder || shape->kind == model::ModelKind::kEncoderDecoder;
}

bool WorkWriter::draws() const {
  using enum model::ModelKind;
  const auto shape = shape_among(out_.words);
  return shape && (shape->kind == kDiffusionUNet || shape->kind == kDiffusionTransformer);
}

double WorkWriter::length(std::string_view flag, double otherwise) const {
  const std::string text = given(flag);
  const auto amount = parse_amount(text.substr(0, text.find(',')));
  return amount ? amount->count : otherwise;
}

double WorkWriter::prompt_tokens() const {
  return length(
      "--isl",
      length("--seq", said_.job == "embed" || said_.job == "rerank" || !generates() ? kDocumentTokens : kPromptTokens));
}

double WorkWriter::answer_tokens() const {
  return said_.job == "embed" || said_.job == "rerank" || !generates() ? 0 : length("--osl", kAnswerTokens);
}

bool WorkWriter::is_offline_job() const {
  constexpr std::array kOffline = {"batch", "embed", "rerank", "image", "video", "transcribe"};
  return std::find(kOffline.begin(), kOffline.end(), said_.job) != kOffline.end();
}

bool WorkWriter::trains() const { return said_.job == "train" || said_.job == "finetune" || said_.job == "dpo"; }

bool WorkWriter::is_training() const {
  return trains() || given("--job") == "train" || (!plans_ && said_.job.empty() && given("--job").empty() && !draws());
}

void WorkWriter::note_limits() {
  const std::string price = given("--max-price");
  constexpr double kUnusual = 20;  // more than any GPU costs per hour
  const bool large = std::atof(price.c_str() + price.starts_with('$')) > kUnusual;
  if (plans_ && (large || (price.find("/h") != price.npos && to_lower(price).find("gpu") == price.npos)))
    out_.notes.push_back(fmt::format("at most {}{} for each GPU (--max-price); --budget limits the cost of all",
                                     price.starts_with('$') ? "" : "$", price));
}

void WorkWriter::put_job() {
  if (plans_) infer_job();
  // Adapters on weights of 4 bits: the copies of unsloth and bitsandbytes.
  const auto format = model::format_in_name(model_among(out_.words));
  if (given("--method") == "lora" && format && lists_word("int4 nf4 fp4", model::name_of(*format))) {
    std::replace(out_.words.begin(), out_.words.end(), std::string("--method=lora"), std::string("--method=qlora"));
    out_.notes.emplace_back("the weights have 4 bits: --method qlora");
  }
  put_one_pass();
  if (said_.job.empty() || job_inferred_) return;
  if (said_.job == "rl") {
    // The length of a response is its limit, as in the settings of trainers.
    for (std::string& word : out_.words) {
      if (said_.sentence && word.starts_with("--osl=") && parse_count(word.substr(6))) word.insert(6, "max=");
    }
    return out_.words.push_back("--job=rl");
  }
  const bool all_weights = (said_.job == "finetune" || said_.job == "dpo") && given("--method").empty() &&
                           given("--lora-rank").empty() && has("--method");
  if (all_weights) out_.notes.emplace_back("fine-tuning trains all weights; --method lora trains adapters only");
  out_.words.push_back(trains() ? "--job=train" : "--job=serve");
  if (said_.job == "dpo" && has("--preference") && given("--preference").empty()) {
    out_.words.push_back("--preference=yes");
    out_.notes.emplace_back(
        "DPO trains on pairs of answers, which a frozen reference model reads too: --preference yes; samples are "
        "pairs");
  }
  if (said_.job == "rerank" && given("--docs-per-query").empty())
    out_.notes.emplace_back("a request is one pair of query and document; --docs-per-query reads several per query");
}

void WorkWriter::put_one_pass() {
  const bool serves = said_.job.empty() ? given("--job") == "serve" : !trains() && said_.job != "rl";
  const bool reads = said_.job == "embed" || said_.job == "rerank" || model::only_reads(model_among(out_.words));
  if (!serves || !reads || !generates() || !has("--osl")) return;
  if (given("--osl").empty()) {
    out_.words.push_back("--osl=1");
    out_.notes.emplace_back("an embedding or a score is one pass over the text: --osl 1");
  }
  // An engine of decoders takes each document as a request.
  const double documents = length("--docs-per-query", 1);
  if (documents <= 1) return;
  for (SaidAmount& said : said_.amounts) {
    if (!says_rate(said)) continue;
    said.amount.count *= documents;
    std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--docs-per-query="); });
    out_.notes.push_back(fmt::format(
        "each of the {:.0f} documents of a query is a request here; a query also waits for the last of them",
        documents));
  }
}

void WorkWriter::put_model() {
  if (!has("--model")) return;
  if (!said_.parameters.empty() || !said_.like.empty()) {
    const std::string model = model_among(out_.words);
    std::erase_if(out_.words, [&](const std::string& word) { return word == model || word == "--model=" + model; });
    std::string size = said_.parameters.empty() ? "8B" : said_.parameters;
    std::erase(size, ' ');
    put("--model", fmt::format("{} like {}", size, said_.like.empty() ? "llama" : said_.like));
  }
  if (said_.command == "models") return;
  // "a 1.5B gpt2 style model", "deepseek r1 671b": a size next to a name scales the model, unless it has this size.
  const auto size = std::find_if(out_.words.begin() + 1, out_.words.end(), is_size);
  const auto named = std::find_if(out_.words.begin() + 1, out_.words.end(), [](const std::string& word) {
    return !is_flag_word(word) && !is_size(word) && model::is_known_name(word);
  });
  if (!out_.asked.empty() && size != out_.words.end() && named != out_.words.end()) {
    const auto shape = model::find_model(*named);
    const double asked = parse_amount(*size).value_or(Amount{}).count, own = shape ? double(shape->parameters()) : 0;
    if (std::abs(own - asked) > 0.2 * asked) *named = fmt::format("--model={} like {}", *size, *named);
    out_.words.erase(size);
  }
  // A size alone: `memory 70b --serve`.
  for (std::size_t at = 1; at < out_.words.size() && model_among(out_.words).empty(); ++at) {
    const std::string word = out_.words[at];
    if (is_size(word)) out_.words[at] = "--model=" + word + " like llama";
  }
  assume_model();
  // "llama 8b and whisper on one L40S": one model is answered, and a note tells how to add the others.
  const std::string first = model_among(out_.words);
  std::erase_if(out_.words, [&](const std::string& word) {
    if (out_.asked.empty() || !lists_word("memory estimate", said_.command) || is_flag_word(word) || word == first ||
        kind_of_word(word) != WordKind::kModel)
      return false;
    out_.notes.push_back(fmt::format(
        "the answer is for {0}; 'rightsize {1} {2}{3}' shows {2}. Models share a GPU if the "
        "sum of their memory fits",
        first, said_.command, word,
        (given("--gpu").empty() ? "" : " --gpu " + given("--gpu")) + (said_.job == "serve" ? " --job serve" : "")));
    return true;
  });
  if (const std::string said = model::note_on_name(model_among(out_.words)); !said.empty()) out_.notes.push_back(said);
}

void WorkWriter::put_few_samples() {
  constexpr double kFew = 1000;
  const auto said = std::ranges::find_if(
      said_.amounts, [](const SaidAmount& amount) { return amount.thing != Thing::kToken && !amount.amount.per; });
  const double samples = said != said_.amounts.end() ? said->amount.count : length("--samples", 0);
  if (samples <= 0 || !given("--epochs").empty() || (samples >= kFew && given("--steps").empty())) return;
  if (said != said_.amounts.end()) said_.amounts.erase(said);
  std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--samples="); });
  if (given("--steps").empty()) assume("--steps", "1000", "few samples are read many times");
  if (given("--global-batch").empty() && given("--batch").empty() && samples < kFew)
    assume("--global-batch", "1", "few samples");
  out_.notes.push_back(fmt::format("the steps decide, not {} samples", format_count(samples)));
}

void WorkWriter::put_epochs() {
  if (given("--epochs").empty() || !has("--dataset-samples")) return;
  for (std::string& word : out_.words) {
    if (!word.starts_with("--samples=")) continue;
    word = "--dataset-" + word.substr(2);
    out_.renamed.emplace_back("--samples with --epochs is --dataset-samples");
  }
}

void WorkWriter::put_gpu_range() {
  const std::string text = given("--gpus");
  const std::size_t dash = text.find('-');
  if (!plans_ || dash == 0 || dash == std::string::npos || !parse_amount(text.substr(dash + 1))) return;
  std::erase(out_.words, "--gpus=" + text);
  put("--max-gpus", text.substr(dash + 1));
  out_.renamed.push_back(fmt::format("--gpus {} is --max-gpus {}", text, text.substr(dash + 1)));
}

void WorkWriter::put_gpu_list() {
  const std::string text = given("--gpu");
  if (text.find(',') == std::string::npos || !has("--gpus")) return;
  std::vector<std::string> names;
  std::optional<int> count;
  bool same = true;
  for (const std::string_view part : split_list(text, ',')) {
    const catalog::CountedGpu gpu = catalog::split_gpu_count(part);
    same &= names.empty() || gpu.count == count;
    count = gpu.count;
    names.emplace_back(gpu.name);
  }
  std::erase(out_.words, "--gpu=" + text);
  put("--gpu", fmt::format("{}", fmt::join(names, ",")));
  if (same && count && given("--gpus").empty()) put("--gpus", std::to_string(*count));
  if (!same && plans_)
    out_.notes.push_back(
        fmt::format("the work decides how many GPUs are needed, not '{}'; for the cost of some: "
                    "'rightsize prices {} --gpus N --hours 730h'",
                    text, names.front()));
}

void WorkWriter::put_nodes() {
  if (!said_.nodes && !said_.per_node) return;
  constexpr double kUsualNode = 8;
  // "4 nodes of 8 A100": the number is part of the GPU's name.
  if (const catalog::CountedGpu gpu = catalog::split_gpu_count(given("--gpu")); gpu.count && given("--gpus").empty()) {
    std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--gpu="); });
    put("--gpu", gpu.name);
    if (!said_.per_node) said_.per_node = *gpu.count;
  }
  const std::string each = given("--gpus");
  const auto counted = parse_amount(each.substr(each.find_last_of(":") + 1));
  const double gpus = said_.nodes.value_or(1) * said_.per_node.value_or(counted ? counted->count : kUsualNode);
  // Slurm's --gres gpu:a100:8 also names the GPU.
  const std::string typed = given("--gpus");
  const std::string name = typed.substr(0, std::min(typed.find_last_of(":="), typed.size()));
  if (given("--gpu").empty() && kind_of_word(name) == WordKind::kGpu) put("--gpu", name);
  std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--gpus="); });
  put("--gpus", whole(gpus));
  out_.notes.push_back(fmt::format("{} machine{} of {} GPUs: --gpus {}", whole(said_.nodes.value_or(1)),
                                   said_.nodes.value_or(1) == 1 ? "" : "s", whole(gpus / said_.nodes.value_or(1)),
                                   whole(gpus)));
}

void WorkWriter::put_copies() {
  if (!said_.copies) return;
  const bool serves = said_.job == "serve" || given("--job") == "serve" || is_offline_job();
  if (serves) {
    out_.notes.emplace_back(plans_ ? "the number of copies follows from the traffic, not from --dp"
                                   : "the answer is for one copy of the model; --dp copies share the requests");
    return;
  }
  const double copy = length("--tp", 1) * length("--pp", 1) * length("--cp", 1), gpus = *said_.copies * copy;
  if (given("--gpus").empty()) {
    put("--gpus", whole(gpus));
    out_.notes.push_back(fmt::format("{} copies of {} GPU{} each: --gpus {}", whole(*said_.copies), whole(copy),
                                     copy == 1 ? "" : "s", whole(gpus)));
  } else if (length("--gpus", gpus) != gpus) {
    out_.notes.push_back(fmt::format("--gpus {} decides; {} copies of {} would be {} GPUs", given("--gpus"),
                                     whole(*said_.copies), whole(copy), whole(gpus)));
  }
}

void WorkWriter::note_chips() {
  const std::string gpus = given("--gpu");
  if (!plans_ || gpus.empty()) return;
  std::string chips;
  for (const std::string_view gpu : split_list(gpus, ',')) {
    if (!is_other_chip(gpu)) return;
    chips += (chips.empty() ? "" : ", ") + std::string(gpu);
  }
  out_.notes.push_back(
      fmt::format("no framework or engine that we model runs on {}, so 'recommend' cannot plan it; "
                  "'rightsize estimate {} --gpu {}' gives the speed of its data sheet",
                  chips, model_among(out_.words), chips));
}

void WorkWriter::put(const std::string& flag, const std::string& value) { out_.words.push_back(flag + "=" + value); }

void WorkWriter::said_as(const SaidAmount& said, const std::string& meant) {
  if (said.text() != meant) out_.renamed.push_back(fmt::format("{} is {}", said.text(), meant));
}

double WorkWriter::response_seconds() const {
  double first = kFirstTokenSeconds, each = kTokenSeconds;
  for (const LatencyLimit& limit : said_.limits) {
    if (limit.metric == LatencyMetric::kTtft) first = in_seconds(limit.most);
    if (limit.metric == LatencyMetric::kTpot) each = in_seconds(limit.most);
    if (limit.metric == LatencyMetric::kLatency) return in_seconds(limit.most);
  }
  return first + each * answer_tokens();
}

bool WorkWriter::says_rate(const SaidAmount& s) { return s.is_rate || (s.thing == Thing::kRequest && s.amount.per); }

std::optional<double> WorkWriter::rate_of_people() {
  if (said_.concurrency && std::any_of(said_.amounts.begin(), said_.amounts.end(), says_rate)) {
    out_.notes.push_back(fmt::format("the rate decides, not {} requests in flight", format_count(*said_.concurrency)));
    return std::nullopt;
  }
  if (said_.concurrency) {
    const double response = response_seconds(), rate = *said_.concurrency / response;
    out_.notes.push_back(
        fmt::format("assumed: {} requests in flight, {} each, arrive at {} (Little's law); --rate "
                    "sets the rate itself",
                    format_count(*said_.concurrency), format_duration(seconds(response)), rate_text(rate)));
    return rate;
  }
  const auto people = std::find_if(said_.amounts.begin(), said_.amounts.end(),
                                   [](const SaidAmount& said) { return said.thing == Thing::kUser; });
  if (people == said_.amounts.end()) return std::nullopt;
  const double count = people->amount.count;
  // "20k customers, each asks 3 questions a day".
  const auto messages = std::find_if(said_.amounts.begin(), said_.amounts.end(), [](const SaidAmount& said) {
    constexpr double kMostMessages = 1000;
    return (said.thing == Thing::kRequest || said.thing == Thing::kItem) && said.flag.empty() &&
           said.amount.per.value_or(days(1)) >= hours(1) && said.amount.count <= kMostMessages;
  });
  if (messages != said_.amounts.end() && !said_.turns) {
    said_.turns = messages->amount.count, said_.turns_per = messages->amount.per;
    said_.amounts.erase(messages);
    return rate_of_people();
  }
  double rate = 0;
  if (const std::optional<Seconds> per = people->amount.per ? people->amount.per : said_.turns_per) {
    const double turns = said_.turns.value_or(kMessagesPerDay);
    rate = count * turns / in_seconds(*per);
    out_.notes.push_back(fmt::format("assumed: {} users with {} messages each (--turns) in {} are {} on average",
                                     format_count(count), format_count(turns), format_duration(*per), rate_text(rate)));
  } else {
    const double think = said_.think.value_or(kThinkSeconds);
    const double answer =
        kFirstTokenSeconds + kTokenSeconds * answer_tokens();  // a typical answer, whatever the limits
    rate = count / (think + answer);
    out_.notes.push_back(fmt::format(
        "assumed: {} users at the same time, each with {} between an answer and the next message "
        "(--think) and {} for an answer, are {} (Little's law)",
        format_count(count), format_duration(seconds(think)), format_duration(seconds(answer)), rate_text(rate)));
  }
  said_.amounts.erase(people);
  return rate;
}

void WorkWriter::put_request() {
  if (const auto rate = rate_of_people()) {
    if (given("--job").empty()) put("--job", "serve");
    put("--rate", rate_text(*rate));
  }
  // "40 developers, 6k prompts": the length of each.
  constexpr double kShortest = 256;
  const auto length = std::ranges::find_if(said_.amounts, [](const SaidAmount& said) {
    return said.flag.empty() && said.value.ends_with("prompts") && !said.amount.per && said.amount.count >= kShortest;
  });
  if (length != said_.amounts.end() && !given("--rate").empty() && given("--isl").empty() && has("--isl")) {
    put("--isl", whole(length->amount.count));
    said_as(*length, "--isl " + whole(length->amount.count));
    said_.amounts.erase(length);
  }
  for (const SaidAmount& said : said_.amounts) {
    if (trains())
      put_training(said);
    else if (said.thing == Thing::kAudioHour)
      put_work(said, "--audio-hours", said.amount.count);
    else
      put_serving(said);
  }
}

void WorkWriter::put_work(const SaidAmount& said, const std::string& flag, double count) {
  const bool as_typed = said.flag == flag && !said.amount.per && parse_count(said.value);
  const std::string text = as_typed                  ? said.value
                           : flag == "--audio-hours" ? fmt::format("{:.9g}", count)
                                                     : whole(count);
  put(flag, text);
  if (!said.amount.per) return;
  const bool limited = !given("--deadline").empty();
  const std::string time = fmt::format("{:.6g}h", in_hours(*said.amount.per));
  if (!limited) put("--deadline", time);
  said_as(said, fmt::format("{} {}{}", flag, text, limited ? "" : " --deadline " + time));
  if (!limited) {
    period_ = said.amount.per;
    out_.notes.push_back(fmt::format("the plan and its cost are for {} of work", format_duration(*said.amount.per)));
  }
}

void WorkWriter::put_training(const SaidAmount& said) {
  // "300M tokens, 2 epochs": the data set; --tokens is the total.
  const bool tokens = said.thing == Thing::kToken, epochs = !given("--epochs").empty();
  const bool set = epochs && !(tokens && said.flag == "--tokens");
  const std::string flag = fmt::format("--{}{}", set ? "dataset-" : "", tokens ? "tokens" : "samples");
  constexpr double kWindows = 120;  // of 30 s in an hour of audio
  const bool audio = said.thing == Thing::kAudioHour;
  if (audio)
    out_.notes.push_back(
        fmt::format("{} are windows of 30 s: {} {}", said.text(), flag, whole(kWindows * said.amount.count)));
  put_work(said, flag, said.amount.count * (audio ? kWindows : 1));
  if (!tokens && !audio && !said.amount.per) said_as(said, fmt::format("{} {}", flag, whole(said.amount.count)));
}

void WorkWriter::put_serving(const SaidAmount& said) {
  double count = said.amount.count;
  std::string how;
  if (said.thing == Thing::kToken) {
    const double in = prompt_tokens(), out = answer_tokens();
    count /= in + out;
    how = out > 0 ? fmt::format(" at {} tokens in and {} out", format_count(in), format_count(out))
                  : fmt::format(" at {} tokens each", format_count(in));
  }
  const bool offline = (is_offline_job() || !given("--deadline").empty()) && said_.limits.empty();
  const bool online = !said_.limits.empty() || said_.job == "serve" || (said.thing == Thing::kRequest && !offline);
  const bool service = said_.job == "serve" && said.thing == Thing::kRequest;  // whatever clock times follow
  if (said.amount.per && (said.is_rate || service || *said.amount.per <= kContinuous || (online && !offline))) {
    const double per_second = count / in_seconds(*said.amount.per);
    const bool as_typed = said.flag == "--rate" && how.empty();  // a rate alone implies serving
    if (given("--job").empty() && !as_typed) put("--job", "serve");
    put("--rate", as_typed && parse_request_rate(said.value) ? said.value : rate_text(per_second));
    if (!as_typed) said_as(said, fmt::format("--rate {}{}", rate_text(per_second), how));
    return;
  }
  if (given("--job").empty()) put("--job", "serve");
  put_work(said, "--items", count);
  if (!said.amount.per && (said.flag != "--items" || !how.empty()))
    said_as(said, fmt::format("--items {}{}", whole(count), how));
}

std::optional<int> WorkWriter::common_percentile() {
  std::optional<double> strictest;
  for (const LatencyLimit& limit : said_.limits) {
    if (limit.percentile) strictest = std::max(strictest.value_or(0), *limit.percentile);
  }
  if (!strictest) return std::nullopt;
  const int modelled = modelled_percentile(*strictest);
  if (modelled != *strictest)
    out_.notes.push_back(fmt::format("p{:g} is planned as p{}", *strictest, modelled));
  else if (std::any_of(said_.limits.begin(), said_.limits.end(),
                       [&](const LatencyLimit& limit) { return limit.percentile.value_or(*strictest) != *strictest; }))
    out_.notes.push_back(fmt::format("every limit is planned at p{}", modelled));
  return modelled;
}

Typed meant_work(Typed typed, const std::deque<FlagInfo>& declared) {
  if (typed.words.empty() || typed.words.front() == "profile") return typed;
  Typed meant = WorkWriter(read_said(std::move(typed), declared), declared).run();
  constexpr std::size_t kSentence = 4;
  const std::string unread = meant.said.size() > kSentence || !meant.asked.empty() ? unread_phrase(meant) : "";
  if (!meant.refusal && !unread.empty() &&
      lists_word("recommend checklist estimate memory prices gpus models batch window autoscale commit init",
                 meant.words.front()))
    meant.refusal = bad_input(fmt::format("'{}' in the question is not understood", unread))
                        .with_hint("the command below leaves it out");
  return meant;
}

}  // namespace rightsize::app
