// Asks rightsize from C++: how fast is it, does it fit, and what is cheapest?
//
//   cmake -S examples/cpp -B build/example -DCMAKE_PREFIX_PATH=<where rightsize is installed>
//   cmake --build build/example && build/example/first_recommendation
#include <cstdio>

#include <rightsize/rightsize.h>

namespace rs = rightsize::v1;

int main() {
  rs::Estimator estimator;
  for (int batch = 1; batch <= 8; batch *= 2) {
    const auto speed = estimator.estimate("llama-3.1-8b", "h100-sxm", {{"batch", batch}, {"seq", 2048}});
    if (!speed) return std::fputs(speed.error().text.c_str(), stderr), 1;
    std::printf("batch %d: %.0f tokens/s per GPU, bound by %s\n", batch, *speed->tokens_per_second_per_gpu,
                speed->bound.c_str());
  }

  const auto need = rs::memory("llama-3.1-8b", "h100-sxm", {{"batch", 1}, {"seq", 2048}});
  if (!need) return std::fputs(need.error().text.c_str(), stderr), 1;
  std::printf("%.1f GiB: %s\n", need->device_bytes / (1 << 30), need->fits.front().verdict.c_str());

  const auto best = rs::recommend({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"deadline", "7d"}, {"top", 1}});
  if (!best) return std::fputs(best.error().text.c_str(), stderr), 1;
  const rs::Plan& plan = best->plans.front();
  std::printf("cheapest: %d x %s of %s, $%.2f\n", plan.gpus, plan.gpu.c_str(), plan.provider.c_str(), *plan.usd_total);

  const auto wrong = estimator.estimate("llama-3.1-8b", "h10");
  std::printf("%s", wrong ? "" : wrong.error().text.c_str());
  return wrong ? 1 : 0;
}
