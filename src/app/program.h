// The program `millrace`: command line in, exit code out.
#pragma once

namespace millrace::app {

int run_program(int argc, const char* const* argv);

}  // namespace millrace::app
