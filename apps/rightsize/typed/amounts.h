// The work in the user's words: what is counted and how often, from the name of a flag and its value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/amount.h"

namespace rightsize::app {

enum class Thing { kNone, kItem, kRequest, kToken, kImage, kAudioHour, kUser };

// The thing that a noun counts: docs, prompts, photos, tok.
Thing thing_of(std::string_view noun);

// Work that a flag's name describes: --docs, --num-prompts, --requests-per-day, --daily-users, --rps, --audio-hours.
struct WorkFlag {
  Thing thing = Thing::kNone;
  std::optional<Seconds> per;  // of --requests-per-day: a day
  bool minutes = false;        // of --audio-minutes
};
std::optional<WorkFlag> read_work_flag(std::string_view flag);

// Makes a size of a data set a number: "2GB", "50k rows", "alpaca". Whether it counts samples, not tokens: without a
// unit, a million and more are tokens, and so are bytes; notes name what was assumed. `images`: the model reads images.
bool read_data_size(std::string& text, bool images, std::vector<std::string>& notes);

// The kind of a job in the user's words: "fine-tuning" is finetune, "inference" is serve. Empty: no job.
std::string job_of(std::string_view word);

}  // namespace rightsize::app
