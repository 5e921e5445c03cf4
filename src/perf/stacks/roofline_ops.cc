// The operations of one forward pass with their work, for pictures and tables.
#include <string>

#include "memory/weight_bytes.h"
#include "model/serve_settings.h"
#include "perf/kernels/scan.h"
#include "perf/stacks/engine_step.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;

const char* name_of(const Product& product, double inner) {
  switch (product.part) {
    case Product::Part::kQkv:
      return "q, k, v";
    case Product::Part::kLatent:
      return "latent projections";
    case Product::Part::kAttentionOutput:
      return "attention output";
    case Product::Part::kUp:
      return product.outputs > 1.5 * inner ? "gate and up" : "up";
    case Product::Part::kDown:
      return "down";
    case Product::Part::kOther:
      break;
  }
  return "other products";
}

OpTime elementwise(const ModelWork& work, const GpuSpeed& gpu, double rows, double inner) {
  OpTime op;
  op.traffic = bytes(rows * (kDecodeElementwise.hidden * work.hidden + kDecodeElementwise.inner * inner));
  op.flops = flop(rows * (10 * work.hidden + 6 * inner));
  op.memory = op.time = traffic_time(gpu, op.traffic, kElementwiseShare);
  return op;
}

}  // namespace

std::vector<RooflineOp> roofline_ops(const ModelWork& work, const Job& job, const GpuSpeed& gpu, double batch,
                                     double new_tokens, double context) {
  if (work.image) return {};
  EngineLayout layout;
  layout.tensor = job.parallel.tensor;
  layout.attention = job.parallel.attention_data;
  if (job.kind == model::JobKind::kServe) {
    const model::ServedFormats formats = model::served_formats(work.experts > 0, work.checkpoint.format, job.precision);
    layout.expert = job.parallel.expert;
    layout.format = weight_format(formats.dense, gpu), layout.experts = weight_format(formats.experts, gpu);
  } else if (job.precision == model::Precision::kFp8) {
    layout.format = layout.experts = weight_format(job.precision, gpu);
  }
  layout.kv_bytes = memory::bytes_per_element(memory::kv_format(job, work.checkpoint, gpu.has_fp4));
  const double rows = batch * new_tokens, t = layout.attention_tensor();
  std::vector<RooflineOp> ops;
  // Kinds of layers that differ in nothing a roofline shows (windows) are joined.
  const auto add = [&](const std::string& name, const OpTime& each, double count) {
    for (RooflineOp& op : ops) {
      if (op.name == name && op.each.flops == each.flops && op.each.traffic == each.traffic) {
        op.count += count;
        return;
      }
    }
    ops.push_back({name, each, count});
  };
  for (const LayerWork& layer : work.kinds) {
    for (const Product& product : layer.products) {
      add(name_of(product, layer.dense_width()),
          matmul_time(gpu, {rows, product.outputs_on(t), product.inputs_on(t)}, layout.format), layer.count);
    }
    if (layer.experts >= 0) {
      LayerWork experts;
      experts.experts = layer.experts;
      add("experts", layer_products(work, experts, gpu, layout, rows), layer.count);
    }
    add("norms and activations", elementwise(work, gpu, rows, layer.dense_width() / t), layer.count);
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.attentions[static_cast<std::size_t>(number)];
      add("attention",
          new_tokens > 1 ? prefill_attention(gpu, layout, how, batch, new_tokens)
                         : decode_attention(gpu, layout, how, batch, context),
          layer.count);
    }
    for (int number : layer.scans) {
      const model::ScanOp& how = work.scans[static_cast<std::size_t>(number)];
      add("recurrent state", new_tokens > 1 ? scan_time(gpu, how, t, rows) : scan_step_time(gpu, how, t, batch),
          layer.count);
    }
  }
  if (work.head == OutputHead::kLanguageModel || work.head == OutputHead::kMaskedModel) {
    add("logits", matmul_time(gpu, {rows, work.vocabulary / t, work.hidden}, WeightFormat::kHalf), 1);
  }
  return ops;
}

}  // namespace rightsize::perf
