#include <csignal>

#include <malloc.h>

#include "rightsize/call.h"

int main(int argc, char** argv) {
  // A file that may not grow is an error of the write, to be reported, and not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  // The catalogue is read in a few milliseconds, a twentieth of them spent on asking for memory and giving it back.
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  return rightsize::app::run_program(argc, argv);
}
