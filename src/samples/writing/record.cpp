// A patient file of many pages: one visit after the other, with running headers and page numbers.
#include "samples/data/people.h"
#include "samples/writing/phrases.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>

namespace millrace::samples {
namespace {

Table small_lab_table(Scribe& scribe, const Style& style) {
  Table table;
  table.style = style;
  table.look = TableLook::rules;
  table.columns = {{"Test", 3, Align::left},
                   {"Result", 1.2, Align::right},
                   {"Unit", 1.4, Align::left},
                   {"Reference range", 2, Align::left}};
  const auto tests = lab_tests();
  const std::size_t first = scribe.chance().index(tests.size());
  for (std::size_t i = 0; i < 6; ++i) {
    const LabTest& test = tests[(first + i * 5) % tests.size()];
    const auto result = scribe.lab_result(test, 0.25);
    Fact fact = scribe.fact_of(result);
    fact.flag.clear();  // No column for it.
    if (test.low >= 0) fact.low = test.low;
    fact.high = test.high;
    TableRow row;
    row.cells = {Prose(test.name(Language::en)), Prose(result.value_text), Prose(test.unit),
                 Prose(scribe.range_text(test))};
    row.facts.push_back(std::move(fact));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Document write_record(Chance chance, int pages) {
  const LetterPhrases& phrases = letter_phrases(Language::en);
  Document document;
  document.title = "Patient record";
  Style body;
  body.size_pt = 11;
  Style title = body;
  title.bold = true;
  for (int i = 0; i < pages; ++i) {
    // Each visit takes a page of its own: its number is the page's.
    Scribe scribe(Language::en, chance.fork("visit", static_cast<std::uint64_t>(i)));
    if (i > 0) document.blocks.emplace_back(PageBreak{});
    const auto paragraph = [&](Prose text) {
      document.blocks.emplace_back(Paragraph{.text = std::move(text), .style = body});
    };
    const auto heading = [&](std::string text) {
      document.blocks.emplace_back(
          Paragraph{.text = Prose(std::move(text)), .style = title, .after_pt = 3});
    };
    Prose visit(fmt::format("Visit {} on ", i + 1));
    visit.add(scribe.date(scribe.today(), "document"));
    document.blocks.emplace_back(Paragraph{.text = std::move(visit), .style = title});
    paragraph(scribe.any(phrases.openings));
    Prose history = scribe.any(phrases.history);
    paragraph(std::move(history.say(" ").add(scribe.any(phrases.denials))));
    paragraph(scribe.chance().happens(0.7) ? scribe.any(phrases.allergies)
                                           : scribe.any(phrases.no_allergies));
    heading("Findings");
    Prose findings = scribe.any(phrases.findings);
    paragraph(std::move(findings.say(" ").add(scribe.any(phrases.no_findings))));
    document.blocks.emplace_back(small_lab_table(scribe, body));
    heading("Treatment");
    Prose course = scribe.any(phrases.courses);
    paragraph(std::move(course.say(" ").add(scribe.any(phrases.stopped))));
    Prose plan = scribe.any(phrases.plans);
    paragraph(std::move(plan.say(" ").add(scribe.any(phrases.hypotheses))));
  }
  document.header = "Patient record, confidential";
  document.footer = "Page {n} of {of}";
  return document;
}

}  // namespace millrace::samples
