// The type of content by its first bytes; what its name or its client says only counts where the
// bytes leave it open.
//
// A client that calls a program a PDF does not make it one: stages and readers act on what is
// there. Pure; for any bytes, also none.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::api {

// How much of the beginning is looked at.
inline constexpr std::size_t kSniffBytes = 4096;

// "application/pdf". `announced` is what the client says it is: it picks the more exact word where
// that is no contradiction (text/csv of a text, a Word document of an OLE file) and is ignored
// otherwise.
std::string content_type_of(std::span<const std::byte> head, std::string_view announced);

}  // namespace millrace::api
