// The activity and the cost of each GPU on the screen.
#pragma once

#include <vector>

#include "market/price_book.h"
#include "rightsize/top/view.h"

namespace rightsize::app {

// Sets everything but the samples: verdicts, prices, hardware. `named` is the GPU given by the user, or null.
void judge_gpus(std::vector<TopGpu>& gpus, const market::PriceBook& prices, const catalog::Gpu* named);

}  // namespace rightsize::app
