#include "command.h"
namespace rightsize::app {
Run add_checklist(CLI::App&) { return [] { return Outcome{}; }; }
}
