#include "rightsize/profile/elsewhere.h"

#include <algorithm>

namespace rightsize::app {

std::vector<Elsewhere> find_elsewhere(const std::vector<diagnose::GpuProfile>& gpus, std::vector<fleet::GpuUse> use,
                                      const fleet::DevicePrices& prices, const perf::SpeedTable& speeds,
                                      const diagnose::KnownJob* known, bool from_start) {
  std::vector<fleet::GpuRow> rows = fleet::judge(std::move(use), prices);
  const fleet::TimeSpan window = fleet::window_of(rows);
  const fleet::Thresholds thresholds;
  std::vector<Elsewhere> all;
  for (const diagnose::GpuProfile& gpu : gpus) {
    Elsewhere& found = all.emplace_back();
    const std::string key = gpu.device.key();
    const auto row = std::ranges::find(rows, key, [](const fleet::GpuRow& r) { return r.use.device.key(); });
    if (row == rows.end()) continue;
    if (from_start) {  // the recording includes the start-up, and only the samples show its length
      row->verdict = gpu.diagnosis.verdict;
      row->time = gpu.diagnosis.shares;
    }
    found.price = row->price;
    found.paced = fleet::is_paced(*row);
    const fleet::Running running = fleet::running_on(*row, window, thresholds);
    const auto together = static_cast<std::size_t>(
        std::ranges::count(rows, row->price.gpu, [](const fleet::GpuRow& r) { return r.price.gpu; }));
    const std::vector<fleet::KindOffers> offers = prices.offers_instead_of(found.price, together);
    const fleet::AlternativeInput input{.speeds = speeds, .thresholds = thresholds, .offers = offers, .known = known};
    found.alternatives = fleet::alternatives(*row, running, input);
    found.best = fleet::best_alternative(*row, running, input);
  }
  return all;
}

}  // namespace rightsize::app
