// Office and text files as pages of words: what `read` and `inspect` show of files that have no
// pages of their own.
//
// Such a file is text and structure; where a word stands on paper is decided by the program that
// prints it. Here one fixed layout decides: A4 (slides: 4:3), fixed sizes, widths by a small table
// of characters, so that the same bytes give the same pages everywhere and for ever. Every page
// says `estimated`. Paragraphs become lines, tables become columns of cells that stand level, so
// that layout::arrange() finds them again; headers and footers stand in the margins.
//
//   MR_TRY(auto pages, office_pages("docx", files.fds[0]));      // All: inspect.
//   MR_TRY(auto page, office_page("docx", files.fds[0], 3));     // One, counted from 1: read.
//   MR_TRY(auto map, layout::arrange(std::move(page)));
//
// The kind is what `inspect` answered: docx odt xlsx ods pptx odp text. Pages are in our fractions
// already (no Frame needed), info.page is set, width_px and height_px are the page at info.dpi.
// A document without any text has one empty page. Errors: invalid_argument with the rule that the
// document broke in `constraint`; not_found for a page that does not exist.
//
// One thread; the descriptor is only mapped, its position does not matter. Memory: the file, its
// text, and its pages.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "layout/raw_page.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace millrace::document {

inline constexpr std::string_view kOfficeEngine = "office@2";

bool is_office_kind(std::string_view kind);  // One of the kinds above.

Result<std::vector<layout::RawPage>> office_pages(std::string_view kind, int fd,
                                                  const Limits& limits = {});
Result<layout::RawPage> office_page(std::string_view kind, int fd, std::uint32_t page,
                                    const Limits& limits = {});
// The same of bytes that are in memory already.
Result<std::vector<layout::RawPage>> office_pages_of(std::string_view kind, std::string_view bytes,
                                                     const Limits& limits = {});

}  // namespace millrace::document
