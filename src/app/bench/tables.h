// The results of a bench for people: one table of figures, one of what a job cost.
#pragma once

#include "app/bench/sample.h"
#include "app/context.h"

#include <string>
#include <vector>

namespace millrace::app {

std::string line_of(const json::Object& conditions);
void print_results(const Context& context, const std::string& what,
                   const std::vector<Measured>& results);

}  // namespace millrace::app
