// Questions in sentences, and choices in a flag's name: "can I run llama-3.1-8b on an L4?", --no-amd, --spot-only.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "rightsize/flags.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Finds the command that answers a question and drops the question words: `how many h100 for llama 70b` becomes
// `recommend h100 for llama 70b`. What is asked for decides the command. A sentence in quotes may also be a phrase:
// "latency of flux on a 4090". False if this is not a question.
bool answer_question(Typed& typed, bool quoted = false);

// Drops the first words that name this GPU, with their number.
void drop_gpu(std::vector<std::string>& words, const std::string& gpu);

// "we run it on 8 H100s on AWS, what would be cheaper?": the GPUs are those of today, not a limit. Drops them from the
// words that were kept and returns their cost.
std::string take_present(const std::vector<std::string>& sentence, const std::string& gpu, double count,
                         std::vector<std::string>& kept);

// Our flag with its value for a choice in a flag's name: --no-amd is --exclude=amd, --spot-only is --purchase=spot.
// --not-provider takes the value that follows and is --exclude. Empty if the name is not a choice.
std::string meant_choice(std::string_view flag, const std::deque<FlagInfo>& declared);

bool is_vendor_or_provider(std::string_view word);  // whether a word names vendors of GPUs or a provider

// Our flag with its value for terms, a part of the world or a provider: spot is --purchase=spot, eu is --region=eu.
// Empty if the word names none or the command does not take it.
std::string offer_named(std::string_view word, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
