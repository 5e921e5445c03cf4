#include "sim/hand_over.h"

#include <gtest/gtest.h>

namespace rightsize::sim {
namespace {

TEST(HandOver, WritesTritonsConfiguration) {
  QueuePolicy queue{5'000'000, QueuePolicy::OnTimeout::kDelay, 64};
  EXPECT_EQ(triton_config({"bert", "l4", 2, 2, 1, requests_per_s(100)}, {16, {8, 16}, 2'500'000}, queue, 2),
            "name: \"bert\"\nmax_batch_size: 16\ninstance_group [ { count: 2 kind: KIND_GPU } ]\ndynamic_batching {\n"
            "  preferred_batch_size: [ 8, 16 ]\n  max_queue_delay_microseconds: 2500\n  priority_levels: 2\n"
            "  default_priority_level: 2\n  default_queue_policy {\n    timeout_action: DELAY\n"
            "    default_timeout_microseconds: 5000\n    max_queue_size: 64\n  }\n}\n");
}

}  // namespace
}  // namespace rightsize::sim
