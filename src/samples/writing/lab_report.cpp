#include "samples/data/people.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace::samples {
namespace {

struct Words {
  std::string_view title, patient, born, number, collected, reported, physician, sample;
  std::string_view test, result, unit, range, flag, comment, validated, remark;
  std::string_view doctor;
  std::string_view footer;
  std::string_view high, low;  // Flags as this laboratory writes them.
};

constexpr Words kWords[kLanguages] = {
    {"Laboratory Report",
     "Patient:",
     "Date of birth:",
     "Patient no.:",
     "Collected:",
     "Reported:",
     "Requested by:",
     "Lab no.:",
     "Test",
     "Result",
     "Unit",
     "Reference range",
     "Flag",
     "Comment",
     "Validated by",
     "Results marked H or L lie outside the reference range. Reference ranges depend on age and "
     "method.",
     "Dr",
     "Page {n} of {of}",
     "H",
     "L"},
    {"Laborbefund",
     "Patient:",
     "Geburtsdatum:",
     "Patientennr.:",
     "Entnahme:",
     "Befund vom:",
     "Einsender:",
     "Auftragsnr.:",
     "Untersuchung",
     "Ergebnis",
     "Einheit",
     "Referenzbereich",
     "",
     "Bemerkung",
     "Freigegeben durch",
     "Mit H oder L gekennzeichnete Werte liegen außerhalb des Referenzbereichs.",
     "Dr.",
     "Seite {n} von {of}",
     "H",
     "L"},
    {"Compte rendu d'analyses",
     "Patient :",
     "Date de naissance :",
     "Dossier n° :",
     "Prélevé le :",
     "Édité le :",
     "Prescripteur :",
     "Demande n° :",
     "Analyse",
     "Résultat",
     "Unité",
     "Valeurs usuelles",
     "",
     "Commentaire",
     "Validé par",
     "Les résultats marqués H ou L sont en dehors des valeurs usuelles.",
     "Dr",
     "Page {n} sur {of}",
     "H",
     "L"},
    {"Informe de laboratorio",
     "Paciente:",
     "Fecha de nacimiento:",
     "Historia n.º:",
     "Extracción:",
     "Informado:",
     "Solicitado por:",
     "Petición n.º:",
     "Prueba",
     "Resultado",
     "Unidad",
     "Valores de referencia",
     "",
     "Comentario",
     "Validado por",
     "Los resultados marcados con H o L están fuera del intervalo de referencia.",
     "Dr.",
     "Página {n} de {of}",
     "H",
     "L"},
};

struct Panel {
  std::string_view key;
  std::string_view titles[kLanguages];
};

constexpr Panel kPanels[] = {
    {"blood", {"Full blood count", "Blutbild", "Numération sanguine", "Hemograma"}},
    {"chemistry", {"Clinical chemistry", "Klinische Chemie", "Biochimie", "Bioquímica"}},
    {"liver", {"Liver profile", "Leberwerte", "Bilan hépatique", "Perfil hepático"}},
    {"lipids", {"Lipids", "Lipide", "Bilan lipidique", "Perfil lipídico"}},
    {"endocrine",
     {"Endocrinology and vitamins", "Hormone und Vitamine", "Hormones et vitamines",
      "Hormonas y vitaminas"}},
    {"cardiac", {"Cardiac markers", "Herzmarker", "Marqueurs cardiaques", "Marcadores cardíacos"}},
    {"special",
     {"Special investigations", "Spezialanalytik", "Analyses spécialisées",
      "Determinaciones especiales"}},
};

Fields particulars(Scribe& scribe, const Words& words, const Style& style) {
  const Patient& patient = scribe.patient();
  Chance& chance = scribe.chance();
  const Person doctor = make_person(chance, scribe.language());
  Fields fields;
  fields.style = style;
  fields.boxed = chance.happens(0.5);
  fields.columns = 2;
  const auto pair = [&](std::string_view key, Prose value) {
    fields.pairs.push_back({std::string(key), std::move(value)});
  };
  pair(words.patient, scribe.person(patient.person, {}, "patient"));
  pair(words.sample,
       scribe.identifier(fmt::format("{}{:06}", chance.pick(std::array{"L", "A", "K"}),
                                     chance.whole(10000, 989999)),
                         "order_number"));
  pair(words.born, scribe.date(patient.born, "birth"));
  pair(words.collected, scribe.date(scribe.earlier(5), "collected"));
  pair(words.number, scribe.identifier(patient.number, "patient_number"));
  pair(words.reported, scribe.date(scribe.today(), "document"));
  pair(words.physician, scribe.person(doctor, words.doctor, "physician"));
  return fields;
}

TableRow result_row(Scribe& scribe, const LabTest& test, const Words& words) {
  const auto result = scribe.lab_result(test, 0.25);
  Fact fact = scribe.fact_of(result);
  if (test.low >= 0) fact.low = test.low;
  fact.high = test.high;
  TableRow row;
  const std::string flag(result.flag.empty()     ? std::string_view()
                         : result.flag == "high" ? words.high
                                                 : words.low);
  row.cells = {Prose(test.name(scribe.language())), Prose(result.value_text), Prose(flag),
               Prose(test.unit), Prose(scribe.range_text(test))};
  row.facts.push_back(std::move(fact));
  return row;
}

Table results(Scribe& scribe, const Words& words, const Style& style) {
  Chance& chance = scribe.chance();
  Table table;
  table.style = style;
  table.look = chance.pick(std::array{TableLook::rules, TableLook::grid, TableLook::zebra});
  table.columns = {{std::string(words.test), 3.2, Align::left},
                   {std::string(words.result), 1.2, Align::right},
                   {std::string(words.flag), 0.7, Align::centre},
                   {std::string(words.unit), 1.2, Align::left},
                   {std::string(words.range), 2.0, Align::left}};
  std::array<std::size_t, std::size(kPanels)> order = {0, 1, 2, 3, 4, 5, 6};
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[chance.index(i + 1)]);
  const std::size_t panels = static_cast<std::size_t>(chance.whole(3, 4));
  for (std::size_t i = 0; i < panels; ++i) {
    // Rare tests in every report: novelty is what the samples are for.
    const Panel& panel = i + 1 == panels ? kPanels[6] : kPanels[order[i]];
    if (i + 1 < panels && panel.key == "special") continue;
    TableRow heading;
    heading.cells = {Prose(panel.titles[at(scribe.language())])};
    heading.bold = true;
    table.rows.push_back(std::move(heading));
    for (const LabTest& test : lab_tests()) {
      if (test.panel != panel.key || chance.happens(panel.key == "special" ? 0.6 : 0.2)) continue;
      table.rows.push_back(result_row(scribe, test, words));
    }
  }
  return table;
}

}  // namespace

Document write_lab_report(Chance chance, Language language) {
  Scribe scribe(language, chance.fork("scribe"));
  Chance& own = scribe.chance();
  const Words& words = kWords[at(language)];
  Style style;
  style.face = own.pick(std::array{Face::sans, Face::sans, Face::serif, Face::dejavu, Face::mono});
  style.size_pt = style.face == Face::dejavu || style.face == Face::mono ? 9.0 : 10.0;
  const Institution laboratory = make_laboratory(own, language);

  Document document;
  document.language = language;
  document.title = words.title;
  document.margin_pt = own.between(52, 64);
  Letterhead head;
  head.lines = {laboratory.name,
                fmt::format("{}, {}", laboratory.place.street, laboratory.place.town)};
  head.face = style.face == Face::mono ? Face::sans : style.face;
  head.centred = own.happens(0.3);
  document.blocks.emplace_back(head);
  Style title = style;
  title.bold = true;
  title.size_pt += 4;
  document.blocks.emplace_back(Paragraph{.text = Prose(words.title), .style = title});
  document.blocks.emplace_back(particulars(scribe, words, style));
  document.blocks.emplace_back(results(scribe, words, style));
  document.blocks.emplace_back(Paragraph{.text = Prose(words.remark), .style = style});
  document.blocks.emplace_back(Gap{8});
  Prose validated;
  validated.say(words.validated).say(" ");
  validated.add(scribe.person(make_person(own, language), words.doctor, "physician"));
  document.blocks.emplace_back(Paragraph{.text = std::move(validated), .style = style});
  document.footer = words.footer;
  document.header = fmt::format("{}, {}", laboratory.name, scribe.patient().number);
  return document;
}

}  // namespace millrace::samples
