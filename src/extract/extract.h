// extract: the provider `local`. Clinical facts from spatial pages by rules and term lists,
// offline, the same every time. It is no model and never passes for one: its name is "local@1".
//
// Flow: detect() marks where is what, extract() joins marks into facts with their assertion,
// narrate() tells the facts in fixed sentences. The results are the types of layout/clinical and
// pass its validators without a rejection: offsets reproduce the text, facts rest on entities,
// sentences on facts, and no number is invented. extract() takes any grounded detection, also one
// that a model made.
// What is not in a term list is found by where it stands: a strength and a frequency behind a word,
// a row of a table of results, a line of a list of problems.
// Cost: linear in the words of a page, a millisecond or two for an ordinary one. Output is bounded
// by PassLimits. Pure functions: no I/O, no state but the term lists, which are read once.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/finding.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/pass.h"
#include "layout/clinical/routing.h"
#include "layout/spatial_map.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

inline constexpr std::string_view kProvider = "local";
inline constexpr std::string_view kModel = "local@1";

// What a page cannot say about itself.
struct Context {
  // Kind of the section that was still open at the end of the page before ("medication_list").
  std::string open_section = {};
  // BCP 47 of the document; empty: decided from the words that are there.
  std::string language = {};
};

// One page or several, in order; an open section goes on from page to page.
layout::clinical::Detection detect(const layout::SpatialMap& pages, const Context& context = {},
                                   const layout::clinical::PassLimits& limits = {});

// What the page after the pages of this detection has to know.
Context context_after(const layout::clinical::Detection& detection);

// `year`: in which the document came to us, which bounds what years of two figures mean; 0: nobody
// knows.
layout::clinical::Extraction extract(const layout::clinical::Detection& detection,
                                     const layout::SpatialMap& pages,
                                     const layout::clinical::PassLimits& limits = {}, int year = 0);

// What a person has to look at of the dates of facts, whoever found them: day and month that may be
// the other way round where nothing on the pages shows which, and a birth after the document.
std::vector<layout::clinical::Finding> check_dates(const layout::clinical::Extraction& extraction,
                                                   const layout::clinical::Detection& detection,
                                                   const layout::SpatialMap& pages, int year = 0);

// `audience` is one of layout::clinical::audiences(); any other counts as "patient". Sentences are
// in English. Facts below the review threshold of routing are not told; those that a person has to
// look at are among the uncertain ones.
layout::clinical::Narrative narrate(const layout::clinical::Extraction& extraction,
                                    std::string_view audience = "patient",
                                    const layout::clinical::PassLimits& limits = {});
// The same by routes that are known, one for each fact in their order: what was dropped is not
// told, what is under review is uncertain, whatever its own confidence says.
layout::clinical::Narrative narrate(const layout::clinical::Extraction& extraction,
                                    std::span<const layout::clinical::RoutedFact> routed,
                                    std::string_view audience = "patient",
                                    const layout::clinical::PassLimits& limits = {});

// Changes whenever results can: part of the key that results are kept under.
std::string_view version();

}  // namespace millrace::extract
