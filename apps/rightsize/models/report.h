// Model shapes as sentences, tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "model/model_shape.h"
#include "report/report.h"

namespace rightsize::app {

// One model with every weight, so that its count can be followed to its tensors.
report::Report model_report(const model::ModelShape& model);

// Many models, a row each, and the families that are understood.
report::Report models_report(const std::vector<model::ModelShape>& models);

// "llama-2-7b is a llama model of 6,738,415,616 parameters (6.74 B); its weights take 12.6 GiB in 16 bits."
std::string sentence_about(const model::ModelShape& model);

}  // namespace rightsize::app
