// The slowdown of a program by its neighbours on the same GPU. The facts are rows of data/sharing.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize::sharing {

enum class Mechanism { kOwnGpu, kMig, kMps, kTimeSlicing, kSleep, kLora, kScaleToZero };
std::string_view name_of(Mechanism how);  // "dedicated", "mig", ...: the names of the JSON

// The kinds of work with measured pairs: "decode", "train", ...
const std::vector<std::string>& known_kinds();
Result<std::string> parse_kind(std::string_view text);

// The speed of work of one kind while a neighbour of another kind runs without a pause, relative to its speed alone; at
// most 1. If several pairs were measured, the slowest counts. A pair that was not measured has the lowest speed of
// pairs of its class: serving (decode, prefill, vision and unknown work) or heavy (training, saturating kernels). An
// empty kind is unknown work. For `how` kMps and kTimeSlicing; models that sleep and wake share a GPU by time slicing.
double speed_beside(Mechanism how, const std::string& kind, const std::string& neighbour);

// The speed of a base model with several adapters, relative to the base alone.
double lora_speed();

}  // namespace rightsize::sharing
