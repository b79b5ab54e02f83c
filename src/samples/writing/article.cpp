// A page of a journal or a leaflet for patients: a title over two columns.
#include "samples/data/people.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace millrace::samples {
namespace {

using namespace std::string_view_literals;

constexpr auto kBackground = std::to_array({
    "Long-term treatment of older people is seldom a matter of a single drug. Each addition brings a benefit that can be measured and a burden that often is not, and the sum of both is what the person at home has to live with."sv,
    "Few questions in general practice are asked as often as this one, and few have been answered with so much conviction on so little ground. The trials that we have were short, and those who took part in them were younger than most of our patients."sv,
    "Guidelines give a clear answer for the first choice and become vague for the second. What happens in between is left to the judgement of those who know the patient, the family and the distance to the nearest pharmacy."sv,
    "When the service was set up, nobody expected that most of its work would consist of reading letters. Within a year, however, two thirds of all decisions depended on documents that had been sent as pictures."sv,
});
constexpr auto kCase = std::to_array({
    "A {age}-year-old {sex man|woman} with {cond} presented with {symptom} and {symptom}. {he} denied {neg symptom}. Treatment consisted of {med}; {lab} was the only abnormal result."sv,
    "Our second case concerns a {sex farmer|teacher} in whom {cond} had been known since {year}. {he} was taking {med} and {med}. There was no evidence of {neg cond}, and {exam} was unremarkable."sv,
    "One patient was sent to us with {symptom}. {his} mother had {fam cond}. After {exam} the diagnosis of {cond} was made and {med} was started."sv,
    "In another patient {hist med} had been stopped because of {symptom}. {lab} and {lab} were found at follow-up, without any {neg symptom}."sv,
});
constexpr auto kDiscussion = std::to_array({
    "What these cases have in common is not the disease but the order of events. In each of them the first sign was noticed by somebody who was not a doctor, and in each of them it was written down before it was understood."sv,
    "We do not suggest that every patient should be tested in this way. A result within the reference range is reassuring only if the range was made for people like the one who was tested, and this is not always so."sv,
    "The costs were modest. Most of the time was spent on the telephone, and most of the calls were about the same few questions. A printed sheet would have answered nearly all of them."sv,
    "Limits of this report are plain: the number of patients is small, nobody was blinded, and those who did not come back may have fared worse than those who did."sv,
    "It remains to be seen whether the effect lasts. We shall follow our patients for another two years and report what we find, whether or not it supports what has been said here."sv,
});
constexpr auto kAdvice = std::to_array({
    "Take the tablets at the same time each day and do not stop without asking. If you have forgotten one, leave it out and go on as usual the next day."sv,
    "Keep a list of everything you take, including what you have bought yourself, and bring it along to each visit."sv,
    "Some people notice that they have to get up more often at night. This is a sign that the medicine works and usually passes after a week or two."sv,
});
constexpr auto kTitles = std::to_array({
    "Reading between the lines: what letters tell us about care at home"sv,
    "Less is sometimes more: a review of repeat prescriptions"sv,
    "Three unusual courses and what they had in common"sv,
    "Living well with long-term treatment"sv,
});

}  // namespace

Document write_article(Chance chance) {
  Scribe scribe(Language::en, chance.fork("scribe"));
  Chance& own = scribe.chance();
  Style body;
  body.face = own.pick(std::array{Face::serif, Face::serif, Face::sans});
  body.size_pt = own.pick(std::array{9.0, 9.5});
  Document document;
  document.margin_pt = own.between(46, 56);
  document.title = own.pick(kTitles);
  Style title = body;
  title.bold = true;
  title.size_pt = 18;
  Style small = body;
  small.italic = true;
  Prose volume(fmt::format("Annals of Community Medicine, vol. {}, ", own.whole(11, 49)));
  volume.add(scribe.date(scribe.today(), "document"));
  document.blocks.emplace_back(Paragraph{.text = std::move(volume), .style = small});
  document.blocks.emplace_back(Paragraph{.text = Prose(document.title), .style = title});
  Prose authors = scribe.person(make_person(own, Language::en), {}, "author");
  authors.say(" and ").add(scribe.person(make_person(own, Language::en), {}, "author"));
  document.blocks.emplace_back(Paragraph{.text = std::move(authors), .style = small});
  document.blocks.emplace_back(Rule{});

  Columns columns;
  Style heading = body;
  heading.bold = true;
  heading.size_pt += 1.5;
  const auto head = [&](std::string_view text) {
    columns.paragraphs.push_back({.text = Prose(text), .style = heading, .after_pt = 3});
  };
  const auto text = [&](Prose prose) {
    columns.paragraphs.push_back({.text = std::move(prose), .style = body, .after_pt = 6});
  };
  const std::size_t first = own.index(kBackground.size());
  head("Background");
  text(Prose(kBackground[first]));
  text(Prose(kBackground[(first + 1) % kBackground.size()]));
  text(Prose(kBackground[(first + 2) % kBackground.size()]));
  head("Patients");
  const std::size_t from = own.index(kCase.size());
  const auto cases = static_cast<std::size_t>(own.whole(6, 8));
  for (std::size_t i = 0; i < cases; ++i) text(scribe.write(kCase[(from + i) % kCase.size()]));
  head("Discussion");
  const std::size_t start = own.index(kDiscussion.size());
  for (std::size_t i = 0; i < kDiscussion.size(); ++i) {
    text(Prose(kDiscussion[(start + i) % kDiscussion.size()]));
  }
  head("Advice for patients");
  for (const std::string_view advice : kAdvice) text(Prose(advice));
  document.blocks.emplace_back(std::move(columns));
  document.footer = "Page {n}";
  return document;
}

}  // namespace millrace::samples
