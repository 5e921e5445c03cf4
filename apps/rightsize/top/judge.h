// What each GPU of a screen does now, and what it costs.
#pragma once

#include <vector>

#include "market/price_book.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

// Everything but the samples of a screen: verdicts, prices, hardware. `named` is the GPU the user says it is, or null.
void judge_gpus(std::vector<TopGpu>& gpus, const market::PriceBook& prices, const catalog::Gpu* named);

}  // namespace rightsize::app
