// Reads Constants from data/efficiency.csv, data/stacks.csv and the user's overlay.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/fact_table.h"
#include "perf/constants/constants.h"

namespace rightsize::perf {
namespace {

namespace fs = std::filesystem;
using catalog::FactReader;
using catalog::FactRow;
using catalog::FactSchema;
using catalog::FactTable;
using model::Stack;

const FactSchema kEfficiency{{"gpu", "kernel", "like", "rate", "bandwidth", "latency", "q", "occupancy", "k_ramp",
                              "small_weights", "head_gamma", "short_sequence", "fp8_kv", "size_loss", "how"},
                             {"gpu", "kernel"},
                             {"how"}};
const FactSchema kStackSchema{{"stack", "constant", "value", "how"}, {"stack", "constant"}, {"how"}};
const FactSchema kCalibrationSchema{
    {"stack", "job", "gpu", "device", "host", "prefill", "width", "points"}, {"stack", "job", "gpu"}, {}};

const FactSchema kDraftSchema{
    {"model", "method", "thinking", "drafts", "accepted", "how"}, {"model", "method", "thinking", "drafts"}, {"how"}};

// A constant by its name in stacks.csv: a plain number or a duration.
template <class Profile>
struct Field {
  const char* name;
  double Profile::*number = nullptr;
  Seconds Profile::*time = nullptr;

  constexpr Field(const char* n, double Profile::*field) : name(n), number(field) {}
  constexpr Field(const char* n, Seconds Profile::*field) : name(n), time(field) {}
};

#define NUMBER(name, otherwise) Field<Of>(#name, &Of::name),
#define TIME(name) Field<Of>(#name, &Of::name),
template <class Of>
std::vector<Field<Of>> fields_of() {
  if constexpr (std::is_same_v<Of, EngineConstants>)
    return {
#include "perf/stacks/engine_constants.def"
    };
  if constexpr (std::is_same_v<Of, EagerConstants>)
    return {
#include "perf/stacks/eager_constants.def"
    };
  if constexpr (std::is_same_v<Of, ShardedConstants>)
    return {
#include "perf/stacks/sharded_constants.def"
    };
  if constexpr (std::is_same_v<Of, MegatronConstants>)
    return {
#include "perf/stacks/megatron_constants.def"
    };
  if constexpr (std::is_same_v<Of, VisionConstants>)
    return {
#include "perf/stacks/vision_constants.def"
    };
  if constexpr (std::is_same_v<Of, PowerConstants>)
    return {
#include "perf/stacks/power_constants.def"
    };
}
#undef NUMBER
#undef TIME

// A number cell of 0 to 1e9: shares, factors, sizes. Blank is 0.
double number_cell(FactReader& reader, const FactRow& row, std::string_view column) {
  const std::string_view cell = row.cell(column);
  if (cell.empty()) return 0;
  Result<double> value = parse_number(cell);
  if (!value) {
    reader.mistake(column, std::move(value).error());
    return 0;
  }
  if (*value < 0 || *value > 1e9) {
    reader.mistake(column, bad_input(fmt::format("{} of {} is not between 0 and 1e9", column, cell)));
    return 0;
  }
  return *value;
}

Seconds latency_cell(FactReader& reader) {
  return reader.quantity<Seconds>("latency", parse_duration, Seconds{}, seconds(1), format_duration)
      .value_or(Seconds{});
}

// A share of what the data sheet promises: no kernel reaches all of it.
double share_cell(FactReader& reader, const FactRow& row, std::string_view column, double most) {
  const double share = number_cell(reader, row, column);
  if (!(share > 0) || share > most)
    reader.mistake(column, bad_input(fmt::format("{} must be greater than 0 and at most {}", column, most)));
  return share;
}

LinkShare read_link(FactReader& reader, const FactRow& row) {
  return {latency_cell(reader), share_cell(reader, row, "bandwidth", 1), number_cell(reader, row, "size_loss")};
}

// "all-reduce-8" -> its curves and the place of 8 in them.
bool read_link_kernel(std::string_view kernel, LinkShares& links, FactReader& reader, const FactRow& row) {
  if (kernel == "sharding") return links.sharding = share_cell(reader, row, "bandwidth", 1), true;
  static constexpr std::pair<std::string_view, Collective> kKinds[] = {{"all-reduce-", Collective::kAllReduce},
                                                                       {"all-gather-", Collective::kAllGather},
                                                                       {"reduce-scatter-", Collective::kReduceScatter},
                                                                       {"all-to-all-", Collective::kAllToAll}};
  if (kernel.size() < 2 || kernel[kernel.size() - 2] != '-') return false;
  const char size = kernel.back();
  const std::size_t place = size == '2' ? 0u : size == '4' ? 1u : size == '8' ? 2u : 3u;
  if (place > 2) return false;
  const std::string_view stem = kernel.substr(0, kernel.size() - 1);
  if (stem == "engine-all-reduce-") return links.engine_all_reduce[place] = read_link(reader, row), true;
  for (const auto& [name, kind] : kKinds) {
    if (stem == name) return links.collectives[static_cast<std::size_t>(kind)][place] = read_link(reader, row), true;
  }
  return false;
}

// A row for "any" GPU has the values that all chips share; other rows have those of one chip.
MatmulCurve read_matmul(FactReader& reader, const FactRow& row, bool shared) {
  MatmulCurve curve;
  if (!shared) {
    curve.rate = share_cell(reader, row, "rate", kMostArithmetic);
    curve.bandwidth = share_cell(reader, row, "bandwidth", kMostBandwidth);
    return curve;
  }
  curve.latency = latency_cell(reader);
  curve.q = number_cell(reader, row, "q");
  curve.occupancy = number_cell(reader, row, "occupancy");
  curve.k_ramp = number_cell(reader, row, "k_ramp");
  curve.small_weights = number_cell(reader, row, "small_weights");
  if (!(curve.q >= 1)) reader.mistake("q", bad_input("q below 1 would make two parts slower than their sum"));
  return curve;
}

// "matmul-fp8", "experts-int4": the curve of that name.
MatmulCurve* matmul_of(std::string_view kernel, MeasuredGpu& gpu) {
  static constexpr std::string_view kFormats[kExpertFormats] = {"bf16", "fp8", "fp4", "int4", "mxfp4"};
  const bool experts = kernel.starts_with("experts-");
  if (!experts && !kernel.starts_with("matmul-")) return nullptr;
  const auto format = std::find(std::begin(kFormats), std::end(kFormats), kernel.substr(kernel.find('-') + 1));
  const auto index = static_cast<std::size_t>(format - std::begin(kFormats));
  if (experts) return index < kExpertFormats ? &gpu.experts[index] : nullptr;
  return index < kMatmulFormats ? &gpu.matmul[index] : nullptr;
}

void read_kernel(const FactRow& row, Constants& constants, Errors& errors) {
  FactReader reader(row, errors);
  const std::string owner = reader.required_text("gpu"), kernel = reader.required_text("kernel");
  const bool shared = owner == "any", link = owner == "nvlink" || owner == "pcie";
  MeasuredGpu unused;
  MeasuredGpu& gpu = shared ? constants.any_gpu : link ? unused : constants.measured[owner];
  const auto chip_share = [&](const char* column, double most) {
    return shared ? 0.0 : share_cell(reader, row, column, most);
  };
  bool known = true;
  if (link) {
    known = read_link_kernel(kernel, owner == "pcie" ? constants.pcie : constants.nvlink, reader, row);
  } else if (kernel == "same-chip") {
    gpu.same_chip = reader.required_text("like");
  } else if (kernel == "losses") {
    gpu.losses_like = reader.required_text("like");
    gpu.losses = {number_cell(reader, row, "rate"), number_cell(reader, row, "bandwidth")};
  } else if (kernel == "sustained") {
    gpu.sustained = share_cell(reader, row, "rate", kMostArithmetic);
  } else if (MatmulCurve* curve = matmul_of(kernel, gpu)) {
    *curve = read_matmul(reader, row, shared);
  } else if (kernel == "prefill-attention") {
    gpu.prefill = {chip_share("rate", kMostArithmetic),
                   chip_share("bandwidth", kMostBandwidth),
                   latency_cell(reader),
                   number_cell(reader, row, "occupancy"),
                   number_cell(reader, row, "head_gamma"),
                   number_cell(reader, row, "short_sequence")};
  } else if (kernel == "decode-attention") {
    gpu.decode = {chip_share("rate", kMostArithmetic),
                  chip_share("bandwidth", kMostBandwidth),
                  latency_cell(reader),
                  number_cell(reader, row, "occupancy"),
                  std::max(1.0, number_cell(reader, row, "fp8_kv")),
                  number_cell(reader, row, "short_sequence")};
  } else {
    known = false;
  }
  if (!known) {
    reader.mistake(
        "kernel",
        bad_input(fmt::format("unknown kernel '{}'", kernel)).with_hint("see data/efficiency.csv for the names"));
  }
}

template <class Profile>
bool read_field(Profile& profile, const FactRow& row, FactReader& reader) {
  static const std::vector<Field<Profile>> fields = fields_of<Profile>();
  const std::string_view name = row.cell("constant");
  for (const Field<Profile>& field : fields) {
    if (field.name != name) continue;
    if (field.number != nullptr) {
      profile.*field.number = number_cell(reader, row, "value");
    } else {
      profile.*field.time =
          reader.required_quantity<Seconds>("value", parse_duration, Seconds{}, seconds(10), format_duration);
    }
    return true;
  }
  return false;
}

// Reads one row of a stack's constants.
bool read_stack_constant(const std::string& stack, Constants& c, const FactRow& row, FactReader& reader) {
  if (stack == "vllm") return read_field(c.vllm, row, reader);
  if (stack == "trtllm") return read_field(c.trtllm, row, reader);
  if (stack == "sglang") return read_field(c.sglang, row, reader);
  if (stack == "hf") return read_field(c.eager, row, reader);
  if (stack == "llm-foundry") return read_field(c.llm_foundry, row, reader);
  if (stack == "torchtitan") return read_field(c.torchtitan, row, reader);
  if (stack == "megatron") return read_field(c.megatron, row, reader);
  if (stack == "vision") return read_field(c.vision, row, reader);
  if (stack == "power") return read_field(c.power, row, reader);
  return false;
}

const std::vector<std::string>& stack_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(kStackSlots);
    for (int i = 0; i < kVisionSlot; ++i) names.emplace_back(model::name_of(static_cast<Stack>(i)));
    names.emplace_back("vision");
    return names;
  }();
  return kNames;
}

// Rows written by `fit --runs`: the runs that a stack's constants were fitted on.
bool read_measured(const std::string& name, MeasuredSet& runs, FactReader& reader) {
  if (name == "measured-parameters") {
    const std::vector<std::string> range = reader.list("value");
    const double least = range.size() == 2 ? parse_number(range[0]).value_or(0) : 0;
    const double most = range.size() == 2 ? parse_number(range[1]).value_or(0) : 0;
    if (least > 0 && most >= least)
      runs.smallest = least, runs.largest = most;
    else
      reader.mistake("value", bad_input("expected the smallest and the largest number of parameters, as '1e9|7e10'"));
    return true;
  }
  const std::pair<std::string_view, std::vector<std::string>*> lists[] = {{"measured-on", &runs.gpus},
                                                                          {"measured-vendors", &runs.vendors},
                                                                          {"measured-formats", &runs.formats},
                                                                          {"measured-training", &runs.training},
                                                                          {"measured-families", &runs.families}};
  for (const auto& [of, list] : lists) {
    if (name == of) return *list = reader.list("value"), true;
  }
  return false;
}

void read_stack_row(const FactRow& row, Constants& constants, Errors& errors) {
  FactReader reader(row, errors);
  std::vector<std::string> names = stack_names();
  names.emplace_back("power");  // not a stack, but fitted like one
  const std::string stack = reader.choice("stack", names);
  const auto slot = static_cast<std::size_t>(std::find(names.begin(), names.end(), stack) - names.begin());
  if (slot >= names.size()) return;
  const std::string name = reader.required_text("constant");
  if (slot < kStackSlots && read_measured(name, constants.measured_runs[slot], reader)) return;
  if (!read_stack_constant(stack, constants, row, reader)) {
    reader.mistake("constant", bad_input(fmt::format("'{}' has no constant '{}'", stack, name)));
  }
}

void read_calibration_row(const FactRow& row, Constants& constants, Errors& errors) {
  FactReader reader(row, errors);
  const std::string stack = reader.choice("stack", stack_names());
  const std::string job = reader.choice("job", {"train", "serve"});
  CalibrationRow calibration;
  for (int i = 0; i < kVisionSlot; ++i) {
    if (model::name_of(static_cast<Stack>(i)) == stack) calibration.stack = static_cast<Stack>(i);
  }
  calibration.job = job == "serve" ? model::JobKind::kServe : model::JobKind::kTrain;
  calibration.gpu = reader.required_text("gpu");
  auto factor = [&](const char* column) {
    const double value = number_cell(reader, row, column);
    if (value < 0.01 || value > 100) reader.mistake(column, bad_input("a factor is between 0.01 and 100"));
    return value;
  };
  calibration.factors = {true,
                         factor("device"),
                         factor("host"),
                         factor("prefill"),
                         number_cell(reader, row, "width"),
                         reader.required_integer("points", 1, 1'000'000)};
  constants.calibrations.push_back(std::move(calibration));
}

// Sums the curves of a method, and counts them.
void read_draft_row(const FactRow& row, std::map<std::string, std::vector<std::pair<double, int>>>& sums,
                    Errors& errors) {
  FactReader reader(row, errors);
  auto& curve = sums[reader.required_text("method")];
  const auto drafts = static_cast<std::size_t>(reader.required_integer("drafts", 1, 16));
  if (curve.size() < drafts) curve.resize(drafts);
  curve[drafts - 1].first += number_cell(reader, row, "accepted");
  curve[drafts - 1].second += 1;
}

// The embedded file, and the overlay's if there is one.
void add_files(FactTable& table, const std::string& name, const std::string& overlay, Errors& errors) {
  if (std::string_view built_in = embedded_file(name); !built_in.empty()) {
    table.add("data/" + name, std::string(built_in), false);
  }
  const fs::path path = fs::path(overlay) / name;
  std::error_code ignored;
  if (overlay.empty() || !fs::exists(path, ignored)) return;
  Result<std::string> text = read_file(path.string());
  if (text) {
    table.add(path.string(), *std::move(text), true);
  } else {
    errors.push_back(std::move(text).error());
  }
}

}  // namespace

const EngineConstants& Constants::engine(Stack stack) const {
  return stack == Stack::kTrtLlm ? trtllm : stack == Stack::kSglang ? sglang : vllm;
}

Checked<Constants> load_constants(const std::string& overlay) {
  Constants constants;
  Errors errors;
  FactTable efficiency(kEfficiency, errors), stacks(kStackSchema, errors), calibration(kCalibrationSchema, errors);
  add_files(efficiency, "efficiency.csv", overlay, errors);
  add_files(stacks, "stacks.csv", overlay, errors);
  add_files(calibration, kCalibrationFile, overlay, errors);
  FactTable drafts(kDraftSchema, errors);
  add_files(drafts, "speculation.csv", overlay, errors);
  for (const FactRow& row : efficiency.rows()) read_kernel(row, constants, errors);
  for (const FactRow& row : stacks.rows()) read_stack_row(row, constants, errors);
  for (const FactRow& row : calibration.rows()) read_calibration_row(row, constants, errors);
  std::map<std::string, std::vector<std::pair<double, int>>> sums;
  for (const FactRow& row : drafts.rows()) read_draft_row(row, sums, errors);
  for (const auto& [method, curve] : sums) {
    for (const auto& [sum, count] : curve) constants.draft_curves[method].push_back(sum / std::max(count, 1));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return constants;
}

Checked<Constants> with_rows(Constants base, std::string efficiency_text, std::string stacks_text) {
  Errors errors;
  FactTable efficiency(kEfficiency, errors), stacks(kStackSchema, errors);
  if (!efficiency_text.empty()) efficiency.add("efficiency.csv", std::move(efficiency_text), false);
  if (!stacks_text.empty()) stacks.add("stacks.csv", std::move(stacks_text), false);
  for (const FactRow& row : efficiency.rows()) read_kernel(row, base, errors);
  for (const FactRow& row : stacks.rows()) read_stack_row(row, base, errors);
  if (!errors.empty()) return fail(std::move(errors));
  return base;
}

std::string calibration_csv(const std::vector<CalibrationRow>& rows) {
  std::string text =
      "# Written by 'rightsize calibrate': factors on predicted times, from your own measurements.\n"
      "stack,job,gpu,device,host,prefill,width,points\n";
  for (const CalibrationRow& row : rows) {
    const Calibration& f = row.factors;
    text += fmt::format("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{}\n", model::name_of(row.stack),
                        row.job == model::JobKind::kServe ? "serve" : "train", csv_cell(row.gpu), f.device, f.host,
                        f.prefill, f.width, f.points);
  }
  return text;
}

}  // namespace rightsize::perf
