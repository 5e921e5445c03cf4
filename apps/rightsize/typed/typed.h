// Translates a command line: other tools' names for commands, flags and values become ours.
//
// Our own names take precedence. Unknown words stay as they are; the parser refuses them with a suggestion.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "rightsize/flags.h"

namespace rightsize::app {

struct Typed {
  std::vector<std::string> words;         // without the program's name
  std::vector<std::string> renamed = {};  // "--cloud is --provider": to be shown with the answer
  std::vector<std::string> notes = {};    // other assumptions, as sentences
  std::string asked = {};                 // a sentence, as typed; the answer shows how it was read
  std::vector<std::string> said = {};     // the words of a sentence, before they were read
  std::vector<std::string> used = {};     // numbers that became parts of others
  std::string object = {};                // what a question asks for, where that did not decide the command
  std::vector<std::string> assumed = {};  // of the words, those that were added
  bool plain = false;                     // --no-color
  std::string currency = {};              // of the amounts that were converted
  std::optional<Error> refusal = {};      // there is no answer, although the words could be parsed
};

// Puts the command first and names it as we do: `show-gpus`, `get gpus` and `GPU` are `gpus`, `--format json gpus` is
// `gpus --format json`, `gpus help` is `gpus --help`, `prices RTX 4090` is `prices RTX-4090`.
Typed meant_command(std::vector<std::string> words, std::span<const std::string> commands);

// Names the flags as the command declares them: `--cloud` is `--provider`, `--batch_size` is `--batch`, `--json` is
// `--format json`. Words after -- and the command line that `profile` runs stay as they are.
Typed meant_flags(Typed typed, const std::deque<FlagInfo>& declared);

// Converts money to dollars at the latest rate on file, with a note: "3000 euros", "2.10EUR/h", "8xh100=€260k" and
// "EUR 500". Words after -- and the name of a currency without an amount stay as they are.
void convert_money(Typed& typed);
// Joins names of several words: `RTX 4090`, `llama 3.1 8b on h100`. A GPU after the model of a plan becomes --gpu; an
// incomplete name becomes that of the newest matching model.
void join_names(Typed& typed);
// How many words from this one on name a GPU together, "H100 PCIe", or alone; 0 if they name none.
std::size_t gpu_words(const std::vector<std::string>& words, std::size_t at);

const Checked<catalog::Catalog>& word_facts();  // the built-in hardware, read once

// What a bare word names. Reading the facts takes milliseconds: only for words that are not understood otherwise.
enum class WordKind { kOther, kGpu, kModel };
WordKind kind_of_word(std::string_view word);
// `H100s` and a node label with H100 become H100. Other words stay as they are.
std::string singular_gpu(const std::string& word);
// The machine of an instance type such as p5.48xlarge; null where the word is none.
const catalog::Machine* machine_named(std::string_view word);
bool is_instance_family(std::string_view word);  // whether a word is the first part of instance types: g5, p4d
bool is_region(std::string_view word);           // eu-west-1, us-central1: a provider's name of a region
bool is_unknown_name(std::string_view word);     // "xtts-v2" may be a model that is not on file
// The GPUs of an instance type: "8xh100-sxm" of p5.48xlarge; empty where the word is none.
std::string gpus_of_instance(std::string_view word);
// The most usual GPU with this much memory, "24GB"; empty for other texts.
std::string gpu_with_memory(std::string_view size);
// Whether a name means only chips for which we model no software: TPU, Inferentia, Gaudi.
bool is_other_chip(std::string_view gpu);

// Our flag for another tool's, with its value if it has one ("--purchase=spot"); empty if there is none.
// With the value that follows, if known, the flag must accept it.
std::string meant_flag(std::string_view typed, const std::deque<FlagInfo>& declared, bool serving,
                       const std::optional<std::string>& said = std::nullopt);

// What to write instead of another tool's command without an exact equivalent, and why. Empty if there is no entry.
std::string suggested_command(std::string_view typed);

}  // namespace rightsize::app
