// Scripts of PBS, LSF, Grid Engine and HTCondor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifests/read.h"

namespace rightsize::manifests {
namespace {

using testing::HasSubstr;

std::vector<GpuRequest> requests_in(const char* text, const char* file = "job.sh") {
  return read_files({{file, text}}).requests;
}

TEST(BatchSystems, CountGpusInTheirOwnWay) {
  const struct {
    const char *text, *gpu, *profile;
    double gpus;
  } kCases[] = {
      {"#PBS -l select=1:ncpus=16:ngpus=2:gpu_model=a100:mem=64gb,walltime=15:00:00\n", "a100", "", 2},
      {"#PBS -l select=2:ncpus=8\n#PBS -l ngpus=4\n", "", "", 4},
      {"#PBS -l nodes=2:ppn=40:gpus=2:v100\n", "v100", "", 4},
      {"#PBS -lngpus=3 -J 0-9\n", "", "", 30},
      {"#BSUB -n 4 -gpu \"num=2:mode=exclusive_process\" -R \"span[hosts=1]\"\n", "", "", 2},
      {"#BSUB -n 8\n#BSUB -gpu \"num=1/task:gmodel=TeslaV100_SXM2_32GB\"\n", "TeslaV100_SXM2_32GB", "", 8},
      {"#BSUB -n 8 -R \"span[ptile=4]\" -gpu num=4\n", "", "", 8},
      {"#BSUB -R \"rusage[mem=8,ngpus_excl_p=2]\"\n#BSUB -J \"a[1-3]%2\"\n", "", "", 4},
      {"#$ -l gpus=2 -l gpu_type=A100\n", "A100", "", 2},
      {"#$ -cwd -q gpu.q -l gpu=2,h_rt=8:00:00\n#$ -t 1-4 -tc 2\n", "", "", 4},
      {"#$ -l gpu_card=1\n", "", "", 1},
      {"#$ -l gpu\n", "", "", 1},
      {"request_GPUs = 2\nrequire_gpus = (DeviceName == \"NVIDIA L40S\")\nqueue 3\n", "NVIDIA L40S", "", 6},
      {"executable = a\nrequest_gpus=1\nqueue\narguments = 2\nqueue\n", "", "", 2},
      {"#SBATCH --gpus=nvidia_h100_80gb_hbm3_1g.10gb:2\n", "nvidia_h100_80gb_hbm3", "1g.10gb", 2},
      {"#SBATCH --gres=gpu:1g.10gb:3\n", "", "1g.10gb", 3},
  };
  for (const auto& each : kCases) {
    const std::vector<GpuRequest> found = requests_in(each.text);
    ASSERT_EQ(found.size(), 1u) << each.text;
    EXPECT_EQ(found[0].total(), each.gpus) << each.text;
    EXPECT_EQ(found[0].gpus.empty() ? "" : found[0].gpus[0], each.gpu) << each.text;
    EXPECT_EQ(found[0].mig_profile, each.profile) << each.text;
    EXPECT_TRUE(found[0].job && found[0].unresolved.empty()) << each.text;
    EXPECT_GT(found[0].line, 0) << each.text;
  }
}

TEST(BatchSystems, ChunksAreRequestsOfTheirOwn) {
  const std::vector<GpuRequest> found = requests_in("#PBS -l select=2:ngpus=4:gpu_type=h100+1:ncpus=8+3:ngpus=1\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].total(), 8);
  EXPECT_EQ(found[1].total(), 3);
}

TEST(BatchSystems, TimeLimitsAndNamesAreRead) {
  const std::vector<GpuRequest> pbs =
      requests_in("#PBS -N seg -q gpuvolta\n#PBS -l walltime=5:30:00\n#PBS -l ngpus=4\n");
  ASSERT_EQ(pbs.size(), 1u);
  EXPECT_EQ(pbs[0].name, "seg");
  EXPECT_EQ(pbs[0].hint, "gpuvolta");
  EXPECT_EQ(pbs[0].time_limit, hours(5.5));
  const std::vector<GpuRequest> lsf = requests_in("#BSUB -W 24:00\n#BSUB -gpu num=1\n");
  ASSERT_EQ(lsf.size(), 1u);
  EXPECT_EQ(lsf[0].time_limit, hours(24));
}

// What only the shell or another file knows stays open, and a script without GPUs has no request.
TEST(BatchSystems, VariablesStayOpen) {
  for (const char* text : {"#PBS -l select=$N:ngpus=2\n", "#BSUB -gpu \"num=${G}\"\n", "#$ -l gpu=$G\n",
                           "request_gpus = $(gpus)\nqueue\n", "request_gpus = 1\nqueue arguments from list.txt\n"}) {
    const std::vector<GpuRequest> found = requests_in(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_FALSE(found[0].unresolved.empty()) << text;
  }
  for (const char* text : {"#PBS -l select=2:ncpus=8\n", "#BSUB -n 8\n", "#$ -l mem_free=8G\n",
                           "request_cpus = 1\nqueue\n", "#$ -l gpu_mem=8G\n"})
    EXPECT_TRUE(requests_in(text).empty()) << text;
}

}  // namespace
}  // namespace rightsize::manifests
