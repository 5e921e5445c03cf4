// Terraform configurations for AWS, Google Cloud and Azure, and any other resource or module that names a GPU machine.
#pragma once

#include <string>
#include <vector>

#include "manifests/request.h"

namespace rightsize::manifests {

// One file of a module: the files of one folder belong together, since variables and templates refer across them.
struct TerraformFile {
  std::string file, text;
};

// Machine types, guest accelerators and how many of them, found in every resource and module. Variables are followed to
// their defaults and to *.tfvars among the files, locals to their values, launch templates to the group that uses them;
// everything else is unresolved.
Found read_terraform(const std::vector<TerraformFile>& files);

}  // namespace rightsize::manifests
