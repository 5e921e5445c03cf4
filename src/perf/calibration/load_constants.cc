// From data/efficiency.csv, data/stacks.csv and the user's overlay of them to Constants.
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
#include "perf/calibration/constants.h"

namespace rightsize::perf {
namespace {

namespace fs = std::filesystem;
using catalog::FactReader;
using catalog::FactRow;
using catalog::FactSchema;
using catalog::FactTable;
using model::Stack;

const FactSchema kEfficiency{{"gpu", "kernel", "like", "rate", "bandwidth", "latency", "q", "occupancy", "k_ramp",
                              "small_weights", "head_gamma", "short_sequence", "fp8_kv", "bus", "size_loss", "how"},
                             {"gpu", "kernel"},
                             {"how"}};
const FactSchema kStackSchema{{"stack", "constant", "value", "how"}, {"stack", "constant"}, {"how"}};
const FactSchema kCalibrationSchema{
    {"stack", "job", "gpu", "device", "host", "prefill", "width", "points"}, {"stack", "job", "gpu"}, {}};

// A constant by its name in stacks.csv: a plain number or a duration.
template <class Profile>
struct Field {
  const char* name;
  double Profile::*number = nullptr;
  Seconds Profile::*time = nullptr;

  constexpr Field(const char* n, double Profile::*field) : name(n), number(field) {}
  constexpr Field(const char* n, Seconds Profile::*field) : name(n), time(field) {}
};

#define RIGHTSIZE_FIELD(profile, name) \
  Field<profile> { #name, &profile::name }

constexpr Field<EngineConstants> kEngineFields[] = {RIGHTSIZE_FIELD(EngineConstants, decode_matmul),
                                                    RIGHTSIZE_FIELD(EngineConstants, decode_experts),
                                                    RIGHTSIZE_FIELD(EngineConstants, decode_attention),
                                                    RIGHTSIZE_FIELD(EngineConstants, decode_all_reduce),
                                                    RIGHTSIZE_FIELD(EngineConstants, decode_elementwise),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_matmul),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_experts),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_attention),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_all_reduce),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_elementwise),
                                                    RIGHTSIZE_FIELD(EngineConstants, narrow_products),
                                                    RIGHTSIZE_FIELD(EngineConstants, decode_latency),
                                                    RIGHTSIZE_FIELD(EngineConstants, layer_launch),
                                                    RIGHTSIZE_FIELD(EngineConstants, expert_launch),
                                                    RIGHTSIZE_FIELD(EngineConstants, step_launch),
                                                    RIGHTSIZE_FIELD(EngineConstants, host_step),
                                                    RIGHTSIZE_FIELD(EngineConstants, host_layer),
                                                    RIGHTSIZE_FIELD(EngineConstants, host_request),
                                                    RIGHTSIZE_FIELD(EngineConstants, routing_evenness),
                                                    RIGHTSIZE_FIELD(EngineConstants, mixed_passes),
                                                    RIGHTSIZE_FIELD(EngineConstants, pass_tokens),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_interference),
                                                    RIGHTSIZE_FIELD(EngineConstants, pipeline_loss),
                                                    RIGHTSIZE_FIELD(EngineConstants, pipeline_request),
                                                    RIGHTSIZE_FIELD(EngineConstants, graph_batch),
                                                    RIGHTSIZE_FIELD(EngineConstants, graphless_layer),
                                                    RIGHTSIZE_FIELD(EngineConstants, request_overhead),
                                                    RIGHTSIZE_FIELD(EngineConstants, prefill_wait),
                                                    RIGHTSIZE_FIELD(EngineConstants, burst_wait),
                                                    RIGHTSIZE_FIELD(EngineConstants, front_request),
                                                    RIGHTSIZE_FIELD(EngineConstants, front_token),
                                                    RIGHTSIZE_FIELD(EngineConstants, group_wait),
                                                    RIGHTSIZE_FIELD(EngineConstants, host_power),
                                                    RIGHTSIZE_FIELD(EngineConstants, transfer_overhead),
                                                    RIGHTSIZE_FIELD(EngineConstants, fp8_kv),
                                                    RIGHTSIZE_FIELD(EngineConstants, length_share),
                                                    RIGHTSIZE_FIELD(EngineConstants, reserve_share),
                                                    RIGHTSIZE_FIELD(EngineConstants, tpot_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, ttft_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, mixture_tpot_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, mixture_ttft_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, format_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, family_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, mixture_family_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, spread_tpot_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, spread_ttft_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, load_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, mixture_load_width),
                                                    RIGHTSIZE_FIELD(EngineConstants, served_batch)};

constexpr Field<EagerConstants> kEagerFields[] = {RIGHTSIZE_FIELD(EagerConstants, batched_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, offload_link),
                                                  RIGHTSIZE_FIELD(EagerConstants, offload_update),
                                                  RIGHTSIZE_FIELD(EagerConstants, scan_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_overlap),
                                                  RIGHTSIZE_FIELD(EagerConstants, network_overlap),
                                                  RIGHTSIZE_FIELD(EagerConstants, selective_share),
                                                  RIGHTSIZE_FIELD(EagerConstants, matmul_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, odd_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, even_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, forward_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, backward_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, lora_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, kernel_launch),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_backward),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_head_gamma),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_mask),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_wide_head),
                                                  RIGHTSIZE_FIELD(EagerConstants, attention_occupancy),
                                                  RIGHTSIZE_FIELD(EagerConstants, fp32_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, fp32_expert_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, math_scores_forward),
                                                  RIGHTSIZE_FIELD(EagerConstants, math_scores_backward),
                                                  RIGHTSIZE_FIELD(EagerConstants, eager_scores_forward),
                                                  RIGHTSIZE_FIELD(EagerConstants, eager_scores_backward),
                                                  RIGHTSIZE_FIELD(EagerConstants, expert_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, merged_expert_bytes),
                                                  RIGHTSIZE_FIELD(EagerConstants, sink_scores),
                                                  RIGHTSIZE_FIELD(EagerConstants, expert_bias_bytes),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_expert),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_rate),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_attention),
                                                  RIGHTSIZE_FIELD(EagerConstants, view_cost),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_forward),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_layer),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_backward),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_cast),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_checkpoint),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_tensor),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_adapter),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_infer),
                                                  RIGHTSIZE_FIELD(EagerConstants, host_infer_layer),
                                                  RIGHTSIZE_FIELD(EagerConstants, optimizer_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, optimizer_bandwidth_fp32),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_rotary),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_loss),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_kernel),
                                                  RIGHTSIZE_FIELD(EagerConstants, compiled_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, decode_repeat_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, decode_attention_bandwidth),
                                                  RIGHTSIZE_FIELD(EagerConstants, decode_kernel),
                                                  RIGHTSIZE_FIELD(EagerConstants, fp32_batched),
                                                  RIGHTSIZE_FIELD(EagerConstants, fp32_attention),
                                                  RIGHTSIZE_FIELD(EagerConstants, train_gpu_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, train_host_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, prefill_gpu_width),
                                                  RIGHTSIZE_FIELD(EagerConstants, prefill_host_width)};

constexpr Field<ShardedConstants> kShardedFields[] = {
    RIGHTSIZE_FIELD(ShardedConstants, matmul_rate),      RIGHTSIZE_FIELD(ShardedConstants, matmul_rate_hopper),
    RIGHTSIZE_FIELD(ShardedConstants, attention_ampere), RIGHTSIZE_FIELD(ShardedConstants, attention_hopper),
    RIGHTSIZE_FIELD(ShardedConstants, elementwise),      RIGHTSIZE_FIELD(ShardedConstants, elementwise_compiled),
    RIGHTSIZE_FIELD(ShardedConstants, logits_bytes),     RIGHTSIZE_FIELD(ShardedConstants, network_rate),
    RIGHTSIZE_FIELD(ShardedConstants, scale_loss),       RIGHTSIZE_FIELD(ShardedConstants, fp8_rate),
    RIGHTSIZE_FIELD(ShardedConstants, bandwidth),        RIGHTSIZE_FIELD(ShardedConstants, cast_bandwidth),
    RIGHTSIZE_FIELD(ShardedConstants, network_overlap),  RIGHTSIZE_FIELD(ShardedConstants, selective_share),
    RIGHTSIZE_FIELD(ShardedConstants, train_width)};

constexpr Field<MegatronConstants> kMegatronFields[] = {RIGHTSIZE_FIELD(MegatronConstants, rate_bf16),
                                                        RIGHTSIZE_FIELD(MegatronConstants, rate_fp8),
                                                        RIGHTSIZE_FIELD(MegatronConstants, rate_fp4),
                                                        RIGHTSIZE_FIELD(MegatronConstants, attention_rate),
                                                        RIGHTSIZE_FIELD(MegatronConstants, head_rate),
                                                        RIGHTSIZE_FIELD(MegatronConstants, bandwidth),
                                                        RIGHTSIZE_FIELD(MegatronConstants, elementwise),
                                                        RIGHTSIZE_FIELD(MegatronConstants, permute),
                                                        RIGHTSIZE_FIELD(MegatronConstants, expert_rate),
                                                        RIGHTSIZE_FIELD(MegatronConstants, expert_launch),
                                                        RIGHTSIZE_FIELD(MegatronConstants, all_to_all),
                                                        RIGHTSIZE_FIELD(MegatronConstants, tensor_exposed),
                                                        RIGHTSIZE_FIELD(MegatronConstants, network_rate),
                                                        RIGHTSIZE_FIELD(MegatronConstants, layer),
                                                        RIGHTSIZE_FIELD(MegatronConstants, expert_host),
                                                        RIGHTSIZE_FIELD(MegatronConstants, dense_width),
                                                        RIGHTSIZE_FIELD(MegatronConstants, few_rows_width),
                                                        RIGHTSIZE_FIELD(MegatronConstants, expert_width),
                                                        RIGHTSIZE_FIELD(MegatronConstants, network_overlap),
                                                        RIGHTSIZE_FIELD(MegatronConstants, host_overlap),
                                                        RIGHTSIZE_FIELD(MegatronConstants, gradient_bytes),
                                                        RIGHTSIZE_FIELD(MegatronConstants, attention_short),
                                                        RIGHTSIZE_FIELD(MegatronConstants, contention),
                                                        RIGHTSIZE_FIELD(MegatronConstants, scale_loss),
                                                        RIGHTSIZE_FIELD(MegatronConstants, step)};

constexpr Field<VisionConstants> kVisionFields[] = {RIGHTSIZE_FIELD(VisionConstants, batched_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, optimizer_bandwidth),
                                                    RIGHTSIZE_FIELD(VisionConstants, optimizer_passes),
                                                    RIGHTSIZE_FIELD(VisionConstants, host_overlap),
                                                    RIGHTSIZE_FIELD(VisionConstants, network_overlap),
                                                    RIGHTSIZE_FIELD(VisionConstants, bandwidth),
                                                    RIGHTSIZE_FIELD(VisionConstants, train_traffic),
                                                    RIGHTSIZE_FIELD(VisionConstants, gradient_traffic),
                                                    RIGHTSIZE_FIELD(VisionConstants, norm_bytes),
                                                    RIGHTSIZE_FIELD(VisionConstants, batch_norm),
                                                    RIGHTSIZE_FIELD(VisionConstants, batch_statistics),
                                                    RIGHTSIZE_FIELD(VisionConstants, fp32_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, fp32_attention),
                                                    RIGHTSIZE_FIELD(VisionConstants, conv_depth),
                                                    RIGHTSIZE_FIELD(VisionConstants, conv_width),
                                                    RIGHTSIZE_FIELD(VisionConstants, conv_occupancy),
                                                    RIGHTSIZE_FIELD(VisionConstants, grouped_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, conv_input_gradient),
                                                    RIGHTSIZE_FIELD(VisionConstants, depthwise),
                                                    RIGHTSIZE_FIELD(VisionConstants, depthwise_kernel),
                                                    RIGHTSIZE_FIELD(VisionConstants, depthwise_backward),
                                                    RIGHTSIZE_FIELD(VisionConstants, linear_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, attention_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, window_scores),
                                                    RIGHTSIZE_FIELD(VisionConstants, dropout),
                                                    RIGHTSIZE_FIELD(VisionConstants, channels_last_copies),
                                                    RIGHTSIZE_FIELD(VisionConstants, channels_last_rate),
                                                    RIGHTSIZE_FIELD(VisionConstants, channels_last_weight_gradient),
                                                    RIGHTSIZE_FIELD(VisionConstants, channels_last_depthwise),
                                                    RIGHTSIZE_FIELD(VisionConstants, kernel_launch),
                                                    RIGHTSIZE_FIELD(VisionConstants, host_forward),
                                                    RIGHTSIZE_FIELD(VisionConstants, host_infer),
                                                    RIGHTSIZE_FIELD(VisionConstants, host_backward),
                                                    RIGHTSIZE_FIELD(VisionConstants, host_tensor),
                                                    RIGHTSIZE_FIELD(VisionConstants, width)};

#undef RIGHTSIZE_FIELD

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

LinkCurve read_link(FactReader& reader, const FactRow& row) {
  return {latency_cell(reader),
          reader.required_quantity<BytesPerSecond>("bus", parse_bandwidth, gb_per_s(0.01), gb_per_s(100'000),
                                                   format_bandwidth),
          number_cell(reader, row, "size_loss")};
}

// "all-reduce-8" -> its curves and the place of 8 in them.
bool read_group_kernel(std::string_view kernel, MeasuredGpu& gpu, FactReader& reader, const FactRow& row) {
  static constexpr std::pair<std::string_view, Collective> kKinds[] = {{"all-reduce-", Collective::kAllReduce},
                                                                       {"all-gather-", Collective::kAllGather},
                                                                       {"reduce-scatter-", Collective::kReduceScatter},
                                                                       {"all-to-all-", Collective::kAllToAll}};
  if (kernel.size() < 2 || kernel[kernel.size() - 2] != '-') return false;
  const char size = kernel.back();
  const std::size_t place = size == '2' ? 0u : size == '4' ? 1u : size == '8' ? 2u : 3u;
  if (place > 2) return false;
  const std::string_view stem = kernel.substr(0, kernel.size() - 1);
  if (stem == "engine-all-reduce-") {
    gpu.engine_all_reduce[place] = read_link(reader, row);
    return true;
  }
  for (const auto& [name, kind] : kKinds) {
    if (stem != name) continue;
    gpu.collectives[static_cast<std::size_t>(kind)][place] = read_link(reader, row);
    return true;
  }
  return false;
}

MatmulCurve read_matmul(FactReader& reader, const FactRow& row) {
  MatmulCurve curve;
  curve.rate = number_cell(reader, row, "rate");
  curve.bandwidth = number_cell(reader, row, "bandwidth");
  curve.latency = latency_cell(reader);
  curve.q = number_cell(reader, row, "q");
  curve.occupancy = number_cell(reader, row, "occupancy");
  curve.k_ramp = number_cell(reader, row, "k_ramp");
  curve.small_weights = number_cell(reader, row, "small_weights");
  if (!(curve.rate > 0)) reader.missing("rate");
  if (!(curve.bandwidth > 0)) reader.missing("bandwidth");
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
  MeasuredGpu& gpu = constants.measured[reader.required_text("gpu")];
  const std::string kernel = reader.required_text("kernel");
  if (kernel == "same-chip") {
    gpu.same_chip = reader.required_text("like");
  } else if (kernel == "sustained") {
    gpu.sustained = number_cell(reader, row, "rate");
  } else if (kernel == "fsdp-link") {
    gpu.fsdp_link = read_link(reader, row).bus;
  } else if (MatmulCurve* curve = matmul_of(kernel, gpu)) {
    *curve = read_matmul(reader, row);
  } else if (kernel == "prefill-attention") {
    gpu.prefill = {number_cell(reader, row, "rate"),
                   number_cell(reader, row, "bandwidth"),
                   latency_cell(reader),
                   number_cell(reader, row, "occupancy"),
                   number_cell(reader, row, "head_gamma"),
                   number_cell(reader, row, "short_sequence")};
  } else if (kernel == "decode-attention") {
    gpu.decode = {number_cell(reader, row, "rate"),
                  number_cell(reader, row, "bandwidth"),
                  latency_cell(reader),
                  number_cell(reader, row, "occupancy"),
                  number_cell(reader, row, "fp8_kv"),
                  number_cell(reader, row, "short_sequence")};
  } else if (!read_group_kernel(kernel, gpu, reader, row)) {
    reader.mistake(
        "kernel",
        bad_input(fmt::format("unknown kernel '{}'", kernel)).with_hint("see data/efficiency.csv for the names"));
  }
}

template <class Profile, std::size_t N>
bool read_field(Profile& profile, const Field<Profile> (&fields)[N], const FactRow& row, FactReader& reader) {
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

// Where the stack's constants and its list of GPUs are.
bool read_stack_constant(const std::string& stack, Constants& c, const FactRow& row, FactReader& reader) {
  if (stack == "vllm") return read_field(c.vllm, kEngineFields, row, reader);
  if (stack == "trtllm") return read_field(c.trtllm, kEngineFields, row, reader);
  if (stack == "sglang") return read_field(c.sglang, kEngineFields, row, reader);
  if (stack == "hf") return read_field(c.eager, kEagerFields, row, reader);
  if (stack == "llm-foundry") return read_field(c.llm_foundry, kShardedFields, row, reader);
  if (stack == "torchtitan") return read_field(c.torchtitan, kShardedFields, row, reader);
  if (stack == "megatron") return read_field(c.megatron, kMegatronFields, row, reader);
  if (stack == "vision") return read_field(c.vision, kVisionFields, row, reader);
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

// The rows `fit --runs` writes: which runs a stack's constants were fitted on.
bool read_measured(const std::string& name, MeasuredSet& runs, FactReader& reader) {
  if (name == "measured-parameters") {
    const std::vector<std::string> range = reader.list("value");
    const double least = range.size() == 2 ? parse_number(range[0]).value_or(0) : 0;
    const double most = range.size() == 2 ? parse_number(range[1]).value_or(0) : 0;
    if (least > 0 && most >= least)
      runs.smallest = least, runs.largest = most;
    else
      reader.mistake("value", bad_input("wanted the smallest and the largest number of parameters, as '1e9|7e10'"));
    return true;
  }
  const std::pair<std::string_view, std::vector<std::string>*> lists[] = {{"measured-on", &runs.gpus},
                                                                          {"measured-vendors", &runs.vendors},
                                                                          {"measured-formats", &runs.formats},
                                                                          {"measured-families", &runs.families}};
  for (const auto& [of, list] : lists) {
    if (name == of) return *list = reader.list("value"), true;
  }
  return false;
}

void read_stack_row(const FactRow& row, Constants& constants, Errors& errors) {
  FactReader reader(row, errors);
  const std::string stack = reader.choice("stack", stack_names());
  const auto slot = std::find(stack_names().begin(), stack_names().end(), stack) - stack_names().begin();
  if (slot >= kStackSlots) return;
  const std::string name = reader.required_text("constant");
  if (read_measured(name, constants.measured_runs[static_cast<std::size_t>(slot)], reader)) return;
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

// The embedded file and the overlay's, where there is one.
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
  for (const FactRow& row : efficiency.rows()) read_kernel(row, constants, errors);
  for (const FactRow& row : stacks.rows()) read_stack_row(row, constants, errors);
  for (const FactRow& row : calibration.rows()) read_calibration_row(row, constants, errors);
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
