// Prescriptions and medication lists: what is to be taken, by whom.
#include "samples/data/people.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>

namespace millrace::samples {
namespace {

Fields who(Scribe& scribe, const Style& style, std::string_view date_key) {
  const Patient& patient = scribe.patient();
  Fields fields;
  fields.style = style;
  fields.boxed = scribe.chance().happens(0.5);
  fields.pairs = {
      {"Patient:", scribe.person(patient.person, {}, "patient")},
      {std::string(date_key), scribe.date(scribe.today(), "document")},
      {"Date of birth:", scribe.date(patient.born, "birth")},
      {"Patient no.:", scribe.identifier(patient.number, "patient_number")},
      {"Address:", Prose(patient.place.street)},
      {"Town:", Prose(patient.place.town)},
  };
  return fields;
}

Style pick_style(Chance& chance) {
  Style style;
  style.face = chance.pick(std::array{Face::sans, Face::serif, Face::dejavu});
  style.size_pt = style.face == Face::dejavu ? 9.0 : 10.5;
  return style;
}

TableRow medication_row(Scribe& scribe) {
  const Scribe::Dosing dosing = scribe.dosing();
  Fact fact = scribe.fact_of(dosing, {});
  fact.route = dosing.drug->route;
  Prose name(fact.name);
  name.capitalise(0);
  fact.name = name.text();
  constexpr std::array<std::string_view, 6> kNotes = {
      "",          "with food",   "before breakfast",
      "long term", "new on list", "dose changed at last visit"};
  TableRow row;
  row.cells = {name, Prose(dosing.dose_text), Prose(dosing.route_text),
               Prose(dosing.frequency_text), Prose(scribe.chance().pick(kNotes))};
  row.facts.push_back(std::move(fact));
  return row;
}

Prose order(Scribe& scribe) {
  const Scribe::Dosing dosing = scribe.dosing();
  Fact fact = scribe.fact_of(dosing, {});
  fact.route = dosing.drug->route;
  Prose prose;
  prose.say(fact.name).say(" ").say(dosing.dose_text).say(" ").say(dosing.route_text);
  prose.say(" ").say(dosing.frequency_text);
  prose.close(0, std::move(fact));
  prose.capitalise(0);
  prose.say(fmt::format("\nDispense: {}   Refills: {}", scribe.chance().whole(2, 12) * 7,
                        scribe.chance().whole(0, 3)));
  return prose;
}

}  // namespace

Document write_prescription(Chance chance) {
  Scribe scribe(Language::en, chance.fork("scribe"));
  Chance& own = scribe.chance();
  const Style style = pick_style(own);
  const Institution hospital = make_hospital(own, Language::en);
  const Person doctor = make_person(own, Language::en);
  Document document;
  document.title = "Prescription";
  Letterhead head;
  head.lines = {hospital.name, hospital.department};
  head.aside = {hospital.place.street, hospital.place.town, "Tel. " + hospital.phone};
  document.blocks.emplace_back(head);
  Style title = style;
  title.bold = true;
  title.size_pt = 15;
  document.blocks.emplace_back(Paragraph{.text = "PRESCRIPTION", .style = title, .after_pt = 10});
  document.blocks.emplace_back(who(scribe, style, "Date:"));
  Prose allergies("Allergies: ");
  allergies.add(scribe.allergy());
  document.blocks.emplace_back(Paragraph{.text = std::move(allergies), .style = style});
  document.blocks.emplace_back(Rule{});
  Style large = style;
  large.size_pt += 1;
  const int count = own.whole(2, 4);
  for (int i = 0; i < count; ++i) {
    document.blocks.emplace_back(Paragraph{.text = order(scribe),
                                           .style = large,
                                           .indent_pt = 10,
                                           .marker = fmt::format("{}.", i + 1),
                                           .after_pt = 14});
  }
  document.blocks.emplace_back(Rule{});
  document.blocks.emplace_back(Signature{.seed = own.next()});
  Prose name = scribe.person(doctor, "Dr", "physician");
  name.say(", registration no. ")
      .add(scribe.identifier(fmt::format("GM{:07}", own.whole(1000000, 7999999)), "registration"));
  document.blocks.emplace_back(Paragraph{.text = std::move(name), .style = style});
  Style small = style;
  small.size_pt = 8;
  document.blocks.emplace_back(Paragraph{
      .text = "Valid for six months from the date of issue. Not valid without a signature.",
      .style = small});
  return document;
}

Document write_medication_list(Chance chance) {
  Scribe scribe(Language::en, chance.fork("scribe"));
  Chance& own = scribe.chance();
  const Style style = pick_style(own);
  const Institution hospital = make_hospital(own, Language::en);
  Document document;
  document.title = "Medication list";
  Letterhead head;
  head.lines = {hospital.name, hospital.place.street + ", " + hospital.place.town};
  head.centred = own.happens(0.5);
  document.blocks.emplace_back(head);
  Style title = style;
  title.bold = true;
  title.size_pt += 4;
  document.blocks.emplace_back(Paragraph{.text = "Current Medication List", .style = title});
  document.blocks.emplace_back(who(scribe, style, "Reviewed on:"));
  Table table;
  table.style = style;
  table.look = own.pick(std::array{TableLook::grid, TableLook::rules, TableLook::zebra});
  table.columns = {{"Medication", 2.3, Align::left},
                   {"Dose", 1.2, Align::left},
                   {"Route", 1.9, Align::left},
                   {"Frequency", 2.2, Align::left},
                   {"Notes", 2.2, Align::left}};
  const int count = own.whole(6, 12);
  for (int i = 0; i < count; ++i) table.rows.push_back(medication_row(scribe));
  document.blocks.emplace_back(std::move(table));
  Prose stopped("Stopped at this review: ");
  stopped.add(scribe.medication({.historical = true})).say(".");
  document.blocks.emplace_back(Paragraph{.text = std::move(stopped), .style = style});
  Prose allergies("Allergies: ");
  allergies.add(scribe.allergy()).say("; ").add(scribe.allergy()).say(".");
  document.blocks.emplace_back(Paragraph{.text = std::move(allergies), .style = style});
  Prose checked("Checked by ");
  checked.add(scribe.person(make_person(own, Language::en), {}, "pharmacist"));
  checked.say(", pharmacist");
  document.blocks.emplace_back(Paragraph{.text = std::move(checked), .style = style});
  document.footer = "Page {n} of {of}";
  return document;
}

}  // namespace millrace::samples
