// Helm charts, rendered by helm if it is installed.
#pragma once

#include <map>
#include <string>

namespace rightsize::app {

// Replaces the templates of every chart in a folder by the output of `helm template`. Charts that helm cannot render,
// and all charts without helm, stay as they are, and their values are read instead.
void render_charts(const std::string& folder, std::map<std::string, std::string>& texts);

}  // namespace rightsize::app
