#include "rightsize/call.h"

int main(int argc, char** argv) { return rightsize::app::run_program(argc, argv); }
