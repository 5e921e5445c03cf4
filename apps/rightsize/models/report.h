// Model shapes as sentences, tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "model/model_shape.h"
#include "report/report.h"

namespace rightsize::app {

// One model with all its weights, to make the parameter count verifiable.
report::Report model_report(const model::ModelShape& model);

// One row per model, and the families with a supported config.json.
report::Report models_report(const std::vector<model::ModelShape>& models);

// The columns of conditions (report/filter.h), and the models that meet them all.
std::vector<std::string> model_columns();
Result<> keep_matching(std::vector<model::ModelShape>& models, const std::vector<std::string>& conditions);

// "llama-2-7b is a llama model of 6,738,415,616 parameters (6.74 B); its weights take 12.6 GiB in bf16."
std::string sentence_about(const model::ModelShape& model);

}  // namespace rightsize::app
