// A cancelled simulation confirms no plan, and a search that waits for one would never end.
#include "base/cancel.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

TEST(Recommend, EndsWheneverItIsCancelled) {
  for (const Request& request :
       {request_of({{"model", "llama-3.2-1b"}, {"tokens", "1B"}}),
        request_of({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "30/s"}, {"tpot-slo", "40ms"}}),
        request_of(
            {{"model", "llama-3.2-1b"}, {"job", "serve"}, {"rate", "5/s"}, {"isl", "100k"}, {"max-load", "2%"}})}) {
    for (const int after : {0, 1, 10, 50, 200}) {
      const auto work = std::make_shared<rightsize::Work>();
      std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(after));
        work->cancel();
      });
      const CancelScope scope(work);
      recommend(request, built_in_prices(), built_in_constants());
      canceller.join();
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
