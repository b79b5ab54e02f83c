#include "app/program.h"

int main(int argc, char** argv) { return millrace::app::run_program(argc, argv); }
