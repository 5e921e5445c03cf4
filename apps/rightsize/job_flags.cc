#include "job_flags.h"

#include "memory/memory.h"
#include "workload/presets.h"

namespace rightsize::app {

void add_job_flags(CLI::App& command, JobFlags& flags) {
  command
      .add_option("--model", flags.model,
                  "built-in name (see 'rightsize models') or path of a Hugging Face config.json")
      ->required();
  command.add_option("--gpu", flags.gpu, "GPU name, e.g. h100-sxm (see 'rightsize gpus')");
  for (const workload::SettingInfo& info : workload::job_settings()) {
    command
        .add_option_function<std::string>(
            "--" + info.name, [&flags, name = info.name](const std::string& text) { flags.settings[name] = text; },
            info.meaning)
        ->type_name(info.values);
  }
}

Checked<ModelAndJob> read_job(const JobFlags& flags) {
  RIGHTSIZE_TRY(workload::ModelShape model, workload::find_model(flags.model));
  std::vector<workload::Setting> settings;
  for (const auto& [name, value] : flags.settings) settings.push_back({name, value, {}});
  RIGHTSIZE_TRY(workload::Job job, workload::parse_job(settings));
  if (job.sequence == 0) job.sequence = memory::default_sequence(model);
  if (Errors errors = memory::check_job(model, job); !errors.empty()) return fail(std::move(errors));
  return ModelAndJob{std::move(model), job};
}

}  // namespace rightsize::app
