#include "rightsize/typed/typed.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/slurm_time.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/foreign_file.h"
#include "rightsize/typed/foreign_text.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/phrases.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/said.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

// ---- commands

std::string our_command(std::string_view typed, std::span<const std::string> commands) {
  const std::string name = tidied(typed);
  for (const std::string& ours : commands) {
    if (name == ours || name + "s" == ours || name == ours + "s") return ours;
  }
  const NameRow* alias = row_of("command", name);
  return alias != nullptr && alias->more.empty() ? std::string(alias->meant) : std::string();
}

// Moves flags that precede the command after it.
void put_command_first(std::vector<std::string>& words, std::span<const std::string> commands) {
  std::size_t first = 0;
  while (first < words.size() && words[first].starts_with('-'))
    first += holds(std::array{"-o", "--output", "--format"}, words[first]) ? 2 : 1;
  if (first > 0 && (first >= words.size() || our_command(words[first], commands).empty())) {
    const auto named = std::ranges::find_if(words, [&](const auto& word) { return holds(commands, word); });
    first = static_cast<std::size_t>(named - words.begin());
  }
  if (first >= words.size()) return;
  const auto command = words.begin() + static_cast<std::ptrdiff_t>(first);
  std::rotate(words.begin(), command, command + 1);
}

// `serve llama-3.1-8b`: a job and its model. 'serve' alone is the web page, and 'batch' the simulator of arrivals.
bool is_plan(const std::vector<std::string>& words, std::span<const std::string> commands) {
  if (words.size() < 2 || words.front().starts_with('-') || job_of(words.front()).empty()) return false;
  if (words.front() != "serve" && words.front() != "batch" && holds(commands, words.front())) return false;
  if (words.front() != "serve" && words.front() != "batch") return true;
  const auto has = [&](auto&& test) { return std::any_of(words.begin() + 1, words.end(), test); };
  if (words.front() == "serve") {
    return has([](const std::string& word) {
      return word.starts_with("--model") || word == "-m" || is_size(word) ||
             (!word.starts_with('-') && model::is_known_name(word));
    });
  }
  if (!job_of(words[1]).empty()) return true;  // "batch classify 20 million emails"
  return has([](const std::string& word) {
    const auto work = read_work_flag(word.substr(0, word.find('=')));
    return word.starts_with("--") && word != "--requests" && !word.starts_with("--requests=") && work &&
           work->thing != Thing::kUser && !work->per;
  });
}

// Some job names imply more than the job: OCR reads images, LoRA is a method. Such names are kept for later steps.
std::string named_job(const std::string& word) {
  return lists_word("ocr lora qlora", to_lower(word)) ? to_lower(word) : job_of(word);
}

bool is_verb(std::string_view word) {
  return holds(std::array{"get", "list", "ls", "show", "describe"}, to_lower(word));
}

// A pasted start command names the engine: "vllm serve X", "python -m sglang.launch_server --model-path X".
void read_start_command(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool module = lists_word("python python3", words[i]) && i + 2 < words.size() && words[i + 1] == "-m";
    const bool verb = i + 1 < words.size() && words[i + 1] == "serve";
    const NameRow* program = program_named(words[module ? i + 2 : i]);
    if (program == nullptr || program->meant != "serve" || !(module || verb || words[i].ends_with("-serve"))) continue;
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(from, from + (module ? 3 : verb ? 2 : 1));
    words.push_back("--job=serve");
    if (!program->more.empty()) words.push_back(fmt::format("--stack={}", program->more));
    return;
  }
}

// Slurm's and SkyPilot's commands, pasted: `sbatch --gres=gpu:h100:4 --nodes=3 --time=12:00:00 train.sh` and `sky
// launch
// --gpus H100:8` ask for GPUs, so their prices answer. What has no price is named in a note.
void read_launch(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  const bool slurm = lists_word("sbatch srun salloc", words.front());
  const bool sky = lists_word("sky skypilot", words.front()) && words.size() > 1 &&
                   lists_word("launch exec jobs serve spot", words[1]);
  std::vector<std::string> priced{"prices"};
  std::string ignored;
  bool gpus = false;
  for (std::size_t i = 1; (slurm || sky) && i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (!words[i].starts_with('-')) {
      if (sky && i <= 2 && lists_word("launch exec jobs serve spot up", words[i])) continue;
      ignored += " " + words[i];
      if (slurm) i = words.size();  // the script and its arguments
      continue;
    }
    const bool apart = equals == std::string::npos && i + 1 < words.size() && !words[i + 1].starts_with('-');
    const bool yes = equals == std::string::npos && (!apart || name == "--use-spot");
    const std::string value = yes ? "" : apart ? words[++i] : words[i].substr(equals + 1);
    if (name.ends_with("-per-task") || name.ends_with("-per-socket")) return;
    gpus |= lists_word("--gres --gpus --gpus-per-node -G", name);
    const auto time = slurm && lists_word("--time -t", name) ? parse_slurm_time(value) : std::nullopt;
    const char* ours = name == "-N" ? "--nodes" : name == "-G" ? "--gpus" : name.c_str();
    if (time)
      priced.push_back(fmt::format("--hours={:.6g}h", in_hours(*time)));
    else if (lists_word(slurm ? "--gres --gpus --gpus-per-node --nodes"
                              : "--gpus --cloud --infra --use-spot --region --zone --instance-type --num-nodes",
                        ours))
      priced.push_back(yes ? ours : fmt::format("{}={}", ours, value));
    else
      ignored += " " + name + (value.empty() ? "" : " " + value);
  }
  if (!gpus) return;
  typed.renamed.push_back(fmt::format("'{}' is 'rightsize prices'", words.front()));
  if (!ignored.empty()) typed.notes.push_back("ignored:" + ignored);
  words = priced;
}

// A question without a command: a file decides, otherwise a job or a model asks for a plan.
void name_command(Typed& typed, const std::string& asked) {
  std::vector<std::string>& words = typed.words;
  std::vector<std::string> meant;
  for (const std::string& word : words) {
    if (meant.empty()) meant = command_for_file(word);
  }
  if (!meant.empty()) {
    const std::string file = meant.back();
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool value = is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
      const bool names_file = words[i] == file || (i + 1 < words.size() && words[i + 1] == file);
      if (!names_file && (is_flag_word(words[i]) || value)) meant.push_back(words[i]);
    }
  } else {
    const std::string first = singular_gpu(words.front());
    const bool begins = kind_of_word(first) != WordKind::kOther || is_size(first) || is_digits(first) ||
                        is_link(first) || is_flag_word(first);
    const bool work = std::ranges::any_of(words, [](const std::string& word) {
      const std::string value = word.substr(word.starts_with("--model=") ? 8 : 0);
      return !is_flag_word(value) && (is_size(value) || model::is_known_name(value) || !job_of(value).empty());
    });
    if (!begins || !work) return;
    meant = words;
    meant.insert(meant.begin(), "recommend");
  }
  words = std::move(meant);
  typed.asked = asked;
}

// Adds what a short question leaves out.
void assume_question(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  if (words.front() == "batch" && words.size() > 1 && words[1].ends_with(".csv")) words[1] = "--service=" + words[1];
  if (words.front() == "profile" && words.size() > 1 && words[1] == "-") words.insert(words.begin() + 1, "--replay");
  if (words.front() == "batch" && words.size() == 3 && model::is_known_name(words[1])) {
    words.emplace_back("--arrivals=1/s");
    typed.notes.emplace_back("assumed: 1 request/s arrives (--arrivals)");
  }
}

}  // namespace

Typed meant_command(std::vector<std::string> words, std::span<const std::string> commands) {
  words = plain_text(std::move(words));
  const std::string asked = fmt::format("{}", fmt::join(words, " "));
  bool question = false;
  if (!words.empty() && lists_word("profile fleet service diff decisions rollout cache", words.front())) {
    // `profile "why is my GPU idle" --replay smi.csv`: the command answers the question.
    std::erase_if(words, [&](const std::string& word) {
      const std::string first = to_lower(word.substr(0, word.find(' ')));
      const bool asks = word.find(' ') != std::string::npos &&
                        lists_word("how why what which is are does do can where when who show find", first);
      question |= asks;
      return asks;
    });
  }
  const std::size_t typed_words = words.size();
  Typed typed{split_sentences(std::move(words))};
  question |= typed.words.size() > typed_words;  // a sentence in quotes
  drop_lost_amounts(typed);
  convert_money(typed);
  std::vector<std::string>& all = typed.words;
  const bool sentence =
      question || std::ranges::count_if(all, [](const auto& word) { return !is_flag_word(word); }) > 4;
  if (sentence && !lists_word("profile decide verify rollout mig bill", all.front())) take_phrases(typed);
  for (std::size_t i = 0; i < all.size() && all[i] != "--"; ++i) {
    const bool value = i > 0 && is_flag_word(all[i - 1]) && all[i - 1].find('=') == std::string::npos;
    if (!is_flag_word(all[i]) && !value) typed.said.push_back(all[i]);
  }
  put_command_first(all, commands);
  if (all.size() > 1 && all.front() == "rightsize" && !all[1].starts_with('-')) all.erase(all.begin());
  if (all.empty()) return typed;
  // `sky show-gpus H100`; `vllm serve X --gpu h100`, pasted: whether it fits.
  if (all.size() > 1 && lists_word("sky skypilot", all.front()) && !our_command(all[1], commands).empty())
    all.erase(all.begin());
  read_launch(typed);
  const bool starts = all.size() > 2 && all[1] == "serve" && program_named(all[0]) != nullptr;
  if (starts || (all.size() > 2 && lists_word("python python3", all[0]) && all[1] == "-m" && program_named(all[2])))
    all.insert(all.begin(), "memory");
  question |= answer_question(typed, question);
  // `memory "can I run mixtral on a 4090?"`: the question, and the command that was named.
  if (Typed about{.words = {all.begin() + 1, all.end()}, .notes = typed.notes};
      lists_word("memory estimate recommend prices models", all.front()) && !about.words.empty() &&
      lists_word("how can could will would does what which is are", to_lower(about.words.front())) &&
      answer_question(about)) {
    if (lists_word("recommend memory estimate", about.words.front()) && all.front() != "prices")
      about.words.front() = all.front();
    about.said = typed.said;
    typed = std::move(about);
    question = true;
  }
  if (question) typed.asked = asked;
  // `h100 price`, `cheapest h100`: a GPU and no model is a question about prices.
  const auto command_at = std::find_if(all.begin(), all.end(), [&](const std::string& word) {
    return !word.starts_with('-') && !our_command(word, commands).empty();
  });
  if (all.size() == 2 && command_at == all.begin() + 1 && kind_of_word(all[0]) != WordKind::kOther)
    std::swap(all[0], all[1]);
  if (all.size() == 2 && lists_word("cheapest best find", all[0]) && kind_of_word(all[1]) == WordKind::kGpu)
    all[0] = "prices";
  if (all.front() == "-v" || all.front() == "version") all = {"--version"};
  if (all.size() > 1 && is_verb(all[0]) && our_command(all[0], commands).empty()) {
    // `get gpus`, `describe model llama-3.1-8b`, `show h100`.
    const bool named = !our_command(all[1], commands).empty();
    if (named)
      all.erase(all.begin());
    else if (const WordKind kind = kind_of_word(all[1]); kind != WordKind::kOther)
      all.front() = kind == WordKind::kGpu ? "gpus" : "models";
  }
  // `energy --gpu h100 --hours 720`: what GPUs draw, without a job, and what the grid of a region emits.
  if (all.front() == "energy" && model_among(all).empty()) {
    all.front() = "gpus";
    for (std::string& word : all) {
      const std::string flag = word.substr(0, word.find('='));
      if (flag == "--price") word.insert(2, "kwh-");
      if (flag == "--region" || flag == "--regions") word.replace(0, flag.size(), "--carbon");
    }
  }
  // `energy llama-2-7b --tokens 1B`: the energy of a whole job, with the carbon of each plan's region.
  const bool whole_job =
      all.front() == "energy" && std::any_of(all.begin() + 1, all.end(), [](const std::string& word) {
        return word.starts_with("--") && read_work_flag(word.substr(0, word.find('=')));
      });
  if (whole_job) {
    typed.renamed.emplace_back("'energy' is 'rightsize recommend'");
    all.front() = "recommend";
    const auto carbon = [](const std::string& word) {
      return word.starts_with("--carbon") || word.starts_with("--grid");
    };
    if (std::none_of(all.begin(), all.end(), carbon)) all.emplace_back("--carbon=region");
  }
  if (const std::string command = command_for_work(all); !command.empty()) {
    typed.renamed.push_back(fmt::format("'{}' is 'rightsize {}'", all.front(), command));
    all.front() = command;
  }
  // 'window' takes measured times of items; a plan for a model is a recommendation.
  const bool named =
      all.front() == "window" && std::any_of(all.begin() + 1, all.end(), [](const std::string& word) {
        return word.starts_with("--model") || (!is_flag_word(word) && kind_of_word(word) == WordKind::kModel);
      });
  if (named) {
    typed.renamed.emplace_back("'window' with a model is 'rightsize recommend'");
    all.front() = "recommend";
    for (std::string& word : all) {
      const std::string flag = word.substr(0, word.find('='));
      if (flag == "--volume") word.replace(0, flag.size(), "--docs"), typed.renamed.emplace_back("--volume is --docs");
      if (flag == "--window") word.replace(0, flag.size(), "--deadline");
    }
  }
  // `energy gpu.csv`, `waste sacct.txt`: measurements decide over the name of another tool's command.
  const bool measured = !holds(commands, all.front()) && std::ranges::any_of(all, [](const std::string& word) {
    const std::vector<std::string> reader = command_for_file(word);
    return !reader.empty() && lists_word("profile fleet service bill", reader.front());
  });
  constexpr std::size_t kSentence = 4;
  if (measured ||
      (all.size() >= kSentence && our_command(all.front(), commands).empty() && job_of(all.front()).empty()))
    name_command(typed, asked);
  const std::string written = all.front();
  const std::string meant =
      is_plan(all, commands) ? "recommend --job=" + named_job(written) : our_command(written, commands);
  if (meant.empty()) return typed;
  const std::size_t space = std::min(meant.find(' '), meant.size());
  all.front() = meant.substr(0, space);
  if (space < meant.size()) {
    const bool flag = meant[space + 1] == '-';  // after the words, which together may be a name
    all.insert(flag ? all.end() : all.begin() + 1, meant.substr(space + 1));
  }
  const bool renamed =
      fold_name(all.front()) != fold_name(written) && fold_name(all.front()) != fold_name(written + "s");
  if (renamed && all.size() > kSentence)
    typed.asked = asked;
  else if (renamed)
    typed.renamed.push_back(fmt::format("'{}' is 'rightsize {}'", written, meant));
  // SkyPilot's `show-gpus H100` lists prices, and `gpus --cloud aws` can only mean prices too.
  const auto is_offer = [](const std::string& word) {
    return holds(std::array{"--cloud", "--infra", "--provider", "--region", "--spot", "--max-price", "--price"},
                 word.substr(0, word.find('=')));
  };
  // "not on aws: 4 GPUs with 80 GB": offers, not data sheets.
  const auto excludes_offer = [](const std::string& word) {
    return word.starts_with("--no-") &&
           (is_vendor_or_provider(word.substr(5)) || catalog::read_purchase(word.substr(5)));
  };
  if (all.front() == "gpus" && std::ranges::any_of(all, excludes_offer)) {
    all.front() = "prices";
    std::erase_if(all, [&](const std::string& word) {
      const bool filter = word.starts_with("--filter=");
      if (filter) typed.notes.push_back("ignored: " + word.substr(9));
      return filter;
    });
  }
  // "compare aws and gcp for 16 H100": the offers of each.
  const auto sells = [](const auto& word) {
    return is_vendor_or_provider(word) && kind_of_word(word) != WordKind::kGpu;
  };
  if (to_lower(written) == "compare" && all.front() == "prices" && std::ranges::count_if(all, sells) > 1) {
    std::erase(all, "compare");
    all.emplace_back("--best-per=provider");
  }
  const bool priced = written == "show-gpus" && all.size() > 1 && !all[1].starts_with('-');
  if (all.front() == "gpus" && (priced || std::any_of(all.begin() + 1, all.end(), is_offer))) {
    all.front() = "prices";
    const auto limits_price = [](const std::string& word) { return word.starts_with("--max-price"); };
    if (std::ranges::any_of(all, limits_price)) all.emplace_back("--best-per=gpu");  // which GPUs, not which offers
  }
  if (all.size() == 2 && to_lower(all[1]) == "help") all[1] = "--help";
  const bool lists = holds(std::array{"gpus", "models", "prices"}, all.front());
  const bool compared = all.size() > 3 && all.front() != "prices" && to_lower(all[1]) == "compare";
  if (lists && all.size() > 1 && (is_verb(all[1]) || all[1] == "cheapest" || compared)) all.erase(all.begin() + 1);
  for (std::size_t i = 1; all.front() == "gpus" && i < all.size() && !is_flag_word(all[i]); ++i) {
    const std::string gpus = gpus_of_instance(all[i]);
    if (gpus.empty()) continue;
    typed.notes.push_back(fmt::format("{} has {}", all[i], gpus));
    all[i] = catalog::split_gpu_count(gpus).name;
  }
  if (holds(std::array{"recommend", "memory", "estimate", "checklist", "init"}, all.front())) {
    read_start_command(all);
    // `recommend serve llama-3.1-8b`, `memory fine-tuning llama-3.1-8b`
    while (all.size() > 1 && !all[1].starts_with('-') && !job_of(all[1]).empty()) {
      if (const std::string algorithm = algorithm_of(all[1]); !algorithm.empty()) {
        std::erase_if(all, [](const std::string& word) { return word.starts_with("--algorithm="); });  // RLHF (GRPO)
        all.push_back("--algorithm=" + algorithm);
      }
      all.push_back("--job=" + named_job(all[1]));
      all.erase(all.begin() + 1);
    }
    if (const std::string algorithm = algorithm_of(written); !algorithm.empty())
      all.push_back("--algorithm=" + algorithm);
  }
  // Every model's page has these.
  if (all.front() == "models")
    std::erase_if(all,
                  [](const std::string& word) { return lists_word("--kv-per-token --kv --kv-cache --shape", word); });
  if (all.front() == "models" && lists_word("--params --parameters", all.back())) all.pop_back();
  // Prices are answered in the currency of the question.
  const bool listed_prices = all.front() == "prices" && (all.size() < 2 || kind_of_word(all[1]) == WordKind::kGpu);
  if (listed_prices && !typed.currency.empty() && value_of(all, "--currency").empty())
    all.push_back("--currency=" + typed.currency);
  join_names(typed);
  assume_question(typed);
  return typed;
}

std::string suggested_command(std::string_view typed) {
  const NameRow* alias = row_of("command", tidied(typed));
  return alias != nullptr && !alias->more.empty() ? fmt::format("'rightsize {}' {}", alias->meant, alias->more) : "";
}

}  // namespace rightsize::app
