// Shell completion written from the command tree.
#pragma once

#include "app/cli/command.h"

#include <string>

namespace millrace::app {

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace millrace::app
