// An admission form: keys and values in boxes, checkboxes, a signature.
#include "samples/data/people.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace millrace::samples {
namespace {

// Labels of boxes are printed on every form and state nothing by themselves: a ticked one does.
Checks checks(Chance& chance, const Style& style, std::span<const std::string_view> labels,
              double share) {
  Checks result;
  result.style = style;
  for (const std::string_view label : labels) {
    result.boxes.push_back({std::string(label), chance.happens(share)});
  }
  return result;
}

constexpr auto kVisit = std::to_array<std::string_view>(
    {"First visit", "Follow-up", "Emergency", "Outpatient", "Inpatient", "Home visit"});
constexpr auto kNeeds = std::to_array<std::string_view>(
    {"Interpreter", "Wheelchair access", "Hearing aid", "Glasses", "Vegetarian meals", "None"});

Fields medical_details(Scribe& scribe, const Style& style) {
  Fields details;
  details.style = style;
  details.columns = 1;
  details.boxed = true;
  details.pairs = {
      {"Reason for visit:", scribe.write("{symptom} for {num 2 9} days")},
      {"Known conditions:", scribe.write("{cond}, {cond}")},
      {"Allergies:",
       scribe.write(scribe.chance().happens(0.7) ? "{allergy}"
                                                 : "no [neg allergy|known allergies]")},
      {"Medication:", scribe.write("{med}; {med}")},
      {"Family history:", scribe.write("father: {fam cond}")},
      {"Blood pressure:", scribe.write("{vital bp}")},
      {"Weight:", scribe.write("{vital weight}")},
  };
  return details;
}

}  // namespace

Document write_form(Chance chance) {
  Scribe scribe(Language::en, chance.fork("scribe"));
  Chance& own = scribe.chance();
  const Patient& patient = scribe.patient();
  Style style;
  style.face = own.pick(std::array{Face::sans, Face::dejavu, Face::narrow});
  style.size_pt = style.face == Face::dejavu ? 9.0 : 10.5;
  Style heading = style;
  heading.bold = true;
  const Institution hospital = make_hospital(own, Language::en);

  Document document;
  document.title = "Admission form";
  Letterhead head;
  head.lines = {hospital.name, "Admission form"};
  head.aside = {hospital.place.street, hospital.place.town};
  document.blocks.emplace_back(head);
  const auto section = [&](std::string_view text) {
    document.blocks.emplace_back(Paragraph{.text = Prose(text), .style = heading, .after_pt = 4});
  };
  section("1. Personal details");
  Fields fields;
  fields.style = style;
  fields.boxed = true;
  fields.pairs = {
      {"Surname:", Prose(patient.person.family)},
      {"First name:", Prose(patient.person.given)},
      {"Date of birth:", scribe.date(patient.born, "birth")},
      {"Sex:", Prose(patient.person.female ? "female" : "male")},
      {"Street:", Prose(patient.place.street)},
      {"Town:", Prose(patient.place.town)},
      {"Patient no.:", scribe.identifier(patient.number, "patient_number")},
      {"Date of visit:", scribe.date(scribe.today(), "document")},
  };
  document.blocks.emplace_back(std::move(fields));
  section("2. Type of visit");
  document.blocks.emplace_back(checks(own, style, kVisit, 0.3));
  section("3. Special needs");
  document.blocks.emplace_back(checks(own, style, kNeeds, 0.35));
  section("4. Medical details");
  document.blocks.emplace_back(medical_details(scribe, style));
  section("5. Declaration");
  document.blocks.emplace_back(Paragraph{
      .text = "I confirm that the details above are complete and agree that they are kept for my "
              "treatment.",
      .style = style});
  document.blocks.emplace_back(Signature{.seed = own.next()});
  Prose signed_by = scribe.person(patient.person, {}, "patient");
  signed_by.say(", ").add(scribe.date(scribe.today(), "signed"));
  document.blocks.emplace_back(Paragraph{.text = std::move(signed_by), .style = style});
  return document;
}

}  // namespace millrace::samples
