// Sample: a file and what is true about it.
#pragma once

#include "samples/truth.h"

#include <string>

namespace millrace::samples {

struct Sample {
  std::string bytes;
  TruthFile truth;
};

}  // namespace millrace::samples
