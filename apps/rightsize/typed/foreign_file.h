// Workloads in the files of other tools: trainers (axolotl, LLaMA-Factory, TRL, verl, torchtitan, Hugging Face,
// DeepSpeed, Accelerate), engines (vLLM, SGLang, TensorRT-LLM, TGI, Triton), launchers (Kubernetes, KServe, Helm,
// Docker, SkyPilot, Slurm, shell scripts) and data sets. A file is recognised by its keys and becomes the flags that
// they mean.
#pragma once

#include <string>
#include <vector>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Replaces each file of another tool by the flags that its keys mean, except for flags that were typed, and reports
// keys without effect. Expects the command first.
void put_foreign_files(Typed& typed, const std::deque<FlagInfo>& declared);

// The command for the work that a file describes, where the typed one cannot answer it: 'estimate' has no reinforcement
// learning. Empty: the typed one.
std::string command_for_work(const std::vector<std::string>& words);

// The flags that the keys of any file mean, "--rate=8".
std::vector<std::string> flags_in_file(const std::string& path, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
