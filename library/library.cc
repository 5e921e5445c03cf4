// Implements the public headers of include/rightsize with the commands.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "report/report.h"
#include "rightsize/call.h"
#include "rightsize/estimate/estimator.h"
#include "rightsize/rightsize.h"

namespace rightsize::v1 {
namespace {

Error error_of(const Errors& errors) {
  const ErrorCode code = errors.empty() ? ErrorCode::kBug : errors.front().code;
  return {code == ErrorCode::kBadInput           ? Error::Code::kInput
          : code == ErrorCode::kUnreadableSource ? Error::Code::kSource
                                                 : Error::Code::kBug,
          describe(errors)};
}

// The words of a command line. Unknown flags are passed on, because the command reports them.
std::vector<std::string> words_of(const app::CommandInfo& info, const Settings& settings) {
  std::vector<std::string> words;
  for (const Setting& setting : settings) {
    const std::string flag = "--" + setting.name;
    const auto known =
        std::find_if(info.flags.begin(), info.flags.end(), [&](const app::FlagInfo& one) { return one.name == flag; });
    const bool is_switch = known != info.flags.end() && known->values.empty();
    if (is_switch) {
      if (setting.value == "true") words.push_back(flag);
    } else if (setting.value.starts_with('-')) {
      words.push_back(flag + "=" + setting.value);
    } else {
      words.insert(words.end(), {flag, setting.value});
    }
  }
  return words;
}

double number_of(const Document& document) { return document.number().value_or(0); }
std::string text_of(const Document& document) { return document.text().value_or(std::string()); }

}  // namespace

struct DocumentMaker {
  Document operator()(std::nullptr_t) const { return {}; }
  Document operator()(bool value) const {
    Document made = of(Document::Kind::kBool);
    made.boolean_ = value;
    return made;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> Document operator()(Number value) const {
    if (!std::isfinite(static_cast<double>(value))) return {};
    Document made = of(Document::Kind::kNumber);
    made.number_ = static_cast<double>(value);
    return made;
  }
  Document operator()(const std::string& text) const {
    Document made = of(Document::Kind::kText);
    made.text_ = text;
    return made;
  }
  Document operator()(const Json::Array& items) const {
    Document made = of(Document::Kind::kList);
    for (const Json& item : items) made.items_.push_back(item.visit(*this));
    return made;
  }
  Document operator()(const Json::Object& members) const {
    Document made = of(Document::Kind::kObject);
    for (const auto& [name, member] : members) {
      made.names_.push_back(name);
      made.items_.push_back(member.visit(*this));
    }
    return made;
  }

 private:
  static Document of(Document::Kind kind) {
    Document made;
    made.kind_ = kind;
    return made;
  }
};

Setting::Setting(std::string setting, double number) : Setting(std::move(setting), fmt::format("{}", number)) {
  if (value.ends_with(".0")) value.resize(value.size() - 2);
}

std::optional<bool> Document::boolean() const { return kind_ == Kind::kBool ? std::optional(boolean_) : std::nullopt; }
std::optional<double> Document::number() const {
  return kind_ == Kind::kNumber ? std::optional(number_) : std::nullopt;
}
std::optional<std::string> Document::text() const { return kind_ == Kind::kText ? std::optional(text_) : std::nullopt; }

const Document& Document::operator[](std::string_view name) const {
  static const Document kNone;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return items_[i];
  }
  return kNone;
}
const Document& Document::operator[](std::size_t index) const {
  static const Document kNone;
  return index < items_.size() ? items_[index] : kNone;
}

Answer<Report> call(const std::string& command, const Settings& settings, const std::vector<std::string>& arguments) {
  const Result<app::CommandInfo> info = app::describe_command(command);
  if (!info) return error_of(info.error());
  std::vector<std::string> words = arguments;
  for (std::string& word : words_of(*info, settings)) words.push_back(std::move(word));
  const Checked<app::Outcome> outcome = app::call(command, words);
  if (!outcome) return error_of(outcome.error());
  const report::Report& made = outcome->report;
  return made.with_document([&](const Json& document) {
    return Report{document.visit(DocumentMaker()), outcome->exit_code, document.dump(),
                  report::render(made, report::Format::kText), report::render(made, report::Format::kHtml)};
  });
}

std::vector<std::string> commands() { return app::command_names(); }
std::string version() { return RIGHTSIZE_VERSION; }

struct Estimator::State {
  std::unique_ptr<app::Estimator> estimator;
};

Estimator::Estimator() : state_(std::make_unique<State>()) {}
Estimator::~Estimator() = default;
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;

namespace {

Estimate estimate_of(Document document) {
  Estimate made;
  const Document& d = document;
  made.feasible = d["feasible"].boolean().value_or(false);
  made.reason = text_of(d["reason"]);
  made.model = text_of(d["model"]), made.gpu = text_of(d["gpu"]), made.job = text_of(d["job"]);
  made.stack = text_of(d["stack"]), made.precision = text_of(d["precision"]);
  made.gpus = static_cast<int>(number_of(d["gpus"]));
  constexpr std::pair<const char*, std::optional<double> Estimate::*> kNumbers[] = {
      {"tokens_per_second_per_gpu", &Estimate::tokens_per_second_per_gpu},
      {"samples_per_second_per_gpu", &Estimate::samples_per_second_per_gpu},
      {"step_seconds", &Estimate::step_seconds},
      {"mfu", &Estimate::mfu},
      {"prefill_seconds", &Estimate::prefill_seconds},
      {"decode_step_seconds", &Estimate::decode_step_seconds},
      {"ttft_seconds", &Estimate::ttft_seconds},
      {"tpot_seconds", &Estimate::tpot_seconds},
      {"output_tokens_per_second_per_gpu", &Estimate::output_tokens_per_second_per_gpu},
      {"requests_per_second", &Estimate::requests_per_second},
      {"max_concurrency", &Estimate::max_concurrency},
      {"batch_seconds", &Estimate::batch_seconds},
      {"low", &Estimate::low},
      {"high", &Estimate::high}};
  for (const auto& [name, field] : kNumbers) made.*field = d[name].number();
  made.bound = text_of(d["bound"]), made.basis = text_of(d["basis"]);
  made.document = std::move(document);
  return made;
}

}  // namespace

Answer<Estimate> Estimator::estimate(const std::string& model, const std::string& gpu, const Settings& settings) {
  if (!state_->estimator) {
    Checked<app::Estimator> opened = app::Estimator::open("");
    if (!opened) return error_of(opened.error());
    state_->estimator = std::make_unique<app::Estimator>(*std::move(opened));
  }
  app::EstimateFlags flags;
  flags.job.model = model, flags.job.gpu = gpu;
  for (const Setting& setting : settings) app::set(flags, setting.name, setting.value);
  const Checked<Json> document = state_->estimator->document(flags);
  if (!document) return error_of(document.error());
  return estimate_of(document->visit(DocumentMaker()));
}

Answer<Memory> memory(const std::string& model, const std::string& gpu, const Settings& settings) {
  Settings all = settings;
  all.emplace_back("model", model);
  if (!gpu.empty()) all.emplace_back("gpu", gpu);
  Answer<Report> report = call("memory", all);
  if (!report) return report.error();
  Memory made;
  const Document& d = report->document;
  const Document& totals = d["per_gpu"];
  made.peak_allocated_bytes = number_of(totals["peak_allocated_bytes"]);
  made.reserved_bytes = number_of(totals["reserved_bytes"]);
  made.device_bytes = number_of(totals["device_bytes"]);
  made.low_bytes = number_of(totals["low_bytes"]);
  made.high_bytes = number_of(totals["high_bytes"]);
  for (const Document& part : d["parts"]) made.parts.push_back({text_of(part["name"]), number_of(part["bytes"])});
  for (const Document& fit : d["fits"]) {
    made.fits.push_back({text_of(fit["gpu"]), number_of(fit["capacity_bytes"]), number_of(fit["headroom_bytes"]),
                         number_of(fit["oom_probability"]), text_of(fit["verdict"])});
  }
  made.report = *std::move(report);
  return made;
}

namespace {

Plan plan_of(const Document& d) {
  Plan plan;
  plan.rank = static_cast<int>(number_of(d["rank"]));
  plan.gpus = static_cast<int>(number_of(d["gpus"]));
  plan.instances = static_cast<int>(number_of(d["instances"]));
  plan.gpu = text_of(d["gpu"]), plan.provider = text_of(d["provider"]), plan.instance = text_of(d["instance"]);
  plan.region = text_of(d["region"]), plan.purchase = text_of(d["purchase"]);
  plan.usd_per_hour = number_of(d["usd_per_hour"]);
  plan.usd_total = d["usd_total"].number(), plan.hours = d["hours"].number();
  plan.ttft_seconds = d["ttft_seconds"].number(), plan.tpot_seconds = d["tpot_seconds"].number();
  plan.price_source = text_of(d["price_source"]), plan.price_date = text_of(d["price_date"]);
  for (const Document& reason : d["why"]) plan.why.push_back(text_of(reason));
  plan.document = d;
  return plan;
}

}  // namespace

Answer<Recommendation> recommend(const Settings& settings) {
  Settings flags;
  std::vector<std::string> arguments;
  for (const Setting& setting : settings) {
    if (setting.name == "workload")
      arguments.push_back(setting.value);
    else
      flags.push_back(setting);
  }
  Answer<Report> report = call("recommend", flags, arguments);
  if (!report) return report.error();
  Recommendation made;
  for (const Document& plan : report->document["plans"]) made.plans.push_back(plan_of(plan));
  made.report = *std::move(report);
  return made;
}

}  // namespace rightsize::v1
