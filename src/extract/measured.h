// Measured: whose a result is, and whether it was measured at all or is what somebody waits for.
//
// What is said of a relative or of a case that may come reaches the results of its own clause: "a
// family history of gout, LDL 190" tells the LDL of the patient, "hold for SBP < 100" that of
// nobody. Nothing denies a result: "negative" is one.
#pragma once

#include "extract/assertion.h"
#include "extract/link.h"

namespace millrace::extract {

// `head` is the name of a laboratory test or a vital sign of the group, which has a passage.
Judgement judge_result(const Group& group, const Placed& head);

}  // namespace millrace::extract
