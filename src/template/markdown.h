// Markdown-lite: the little of Markdown that résumés, letters and reports need, as safe HTML.
//
// Paragraphs, "- " and "1. " lists, "> " quotes, "## " headings (one level below what they say, at
// least h3), **bold**, *italic*, `code`, [text](address), hard line breaks by two blanks or a
// backslash. Everything else is text, tags included. Linear in the size of the text; nothing nests
// deeper than emphasis within a link.
#pragma once

#include <string>
#include <string_view>

namespace millrace::templates {

std::string markdown_to_html(std::string_view text);
// Without paragraphs, lists and headings: for a place that is a paragraph already.
std::string markdown_spans_to_html(std::string_view text);

}  // namespace millrace::templates
