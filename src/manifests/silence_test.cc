// No change of a number or type of GPUs goes unnoticed: it changes a request, or a note names the line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "manifests/mentions.h"
#include "manifests/read.h"
#include "manifests/test_forms.h"

namespace rightsize::manifests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Side> sides_of(const Texts& texts) {
  std::vector<Side> sides;
  for (GpuRequest& request : read_files(texts).requests) sides.push_back({std::move(request), {}});
  return sides;
}

RC_GTEST_PROP(Diff, EveryChangeOfGpusIsReported, ()) {
  const Form& form = forms()[*rc::gen::inRange<std::size_t>(0, forms().size())];
  const Wish before = some_wish(), after = some_wish();
  const Texts old_texts = {{form.file, form.text(before)}}, new_texts = {{form.file, form.text(after)}};
  const std::vector<RequestChange> changes = compare(sides_of(old_texts), sides_of(new_texts));
  const std::vector<std::string> notes = unread_changes(old_texts, new_texts, changes);
  const bool differs = std::ranges::any_of(changes, [](const RequestChange& change) { return change.differs(); });
  RC_LOG() << form.text(after);
  if (old_texts == new_texts) {
    RC_ASSERT(!differs && notes.empty());
  } else {
    RC_ASSERT(differs || !notes.empty());
  }
  if (form.gpus == nullptr) return;
  // Understood requests are also counted correctly.
  double total = 0;
  for (const Side& side : sides_of(new_texts))
    total += side.request.total().value_or(side.request.units.value_or(-1000));
  RC_ASSERT(total == form.gpus(after));
}

// A new or deleted file is a change as well.
RC_GTEST_PROP(Diff, AnAddedOrRemovedFileIsReported, ()) {
  const Form& form = forms()[*rc::gen::inRange<std::size_t>(0, forms().size())];
  Texts before, after = {{form.file, form.text(some_wish())}};
  if (*rc::gen::arbitrary<bool>()) std::swap(before, after);
  const std::vector<RequestChange> changes = compare(sides_of(before), sides_of(after));
  RC_ASSERT(!changes.empty() || !unread_changes(before, after, changes).empty());
}

TEST(Mentions, AreNumbersAndTypesOfGpus) {
  const auto mentioned = [](const char* line) {
    return !gpu_mentions("a.yaml", line).empty() || !gpu_mentions("a.sub", line).empty();
  };
  for (const char* line :
       {"nvidia.com/gpu: 1", "  \"nvidia.com/gpu\" = 4", "requestGPU: 2", "num_gpus = 8", "gpus: {{ .Values.gpus }}",
        "instance_type = \"p5.48xlarge\"", "machineType: a3-highgpu-8g", "vm_size = \"standard_nc4as_t4_v3\"",
        "accelerators: H100:8", "gpu_type: L40S", "- InstanceType: ml.g5.xlarge", "nvidia.com/gpu.product: NVIDIA-L4",
        "deviceClassName: gpu.nvidia.com", "gpu = var.gpus", "request_GPUs = 2",
        "NodeName=n RealMemory=9 Gres=gpu:a100:4 State=UP", "az vm create --size Standard_NC12",
        "--accelerator=type=nvidia-tesla-t4"})
    EXPECT_TRUE(mentioned(line)) << line;
  for (const char* line : {"# nvidia.com/gpu: 1", "- key: nvidia.com/gpu", "nvidia.com/gpu.present: \"true\"",
                           "gpu_memory_utilization: 0.9", "gpuOperator: {enabled: true}", "image: nvidia/cuda:12.4",
                           "n_gpu_layers: 32", "instanceType: m5.large", "gpu: 0", "name: gpu-pool",
                           "onnxruntime-gpu = \"1.17\"", "gpu_id: 3", "DCGM_EXPORTER_PORT: 9400"})
    EXPECT_FALSE(mentioned(line)) << line;
}

TEST(UnreadChanges, ASwitchIsNamed) {
  EXPECT_THAT(unread_changes({{"cog.yaml", "build:\n  gpu: true\n"}}, {{"cog.yaml", "build:\n  gpu: false\n"}}, {}),
              testing::ElementsAre(HasSubstr("gpu: true")));
}

// Changes that are understood completely, or are not about GPUs, need no note.
TEST(UnreadChanges, OtherChangesAreSilent) {
  const std::pair<const char*, const char*> changes[] = {
      {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: gpu-exporter}\nspec:\n  template:\n    spec:\n      "
       "tolerations:\n      - key: nvidia.com/gpu\n      containers:\n      - image: nvcr.io/nvidia/x:1\n  replicas: ",
       "23"},
      {"gpu:\n  enabled: false\nimage: {repository: nvcr.io/nvidia/x}\nreplicaCount: ", "23"},
      {"image:\n  repository: nvcr.io/nvidia/k8s/dcgm-exporter\n  tag: 3.3.", "59"},
      {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec:\n  weight: ", "19"},
      {"#!/bin/bash\n#SBATCH --ntasks=4\nsrun ./cfd\n#SBATCH --nodes=", "28"},
  };
  for (const auto& [text, numbers] : changes) {
    for (const char* file : {"a.yaml", "job.sbatch"}) {
      if ((file[0] == 'j') != (text[0] == '#')) continue;
      const Texts before = {{file, std::string(text) + numbers[0] + "\n"}},
                  after = {{file, std::string(text) + numbers[1] + "\n"}};
      EXPECT_THAT(unread_changes(before, after, compare(sides_of(before), sides_of(after))), IsEmpty()) << text;
    }
  }
}

TEST(UnreadChanges, NameTheLineOnceForEachFile) {
  const Texts before = {{"a.toml", "x = 1\nnum_gpus = 4\n"}, {"same.toml", "num_gpus = 4\n"}};
  const Texts after = {{"a.toml", "x = 1\nnum_gpus = 8\nnum_gpus = 9\n"}, {"same.toml", "num_gpus = 4\n"}};
  const std::vector<std::string> notes = unread_changes(before, after, {});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("a.toml:2"));
  EXPECT_THAT(unread_changes(before, before, {}), IsEmpty());
}

}  // namespace
}  // namespace rightsize::manifests
