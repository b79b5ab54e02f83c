// Streams of a PDF: counted, looked at, and never held in memory.
//
// qpdf unpacks some streams by itself and whole: cross-reference streams when it opens a file,
// object streams when it resolves an object. count_raw_streams() therefore looks at the bytes
// before qpdf does, and check_object_streams() at what the cross references name before anything in
// them is asked for. All others are unpacked piece by piece through pipe_stream().
#pragma once

#include "base/result.h"
#include "document/bounded/inflate.h"
#include "document/inspect/findings.h"
#include "document/inspect/qpdf.h"

#include <functional>
#include <string_view>

namespace millrace::document {

// Unpacks every deflate stream that the bytes contain, whatever its dictionary claims. Refusals:
// ratio, unpacked_bytes, pdf_filters.
Result<void> count_raw_streams(std::string_view bytes, const Limits& limits);

enum class Unpack {
  no,   // As stored (decrypted).
  yes,  // Through all filters that are not codecs of images.
};

// Gives the stream's data to the taker in pieces, until that fails. False: it could not be
// unpacked.
using StreamTaker = std::function<Result<void>(std::string_view)>;
Result<bool> pipe_stream(QPDFObjectHandle stream, Unpack unpack, const StreamTaker& take);

// The same for unpacked data, with the budget of the file and the ratio of the stream.
Result<bool> pipe_counted(QPDFObjectHandle stream, UnpackBudget& budget, const StreamTaker& take);

// Names of the filters in order. pdf_filters when there are too many.
Result<std::vector<std::string>> filters_of(QPDFObjectHandle stream, const Limits& limits);

// Every stream in which objects are kept.
Result<void> check_object_streams(QPDF& pdf, UnpackBudget& budget, const Limits& limits);

// Images by the size of their dictionary and of their own header: pixels.
Result<void> check_image(QPDFObjectHandle stream, const Limits& limits);

}  // namespace millrace::document
