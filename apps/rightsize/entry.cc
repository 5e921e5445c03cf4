#include <csignal>

#include "rightsize/call.h"

int main(int argc, char** argv) {
  // A file that may not grow is an error of the write, to be reported, and not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  return rightsize::app::run_program(argc, argv);
}
