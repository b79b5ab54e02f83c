#include "samples/data/people.h"
#include "samples/writing/phrases.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>

namespace millrace::samples {
namespace {

// One look for all of a letter.
struct Look {
  Style body;
  Style title;
};

Look pick_look(Chance& chance) {
  constexpr std::array kFaces = {Face::serif, Face::serif, Face::sans, Face::sans,
                                 Face::dejavu_serif};
  Look look;
  look.body.face = chance.pick(kFaces);
  look.body.size_pt = chance.pick(std::array{10.0, 10.5, 11.0});
  if (look.body.face == Face::dejavu_serif) look.body.size_pt -= 1.5;
  look.title = look.body;
  look.title.bold = true;
  return look;
}

class LetterWriter {
 public:
  LetterWriter(Chance chance, Language language)
      : scribe_(language, chance.fork("scribe")),
        chance_(chance.fork("letter")),
        phrases_(letter_phrases(language)),
        look_(pick_look(chance_)),
        sender_(make_person(chance_, language)),
        hospital_(make_hospital(chance_, language)) {
    document_.language = language;
    document_.margin_pt = chance_.between(56, 72);
  }

  Document write() && {
    head();
    opening();
    history();
    examination();
    course();
    medication();
    plan();
    foot();
    return std::move(document_);
  }

 private:
  void head() {
    const Language language = scribe_.language();
    Letterhead letterhead;
    letterhead.lines = {hospital_.name, hospital_.department};
    letterhead.face = chance_.happens(0.5) ? Face::sans : look_.body.face;
    letterhead.centred = chance_.happens(0.25);
    const std::string phone = fmt::format("{} {}", phrases_.phone, hospital_.phone);
    if (letterhead.centred) {
      letterhead.lines.push_back(
          fmt::format("{}, {}, {}", hospital_.place.street, hospital_.place.town, phone));
    } else {
      letterhead.aside = {hospital_.place.street, hospital_.place.town, phone};
    }
    document_.title = hospital_.name;
    add(letterhead);

    const Person addressee = make_person(chance_, language);
    const Place where = make_place(chance_, language);
    constexpr std::string_view kDoctor[] = {"Dr", "Dr.", "Dr", "Dr."};
    Prose address;
    address.add(scribe_.person(addressee, kDoctor[at(language)], "physician"));
    address.say("\n").say(where.street).say("\n").say(where.town);
    paragraph(std::move(address), 14);

    Prose date;
    date.say(phrases_.date_key).say(" ").add(scribe_.date(scribe_.today(), "document"));
    Paragraph dated = {.text = std::move(date), .style = look_.body, .after_pt = 10};
    if (chance_.happens(0.5)) dated.style.align = Align::right;
    add(dated);

    const Patient& patient = scribe_.patient();
    Prose subject;
    subject.say(phrases_.subject).say(" ").add(scribe_.person(patient.person, {}, "patient"));
    subject.say(", ").say(phrases_.birth_key).say(" ").add(scribe_.date(patient.born, "birth"));
    subject.say(", ").say(phrases_.number_key).say(" ");
    subject.add(scribe_.identifier(patient.number, "patient_number"));
    add(Paragraph{.text = std::move(subject), .style = look_.title, .after_pt = 10});

    std::string salutation(phrases_.salutation);
    const std::size_t place = salutation.find("{addressee}");
    salutation.replace(place, 11, addressee.family);
    Fact fact = {.type = FactType::person, .name = addressee.family};
    fact.role = "physician";
    Prose greeting(salutation.substr(0, place));
    greeting.state(std::move(fact), addressee.family)
        .say(salutation.substr(place + addressee.family.size()));
    paragraph(std::move(greeting));
  }

  void opening() {
    paragraph(scribe_.any(phrases_.openings));
    title(phrases_.diagnoses_title);
    const bool numbered = chance_.happens(0.5);
    const int count = chance_.whole(3, 5);
    for (int i = 0; i < count; ++i) {
      Prose line = scribe_.any(phrases_.diagnoses);
      line.capitalise(0);
      item(std::move(line), numbered ? fmt::format("{}.", i + 1) : "");
    }
    gap();
  }

  void history() {
    title(phrases_.history_title);
    Prose text = scribe_.any(phrases_.history);
    text.say(" ").add(scribe_.any(phrases_.denials));
    paragraph(std::move(text));
    if (chance_.happens(0.75)) {
      title(phrases_.family_title);
      paragraph(scribe_.any(phrases_.family));
    }
    title(phrases_.allergies_title);
    paragraph(chance_.happens(0.75) ? scribe_.any(phrases_.allergies)
                                    : scribe_.any(phrases_.no_allergies));
  }

  void examination() {
    title(phrases_.findings_title);
    Prose text = scribe_.any(phrases_.findings);
    text.say(" ").add(scribe_.any(phrases_.no_findings));
    paragraph(std::move(text));
    title(phrases_.labs_title);
    paragraph(scribe_.any(phrases_.labs));
  }

  void course() {
    title(phrases_.course_title);
    Prose text = scribe_.any(phrases_.courses);
    if (chance_.happens(0.7)) text.say(" ").add(scribe_.any(phrases_.stopped));
    paragraph(std::move(text));
  }

  void medication() {
    title(phrases_.medication_title);
    const bool numbered = chance_.happens(0.3);
    const int count = chance_.whole(3, 7);
    for (int i = 0; i < count; ++i) {
      Prose line = scribe_.medication();
      line.capitalise(0);
      item(std::move(line), numbered ? fmt::format("{}.", i + 1) : "-");
    }
    gap();
  }

  void plan() {
    title(phrases_.plan_title);
    Prose text = scribe_.any(phrases_.plans);
    text.say(" ").add(scribe_.any(phrases_.hypotheses));
    paragraph(std::move(text));
    paragraph(phrases_.closing, 12);
  }

  void foot() {
    paragraph(phrases_.sincerely, 2);
    add(Signature{.seed = chance_.next()});
    constexpr std::string_view kDoctor[] = {"Dr", "Dr. med.", "Dr", "Dr."};
    Prose name = scribe_.person(sender_, kDoctor[at(scribe_.language())], "physician");
    name.say("\n").say(phrases_.role);
    paragraph(std::move(name));
    document_.footer = phrases_.page_footer;
    document_.header = fmt::format("{}, {}", hospital_.name, scribe_.patient().number);
  }

  void add(Block block) { document_.blocks.push_back(std::move(block)); }
  void title(std::string_view text) {
    add(Paragraph{.text = Prose(text), .style = look_.title, .after_pt = 2});
  }
  void paragraph(Prose text, double after_pt = 8) {
    add(Paragraph{.text = std::move(text), .style = look_.body, .after_pt = after_pt});
  }
  void item(Prose text, std::string marker) {
    add(Paragraph{.text = std::move(text),
                  .style = look_.body,
                  .indent_pt = 6,
                  .marker = std::move(marker),
                  .after_pt = 1});
  }
  void gap() { add(Gap{7}); }

  Scribe scribe_;
  Chance chance_;
  const LetterPhrases& phrases_;
  Look look_;
  Person sender_;
  Institution hospital_;
  Document document_;
};

}  // namespace

Document write_letter(Chance chance, Language language) {
  return LetterWriter(chance, language).write();
}

}  // namespace millrace::samples
