// The facts about a plan that the files for other tools need, by the names in the templates.
#pragma once

#include <string>
#include <string_view>

#include "hand_over/template.h"
#include "launch/hand_over.h"

namespace rightsize::launch {

// Where storage that outlives the machines is mounted; a Slurm script is submitted from a shared folder instead.
inline constexpr std::string_view kStorage = "/checkpoints", kSlurmStorage = "./checkpoints";

// The header's comments, the machines, their network, and what the user has to provide.
hand_over::Facts facts_of(const Request& request, const Plan& plan, std::string_view storage);

// How the processes find each other, as shell expressions: the rank of this machine from 0 and the address of the first
// one. If an engine spans machines, both refer to its group. `engines` run side by side on one machine.
struct Launcher {
  std::string rank, head;
  int engines = 1;
};

// Adds the fact `work`: the work of one machine as bash. The inputs are set in the environment.
void add_work(hand_over::Facts& facts, const Request& request, const Plan& plan, const Launcher& launcher);

// Adds the fact `pools` of a disaggregated plan: the prefill and the decode workers, one pod each, with a router next
// to every prefill worker. `name` is the name of the service.
void add_pools(hand_over::Facts& facts, const Request& request, const Plan& plan, const std::string& name);

// The software that a plan's files start, and the commit at which their flags were read (data/software.csv).
struct Software {
  std::string name, commit, date;
};
const Software& software(std::string_view project);
const Software& software(model::Stack stack);  // Hugging Face: TRL

// The Hub ID of the model as the user typed it, else the built-in model's. Empty: unknown.
std::string hub_id_of(const Request& request);
// Whether an engine could not load the 16-bit weights to convert them to fp8: they exceed a GPU's memory.
bool needs_fp8_checkpoint(const Request& request, const Plan& plan);
// The checkpoint that a plan runs: for chat the model tuned for instructions, and the published fp8 weights if needed.
std::string checkpoint_of(const Request& request, const Plan& plan);

// Whether engines must run code of the model's repository on the Hub (data/remote_code.csv).
bool runs_remote_code(std::string_view hub_id);

bool is_spot(const Plan& plan);
bool is_committed(const Plan& plan);  // for one or three years
bool is_amd(const Plan& plan);
bool is_served(const Request& request);
bool is_training(const Request& request);
bool in_batches(const Request& request);                        // the model answers in one pass
bool needs_code(const Request& request);                        // a script of the user runs
bool needs_own_script(const Request& request);                  // with flags that only the user knows
bool has_checkpoint(const Request& request, const Plan& plan);  // the work starts from published weights
int gpus_used_per_machine(const Plan& plan);
int engines_per_machine(const Plan& plan);
// Whether one command starts all replicas of a machine: vLLM's and SGLang's data parallelism, unless it is used inside
// a replica for attention.
bool starts_its_replicas(const model::Job& job);
// Whether the engines of one machine have a router.
bool has_router(const Request& request, const Plan& plan, int engines);
int machines_per_replica(const Request& request, const Plan& plan);  // 1 for training

// Machines of one training job or of one replica exchange data; separate replicas and parts of offline work do not.
bool work_together(const Request& request, const Plan& plan);

// Machines of an offline job are started one by one: an interruption of one must not stop the others, as the plan
// assumes.
bool work_apart(const Request& request, const Plan& plan);

// The most a machine may cost per hour: a fifth above the plan's price.
std::string max_price(const Plan& plan);

// Size of the storage for stored_bytes().
int storage_gb(const Request& request, const Plan& plan);

// Disk of one machine: system and image, the weights as downloaded, and space for two checkpoints, or for some parts
// and results of offline work on their way to storage; `keeps_all`: all of them, because no storage is mounted.
// Without `weights`, these are on another volume.
int disk_gb(const Request& request, const Plan& plan, bool keeps_all = false, bool weights = true);

}  // namespace rightsize::launch
