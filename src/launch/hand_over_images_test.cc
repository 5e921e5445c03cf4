// Files for training on images: data loaders, processors, and the speed at which hosts decode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/test_hand_over.h"
#include "plan/stored_data.h"
#include "plan/test_draws.h"

namespace rightsize::launch {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Given images(plan::Draw& draw) {
  return {{"model", draw.one_of({"resnet-50", "vit-b-16", "vit-l-16", "sd-1.5-unet"})},
          {"samples", draw.whole(1e6, 1e9)},
          {"max-gpus", draw.one_of({"1", "4", "16"})}};
}

// Without workers, every training process decodes its own images and its GPU waits.
TEST(ImageTraining, EveryFileHasLoadersAndProcessors) {
  for (int i = 0; i < std::max(6, plan::requests_to_try()); ++i) {
    plan::Draw draw(100 + plan::first_seed() + static_cast<std::uint64_t>(i));
    const Given given = images(draw);
    SCOPED_TRACE(plan::shown(given));
    const Answer made = answer(given);
    plan::Plan best = made.best();
    catalog::Machine machine = *best.offer.machine;
    if (i % 3 == 2) machine.vcpus.reset();  // as of the user's own machines
    best.offer.machine = &machine;
    for (const Target target : {Target::kSlurm, Target::kKubernetes, Target::kSkyPilot}) {
      const Result<std::string> text = hand_over(target, made.request, best);
      if (!text) continue;  // not a cloud of SkyPilot
      EXPECT_THAT(*text, ContainsRegex("--dataloader_num_workers [1-9]")) << name_of(target);
      if (target != Target::kSlurm) continue;
      EXPECT_THAT(*text, ContainsRegex("#SBATCH --cpus-per-task=[1-9]"));
    }
  }
  const Answer text = answer({{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"gpu", "h100-sxm"}});
  EXPECT_THAT(*hand_over(Target::kSlurm, text.request, text.best()), Not(HasSubstr("dataloader_num_workers")));
}

// Only the Trainer's command reads images.
TEST(ImageTraining, OtherTrainersGetNoCommand) {
  for (const char* stack : {"torchtitan", "megatron", "llm-foundry"}) {
    const Answer made = answer({{"model", "vit-b-16"}, {"samples", "10M"}, {"gpu", "h100-sxm"}, {"stack", stack}});
    EXPECT_FALSE(hand_over(Target::kSlurm, made.request, made.best())) << stack;
  }
}

// The assumption is stated for every plan, and the caveat exactly where a machine has too few processors.
TEST(ImageTraining, TheDecodeRateIsStated) {
  int few = 0, enough = 0;
  for (int i = 0; i < std::max(8, plan::requests_to_try()); ++i) {
    plan::Draw draw(300 + plan::first_seed() + static_cast<std::uint64_t>(i));
    const Answer made = answer(images(draw));
    for (plan::Plan p : made.found.plans) {
      if (i % 2 == 1) p.units_per_second *= 10;  // faster GPUs next to the same processors
      const auto input = plan::image_input(made.request, p);
      ASSERT_TRUE(input);
      EXPECT_THAT(plan::describe_image_input(made.request, p), HasSubstr("vCPUs"));
      EXPECT_EQ(plan::short_of_cpus(made.request, p).empty(), !input->is_short());
      if (input->available) ++(*input->available < input->cpus ? few : enough);
    }
  }
  EXPECT_GT(few, 0);
  EXPECT_GT(enough, 0);
}

}  // namespace
}  // namespace rightsize::launch
