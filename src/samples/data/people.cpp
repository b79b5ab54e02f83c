#include "samples/data/people.h"

#include <fmt/format.h>

#include <string_view>

namespace millrace::samples {
namespace {

constexpr std::string_view kFemale[kLanguages][14] = {
    {"Eleanor", "Grace", "Harriet", "Ivy", "Joanna", "Margaret", "Priya", "Ruth", "Sandra",
     "Theresa", "Wendy", "Abigail", "Fiona", "Naomi"},
    {"Anneliese", "Birgit", "Christa", "Dorothea", "Elke", "Friederike", "Gisela", "Heike", "Ilse",
     "Jutta", "Karin", "Lieselotte", "Monika", "Renate"},
    {"Agnès", "Brigitte", "Camille", "Delphine", "Élodie", "Françoise", "Geneviève", "Hélène",
     "Isabelle", "Jeanne", "Lucie", "Margaux", "Noémie", "Odile"},
    {"Almudena", "Beatriz", "Carmen", "Dolores", "Elena", "Fátima", "Gloria", "Inés", "Josefa",
     "Lucía", "Marta", "Nuria", "Pilar", "Rocío"}};

constexpr std::string_view kMale[kLanguages][14] = {
    {"Alfred", "Benjamin", "Colin", "Dennis", "Edwin", "Gareth", "Howard", "Imran", "Leonard",
     "Malcolm", "Nigel", "Oliver", "Stuart", "Winston"},
    {"Albrecht", "Bernd", "Claus", "Detlef", "Egon", "Friedhelm", "Gerhard", "Horst", "Jürgen",
     "Karl-Heinz", "Lothar", "Manfred", "Norbert", "Rüdiger"},
    {"Adrien", "Baptiste", "Cédric", "Didier", "Étienne", "Fabrice", "Gérard", "Hugues", "Julien",
     "Laurent", "Matthieu", "Olivier", "Pascal", "Rémi"},
    {"Alfonso", "Bernardo", "Cristóbal", "Diego", "Emilio", "Fernando", "Gonzalo", "Hernán",
     "Ignacio", "Joaquín", "Leandro", "Marcos", "Octavio", "Ramón"}};

constexpr std::string_view kFamily[kLanguages][18] = {
    {"Ashdown", "Barlow", "Crompton", "Delaney", "Eastwood", "Farrell", "Garrick", "Hollis",
     "Inskip", "Jessop", "Kirkbride", "Lockwood", "Marchbank", "Northcote", "Ormerod", "Pemberton",
     "Quayle", "Rushworth"},
    {"Ackermann", "Bruckner", "Dietzel", "Eberhardt", "Falkenberg", "Grünwald", "Hagedorn",
     "Jankowski", "Kessler", "Lindner", "Möller", "Niemeyer", "Pfeiffer", "Röder", "Steinbach",
     "Tillmann", "Vogelsang", "Wittkamp"},
    {"Aubertin", "Beaumont", "Chevallier", "Dumontel", "Estève", "Fournel", "Garancher",
     "Hautecœur", "Jolivet", "Lacombe", "Maréchal", "Noirot", "Pellerin", "Quéméneur", "Roussel",
     "Sauvageot", "Tessier", "Vasseur"},
    {"Aguirre", "Barrientos", "Cifuentes", "Domínguez", "Echeverría", "Fuentes", "Garrido",
     "Herrero", "Izquierdo", "Lozano", "Montalbán", "Navarrete", "Olmedo", "Peñalver", "Quintero",
     "Robledo", "Sepúlveda", "Valcárcel"}};

constexpr std::string_view kStreets[kLanguages][8] = {
    {"Orchard Lane", "Mill Road", "St Anne's Terrace", "Kingsway", "Bridge Street", "Harbour View",
     "Elm Grove", "Station Road"},
    {"Lindenallee", "Am Mühlbach", "Bahnhofstraße", "Kastanienweg", "Schillerstraße",
     "Uferpromenade", "Rosengasse", "Hauptstraße"},
    {"rue des Tilleuls", "avenue de la Gare", "place du Marché", "rue Victor-Hugo",
     "chemin des Vignes", "quai de la Loire", "rue du Moulin", "boulevard Pasteur"},
    {"Calle Mayor", "Avenida del Puerto", "Calle de la Rosa", "Plaza Nueva", "Calle San Martín",
     "Paseo de la Estación", "Calle del Olmo", "Ronda Norte"}};

constexpr std::string_view kTowns[kLanguages][7] = {
    {"Wexbury WX4 2LD", "Thornby TH1 9QA", "Port Calder PC7 3EX", "Lowmoor LM2 8RB",
     "Ashcombe AS5 1JT", "Greyford GF3 6PN", "Harlow Bay HB9 4SU"},
    {"34121 Niederfelde", "79104 Bad Wallstein", "01187 Elbtal", "55130 Rheinau",
     "21075 Nordermarsch", "86199 Lechhausen", "48155 Gremmen"},
    {"37000 Valmont-sur-Loire", "69007 Saint-Brice", "44300 Port-Lannec", "31500 Montrozier",
     "21000 Beauclair", "67200 Eckwihr", "13008 Les Calans"},
    {"28015 Villanueva", "41010 San Telmo", "50006 Ribera Alta", "15003 Porto Luar",
     "46021 Costablanca", "37007 Peñarroya", "18012 Vega del Río"}};

constexpr std::string_view kHospitals[kLanguages][5] = {
    {"St Brannock's Hospital", "Wexbury General Hospital", "Calder Valley Medical Centre",
     "The Royal Infirmary of Thornby", "Lakeside Community Hospital"},
    {"Klinikum Niederfelde", "St.-Elisabeth-Krankenhaus Rheinau", "Kreisklinik Gremmen",
     "Universitätsklinikum Elbtal", "Fachklinik Bad Wallstein"},
    {"Centre hospitalier de Valmont", "Hôpital Saint-Brice", "Clinique du Parc",
     "Hôpital de la Côte", "Centre médical des Tilleuls"},
    {"Hospital General de San Telmo", "Clínica Ribera Alta", "Hospital Virgen del Olmo",
     "Complejo Hospitalario Porto Luar", "Centro Médico Costablanca"}};

constexpr std::string_view kDepartments[kLanguages][5] = {
    {"Department of Cardiology", "Department of General Medicine", "Respiratory Unit",
     "Department of Nephrology", "Department of Rheumatology"},
    {"Klinik für Kardiologie", "Klinik für Innere Medizin", "Abteilung für Pneumologie",
     "Klinik für Nephrologie", "Abteilung für Rheumatologie"},
    {"Service de cardiologie", "Service de médecine interne", "Service de pneumologie",
     "Service de néphrologie", "Service de rhumatologie"},
    {"Servicio de Cardiología", "Servicio de Medicina Interna", "Servicio de Neumología",
     "Servicio de Nefrología", "Servicio de Reumatología"}};

constexpr std::string_view kLaboratories[kLanguages][4] = {
    {"Northgate Pathology Services", "Calder Clinical Laboratories", "Meridian Diagnostics",
     "Wexbury Pathology Partnership"},
    {"Labormedizin Wittkamp", "MVZ Labordiagnostik Rheinau", "Zentrallabor Elbtal",
     "Laborgemeinschaft Gremmen"},
    {"Laboratoire Beauclair", "Biologie médicale du Parc", "Laboratoire de la Loire",
     "Laboratoire Pellerin"},
    {"Laboratorios Vega", "Análisis Clínicos Montalbán", "Laboratorio Central San Telmo",
     "Diagnósticos Ribera"}};

constexpr std::string_view kCompanies[kLanguages][4] = {
    {"Hartwell Surgical Supplies Ltd", "Brightwater Mobility Ltd", "Greyford Home Care plc",
     "Oakline Medical Devices Ltd"},
    {"Sanitätshaus Lindner GmbH", "Medizintechnik Hagedorn KG", "Rheinau Pflegebedarf GmbH",
     "Steinbach Orthopädie GmbH"},
    {"Fournel Matériel Médical SARL", "Beaumont Santé SAS", "Ateliers Roussel",
     "Vasseur Médical SA"},
    {"Suministros Médicos Herrero S.L.", "Ortopedia Lozano S.A.", "Navarrete Salud S.L.",
     "Material Clínico Olmedo S.L."}};

std::string phone_number(Chance& chance, Language language) {
  switch (language) {
    case Language::en:
      return fmt::format("01{} {}", chance.whole(200, 989), chance.whole(204000, 998999));
    case Language::de:
      return fmt::format("0{} {}-{}", chance.whole(231, 989), chance.whole(2040, 9989),
                         chance.whole(100, 999));
    case Language::fr:
      return fmt::format("0{} {} {} {} {}", chance.whole(2, 5), chance.whole(10, 98),
                         chance.whole(10, 98), chance.whole(10, 98), chance.whole(10, 98));
    case Language::es:
      return fmt::format("9{} {} {} {}", chance.whole(10, 88), chance.whole(10, 98),
                         chance.whole(10, 98), chance.whole(10, 98));
  }
  return {};
}

template <std::size_t n>
std::string any(Chance& chance, const std::string_view (&list)[n]) {
  return std::string(list[chance.index(n)]);
}

}  // namespace

Person make_person(Chance& chance, Language language) {
  Person person;
  person.female = chance.happens(0.5);
  person.given = any(chance, person.female ? kFemale[at(language)] : kMale[at(language)]);
  person.family = any(chance, kFamily[at(language)]);
  return person;
}

Place make_place(Chance& chance, Language language) {
  const std::string street = any(chance, kStreets[at(language)]);
  const int number = chance.whole(1, 189);
  Place place;
  switch (language) {
    case Language::en:
      place.street = fmt::format("{} {}", number, street);
      break;
    case Language::de:
      place.street = fmt::format("{} {}", street, number);
      break;
    case Language::fr:
      place.street = fmt::format("{}, {}", number, street);
      break;
    case Language::es:
      place.street = fmt::format("{}, {}", street, number);
      break;
  }
  place.town = any(chance, kTowns[at(language)]);
  return place;
}

Institution make_hospital(Chance& chance, Language language) {
  return {.name = any(chance, kHospitals[at(language)]),
          .department = any(chance, kDepartments[at(language)]),
          .place = make_place(chance, language),
          .phone = phone_number(chance, language)};
}

Institution make_laboratory(Chance& chance, Language language) {
  return {.name = any(chance, kLaboratories[at(language)]),
          .department = {},
          .place = make_place(chance, language),
          .phone = phone_number(chance, language)};
}

Institution make_company(Chance& chance, Language language) {
  return {.name = any(chance, kCompanies[at(language)]),
          .department = {},
          .place = make_place(chance, language),
          .phone = phone_number(chance, language)};
}

}  // namespace millrace::samples
