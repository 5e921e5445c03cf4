// What is published about getting a machine, in a sentence.
#pragma once

#include <string>

#include "market/availability.h"

namespace rightsize::app {

// "Availability: aws does not publish whether machines are free; 3 regions offer this one; billed by the second.";
// empty for machines that the user has.
std::string availability_words(const market::Offer& offer, const market::Availability& known);

}  // namespace rightsize::app
