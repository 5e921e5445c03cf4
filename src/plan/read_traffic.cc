#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/explain.h"
#include "plan/read_parts.h"
#include "presets/hub_names.h"
#include "presets/presets.h"
#include "presets/scaled.h"
#include "sim/trace_file.h"

namespace rightsize::plan {

Errors take_lengths(std::vector<model::Setting>& job_settings, GivenLengths& lengths) {
  Errors errors;
  for (model::Setting& setting : job_settings) {
    if (setting.name != "isl" && setting.name != "osl") continue;
    Result<capacity::Length> length = capacity::parse_length(setting.value);
    if (!length) {
      errors.push_back(placed(std::move(length).error(), setting));
      continue;
    }
    (setting.name == "isl" ? lengths.isl : lengths.osl) = *length;
    setting.value = std::to_string(std::llround(length->mean));
  }
  return errors;
}

void set_lengths(Request& request, const GivenLengths& lengths) {
  Work& work = request.work;
  if (!work.mix.empty() || work.trace || request.job.kind != model::JobKind::kServe) return;
  const capacity::UsualVariation& usual = capacity::usual_variation();
  const auto said = [](const std::optional<capacity::Length>& length) {
    return length ? length->variation : std::optional<double>();
  };
  work.isl_variation = said(lengths.isl).value_or(usual.prompt);
  work.osl_variation = said(lengths.osl).value_or(usual.answer);
  work.isl_varies_as_usual = !said(lengths.isl);
  work.osl_varies_as_usual = !said(lengths.osl);
  // For an embedding or a score, every response is one pass.
  if (lengths.osl && lengths.osl->mean <= 1) work.osl_variation = 0, work.osl_varies_as_usual = false;
}

Errors check_answers(const Request& request, const std::vector<model::Setting>& settings) {
  const Work& work = request.work;
  if (work.kind == WorkKind::kServing && work.documents > 1 && !work.is_measured() &&
      !perf::serves_batches(perf::work_of(request.model)))
    return {bad_input(fmt::format("docs-per-query: {} takes each document as a request", request.model.name))
                .with_hint(fmt::format("leave it out and count documents: --rate {:g}/s",
                                       in_requests_per_s(work.rate) * work.documents))};
  if (!request.limits.tpot || !takes_one_pass(request)) return {};
  const auto given = std::find_if(settings.begin(), settings.end(),
                                  [](const model::Setting& setting) { return setting.name == "tpot-slo"; });
  const bool whole = perf::serves_batches(perf::work_of(request.model));
  Error error =
      bad_input(whole ? fmt::format("{} answers whole requests, so it has no time per output token", request.model.name)
                      : std::string("answers of one token have no time per output token, which counts the tokens "
                                    "after the first"))
          .with_hint(whole ? "use --latency-slo for the time of an answer"
                           : "use --latency-slo for the time of an answer, or a longer --osl");
  return {given == settings.end() ? std::move(error) : placed(std::move(error), *given)};
}

void assume_context(Request& request) {
  std::int64_t& context = request.model.context;
  const std::string note = model::note_on_name(request.model_given);
  const bool assumed = note.find("was not checked") != std::string::npos || note.starts_with("assumed: ");
  if (!assumed || request.job.kind != model::JobKind::kServe || context <= 0) return;
  if (request.max_model_len && *request.max_model_len > context) context = *request.max_model_len;
  if (!request.max_model_len)
    request.assumed.push_back(fmt::format("a context of {} tokens, as {} (--max-model-len if {} has more)",
                                          format_count(static_cast<double>(context)), request.model.name,
                                          request.model_given));
}

double beyond_context(const Request& request) {
  const double context = static_cast<double>(request.model.context);
  if (!(context > 0) || request.job.kind != model::JobKind::kServe || request.model.image_size > 0) return 0;
  if (!request.work.mix.empty() || request.work.trace) return 0;
  sim::RequestShape lengths = request_lengths(request);
  lengths.longest = 0;
  const std::vector<std::int32_t> prompts = sim::size_table(lengths), answers = sim::output_table(lengths);
  double beyond = 0;
  for (const std::int32_t prompt : prompts)
    beyond += static_cast<double>(answers.end() - std::upper_bound(answers.begin(), answers.end(), context - prompt));
  return beyond / static_cast<double>(prompts.size()) / static_cast<double>(answers.size());
}

// Engines refuse requests longer than --max-model-len, so lengths are truncated there, as at the model's context. Given
// means do not change.
Errors cut_context(Request& request) {
  if (!request.max_model_len) return {};
  std::int64_t& context = request.model.context;
  if (context > 0 && *request.max_model_len > context)
    return {bad_input(fmt::format("max-model-len: {} has a context of {} tokens", request.model.name,
                                  format_count(static_cast<double>(context))))
                .with_hint(fmt::format("use at most --max-model-len {}", context))};
  const std::int64_t mean = request.job.serve.isl + request.job.serve.osl;
  if (mean > *request.max_model_len)
    return {bad_input(fmt::format("max-model-len: requests have {} tokens on average, prompt and answer together",
                                  format_count(static_cast<double>(mean))))
                .with_hint("raise it, or lower --isl and --osl")};
  context = *request.max_model_len;
  return {};
}

namespace {

std::string described(const sim::Sessions& s) {  // as --sessions reads it
  return fmt::format(
      "users={:.10g},turns={:.10g},think={:.10g}s,system={:.10g},systems={:.10g},turn-in={:.10g},"
      "turn-out={:.10g},fan-out={:.10g}",
      s.users, s.turns, in_seconds(s.think), s.system, s.system_prompts, s.turn_in, s.turn_out, s.fan_out);
}

// A service that ends conversations early is not the one asked for, so all turns must fit the context.
std::optional<Error> check_turns(const Request& request) {
  sim::Sessions sessions = *request.work.sessions;
  const double each = std::round(sessions.fan_out), turns = sessions.repeat ? 1 : std::round(sessions.turns);
  const double turn = each * (sessions.turn_in + sessions.turn_out);
  const std::int64_t context = request.model.context, need = std::llround(std::ceil(sessions.system + turns * turn));
  if (auto wrong = memory::check_length(request.model, std::llround(sessions.system + each * sessions.turn_in),
                                        std::llround(each * sessions.turn_out)))
    return bad_input(wrong->message).with_hint("shorten system, turn-in or turn-out of --sessions");
  if (context <= 0 || need <= context) return std::nullopt;
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  sessions.turns = std::floor((static_cast<double>(context) - sessions.system) / turn);
  std::string longer = "choose a model with a longer context";
  if (request.max_model_len)
    longer = fmt::format("use --max-model-len {}", need);
  else if (const std::string id = model::longer_id(request.model.name, need); !id.empty())
    longer = fmt::format("use --model {}, which has a longer context", id);
  return bad_input(
             fmt::format(
                 "sessions: {:.0f} turns need {} tokens, and the context of {} tokens ends conversations after {:.0f}",
                 turns, count(need), count(context), sessions.turns))
      .with_hint(std::move(longer))
      .with_hint(fmt::format("have fewer turns: --sessions {}", described(sessions)))
      .with_hint("shorten turn-in, turn-out or system of --sessions");
}

}  // namespace

// Every request kind of a mix must fit the model's context. Requests of a trace that do not are left out, as engines
// refuse them, unless they are the majority.
Errors check_lengths(Request& request) {
  Errors errors;
  for (const capacity::RequestSize& size : request.work.mix) {
    if (auto wrong = memory::check_length(request.model, size.isl, size.osl)) errors.push_back(*std::move(wrong));
  }
  if (request.work.sessions)
    if (auto wrong = check_turns(request)) errors.push_back(*std::move(wrong));
  if (!request.work.trace) return errors;
  if (const auto& rates = request.work.trace->rates)
    request.assumed.push_back(fmt::format("requests arrive at random, at the mean rate of each {} of the file",
                                          format_duration(rates->step)));
  const sim::ArrivalList& arrivals = request.work.trace->arrivals;
  const auto wrong_length = [&](const sim::Arrival& arrival) {
    return memory::check_length(request.model, static_cast<std::int64_t>(arrival.size), arrival.output);
  };
  const auto too_long = [&](const sim::Arrival& arrival) { return wrong_length(arrival).has_value(); };
  const auto first = std::ranges::find_if(arrivals, too_long);
  if (first == arrivals.end()) return errors;
  const double all = static_cast<double>(arrivals.size());
  const double beyond = static_cast<double>(std::count_if(first, arrivals.end(), too_long));
  const std::string count = fmt::format("{} of {} requests of the trace", format_count(beyond), format_count(all));
  if (beyond > all / 2) {
    errors.push_back(bad_input(fmt::format("{} are too long: {}", count, wrong_length(*first)->message))
                         .with_hint("choose a model with a longer context"));
    return errors;
  }
  auto kept = std::make_shared<sim::Trace>(*request.work.trace);
  kept->arrivals.erase_if(too_long);
  request.work.trace = std::move(kept);
  request.assumed.push_back(fmt::format("{} ({:.2g} %) are left out: engines refuse requests longer than the context",
                                        count, 100 * beyond / all));
  return errors;
}

Result<> choose_weights(Request& request) {
  constexpr double kPerParameter = 20;  // fine-tuning uses far fewer, compute-optimal pretraining this many
  const std::vector<model::Method>& methods = request.choices.methods;  // empty: full training
  const bool full = std::ranges::all_of(methods, [](model::Method method) { return method == model::Method::kFull; });
  const bool whole = full && !request.job.train.preference && request.model.image_size == 0;
  if (request.from_scratch.value_or(false) && !full)
    return fail(bad_input("from-scratch: adapters need a trained model").with_hint("use --method full"));
  if (request.from_scratch) return {};
  const bool scaled = model::parse_scaled_name(request.model_given).has_value();
  const double tokens = request.work.amount / static_cast<double>(request.model.parameters());
  request.from_scratch = whole && (scaled || tokens > kPerParameter);
  if (!*request.from_scratch) return {};
  request.assumed.push_back(scaled ? "training starts from random weights: a scaled shape has no checkpoint"
                                   : fmt::format("training starts from random weights, at {} tokens per parameter "
                                                 "(--from-scratch no continues from the checkpoint)",
                                                 format_count(std::round(tokens))));
  return {};
}

Result<std::vector<capacity::RequestSize>> parse_mix(const std::string& text) {
  std::vector<capacity::RequestSize> mix;
  double sum = 0;
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t colon = part.find(':'), equals = part.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || colon > equals) {
      return fail(
          bad_input(fmt::format("'{}' is not ISL:OSL=SHARE", part)).with_hint("for example 1024:256=0.7,8192:512=0.3"));
    }
    RIGHTSIZE_TRY(double isl, parse_count(part.substr(0, colon)));
    RIGHTSIZE_TRY(double osl, parse_count(part.substr(colon + 1, equals - colon - 1)));
    RIGHTSIZE_TRY(double share, parse_number(trim(part.substr(equals + 1))));
    if (!(isl >= 1) || !(share > 0))
      return fail(bad_input(fmt::format("'{}': tokens in must be at least 1 and the share greater than 0", part)));
    mix.push_back({static_cast<std::int64_t>(isl), static_cast<std::int64_t>(osl), share});
    sum += share;
  }
  for (capacity::RequestSize& size : mix) size.share /= sum;
  return mix;
}

Checked<std::shared_ptr<const sim::Trace>> read_trace(const std::string& file) {
  RIGHTSIZE_TRY(sim::Trace trace, sim::read_trace_file(file));
  if (!trace.has_tokens)
    return fail(Errors{bad_input(fmt::format("{}: no tokens in and out", file))
                           .with_hint("columns are time,input_tokens,output_tokens (or names such as ContextTokens)")});
  auto made = std::make_shared<const sim::Trace>(std::move(trace));
  if (!sim::mean_rate(made)) return fail(Errors{bad_input(fmt::format("{}: too short to compute a rate", file))});
  return made;
}

Checked<std::vector<double>> read_rate_profile(const std::string& file) {
  Result<std::string> text = read_file(file);
  if (!text) return fail(Errors{std::move(text).error()});
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(file, *std::move(text)));
  std::vector<double> rates;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const Result<double> hour = parse_number(csv.cell(row, "hour"));
    const std::string rate_text(csv.cell(row, "rate"));
    const Result<double> plain = parse_number(rate_text);
    const Result<RequestsPerSecond> rate =
        plain && *plain >= 0 ? requests_per_s(*plain) : parse_request_rate(rate_text);
    if (!hour || *hour != static_cast<double>(rates.size()))
      errors.push_back(bad_input("hours must count up from 0, one per row").at(csv.place(row, "hour")));
    if (!rate) errors.push_back(Error(rate.error()).at(csv.place(row, "rate")));
    rates.push_back(rate ? in_requests_per_s(*rate) : 0);
  }
  if (errors.empty() && rates.size() != 24 && rates.size() != 168)
    errors.push_back(bad_input(fmt::format("{}: {} rows; use 24 (a day) or 168 (a week)", file, rates.size())));
  if (errors.empty() && !(*std::max_element(rates.begin(), rates.end()) > 0))
    errors.push_back(bad_input(fmt::format("{}: all rates are 0", file)));
  if (!errors.empty()) return fail(std::move(errors));
  return rates;
}

Errors set_hourly_rates(Request& request, const std::string& profile, int hours, bool rate_is_per_day) {
  constexpr int kDay = 24;
  Work& work = request.work;
  if (!profile.empty()) {
    Checked<std::vector<double>> rates = read_rate_profile(profile);
    if (!rates) return std::move(rates).error();
    work.rate_by_hour = *std::move(rates);
    work.rate = requests_per_s(*std::max_element(work.rate_by_hour.begin(), work.rate_by_hour.end()));
  } else if (hours < kDay && work.rate > RequestsPerSecond{}) {
    if (rate_is_per_day) {
      work.rate = work.rate * (static_cast<double>(kDay) / hours);
      request.assumed.push_back(fmt::format("the traffic of a day arrives within its {} h", hours));
    }
    work.rate_by_hour.assign(kDay, 0);
    std::fill_n(work.rate_by_hour.begin(), hours, in_requests_per_s(work.rate));
  }
  return {};
}

}  // namespace rightsize::plan
