// read: one page → its words in reading order (spatial/1), from its text layer or by recognition.
//
// {"op":"read","kind":"pdf","page":1,"mode":"auto|text|ocr","languages":["eng"]} →
// {"schema":"read/1","source":"text|ocr","why_ocr":"…","engine":"…","page":{…},"skew_deg":0.4,
//  "confidence":0.93}
//
// {"op":"read","kind":"pdf","mode":"judge","page":1,"last":150} reads nothing: whether the text
// layers of these pages would be used, by the same rule. → {"schema":"judge/1","trusted":true} or
// {"schema":"judge/1","trusted":false,"page":7,"why_ocr":"…"}, the first that would not.
//
// The operation itself is in op.h. This is what it shares with main: engines that are warm.
#pragma once

#include "base/result.h"
#include "document/ocr/engines.h"

#include <string>
#include <vector>

namespace millrace::document {

// One per process, because operations are plain functions and a child finds here what its parent
// has loaded.
Engines& warm_engines();

// Loads fonts and the engines of these languages; before anybody forks.
Result<void> warm_up_reading(const std::vector<std::string>& languages);

}  // namespace millrace::document
