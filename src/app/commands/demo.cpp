#include "app/commands/commands.h"
namespace millrace::app {
void add_demo_command(Command&) {}
void add_bench_commands(Command&) {}
}
