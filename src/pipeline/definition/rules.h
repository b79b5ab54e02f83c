// The rules that compare stages with each other.
//
// Two halves: the structure, on which the code that runs pipelines relies, is checked for every
// definition; sense is checked for files only. A definition in the database was checked when it
// came there, and a rule that is made later must not stop documents that are on their way.
#pragma once

#include "pipeline/definition/draft.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace::pipeline {

// What the installation has; nothing: not known here, so not looked at.
struct Known {
  std::optional<std::vector<std::string>> providers = {};  // That are configured.
  std::function<bool(const std::string& program)> has_program = {};
};

// Unique names, `after` that names stages, no cycle, one beginning, everything reachable from it.
void check_structure(const Draft& draft, const Source& source, Problems& problems);

// Inputs that nobody makes, pages before they are counted, providers that do not exist, times that
// do not nest, unused queues, names that are taken.
void check_sense(const Draft& draft, const Source& source, Problems& problems);

// What a sound pipeline needs and this installation does not have. Another machine may have it, so
// nothing of this is an error.
void check_surroundings(const Draft& draft, const Source& source, const Known& known,
                        Problems& warnings);

// Stages so that each stands behind all it waits for, otherwise in the order of the file; `after`
// of each in that order too. The structure must be sound.
void put_in_order(Pipeline& pipeline);

}  // namespace millrace::pipeline
