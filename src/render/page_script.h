// The text that is put around and into a document: the policy in front of it, and the script that
// waits for its fonts and pictures and turns it grey or smaller.
//
// The script runs in a world of its own: the document's scripts, if they run at all, cannot change
// what its words mean. Its answer is still untrusted.
#pragma once

#include "render/request.h"

#include <string>
#include <string_view>

namespace millrace::render {

// In front of every document: the standard mode of layout, and a policy that lets in nothing but
// what the document carries (data: pictures and fonts, inline styles and, if allowed, scripts).
// Without the policy: the mode alone.
std::string document_head(bool scripts, bool policy);

// An expression that gives the characters beyond the Latin letters, of those that are common among
// them, which the fonts of this machine can draw: for a page that has no document yet.
std::string make_drawn_expression();

// An expression that gives a promise of kComplete with the characters no font can draw behind it,
// or of "loading": ask again after the next load event.
inline constexpr std::string_view kComplete = "complete ";
// `drawn`: characters that need not be tried.
std::string make_ready_expression(const RenderOptions& options, std::string_view drawn);

// Makes the page look like paper on a screen: margins inside of a sheet of this size.
std::string make_sheet_expression(const RenderOptions& options);

}  // namespace millrace::render
