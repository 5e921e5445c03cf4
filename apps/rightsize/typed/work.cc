#include "rightsize/typed/work.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "presets/hub_names.h"
#include "presets/presets.h"
#include "rightsize/typed/global_batch.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/said.h"

namespace rightsize::app {
namespace {

// What people leave out. Each is said in a note when it is used.
constexpr double kThinkSeconds = 60, kMessagesPerDay = 10, kFirstTokenSeconds = 1, kTokenSeconds = 0.03;
constexpr double kPromptTokens = 1024, kAnswerTokens = 256, kDocumentTokens = 512;
constexpr Seconds kContinuous = seconds(60);  // work that arrives at least this often is served as it arrives

std::string whole(double number) { return fmt::format("{:.0f}", std::ceil(number - 1e-9)); }
std::string rate_text(double per_second) { return fmt::format("{:.4g}/s", per_second); }

class WorkWriter {
 public:
  WorkWriter(Said said, const std::deque<FlagInfo>& declared)
      : declared_(declared), said_(std::move(said)), out_(said_.rest), plans_(plans_work(declared)) {}

  Typed run() {
    if (!said_.ignored.empty()) out_.notes.push_back("ignored: " + said_.ignored);
    put_model();
    note_chips();
    put_nodes();
    put_epochs();
    put_global_batch(out_, declared_, generates());
    put_gpu_range();
    infer_serving();
    put_job();
    put_lengths();
    if (plans_)
      put_request();
    else
      put_other();
    put_limits();
    put_budget();
    note_paid_machines();
    put_compared_gpus();
    if (said_.command == "recommend" || said_.command == "checklist") assume_work();
    return std::move(out_);
  }

 private:
  bool has(std::string_view name) const {
    return std::any_of(declared_.begin(), declared_.end(), [&](const FlagInfo& flag) { return flag.name == name; });
  }

  // ---- what the words say together

  std::string given(std::string_view name) const {
    for (const std::string& word : out_.words) {
      if (word == name) return "yes";
      if (word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
    }
    return {};
  }
  bool any_given(settings::Jobs jobs) const {
    return std::any_of(declared_.begin(), declared_.end(),
                       [&](const FlagInfo& flag) { return flag.setting->jobs == jobs && !given(flag.name).empty(); });
  }

  bool generates() const {
    const auto shape = shape_among(out_.words);
    return !shape || shape->kind == model::ModelKind::kDecoder || shape->kind == model::ModelKind::kEncoderDecoder;
  }

  double length(std::string_view flag, double otherwise) const {
    const std::string text = given(flag);
    const auto amount = parse_amount(text.substr(0, text.find(',')));
    return amount ? amount->count : otherwise;
  }
  double prompt_tokens() const {
    return length("--isl",
                  length("--seq", said_.job == "embed" || said_.job == "rerank" || !generates() ? kDocumentTokens
                                                                                                : kPromptTokens));
  }
  double answer_tokens() const {
    return said_.job == "embed" || said_.job == "rerank" || !generates() ? 0 : length("--osl", kAnswerTokens);
  }

  bool is_offline_job() const {
    constexpr std::array kOffline = {"batch", "embed", "rerank", "image", "video", "transcribe"};
    return std::find(kOffline.begin(), kOffline.end(), said_.job) != kOffline.end();
  }
  bool trains() const { return said_.job == "train" || said_.job == "finetune" || said_.job == "dpo"; }

  // Memory and speed in a format that no default framework trains in are those of serving.
  void infer_serving() {
    constexpr std::array kServed = {"int8", "int4", "fp8", "fp4"};
    if (plans_ || !has("--job") || !has("--gpu") || !said_.job.empty() || !given("--job").empty()) return;
    const std::string format = given("--precision"), model = model_among(out_.words);
    const bool quantized = format.empty() && model::format_in_name(model).has_value();
    const bool trains = !given("--seq").empty() || any_given(settings::Jobs::kTrain);
    if (!(quantized || holds(kServed, format)) || !given("--stack").empty() || trains) return;
    assume("--job", "serve",
           quantized ? model + " has weights in a format for serving" : format + " is a format for serving");
  }

  // The job that the work implies where none is named.
  void infer_job() {
    if (!said_.job.empty() || !given("--job").empty()) return;
    const bool tokens_alone =
        !said_.amounts.empty() && std::all_of(said_.amounts.begin(), said_.amounts.end(), [](const auto& said) {
          return said.thing == Thing::kToken && !said.amount.per;
        });
    if (any_given(settings::Jobs::kTrain) ||
        (tokens_alone && said_.limits.empty() && !any_given(settings::Jobs::kServe)))
      said_.job = "train", job_inferred_ = true;
  }

  void put_job() {
    if (plans_) infer_job();
    if (said_.job.empty() || job_inferred_) return;
    if (said_.job == "rl") return out_.words.push_back("--job=rl");
    const bool all_weights =
        (said_.job == "finetune" || said_.job == "dpo") && given("--method").empty() && has("--method");
    if (all_weights) out_.notes.emplace_back("fine-tuning trains all weights; --method lora trains adapters only");
    out_.words.push_back(trains() ? "--job=train" : "--job=serve");
    if (said_.job == "dpo" && has("--preference") && given("--preference").empty()) {
      out_.words.push_back("--preference=yes");
      out_.notes.emplace_back(
          "DPO trains on pairs of answers, which a frozen reference model reads too: --preference yes; samples are "
          "pairs");
    }
    if (said_.job == "embed" && generates() && has("--osl") && given("--osl").empty()) {
      out_.words.push_back("--osl=1");
      out_.notes.emplace_back("an embedding is one pass over the text: --osl 1");
    }
    if (said_.job == "rerank") out_.notes.emplace_back("a request is one pair of query and document");
  }

  // A model that is known only by its size, and what its name says about the shape.
  void put_model() {
    if (!has("--model")) return;
    if (!said_.parameters.empty() || !said_.like.empty()) {
      const std::string model = model_among(out_.words);
      std::erase_if(out_.words, [&](const std::string& word) { return word == model || word == "--model=" + model; });
      std::string size = said_.parameters.empty() ? "8B" : said_.parameters;
      std::erase(size, ' ');
      put("--model", fmt::format("{} like {}", size, said_.like.empty() ? "llama" : said_.like));
    }
    if (said_.command == "models") return;
    assume_model();
    // A size alone: `memory 70b --serve`.
    for (std::size_t at = 1; at < out_.words.size() && model_among(out_.words).empty(); ++at) {
      const std::string word = out_.words[at];
      const bool size = word.size() > 1 && word.find_first_not_of("0123456789.") == word.size() - 1;
      if (size && to_lower(word).ends_with('b')) out_.words[at] = "--model=" + word + " like llama";
    }
    if (const std::string said = model::note_on_name(model_among(out_.words)); !said.empty())
      out_.notes.push_back(said);
  }

  // The usual model of a job that has one.
  void assume_model() {
    constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
        {"transcribe", "whisper-large-v3"}, {"embed", "bge-m3"}, {"rerank", "bge-reranker-v2-m3"}};
    if (!plans_ || !model_among(out_.words).empty() || !given("--help").empty()) return;
    const bool audio = std::any_of(said_.amounts.begin(), said_.amounts.end(),
                                   [](const SaidAmount& said) { return said.thing == Thing::kAudioHour; });
    for (const auto& [job, model] : kUsual) {
      if (job == said_.job || (audio && job == "transcribe"))
        return assume("--model", std::string(model), "no model was named");
    }
  }

  // --samples 1.28M --epochs 90: the data set, 90 times.
  void put_epochs() {
    if (given("--epochs").empty() || !has("--dataset-samples")) return;
    for (std::string& word : out_.words) {
      if (!word.starts_with("--samples=")) continue;
      word = "--dataset-" + word.substr(2);
      out_.renamed.emplace_back("--samples with --epochs is --dataset-samples");
    }
  }

  // --gpus 1-4: at most four.
  void put_gpu_range() {
    const std::string text = given("--gpus");
    const std::size_t dash = text.find('-');
    if (!plans_ || dash == 0 || dash == std::string::npos || !parse_amount(text.substr(dash + 1))) return;
    std::erase(out_.words, "--gpus=" + text);
    put("--max-gpus", text.substr(dash + 1));
    out_.renamed.push_back(fmt::format("--gpus {} is --max-gpus {}", text, text.substr(dash + 1)));
  }

  void put_nodes() {
    if (!said_.nodes && !said_.per_node) return;
    constexpr double kUsualNode = 8;
    const double gpus = said_.nodes.value_or(1) * said_.per_node.value_or(length("--gpus", kUsualNode));
    std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--gpus="); });
    put("--gpus", whole(gpus));
    out_.notes.push_back(fmt::format("{} machine{} of {} GPUs: --gpus {}", whole(said_.nodes.value_or(1)),
                                     said_.nodes.value_or(1) == 1 ? "" : "s", whole(gpus / said_.nodes.value_or(1)),
                                     whole(gpus)));
  }

  // Plans need software that we model.
  void note_chips() {
    if (!plans_ || given("--gpu").empty()) return;
    std::string chips;
    for (const std::string_view gpu : split_list(given("--gpu"), ',')) {
      if (!is_other_chip(gpu)) return;
      chips += (chips.empty() ? "" : ", ") + std::string(gpu);
    }
    out_.notes.push_back(
        fmt::format("no framework or engine that we model runs on {}, so 'recommend' cannot plan it; "
                    "'rightsize estimate {} --gpu {}' gives the speed of its data sheet",
                    chips, model_among(out_.words), chips));
  }

  // Sized for requests that are as long as the engine accepts.
  void put_lengths() {
    // A text to embed or to answer is a prompt, also where the user calls it a sequence.
    if (has("--isl") && given("--isl").empty() && !said_.job.empty() && !trains() && said_.job != "rl" && generates()) {
      for (std::string& word : out_.words) {
        if (!word.starts_with("--seq=")) continue;
        word = "--isl=" + word.substr(6);
        out_.renamed.emplace_back("--seq is --isl");
      }
    }
    if (!said_.longest) return;
    if (!given("--isl").empty() || !given("--mix").empty() || !given("--trace").empty()) {
      out_.notes.emplace_back("the longest request does not matter here: the lengths of requests are given");
      return;
    }
    if (said_.command != "memory") {
      out_.notes.emplace_back("the longest request an engine accepts says nothing about the usual one (--isl, --osl)");
      return;
    }
    const double answer = std::min(length("--osl", kAnswerTokens), *said_.longest / 2);
    put("--isl", whole(*said_.longest - answer));
    out_.notes.push_back(fmt::format("sized for requests of {} tokens: {} in, {} out", format_count(*said_.longest),
                                     format_count(*said_.longest - answer), format_count(answer)));
  }

  void put(const std::string& flag, const std::string& value) { out_.words.push_back(flag + "=" + value); }
  void said_as(const SaidAmount& said, const std::string& meant) {
    if (said.text() != meant) out_.renamed.push_back(fmt::format("{} is {}", said.text(), meant));
  }

  // Seconds that a request of a given number in flight may take: the limits, or what is usual.
  double response_seconds() const {
    double first = kFirstTokenSeconds, each = kTokenSeconds;
    for (const LatencyLimit& limit : said_.limits) {
      if (limit.metric == LatencyMetric::kTtft) first = in_seconds(limit.most);
      if (limit.metric == LatencyMetric::kTpot) each = in_seconds(limit.most);
      if (limit.metric == LatencyMetric::kLatency) return in_seconds(limit.most);
    }
    return first + each * answer_tokens();
  }

  static bool says_rate(const SaidAmount& s) { return s.is_rate || (s.thing == Thing::kRequest && s.amount.per); }

  // Little's law: people who think for a while between two requests, or requests that are always in flight.
  std::optional<double> rate_of_people() {
    if (said_.concurrency > 0 && std::any_of(said_.amounts.begin(), said_.amounts.end(), says_rate)) {
      out_.notes.push_back(fmt::format("the rate decides, not {} requests in flight", format_count(said_.concurrency)));
      return std::nullopt;
    }
    if (said_.concurrency > 0) {
      const double response = response_seconds(), rate = said_.concurrency / response;
      out_.notes.push_back(
          fmt::format("assumed: {} requests in flight, {} each, arrive at {} (Little's law); --rate "
                      "sets the rate itself",
                      format_count(said_.concurrency), format_duration(seconds(response)), rate_text(rate)));
      return rate;
    }
    const auto people = std::find_if(said_.amounts.begin(), said_.amounts.end(),
                                     [](const SaidAmount& said) { return said.thing == Thing::kUser; });
    if (people == said_.amounts.end()) return std::nullopt;
    const double count = people->amount.count;
    double rate = 0;
    if (const std::optional<Seconds> per = people->amount.per ? people->amount.per : said_.turns_per) {
      const double turns = said_.turns.value_or(kMessagesPerDay);
      rate = count * turns / in_seconds(*per);
      out_.notes.push_back(fmt::format("assumed: {} users with {} messages each (--turns) in {} are {} on average",
                                       format_count(count), format_count(turns), format_duration(*per),
                                       rate_text(rate)));
    } else {
      const double think = said_.think.value_or(kThinkSeconds);
      const double answer = kFirstTokenSeconds + kTokenSeconds * answer_tokens();  // as a rule, whatever the limits are
      rate = count / (think + answer);
      out_.notes.push_back(fmt::format(
          "assumed: {} users at the same time, each with {} between an answer and the next message "
          "(--think) and {} for an answer, are {} (Little's law)",
          format_count(count), format_duration(seconds(think)), format_duration(seconds(answer)), rate_text(rate)));
    }
    said_.amounts.erase(people);
    return rate;
  }

  void put_request() {
    if (const auto rate = rate_of_people()) {
      if (given("--job").empty()) put("--job", "serve");
      put("--rate", rate_text(*rate));
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

  void put_work(const SaidAmount& said, const std::string& flag, double count) {
    const bool as_typed = said.flag == flag && !said.amount.per && parse_count(said.value);
    const std::string text = as_typed                  ? said.value
                             : flag == "--audio-hours" ? fmt::format("{:.6g}", count)
                                                       : whole(count);
    put(flag, text);
    if (!said.amount.per) return;
    const bool limited = !given("--deadline").empty();
    const std::string time = fmt::format("{:.6g}h", in_hours(*said.amount.per));
    if (!limited) put("--deadline", time);
    said_as(said, fmt::format("{} {}{}", flag, text, limited ? "" : " --deadline " + time));
    if (!limited) {
      out_.notes.push_back(fmt::format("the plan and its cost are for {} of work", format_duration(*said.amount.per)));
    }
  }

  void put_training(const SaidAmount& said) {
    const bool tokens = said.thing == Thing::kToken, epochs = !given("--epochs").empty();
    const std::string flag = fmt::format("--{}{}", epochs && !tokens ? "dataset-" : "", tokens ? "tokens" : "samples");
    put_work(said, flag, said.amount.count);
    if (!tokens && !said.amount.per) said_as(said, fmt::format("{} {}", flag, whole(said.amount.count)));
  }

  void put_serving(const SaidAmount& said) {
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
    if (said.amount.per && (said.is_rate || *said.amount.per <= kContinuous || (online && !offline))) {
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

  // Commands without --items: batch, window, estimate, memory.
  void put_other() {
    const std::string rate_flag = has("--arrivals") ? "--arrivals" : has("--volume") ? "--volume" : "--rate";
    if (has("--arrivals")) {
      if (const auto rate = rate_of_people()) put("--arrivals", rate_text(*rate));
    }
    for (const SaidAmount& said : said_.amounts) {
      // Requests are served, also where only their memory or speed is asked for.
      const bool served = said.thing == Thing::kRequest || said.thing == Thing::kUser;
      if (served && has("--job") && given("--job").empty() && !any_given(settings::Jobs::kTrain)) put("--job", "serve");
      if (said.thing == Thing::kUser && has("--concurrency")) {
        put("--concurrency", whole(said.amount.count));
        said_as(said, "--concurrency " + whole(said.amount.count));
      } else if (said.amount.per && has(rate_flag)) {
        const double count =
            said.thing == Thing::kToken ? said.amount.count / (prompt_tokens() + answer_tokens()) : said.amount.count;
        const std::string text = rate_text(count / in_seconds(*said.amount.per));
        put(rate_flag, text);
        said_as(said, fmt::format("{} {}", rate_flag, text));
      } else if (has("--job")) {
        out_.notes.push_back(
            fmt::format("'{}' does not depend on {}; 'recommend' plans for it", said_.command, said.text()));
      } else {
        out_.words.push_back(said.text());
      }
    }
  }

  // ---- limits

  void put_limits() {
    if (said_.limits.empty()) return;
    if (has("--ttft-slo")) return put_slo_flags();
    if (has("--slo")) return put_slo();
    if (has("--job") && given("--job").empty() && !any_given(settings::Jobs::kTrain)) put("--job", "serve");
    for (const LatencyLimit& limit : said_.limits) {
      out_.notes.push_back(
          fmt::format("'{}' checks no limits ({}); 'recommend' and 'batch' do", said_.command, limit.text));
      break;
    }
  }

  // A limit on the whole answer of a language model, as limits on its parts.
  void split_latency() {
    const double tokens = answer_tokens();
    if (!generates() || tokens <= 1) {
      for (LatencyLimit& limit : said_.limits) {
        if (limit.metric == LatencyMetric::kLatency) limit.metric = LatencyMetric::kTtft;
      }
      return;
    }
    constexpr double kFirstShare = 0.25;
    std::vector<LatencyLimit> parts;
    for (const LatencyLimit& limit : said_.limits) {
      if (limit.metric != LatencyMetric::kLatency) {
        parts.push_back(limit);
        continue;
      }
      const double whole_answer = in_milliseconds(limit.most);
      // No GPU makes an answer this fast: the first token is meant.
      constexpr double kFastestToken = 2;  // ms
      if (whole_answer < kFastestToken * tokens) {
        parts.push_back(limit);
        parts.back().metric = LatencyMetric::kTtft;
        out_.notes.push_back(fmt::format("assumed: {} is for the first token (TTFT); an answer has {} tokens",
                                         limit.text, format_count(tokens)));
        continue;
      }
      LatencyLimit first = limit, each = limit;
      first.metric = LatencyMetric::kTtft, first.text = fmt::format("{:.4g}ms", whole_answer * kFirstShare);
      each.metric = LatencyMetric::kTpot,
      each.text = fmt::format("{:.4g}ms", whole_answer * (1 - kFirstShare) / tokens);
      out_.notes.push_back(fmt::format("assumed: {} for an answer of {} tokens is TTFT within {} and TPOT within {}",
                                       limit.text, format_count(tokens), first.text, each.text));
      parts.insert(parts.end(), {first, each});
    }
    said_.limits = parts;
  }

  std::optional<int> common_percentile() {
    std::optional<double> strictest;
    for (const LatencyLimit& limit : said_.limits) {
      if (limit.percentile) strictest = std::max(strictest.value_or(0), *limit.percentile);
    }
    if (!strictest) return std::nullopt;
    const int modelled = modelled_percentile(*strictest);
    if (modelled != *strictest)
      out_.notes.push_back(fmt::format("p{:g} is planned as p{}", *strictest, modelled));
    else if (std::any_of(said_.limits.begin(), said_.limits.end(), [&](const LatencyLimit& limit) {
               return limit.percentile.value_or(*strictest) != *strictest;
             }))
      out_.notes.push_back(fmt::format("every limit is planned at p{}", modelled));
    return modelled;
  }

  void put_slo_flags() {
    split_latency();
    for (const LatencyLimit& limit : said_.limits) {
      const std::string flag = limit.metric == LatencyMetric::kTtft ? "--ttft-slo" : "--tpot-slo";
      std::erase_if(out_.words, [&](const std::string& word) { return word.starts_with(flag + "="); });
      put(flag, limit.text);
    }
    const auto percentile = common_percentile();
    if (percentile && given("--slo-percentile").empty()) put("--slo-percentile", std::to_string(*percentile));
  }

  void put_slo() {
    const bool tokens_only = said_.command == "service" || said_.command == "exporter";
    if (tokens_only) split_latency();
    const auto percentile = tokens_only ? common_percentile() : std::nullopt;
    if (percentile && has("--slo-percentile") && given("--slo-percentile").empty())
      put("--slo-percentile", std::to_string(*percentile));
    std::string text;
    for (const LatencyLimit& limit : said_.limits) {
      std::string name = limit.metric == LatencyMetric::kTtft   ? "ttft"
                         : limit.metric == LatencyMetric::kTpot ? "tpot"
                                                                : "";
      if (name.empty() || (!tokens_only && limit.percentile)) {
        const double asked = limit.percentile.value_or(99);
        const int at = asked == 90 ? 90 : modelled_percentile(asked);
        name += fmt::format("{}p{}", name.empty() ? "" : "-", at);
      }
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, limit.text);
    }
    put("--slo", text);
  }

  void note_paid_machines() {
    const std::string own = given("--on-prem");
    if (own.empty() || own.find('=') != std::string::npos) return;
    out_.notes.push_back(fmt::format(
        "assumed: your machines are paid for, so only electricity counts; --on-prem {}=280000USD counts the purchase",
        own));
  }

  // A service's budget is per month: --budget 2000/month, --budget 3/h.
  void put_budget() {
    const std::string text = given("--budget");
    const auto amount = parse_amount(text.substr(text.starts_with('$') ? 1 : 0));
    if (given("--rate").empty() || !amount || !amount->per) return;
    const double monthly = amount->count * (kMonth / *amount->per);
    std::erase(out_.words, "--budget=" + text);
    put("--budget", fmt::format("{:.2f}", monthly));
    if (*amount->per != kMonth) out_.renamed.push_back(fmt::format("--budget {} is ${:.0f} per month", text, monthly));
  }

  // Several GPUs where one is estimated: a sweep over them.
  void put_compared_gpus() {
    if (!has("--sweep") || !given("--sweep").empty()) return;
    std::vector<std::string> gpus;
    for (std::size_t at = 1; at < out_.words.size(); ++at) {
      const std::string& word = out_.words[at];
      const bool flag = word.starts_with("--gpu=");
      const std::vector<std::string_view> names = split_list(flag ? std::string_view(word).substr(6) : word, ',');
      const bool bare = !word.starts_with('-') && std::all_of(names.begin(), names.end(), [](std::string_view name) {
        return kind_of_word(name) == WordKind::kGpu;
      });
      if (flag || bare) gpus.insert(gpus.end(), names.begin(), names.end());
    }
    if (gpus.size() < 2) return;
    std::erase_if(out_.words, [&](const std::string& word) {
      return word.starts_with("--gpu=") || holds(gpus, word.substr(0, word.find(',')));
    });
    put("--gpu", gpus.front());
    put("--sweep", fmt::format("gpu={}", fmt::join(gpus, ",")));
  }

  // ---- what is missing

  void assume(const std::string& flag, const std::string& value, const std::string& why) {
    put(flag, value);
    out_.notes.push_back(fmt::format("assumed: {} {} ({})", flag, value, why));
  }

  void assume_work() {
    const bool file = std::any_of(out_.words.begin() + 1, out_.words.end(), [](const std::string& word) {
      return !word.starts_with("--") && is_workload_file(word);
    });
    if (file || model_among(out_.words).empty() || said_.job == "rl" || !given("--help").empty()) return;
    for (const char* work : {"--tokens", "--samples", "--rate", "--sessions", "--mix", "--trace", "--rate-profile",
                             "--items", "--audio-hours", "--profile", "--per-item"}) {
      if (!given(work).empty()) return;
    }
    const bool epochs = !given("--epochs").empty();
    const bool set = !given("--dataset-tokens").empty() || !given("--dataset-samples").empty();
    const auto shape = shape_among(out_.words);
    const bool images = shape && shape->image_size > 0;
    if (epochs && set) return;
    if (set) return assume("--epochs", "1", "one pass over the data");
    if (epochs) {
      return images ? assume("--dataset-samples", "1M", "no size of the data was given")
                    : assume("--dataset-tokens", "100M", "no size of the data was given");
    }
    const bool deadline_alone = said_.job.empty() && given("--job").empty() && !given("--deadline").empty();
    if (trains() || given("--job") == "train" || deadline_alone) {
      if (images) return assume("--samples", "10M", "no amount of data was given");
      const std::string tokens =
          said_.job == "finetune" || given("--method").find("lora") != std::string::npos ? "100M" : "1B";
      return assume("--tokens", tokens, "no amount of data was given");
    }
    const bool offline = is_offline_job() || !given("--deadline").empty();
    if (said_.job == "transcribe") return assume("--audio-hours", "1000", "no amount of audio was given");
    if (given("--job").empty() && said_.job.empty()) put("--job", "serve");
    if (offline) return assume("--items", "1M", "no amount of work was given");
    assume("--rate", "1/s", "no traffic was given; for training, add --job train --tokens 1B");
  }

  const std::deque<FlagInfo>& declared_;
  Said said_;
  Typed& out_;
  bool plans_ = false, job_inferred_ = false;
};

}  // namespace

Typed meant_work(Typed typed, const std::deque<FlagInfo>& declared) {
  if (typed.words.empty() || typed.words.front() == "profile") return typed;
  return WorkWriter(read_said(std::move(typed), declared), declared).run();
}

}  // namespace rightsize::app
