#include "families/recurrent.h"

#include <utility>

namespace rightsize::model {
namespace {

constexpr WeightRole kRole = WeightRole::kAttention;  // for adapters and tensor parallelism

// One kernel per channel over the last few tokens.
WeightRef declare_conv(Inventory& inventory, std::string name, const ScanOp& scan, bool bias) {
  return inventory.conv(std::move(name), scan.conv_width, scan.conv_width, static_cast<int>(scan.conv_kernel),
                        {.groups = scan.conv_width, .bias = bias, .over_time = true, .divided = true});
}

// Gates and norms the result and projects it back to the residual's width.
Value close(Tracer& f, Value y, Value gate, const RecurrentWeights& w, const ScanOp& scan) {
  Value gated = f.multiply(std::move(y), f.activate(std::move(gate), Activation::kSilu));
  Value normed = f.norm(NormKind::kRms, w.norm, std::move(gated), kTokens.split_into(scan.heads, 1));
  return f.scatter_rows(f.linear(w.out, std::move(normed)));
}

}  // namespace

RecurrentWeights declare_mamba2(Inventory& inventory, const Mamba2& layer, std::int64_t hidden) {
  const ScanOp& scan = layer.scan;
  const std::string& p = layer.prefix;
  RecurrentWeights w;
  w.in = w.first =
      inventory.linear(p + ".in_proj", kRole, layer.inner() + scan.conv_width + scan.heads, hidden, layer.bias);
  w.conv = declare_conv(inventory, p + ".conv1d", scan, layer.conv_bias);
  for (const char* name : {".dt_bias", ".A_log", ".D"}) inventory.vector(p + name, WeightRole::kOther, scan.heads);
  w.norm = inventory.norm(p + ".norm", layer.inner(), false);
  w.out = inventory.output(p + ".out_proj", kRole, hidden, layer.inner(), layer.bias);
  return w;
}

Value mamba2(Tracer& f, Value given, const RecurrentWeights& w, const Mamba2& layer) {
  const ScanOp& scan = layer.scan;
  Value x = f.gather_rows(std::move(given));
  Value projected = f.linear(w.in, std::move(x));
  auto [gate, fed, steps] = f.split(std::move(projected), kTokens.split_into(layer.inner(), 1),
                                    kTokens.split_into(scan.conv_width, 1), kTokens.split_into(scan.heads, 1));
  fed = f.activate(f.convolution_over_time(w.conv, std::move(fed), kTokens), Activation::kSilu);
  Value y = f.scan(std::move(fed), std::move(steps), scan);
  return close(f, std::move(y), std::move(gate), w, scan);
}

RecurrentWeights declare_gated_delta(Inventory& inventory, const ScanOp& scan, std::int64_t hidden) {
  const std::int64_t values = scan.heads * scan.head_dim;
  RecurrentWeights w;
  w.first = inventory.vector("linear_attn.dt_bias", WeightRole::kOther, scan.heads);
  inventory.vector("linear_attn.A_log", WeightRole::kOther, scan.heads);
  w.conv = declare_conv(inventory, "linear_attn.conv1d", scan, false);
  w.in = inventory.linear("linear_attn.in_proj_qkvz", kRole, scan.conv_width + values, hidden, false);
  w.steps = inventory.linear("linear_attn.in_proj_ba", kRole, 2 * scan.heads, hidden, false);
  w.norm = inventory.norm("linear_attn.norm", scan.head_dim, false);
  w.out = inventory.output("linear_attn.out_proj", kRole, hidden, values, false);
  return w;
}

Value gated_delta(Tracer& f, Value given, const RecurrentWeights& w, const ScanOp& scan) {
  Value x = f.gather_rows(std::move(given));
  Value projected = f.linear(w.in, x);
  auto [fed, gate, none] = f.split(std::move(projected), kTokens.split_into(scan.conv_width, 1),
                                   kTokens.split_into(scan.heads, scan.head_dim));
  Value steps = f.linear(w.steps, std::move(x));
  fed = f.activate(f.convolution_over_time(w.conv, std::move(fed), kTokens), Activation::kSilu);
  Value y = f.scan(std::move(fed), std::move(steps), scan);
  return close(f, std::move(y), std::move(gate), w, scan);
}

}  // namespace rightsize::model
