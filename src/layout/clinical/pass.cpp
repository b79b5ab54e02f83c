#include "layout/clinical/pass.h"

namespace millrace::layout::clinical {

std::string_view to_string(Pass pass) {
  switch (pass) {
    case Pass::detect:
      return "detect";
    case Pass::extract:
      return "extract";
    case Pass::narrate:
      return "narrate";
  }
  return {};
}

std::string_view schema_id(Pass pass) {
  switch (pass) {
    case Pass::detect:
      return "clinical.detect/1";
    case Pass::extract:
      return "clinical.extract/1";
    case Pass::narrate:
      return "clinical.narrative/1";
  }
  return {};
}

std::string_view job_type(Pass pass) {
  switch (pass) {
    case Pass::detect:
      return "ai_queue_pass1";
    case Pass::extract:
      return "ai_queue_pass2";
    case Pass::narrate:
      return "ai_queue_pass3";
  }
  return {};
}

std::optional<Pass> pass_of_job(std::string_view type) {
  for (const auto pass : kPasses) {
    if (job_type(pass) == type) return pass;
  }
  return std::nullopt;
}

}  // namespace millrace::layout::clinical
