#include "perf/kernels/scan.h"

namespace rightsize::perf {
namespace {

constexpr double kPeakShare = 0.25;      // share of the 16-bit peak
constexpr double kBandwidthShare = 0.7;  // as for elementwise kernels
constexpr double kOverlap = 2.0;

OpTime roofline(const GpuSpeed& gpu, double flops, double traffic) {
  OpTime op;
  op.flops = flop(flops);
  op.traffic = bytes(traffic);
  op.compute = op.flops / (gpu.half * kPeakShare);
  op.memory = traffic_time(gpu, op.traffic, kBandwidthShare);
  op.time = soft_max(op.compute, op.memory, kOverlap);
  finish_op(op, gpu, gpu.half, Seconds{});
  return op;
}

}  // namespace

// Within a chunk the scan works like full attention: read x write per group, then times the values per head. Across
// chunks, the state is updated and read. The delta rule also solves a triangular system per chunk.
double scan_flops(const model::ScanOp& scan) {
  const double heads = static_cast<double>(scan.heads), groups = static_cast<double>(scan.groups);
  const double dim = static_cast<double>(scan.head_dim), state = static_cast<double>(scan.state);
  const double chunk = static_cast<double>(scan.chunk);
  const double inside = 2 * chunk * (groups * state + heads * dim), across = 4 * heads * dim * state;
  return inside + across + (scan.delta ? 2 * chunk * heads * (state + dim) : 0);
}

OpTime scan_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double tokens) {
  const double width = static_cast<double>(2 * scan.heads * scan.head_dim + 2 * scan.groups * scan.state);
  const double states = tokens / static_cast<double>(scan.chunk) * static_cast<double>(scan.state_elements());
  return roofline(gpu, tokens * scan_flops(scan) / tensor, (2 * tokens * width + 2 * 4 * states) / tensor);
}

OpTime scan_step_time(const GpuSpeed& gpu, const model::ScanOp& scan, double tensor, double batch) {
  const double states = batch * static_cast<double>(scan.state_elements()) / tensor;
  const double conv = batch * static_cast<double>(scan.conv_elements()) / tensor;
  return roofline(gpu, 6 * states, 2 * 4 * states + 2 * 2 * conv);
}

}  // namespace rightsize::perf
