// Settings written as other tools' files and read back are the same settings as on the command line.
#include "rightsize/typed/foreign_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "rightsize/command.h"
#include "rightsize/input/data_file.h"
#include "rightsize/typed/foreign_text.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using testing::Contains;
using testing::HasSubstr;

class ForeignFiles : public testing::Test {
 protected:
  ForeignFiles() { std::filesystem::create_directories(folder_); }
  ~ForeignFiles() override { std::filesystem::remove_all(folder_); }

  // Names tell nothing: every file has the same ending.
  std::string write(const std::string& text, const std::string& name = "settings.txt") const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }
  int number(int least, int most) { return least + static_cast<int>(random_.uniform() * (most - least + 1)); }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<std::size_t>(number(0, static_cast<int>(std::size(list)) - 1))];
  }

  std::string folder_ = fmt::format("{}foreign_files_{}/", testing::TempDir(), getpid());  // for runs at the same time
  Random random_{7};
};

// TRL's files have no key for the method: their names, folders, data sets or first comment say it.
TEST_F(ForeignFiles, PreferencesAreFoundInNames) {
  const std::string trainer = "model_name_or_path: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 2\n";
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"dpo.yaml", ""},
                                   {"qwen-kto-v2.yml", ""},
                                   {"a.yaml", "run_name: orpo-7b\n"},
                                   {"b.yaml", "output_dir: out/qwen_dpo\n"},
                                   {"c.yaml", "dataset_name: trl-lib/ultrafeedback_binarized\n"}}) {
    const Typed typed = meant_words({"memory", write(trainer + text, name)});
    EXPECT_EQ(typed_value(typed, "--preference"), "yes") << name;
    EXPECT_THAT(typed.notes, Contains(HasSubstr("preferences"))) << name;
  }
  const std::string comment = write("# trl dpo --config d.yaml\n" + trainer, "d.yaml");
  EXPECT_EQ(typed_value(meant_words({"memory", comment}), "--preference"), "yes");
  const std::string plain = write(trainer + "output_dir: out/sft\n", "sft.yaml");
  EXPECT_EQ(typed_value(meant_words({"memory", plain}), "--preference"), "");
}

// Their keys say it too: axolotl, LLaMA-Factory, torchtune.
TEST_F(ForeignFiles, PreferencesAreFoundInKeys) {
  for (const char* text : {"base_model: mistralai/Mistral-7B-v0.3\nrl: dpo\nmicro_batch_size: 2\n",
                           "model_name_or_path: Qwen/Qwen2.5-7B\nstage: dpo\nfinetuning_type: lora\n",
                           "model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_8b\nloss:\n  _component_: "
                           "torchtune.rlhf.loss.DPOLoss\nbatch_size: 2\ndevice: cuda\n"}) {
    const Typed typed = meant_words({"memory", write(text)});
    EXPECT_EQ(typed_value(typed, "--preference"), "yes") << text;
    EXPECT_EQ(typed_value(typed, "--job"), "train") << text;
    EXPECT_EQ(typed_value(typed, "--gpu"), "") << text;
  }
}

// Each engine has another name for the longest request.
TEST_F(ForeignFiles, TheContextOfAnEngineIsNoPrompt) {
  const int tokens = 1024 * number(2, 30);
  for (const char* command :
       {"vllm serve Qwen/Qwen3-8B --max-model-len {}",
        "python -m sglang.launch_server --model-path Qwen/Qwen3-8B "
        "--context-length {}",
        "lmdeploy serve api_server Qwen/Qwen3-8B --session-len {}", "trtllm-serve Qwen/Qwen3-8B --max_seq_len {}"}) {
    const std::string file = write(fmt::format("#!/bin/bash\n{}\n", fmt::format(fmt::runtime(command), tokens)));
    EXPECT_EQ(typed_value(meant_words({"memory", file}), "--isl"), std::to_string(tokens - 256)) << command;
    EXPECT_EQ(typed_value(meant_words({"recommend", file}), "--max-model-len"), std::to_string(tokens)) << command;
    EXPECT_EQ(typed_value(meant_words({"recommend", file}), "--isl"), "") << command;
    EXPECT_EQ(typed_value(meant_words({"recommend", file}), "--model"), "Qwen/Qwen3-8B") << command;
  }
}

// Lists of mappings in braces, as in block style; what has no effect is named.
TEST_F(ForeignFiles, ListsOfMappingsHaveTwoStyles) {
  const std::string start =
      "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n";
  for (const char* container :
       {"      - {name: v, image: vllm/vllm-openai, args: [--model, Qwen/Qwen3-8B, --max-model-len, '8192']}\n",
        "      - name: v\n        image: vllm/vllm-openai\n        args: [--model, Qwen/Qwen3-8B, --max-model-len, "
        "'8192']\n"}) {
    const Typed typed = meant_words({"recommend", write(start + container), "--rate", "3/s"});
    EXPECT_EQ(typed_value(typed, "--model"), "Qwen/Qwen3-8B");
    EXPECT_EQ(typed_value(typed, "--max-model-len"), "8192");
    EXPECT_THAT(typed.notes, Contains(HasSubstr("spec.replicas")));
  }
  const std::string ray =
      "applications:\n- args:\n    llm_configs:\n    - model_loading_config: {model_id: qwen-14b, model_source: "
      "Qwen/Qwen2.5-14B-Instruct}\n      engine_kwargs: {tensor_parallel_size: 2}\n";
  EXPECT_EQ(typed_value(meant_words({"estimate", write(ray)}), "--model"), "Qwen/Qwen2.5-14B-Instruct");
}

// The time limit of a Slurm job is the deadline of a training, not of a service.
// Spot, cloud and region of a SkyPilot task are limits of the plan.
TEST_F(ForeignFiles, ThePlaceAndTermsOfASkyPilotTask) {
  for (const char* spot : {"true", "false"}) {
    for (const char* run : {"torchrun train.py --model_name_or_path Qwen/Qwen2.5-7B", "vllm serve Qwen/Qwen2.5-7B"}) {
      const std::string task = write(
          fmt::format("name: a\nresources:\n  accelerators: L40S:4\n  use_spot: {}\n  region: us-east-1\n  cloud: "
                      "aws\nrun: |\n  {}\n",
                      spot, run));
      const Typed read = meant_words({"recommend", task, "--tokens=1B"});
      EXPECT_EQ(typed_value(read, "--purchase"), std::string(spot) == "true" ? "spot" : "") << run;
      EXPECT_EQ(typed_value(read, "--provider"), "aws");
      EXPECT_EQ(typed_value(read, "--region"), "us-east-1");
    }
  }
}

TEST_F(ForeignFiles, ATimeLimitIsTheDeadlineOfATraining) {
  const std::string start = "#!/bin/bash\n#SBATCH --gpus=4\n#SBATCH --time=2-00:00:00\n";
  const Typed serves = meant_words({"recommend", write(start + "srun vllm serve Qwen/Qwen3-8B\n"), "--rate", "3/s"});
  EXPECT_EQ(typed_value(serves, "--deadline"), "");
  EXPECT_THAT(serves.notes, Contains(HasSubstr("sbatch.time")));
  const std::string trainer = "srun torchrun train.py --model_name_or_path Qwen/Qwen3-8B --bf16 True\n";
  EXPECT_EQ(typed_value(meant_words({"recommend", write(start + trainer)}), "--deadline"), "48h");
  EXPECT_THAT(meant_words({"estimate", write(start + trainer)}).notes, Contains(HasSubstr("sbatch.time")));
}

TEST_F(ForeignFiles, AModelfileOfOllama) {
  for (const char* model : {"llama3.1:8b", "qwen2.5:14b-instruct-q4_K_M", "mistral"}) {
    const int tokens = 1024 * number(2, 30);
    const std::string file = write(fmt::format(
        "# comment\nFROM {}\nPARAMETER temperature 0.7\nPARAMETER num_ctx {}\nSYSTEM \"\"\"Be brief.\"\"\"\n", model,
        tokens));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"memory", file}, {"memory", "-f", file}, {"memory", "--config", file}}) {
      const Typed typed = meant_words(words);
      EXPECT_EQ(typed_value(typed, "--model"), model);
      EXPECT_EQ(typed_value(typed, "--job"), "serve");
      EXPECT_EQ(typed_value(typed, "--isl"), std::to_string(tokens - 256)) << model;  // and 256 of the answer
    }
  }
}

struct Service {
  std::string model;
  int tp = 1, length = 0, batch = 0;
  double share = 0;
  std::string flags(std::string_view separator) const {
    return fmt::format(
        "--tensor-parallel-size {1}{0}--max-model-len {2}{0}--max-num-seqs {3}{0}--gpu-memory-utilization {4}",
        separator, tp, length, batch, share);
  }
};

TEST_F(ForeignFiles, ServicesOfEveryTool) {
  constexpr const char* kModels[] = {"Qwen/Qwen2.5-14B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B"};
  for (int round = 0; round < 20; ++round) {
    const Service s{one_of(kModels), 1 << number(0, 3), 1024 * number(2, 30), 8 * number(1, 64),
                    0.5 + 0.05 * number(0, 9)};
    const std::string line = fmt::format("vllm serve {} {}", s.model, s.flags(" "));
    std::string args = line;
    for (std::size_t at = args.find(' '); at != std::string::npos; at = args.find(' ', at + 4))
      args.replace(at, 1, "\", \"");
    const std::map<std::string, std::string> files = {
        {"vLLM", fmt::format("model: {}\nhost: 0.0.0.0\ntensor-parallel-size: {}\nmax-model-len: {}\nmax-num-seqs: {}\n"
                             "gpu-memory-utilization: {}\n",
                             s.model, s.tp, s.length, s.batch, s.share)},
        {"Helm", fmt::format("servingEngineSpec:\n  modelSpec:\n  - name: x\n    modelURL: {}\n    requestGPU: {}\n"
                             "    vllmConfig:\n      tensorParallelSize: {}\n      maxModelLen: {}\n"
                             "      extraArgs: [--max-num-seqs, \"{}\", --gpu-memory-utilization, \"{}\"]\n",
                             s.model, s.tp, s.tp, s.length, s.batch, s.share)},
        {"KServe",
         fmt::format("apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: q}}\nspec:\n"
                     "  predictor:\n    model:\n      modelFormat: {{name: huggingface}}\n      args:\n"
                     "      - --model_name=q\n      - --model_id={}\n      - --tensor-parallel-size={}\n"
                     "      - --max_model_len={}\n      - --max-num-seqs={}\n      - --gpu-memory-utilization={}\n",
                     s.model, s.tp, s.length, s.batch, s.share)},
        {"Deployment",
         fmt::format("apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n"
                     "      - name: e\n        command: [\"{}\"]\n",
                     args)},
        {"Pod",
         fmt::format("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: e\n    command: [sh, -c, \"{}\"]\n",
                     line)},
        {"Compose", fmt::format("services:\n  e:\n    image: vllm/vllm-openai:v0.9\n    command: --model {} {}\n",
                                s.model, s.flags(" "))},
        {"Shell", fmt::format("set -e\nMODEL={}\nexport X=1\nvllm serve $MODEL {}\n", s.model, s.flags(" \\\n  "))},
        {"Docker", fmt::format("FROM vllm/vllm-openai:latest\nENV A=b\nCMD [\"{}\"]\n", args)},
        {"Slurm", fmt::format("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:h100:{}\nsrun {}\n", s.tp, line)},
        {"SkyPilot", fmt::format("resources:\n  accelerators: H100:{}\nrun: |\n  {}\n", s.tp, line)},
        {"Python", fmt::format("from vllm import LLM, SamplingParams\nNAME = '{}'  # comment\n"
                               "llm = LLM(NAME, tensor_parallel_size={}, max_model_len={},\n  max_num_seqs={}, "
                               "gpu_memory_utilization={})\nllm.generate(['it\\'s'], SamplingParams(max_tokens=7))\n",
                               s.model, s.tp, s.length, s.batch, s.share)},
        {"TOML", fmt::format("model = \"{}\"\njob = \"serve\"\ntensor_parallel_size = {}\nmax_model_len = {}\n"
                             "max_num_seqs = {}\ngpu_memory_utilization = {}\n",
                             s.model, s.tp, s.length, s.batch, s.share)},
    };
    for (const auto& [tool, text] : files) {
      const Typed typed = meant_words({"recommend", write(text), "--rate=1/s"});
      EXPECT_EQ(typed_value(typed, "--model"), s.model) << tool;
      EXPECT_EQ(typed_value(typed, "--job"), "serve") << tool;
      EXPECT_EQ(typed_value(typed, "--tp"), std::to_string(s.tp)) << tool << "\n" << text;
      EXPECT_EQ(typed_value(typed, "--max-model-len"), std::to_string(s.length)) << tool << "\n" << text;
      EXPECT_EQ(typed_value(typed, "--max-batch"), std::to_string(s.batch)) << tool << "\n" << text;
      EXPECT_EQ(typed_value(typed, "--memory-share"), fmt::format("{}", s.share)) << tool << "\n" << text;
      // Every command reads the same settings, and a flag wins over the file.
      for (const char* command : {"estimate", "memory", "checklist", "init"})
        EXPECT_EQ(typed_value(meant_words({command, write(text), "--gpu=h100", "--rate=1/s"}), "--tp"),
                  std::to_string(s.tp))
            << tool << command;
      EXPECT_EQ(typed_value(meant_words({"estimate", write(text), "--tp=16", "--gpu=h100"}), "--tp"), "16") << tool;
    }
  }
}

TEST_F(ForeignFiles, TrainingOfEveryTool) {
  for (int round = 0; round < 20; ++round) {
    const int batch = number(1, 16), passes = number(1, 8), seq = 512 * number(1, 8), rank = 4 * number(1, 16);
    const int zero = number(1, 3), nodes = number(1, 4), gpus = 1 << number(0, 3);
    const bool lora = number(0, 1) == 1, checkpoints = number(0, 1) == 1;
    const std::string deepspeed = "ds_config.json";
    write(fmt::format(R"({{"zero_optimization": {{"stage": {}}}, "bf16": {{"enabled": true}}}})", zero), deepspeed);
    const std::string hf = fmt::format(
        "--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size {} --gradient_accumulation_steps {} "
        "--max_seq_length {} --bf16 {} --deepspeed {}",
        batch, passes, seq, checkpoints ? "--gradient_checkpointing" : "", deepspeed);
    const std::string launch = fmt::format("torchrun --nnodes {} --nproc_per_node {} train.py {}", nodes, gpus, hf);
    const std::map<std::string, std::string> files = {
        {"axolotl",
         fmt::format("base_model: Qwen/Qwen2.5-7B\nadapter: {}\nlora_r: {}\nmicro_batch_size: {}\n"
                     "gradient_accumulation_steps: {}\nsequence_len: {}\ngradient_checkpointing: {}\ndeepspeed: {}\n"
                     "bf16: auto\n",
                     lora ? "lora" : "", rank, batch, passes, seq, checkpoints, deepspeed)},
        {"LLaMA-Factory",
         fmt::format("model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: {}\nlora_rank: {}\ncutoff_len: {}\n"
                     "per_device_train_batch_size: {}\ngradient_accumulation_steps: {}\n{}bf16: true\n"
                     "deepspeed: {}\n",
                     lora ? "lora" : "full", rank, seq, batch, passes,
                     checkpoints ? "" : "disable_gradient_checkpointing: true\n", deepspeed)},
        {"arguments", fmt::format(R"({{"model_name_or_path": "Qwen/Qwen2.5-7B", "per_device_train_batch_size": {},
            "gradient_accumulation_steps": {}, "max_seq_length": {}, "bf16": true, "gradient_checkpointing": {},
            "deepspeed": "{}"}})",
                                  batch, passes, seq, checkpoints, deepspeed)},
        {"TRL", fmt::format("from trl import SFTConfig, SFTTrainer\nfrom peft import LoraConfig\n"
                            "model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B\")\nargs = SFTConfig(\n"
                            "    output_dir=\"out\", per_device_train_batch_size={}, gradient_accumulation_steps={},\n"
                            "    max_length={}, bf16=True, gradient_checkpointing={}, deepspeed=\"{}\")\n"
                            "SFTTrainer(model=model, args=args{}).train()\n",
                            batch, passes, seq, checkpoints ? "True" : "False", deepspeed,
                            lora ? fmt::format(", peft_config=LoraConfig(r={}, lora_alpha=32)", rank) : "")},
        {"torchrun", launch + "\n"},
        {"sbatch", fmt::format("#!/bin/bash\n#SBATCH -p gpu\n#SBATCH --nodes={}\n#SBATCH --gpus-per-node=a100:{}\n"
                               "#SBATCH --time=2-00:00:00\nsrun {}\n",
                               nodes, gpus, launch)},
    };
    for (const auto& [tool, text] : files) {
      const Typed typed = meant_words({"memory", write(text), "--gpu=h100"});
      const bool launched = tool == "torchrun" || tool == "sbatch", adapters = lora && !launched && tool != "arguments";
      EXPECT_EQ(typed_value(typed, "--model"), "Qwen/Qwen2.5-7B") << tool;
      EXPECT_EQ(typed_value(typed, "--batch"), std::to_string(batch)) << tool;
      EXPECT_EQ(typed_value(typed, "--accumulate"), std::to_string(passes)) << tool;
      EXPECT_EQ(typed_value(typed, "--seq"), std::to_string(seq)) << tool;
      EXPECT_EQ(typed_value(typed, "--zero"), std::to_string(zero)) << tool;
      EXPECT_EQ(typed_value(typed, "--recompute"), checkpoints ? "full" : "") << tool << text;
      EXPECT_EQ(typed_value(typed, "--method") == "lora", adapters) << tool;
      EXPECT_TRUE(!adapters || typed_value(typed, "--lora-rank") == std::to_string(rank)) << tool;
      EXPECT_EQ(typed_value(typed, "--precision"), adapters ? "bf16" : "amp-bf16") << tool;
      EXPECT_TRUE(!launched || typed_value(typed, "--gpus") == std::to_string(nodes * gpus)) << tool;
    }
  }
}

// Reinforcement learning is never priced as plain training.
TEST_F(ForeignFiles, AnswersOfReinforcementLearning) {
  for (int round = 0; round < 20; ++round) {
    const int samples = 1 << number(1, 4), prompts = number(1, 64), longest = 256 * number(1, 8);
    const Typed trl =
        meant_words({"recommend", write(fmt::format("model_name_or_path: Qwen/Qwen2.5-1.5B\nnum_generations: {}\n"
                                                    "max_completion_length: {}\nper_device_train_batch_size: {}\n"
                                                    "gradient_accumulation_steps: {}\nmax_steps: 50\n",
                                                    samples, longest, samples, prompts))});
    const Typed verl =
        meant_words({"recommend", write(fmt::format("set -x\npython3 -m verl.trainer.main_ppo \\\n"
                                                    "  algorithm.adv_estimator=grpo \\\n  data.train_batch_size={} \\\n"
                                                    "  data.max_response_length={} \\\n"
                                                    "  actor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B \\\n"
                                                    "  actor_rollout_ref.rollout.n={} \\\n"
                                                    "  trainer.n_gpus_per_node=8 trainer.total_training_steps=50\n",
                                                    prompts, longest, samples))});
    for (const Typed& typed : {trl, verl}) {
      EXPECT_EQ(typed_value(typed, "--job"), "rl");
      EXPECT_EQ(typed_value(typed, "--model"), "Qwen/Qwen2.5-1.5B");
      EXPECT_EQ(typed_value(typed, "--samples"), std::to_string(samples));
      EXPECT_EQ(typed_value(typed, "--prompts"), std::to_string(prompts));
      EXPECT_EQ(typed_value(typed, "--osl"), fmt::format("max={}", longest));
      EXPECT_EQ(typed_value(typed, "--steps"), "50");
    }
    EXPECT_EQ(typed_value(verl, "--gpus"), "8");
    EXPECT_EQ(typed_value(verl, "--stack"), "verl");
  }
}

TEST_F(ForeignFiles, SamplesAndLengthsOfData) {
  for (int round = 0; round < 10; ++round) {
    const int samples = number(1, 50), prompt = number(1, 100), answer = number(1, 100);
    const std::string asked(static_cast<std::size_t>(4 * prompt), 'a'), said(static_cast<std::size_t>(4 * answer), 'b');
    std::string chats, requests;
    for (int i = 0; i < samples; ++i) {
      chats += fmt::format(
                   R"({{"messages": [{{"role": "user", "content": "{}"}}, {{"role": "assistant", "content": "{}"}}]}})",
                   asked, said) +
               "\n";
      requests +=
          fmt::format(R"({{"custom_id": "{}", "body": {{"model": "Qwen/Qwen3-8B", "max_tokens": {}, )", i, answer) +
          fmt::format(R"("messages": [{{"role": "user", "content": "{}"}}]}}}})", asked) + "\n";
    }
    const std::string file = write(chats);
    const std::string tokens = std::to_string(samples * (prompt + answer));
    EXPECT_EQ(typed_value(meant_words({"recommend", "--model=llama-3.1-8b", "--data", file, "--epochs=2"}),
                          "--dataset-tokens"),
              tokens);
    EXPECT_EQ(typed_value(meant_words({"estimate", "llama-3.1-8b", "--gpu=h100", "--dataset=" + file, "--epochs", "1"}),
                          "--tokens"),
              tokens);
    const Typed served = meant_words({"batch", "llama-3.1-8b", "h100", "--dataset", file, "--arrivals=5/s"});
    EXPECT_EQ(typed_value(served, "--isl"), std::to_string(prompt));
    EXPECT_EQ(typed_value(served, "--osl"), std::to_string(answer));
    const Typed offline = meant_words({"recommend", write(requests), "--deadline=1h"});
    EXPECT_EQ(typed_value(offline, "--model"), "Qwen/Qwen3-8B");
    EXPECT_EQ(typed_value(offline, "--items"), std::to_string(samples));
    EXPECT_EQ(typed_value(offline, "--isl"), std::to_string(prompt));
    EXPECT_EQ(typed_value(offline, "--osl"), std::to_string(answer));
  }
}

// torchtune's recipes name the class of their loss.
TEST_F(ForeignFiles, ALossInChunks) {
  for (const auto& [loss, wanted] : {std::pair{"torchtune.modules.loss.CEWithChunkedOutputLoss", "chunked"},
                                     {"torchtune.modules.loss.LinearCrossEntropyLoss", "chunked"},
                                     {"torch.nn.CrossEntropyLoss", ""}}) {
    const std::string recipe = write(
        fmt::format("model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_8b\n  lora_rank: 8\nbatch_size: 2\n"
                    "loss:\n  _component_: {}\n",
                    loss));
    EXPECT_EQ(typed_value(meant_words({"memory", recipe, "--gpu=l40s"}), "--cross-entropy"), wanted) << loss;
  }
}

TEST_F(ForeignFiles, PoliciesAndQueues) {
  const std::string scaler = write(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef: {kind: Deployment, name: "
      "v}\n"
      "  minReplicas: 2\n  maxReplicas: 7\n  metrics:\n  - type: Pods\n    pods:\n      metric: {name: "
      "requests_in_flight}\n"
      "      target: {type: AverageValue, averageValue: \"5\"}\n"
      "  behavior: {scaleDown: {stabilizationWindowSeconds: 120}}\n");
  EXPECT_EQ(typed_value(meant_words({"autoscale", "llama-3.1-8b", "l4", "--hpa", scaler}), "--policy"),
            "hpa:target=5,min=2,max=7,down=120s");
  const std::string triton = write(
      "name: \"bert_large_qa\"\nmax_batch_size: 32\ninput [\n  { name: \"ids\" dims: [ 384 ] },\n  { name: \"mask\" "
      "dims: [ 384 ] }\n"
      "]\ndynamic_batching { max_queue_delay_microseconds: 5000 }\ninstance_group [ { count: 2 kind: KIND_GPU } ]\n");
  const Typed queue = meant_words({"batch", triton, "--gpu=t4", "--arrivals=9/s"});
  EXPECT_EQ(typed_value(queue, "--model"), "bert-large-qa");
  EXPECT_EQ(typed_value(queue, "--max-batch"), "32");
  EXPECT_EQ(typed_value(queue, "--max-delay"), "5000us");
  EXPECT_EQ(typed_value(queue, "--instances"), "2");
  EXPECT_EQ(typed_value(queue, "--isl"), "384");
}

// The arguments of a container are the same on one line, on several lines, and with line continuations.
TEST_F(ForeignFiles, ArgumentsOnSeveralLines) {
  for (const std::string style : {" ", ">\n      ", ">-\n      ", "|\n      "}) {
    for (const std::string& end : {std::string(" "), std::string("\n      "), std::string(" \\\n      ")}) {
      const bool continued = end.find('\\') != end.npos;  // folded lines are one line already
      if ((style == " " && end != " ") || (continued && style[0] != '|')) continue;
      const Typed typed = meant_words(
          {"recommend",
           write("services:\n  engine:\n    image: vllm/vllm-openai\n    command: " + style +
                 "--model Qwen/Qwen2.5-7B-Instruct" + end + "--max-model-len 16384" + end + "--max-num-seqs 32\n"),
           "--rate=1/s"});
      EXPECT_EQ(typed_value(typed, "--model"), "Qwen/Qwen2.5-7B-Instruct") << style << end;
      EXPECT_EQ(typed_value(typed, "--max-model-len"), "16384") << style << end;
    }
  }
}

// Values that change the answer are named when they are not understood; other keys are listed.
// A command line means the same with its flags in arrays, quoted or not, on one line or many.
TEST_F(ForeignFiles, ArraysOfAScript) {
  for (int i = 0; i < 50; ++i) {
    const int batch = number(1, 16), seq = 512 * number(1, 16);
    const std::string sep = one_of(std::array<std::string, 3>{" ", "\n  ", "  # why (not)\n  "});
    const std::string quote = one_of(std::array<std::string, 2>{"", "\""});
    const std::string script = fmt::format(
        "N=8\nA=({0}--model_name_or_path meta-llama/Llama-3.1-8B{0}--per_device_train_batch_size {1}{0})\n"
        "B=(--nproc_per_node $N)\nA+=({0}--max_seq_length {2}{0})\n"
        "torchrun {3}${{B[@]}}{3} sft.py \\\n  {3}${{A[@]}}{3}\n",
        sep, batch, seq, quote);
    const Typed typed = meant_words({"estimate", write(script), "--gpu", "h100"});
    EXPECT_EQ(typed_value(typed, "--model"), "meta-llama/Llama-3.1-8B") << script;
    EXPECT_EQ(typed_value(typed, "--batch"), std::to_string(batch)) << script;
    EXPECT_EQ(typed_value(typed, "--seq"), std::to_string(seq)) << script;
    EXPECT_EQ(typed_value(typed, "--gpus"), "8") << script;
  }
}

TEST_F(ForeignFiles, AShapeInMegatronsFlags) {
  const std::string start = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --micro-batch-size 1 ";
  const std::string shape =
      "--num-layers 40 --hidden-size 5120 --num-attention-heads 40 --ffn-hidden-size 13824 --swiglu --vocab-size 32000 "
      "--untie-embeddings-and-output-weights --global-batch-size 256 --tensor-model-parallel-size 4 "
      "--pipeline-model-parallel-size 2";
  const Typed typed = meant_words({"estimate", write(start + shape), "--gpu", "h100"});
  EXPECT_EQ(typed_value(typed, "--model"), "13b like llama");
  EXPECT_EQ(typed_value(typed, "--accumulate"), "128");  // 256 samples, 2 replicas
  EXPECT_THAT(typed.notes, testing::Not(Contains(HasSubstr("not used"))));
  // The size of a mixture of experts needs more than these flags.
  const Typed experts = meant_words({"estimate", write(start + shape + " --num-experts 8"), "--gpu", "h100"});
  EXPECT_EQ(typed_value(experts, "--model"), "");
}

// A configuration means the same as a value of a manifest.
TEST_F(ForeignFiles, AConfigurationInsideAManifest) {
  const std::string own =
      "applications:\n- name: llms\n  args:\n    llm_configs:\n    - model_loading_config:\n        model_id: {0}\n"
      "      engine_kwargs:\n        max_model_len: {1}\n        tensor_parallel_size: {2}\n";
  const std::string outer =
      "apiVersion: ray.io/v1\nkind: RayService\nspec:\n  serveConfigV2: |\n{}  rayClusterConfig:\n"
      "    workerGroupSpecs:\n    - replicas: 2\n"
      "      template:\n        spec:\n          containers:\n          - name: ray-worker\n";
  for (int i = 0; i < 20; ++i) {
    const std::string text = fmt::format(fmt::runtime(own), one_of(std::array{"qwen2.5-7b-instruct", "llama-3.1-70b"}),
                                         1024 * number(1, 32), number(1, 8));
    std::string indented = "    ";
    for (const char c : text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
    indented.resize(indented.size() - 4);
    const Typed plain = meant_words({"recommend", write(text)});
    const Typed inside = meant_words({"recommend", write(fmt::format(fmt::runtime(outer), indented))});
    for (const char* flag : {"--model", "--max-model-len", "--tp", "--job"}) {
      EXPECT_NE(typed_value(plain, flag), "") << flag;
      EXPECT_EQ(typed_value(inside, flag), typed_value(plain, flag)) << flag << "\n" << indented;
    }
  }
}

TEST_F(ForeignFiles, NamesWhatIsNotRead) {
  const Typed typed =
      meant_words({"estimate", write("model: Qwen/Qwen3-8B\nmax-num-seqs: 8\nquantization: mystery\nsome-logger: x\n"),
                   "--gpu=h100"});
  EXPECT_THAT(typed.notes, Contains(HasSubstr("quantization: mystery")));
  EXPECT_THAT(typed.notes, Contains(HasSubstr("not used: some-logger")));
}

// A file that ends anywhere is read or refused, never a crash.
TEST_F(ForeignFiles, DamagedFiles) {
  for (const std::string text :
       {"#!/bin/bash\n#SBATCH --gres=gpu:a100:4\nA=${B:-c}\nsrun python -m x --model \"$A\" \\\n --bf16 a.b='c d'\n",
        "name: \"x\"\ninput [ { dims: [ 3, -1 ] } ]\ninstance_group [ { count: 2 } ]\n",
        "[a]\nb = \"c\" # d\n[[e]]\nf = 1\n", "import x\na = 'b\\\\'\nf(a, r=[1, '2'], **{\"c\": a})\n'\"\"\"x\n",
        "spec: {containers: [{args: [--model, x, --tp=2], env: [{name: A, value: b}]}]}\n"}) {
    for (std::size_t end = 0; end <= text.size(); ++end) {
      const std::string path = write(text.substr(0, end));
      read_data_file(path);
      meant_words({"recommend", path});
    }
  }
}

}  // namespace
}  // namespace rightsize::app
