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
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question_kinds.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {

void WorkWriter::infer_serving() {
  constexpr std::array kServed = {"int8", "int4", "fp8", "fp4"};
  if (plans_ || !has("--job") || !has("--gpu") || !said_.job.empty() || !given("--job").empty()) return;
  const std::string format = given("--precision"), model = model_among(out_.words);
  const bool quantized = format.empty() && model::format_in_name(model).has_value();
  constexpr double kLargeRun = 64;  // GPUs with pipeline stages: a training run
  const bool trains = !given("--seq").empty() || any_given(settings::Jobs::kTrain) ||
                      (length("--pp", 1) > 1 && length("--gpus", 1) >= kLargeRun);
  if (model.find(':') != model.npos && model.find('/') == model.npos && !trains && model::is_known_name(model)) {
    assume("--job", "serve", "an Ollama tag");
    if (format.empty() && !quantized) assume("--precision", "int4", "Ollama's default is Q4_K_M");
    return;
  }
  if (said_.longest && !trains)  // llama.cpp's and Ollama's --ctx
    return assume("--job", "serve", "the length of a context limits requests; --seq is the length in training");
  if (said_.asks_rate && !trains)
    return assume("--job", "serve", "tokens per second of a service; training: --job train");
  const auto shape = shape_among(out_.words);
  constexpr std::array kMade = {model::ModelKind::kDiffusionUNet, model::ModelKind::kDiffusionTransformer,
                                model::ModelKind::kEncoderDecoder};
  if (shape && !trains && std::ranges::find(kMade, shape->kind) != kMade.end() && given("--stack").empty() &&
      given("--batch").empty() && said_.command == "estimate" && given("--method").empty())
    return assume("--job", "serve", "it is mostly served; --job train trains it");
  const std::string swept = given("--sweep");  // precision=fp16,int4
  const auto served = std::ranges::find_if(kServed, [&](const std::string& one) {
    return format == one || (swept.starts_with("precision=") && swept.find(one) != swept.npos);
  });
  if (!(quantized || served != kServed.end()) || !given("--stack").empty() || trains) return;
  assume(
      "--job", "serve",
      quantized ? model + " has weights in a format for serving" : std::string(*served) + " is a format for serving");
}

void WorkWriter::infer_stack() {
  if (!has("--stack") || !has("--zero") || !given("--stack").empty() || (plans_ && given("--ep").empty())) return;
  const bool training = trains() || given("--job") == "train" || (said_.job.empty() && given("--job").empty());
  if (!training || any_given(settings::Jobs::kServe)) return;
  if (length("--ep", 1) > 1 || length("--tp", 1) > 1 || length("--pp", 1) > 1 || length("--cp", 1) > 1)
    assume("--stack", "megatron", "it splits layers and stages; hf copies the model");
  else if (given("--precision") == "fp8")
    assume("--stack", "torchtitan", "it trains in fp8; hf does not");
}

void WorkWriter::infer_job() {
  if (!said_.job.empty() || !given("--job").empty()) return;
  const bool tokens_alone =
      !said_.amounts.empty() && std::all_of(said_.amounts.begin(), said_.amounts.end(), [](const auto& said) {
        return said.thing == Thing::kToken && !said.amount.per;
      });
  if (any_given(settings::Jobs::kTrain) || (tokens_alone && said_.limits.empty() && !any_given(settings::Jobs::kServe)))
    said_.job = "train", job_inferred_ = true;
}

void WorkWriter::assume_model() {
  constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
      {"transcribe", "whisper-large-v3"}, {"embed", "bge-m3"}, {"rerank", "bge-reranker-v2-m3"}, {"image", "sdxl"}};
  if (!plans_ || !model_among(out_.words).empty() || !given("--help").empty()) return;
  const bool audio = std::any_of(said_.amounts.begin(), said_.amounts.end(),
                                 [](const SaidAmount& said) { return said.thing == Thing::kAudioHour; });
  for (const auto& [job, model] : kUsual) {
    if (job == said_.job || (audio && job == "transcribe"))
      return assume("--model", std::string(model), "no model was named");
  }
  // A sentence without a model, otherwise understood, is answered at once, unless it asks for the model.
  const std::string asked = to_lower(out_.asked);
  for (const char* model :
       {"biggest model", "largest model", "which model", "what model", "size of model", "size model"})
    if (asked.find(model) != asked.npos) return;
  const bool work = !said_.amounts.empty() || !said_.limits.empty() || said_.concurrency || !said_.job.empty();
  const bool file = std::any_of(out_.words.begin() + 1, out_.words.end(), is_workload_file);
  if (said_.sentence && work && !file) assume("--model", "llama-3.1-8b", "no model was named");
}

void WorkWriter::put_lengths() {
  // A text to embed or to answer is a prompt, even if the user calls it a sequence.
  if (has("--isl") && given("--isl").empty() && !said_.job.empty() && !trains() && said_.job != "rl" && generates()) {
    for (std::string& word : out_.words) {
      if (!word.starts_with("--seq=")) continue;
      word = "--isl=" + word.substr(6);
      out_.renamed.emplace_back("--seq is --isl");
    }
  }
  const bool training = is_training();
  if (training && given("--precision") == "fp16") {
    std::ranges::replace(out_.words, std::string("--precision=fp16"), std::string("--precision=amp-fp16"));
    out_.notes.emplace_back("training in fp16 keeps fp32 weights: --precision amp-fp16");
  }
  // --ctx in training is the length of a sequence.
  if (const std::string most = given("--max-model-len");
      training && has("--seq") && given("--seq").empty() && (said_.longest || !most.empty())) {
    std::erase(out_.words, "--max-model-len=" + most);
    put("--seq", most.empty() ? whole(*said_.longest) : most);
    out_.notes.push_back(
        fmt::format("the length of a context is that of a sequence in training: --seq {}", given("--seq")));
    return;
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

bool WorkWriter::is_length(double tokens) const {
  constexpr double kLongest = 1e6;  // of a model without a limit; a request may be too long, and its error says so
  const auto shape = shape_among(out_.words);
  const auto most = shape ? static_cast<double>(shape->context) : 0;
  return tokens <= (most > 0 && trains() ? most : std::max(most, kLongest));
}

void WorkWriter::split_long_texts() {
  const auto shape = shape_among(out_.words);
  const double each = length("--isl", 0), most = shape ? static_cast<double>(shape->context) : 0;
  if (!plans_ || !said_.sentence || !shape || generates() || most <= 0 || each <= most || said_.job == "rerank") return;
  const double parts = std::ceil(each / most);
  for (std::string& word : out_.words)
    if (word.starts_with("--isl=")) word = "--isl=" + whole(each / parts);
  for (SaidAmount& said : said_.amounts)
    if (said.thing == Thing::kItem || said.thing == Thing::kRequest) said.amount.count *= parts;
  out_.notes.push_back(fmt::format("{} reads {} tokens: texts of {} are {:.0f} chunks of {} each",
                                   model_among(out_.words), format_count(most), format_count(each), parts,
                                   whole(each / parts)));
}

void WorkWriter::put_other() {
  const std::string rate_flag = has("--arrivals") ? "--arrivals" : has("--volume") ? "--volume" : "--rate";
  if (has("--arrivals")) {
    if (const auto rate = rate_of_people()) put("--arrivals", rate_text(*rate));
  }
  if (said_.concurrency && has("--concurrency")) put("--concurrency", whole(*said_.concurrency));
  if (said_.epochs) out_.used.push_back(fmt::format("{:g} epochs", *said_.epochs));
  for (const SaidAmount& said : said_.amounts) {
    // Requests imply serving, even in questions about memory or speed.
    const bool served = said.thing == Thing::kRequest || said.thing == Thing::kUser;
    if (served && has("--job") && given("--job").empty() && !any_given(settings::Jobs::kTrain)) put("--job", "serve");
    if ((said.thing == Thing::kUser || (said.thing == Thing::kRequest && !said.amount.per)) && has("--concurrency")) {
      put("--concurrency", whole(said.amount.count));
      said_as(said, "--concurrency " + whole(said.amount.count));
    } else if (rate_flag == "--volume" && !said.amount.per && said.thing != Thing::kToken) {
      put("--items", whole(said.amount.count));
      said_as(said, "--items " + whole(said.amount.count));
    } else if (said.amount.per && has(rate_flag)) {
      const double count =
          said.thing == Thing::kToken ? said.amount.count / (prompt_tokens() + answer_tokens()) : said.amount.count;
      const bool daily = rate_flag == "--volume" && *said.amount.per == days(1);
      const std::string text = daily ? whole(count) + "/d" : rate_text(count / in_seconds(*said.amount.per));
      put(rate_flag, text);
      said_as(said, fmt::format("{} {}", rate_flag, text));
    } else if (!said.amount.per && has("--tokens") && (said.thing == Thing::kToken || (trains() && generates()))) {
      const double each = said.thing == Thing::kToken ? 1 : length("--seq", 2048);
      put("--tokens", whole(said.amount.count * each * said_.epochs.value_or(1)));
      if (each > 1) said_as(said, "--tokens " + out_.words.back().substr(9));
    } else if (said.thing == Thing::kToken && !said.amount.per && given("--seq").empty() && given("--isl").empty() &&
               (has("--seq") || has("--isl")) && is_length(said.amount.count)) {
      const std::string name = is_training() || !has("--isl") ? "--seq" : "--isl";
      put(name, whole(said.amount.count));
      said_as(said, name + " " + whole(said.amount.count));
    } else if (has("--job")) {
      out_.notes.push_back(fmt::format("'{}' does not depend on {}{}; 'recommend' plans for it", said_.command,
                                       said.text(), said_.epochs ? fmt::format(" or {:g} epochs", *said_.epochs) : ""));
    } else {
      out_.words.push_back(said.text());
    }
  }
}

void WorkWriter::put_limits() {
  if (said_.limits.empty()) return;
  for (LatencyLimit& limit : said_.limits) {
    if (!limit.percentile) limit.percentile = said_.percentile;
  }
  if (has("--ttft-slo")) return put_slo_flags();
  if (has("--slo")) return put_slo();
  if (has("--job") && given("--job").empty() && !any_given(settings::Jobs::kTrain)) put("--job", "serve");
  for (const LatencyLimit& limit : said_.limits) {
    out_.notes.push_back(
        fmt::format("'{}' checks no limits ({}); 'recommend' and 'batch' do", said_.command, limit.text));
    break;
  }
}

void WorkWriter::split_latency() {
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
    // No GPU answers this fast, so the limit must be for the first token.
    constexpr double kFastestToken = 2;  // ms
    if (whole_answer < kFastestToken * tokens) {
      parts.push_back(limit);
      parts.back().metric = LatencyMetric::kTtft;
      out_.notes.push_back(fmt::format("assumed: {} is for the first token (TTFT); an answer has {} tokens", limit.text,
                                       format_count(tokens)));
      continue;
    }
    if (has("--latency-slo")) {  // judged as a whole
      parts.push_back(limit);
      continue;
    }
    const auto stated = std::find_if(said_.limits.begin(), said_.limits.end(),
                                     [](const LatencyLimit& other) { return other.metric == LatencyMetric::kTtft; });
    if (stated != said_.limits.end() && stated->most < limit.most) {  // the time left for the other tokens
      LatencyLimit rest = limit;
      rest.metric = LatencyMetric::kTpot;
      rest.text = fmt::format("{:.4g}ms", (whole_answer - in_milliseconds(stated->most)) / tokens);
      out_.notes.push_back(
          fmt::format("assumed: {} for an answer of {} tokens, {} of it for the first, is TPOT within {}", limit.text,
                      format_count(tokens), stated->text, rest.text));
      parts.push_back(rest);
      continue;
    }
    LatencyLimit first = limit, each = limit;
    first.metric = LatencyMetric::kTtft, first.text = fmt::format("{:.4g}ms", whole_answer * kFirstShare);
    each.metric = LatencyMetric::kTpot, each.text = fmt::format("{:.4g}ms", whole_answer * (1 - kFirstShare) / tokens);
    out_.notes.push_back(fmt::format("assumed: {} for an answer of {} tokens is TTFT within {} and TPOT within {}",
                                     limit.text, format_count(tokens), first.text, each.text));
    parts.insert(parts.end(), {first, each});
  }
  said_.limits = parts;
}

void WorkWriter::keep_strictest() {
  std::vector<LatencyLimit> kept;
  for (const LatencyLimit& limit : said_.limits) {
    const auto same = std::ranges::find_if(kept, [&](const auto& one) { return one.metric == limit.metric; });
    if (same == kept.end()) {
      kept.push_back(limit);
      continue;
    }
    const std::string both = fmt::format("{} and {}", same->text, limit.text);
    const double most = std::max(same->percentile.value_or(0), limit.percentile.value_or(0));
    if (limit.most < same->most) *same = limit;
    if (most > 0) same->percentile = most;
    out_.notes.push_back(fmt::format("two limits on one time ({}): planned for {}{}, which meets both", both,
                                     same->text, most > 0 ? fmt::format(" at p{:g}", most) : ""));
  }
  said_.limits = kept;
}

void WorkWriter::put_slo_flags() {
  split_latency();
  keep_strictest();
  for (const LatencyLimit& limit : said_.limits) {
    const std::string flag = limit.metric == LatencyMetric::kTtft   ? "--ttft-slo"
                             : limit.metric == LatencyMetric::kTpot ? "--tpot-slo"
                                                                    : "--latency-slo";
    std::erase_if(out_.words, [&](const std::string& word) { return word.starts_with(flag + "="); });
    put(flag, limit.text);
  }
  const auto percentile = common_percentile();
  if (percentile && given("--slo-percentile").empty()) put("--slo-percentile", std::to_string(*percentile));
}

void WorkWriter::put_slo() {
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

void WorkWriter::put_owned() {
  if (!plans_ || !has("--on-prem") || !given("--on-prem").empty() || !given("--provider").empty()) return;
  const catalog::CountedGpu gpu = catalog::split_gpu_count(given("--gpu"));
  // "we have 8 H200", "8 own H200", "our H200s": the words next to the GPUs or at the beginning of the statement.
  const std::vector<std::string>& said = out_.said;
  const auto named = std::ranges::find_if(said, [](const std::string& word) {
    return kind_of_word(singular_gpu(catalog::split_gpu_count(bare_word(word)).name)) == WordKind::kGpu;
  });
  constexpr std::ptrdiff_t kNear = 4;
  const auto from = named - std::min(kNear, named - said.begin());
  const std::string near = fmt::format(" {} ", to_lower(fmt::format("{}", fmt::join(from, named, " "))));
  const std::string all = fmt::format(" {} ", to_lower(fmt::format("{}", fmt::join(said, " "))));
  const auto says = [](const std::string& text, std::string_view list) {
    return std::ranges::any_of(split_list(list, ' '), [&](std::string_view one) {
      std::string phrase = fmt::format(" {} ", one);
      std::replace(phrase.begin() + 1, phrase.end() - 1, '-', ' ');
      return text.find(phrase) != text.npos || text.find(fmt::format(" {} ", one)) != text.npos;
    });
  };
  if (named == said.end() || gpu.name.empty() || gpu.name.find(',') != std::string::npos || !says(near, kOwned) ||
      says(all, kChanged))
    return;
  const double count = std::max(1.0, gpu.count ? *gpu.count : length("--gpus", 1));
  constexpr double kMost = 8;  // GPUs of a machine
  const double machines = std::ceil(count / kMost), each = std::ceil(count / machines);
  std::erase_if(out_.words,
                [](const std::string& word) { return word.starts_with("--gpu=") || word.starts_with("--gpus="); });
  put("--on-prem", fmt::format("{:g}x{}", each, gpu.name));
  if (machines > 1) put("--on-prem-machines", fmt::format("{:g}", machines));
  put("--provider", "own");
  if (has("--allow-single")) out_.words.emplace_back("--allow-single");  // there is no other machine
  const bool traffic = said_.concurrency || !said_.amounts.empty() || !given("--rate").empty();
  if (!traffic && !trains()) put("--gpus", fmt::format("{:g}", count));  // the most that these serve
  out_.renamed.push_back(fmt::format("your {:g} {} are --on-prem {}", count, gpu.name, given("--on-prem")));
}

void WorkWriter::note_paid_machines() {
  const std::string own = given("--on-prem");
  if (!plans_ || own.empty() || own.find('=') != std::string::npos) return;
  out_.notes.push_back(fmt::format(
      "assumed: your machines are paid for, so only electricity counts; --on-prem {}=280000USD counts the purchase",
      own));
}

void WorkWriter::put_budget() {
  const std::string text = given("--budget");
  const auto amount = parse_amount(text.substr(text.starts_with('$') ? 1 : 0));
  if (!amount || !amount->per) return;
  if (given("--rate").empty() && period_) {  // 500 per month for the work of a day
    std::erase(out_.words, "--budget=" + text);
    put("--budget", fmt::format("{:.2f}", amount->count * (*period_ / *amount->per)));
    out_.renamed.push_back(
        fmt::format("--budget {} is ${} for {} of work", text, given("--budget"), format_duration(*period_)));
    return;
  }
  if (given("--rate").empty()) return;
  const double monthly = amount->count * (kMonth / *amount->per);
  std::erase(out_.words, "--budget=" + text);
  put("--budget", fmt::format("{:.2f}", monthly));
  if (*amount->per != kMonth) out_.renamed.push_back(fmt::format("--budget {} is ${:.0f} per month", text, monthly));
}

void WorkWriter::put_compared() {
  if (!has("--sweep") || !given("--sweep").empty()) return;
  std::string formats;  // "fp8 or bf16"
  for (const std::string& word : out_.words)
    if (word.starts_with("--precision=")) formats += (formats.empty() ? "" : ",") + word.substr(12);
  if (formats.find(',') != std::string::npos) {
    std::erase_if(out_.words, [](const std::string& word) { return word.starts_with("--precision="); });
    put("--precision", formats.substr(0, formats.find(',')));
    return put("--sweep", "precision=" + formats);
  }
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

void WorkWriter::assume(const std::string& flag, const std::string& value, const std::string& why) {
  put(flag, value);
  out_.assumed.push_back(out_.words.back());
  out_.notes.push_back(fmt::format("assumed: {} {} ({})", flag, value, why));
}

void WorkWriter::assume_work() {
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
  const bool offline = (is_offline_job() || !given("--deadline").empty()) && said_.limits.empty();
  if (said_.job == "transcribe") return assume("--audio-hours", "1000", "no amount of audio was given");
  if (given("--job").empty() && said_.job.empty()) {
    put("--job", "serve");
    out_.assumed.push_back(out_.words.back());
  }
  if (offline) return assume("--items", "1M", "no amount of work was given");
  if (!given("--gpus").empty()) return;  // the most that these serve
  assume("--rate", "1/s", "no traffic was given; for training, add --job train --tokens 1B");
}

}  // namespace rightsize::app
