#include "samples/data/people.h"
#include "samples/writing/scribe.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace millrace::samples {
namespace {

struct Words {
  std::string_view title, number, date, due, customer, position, description, quantity, price, sum;
  std::string_view net, tax, total, terms, footer;
  double tax_rate;
  std::string_view currency;
};

constexpr Words kWords[kLanguages] = {
    {"INVOICE", "Invoice no.:", "Invoice date:", "Payment due:", "Bill to:", "No.", "Description",
     "Qty", "Unit price", "Amount", "Subtotal", "VAT 20%", "Total due",
     "Please quote the invoice number with your payment. Goods remain our property until paid in "
     "full.",
     "Page {n} of {of}", 0.20, "GBP"},
    {"RECHNUNG", "Rechnungsnr.:", "Rechnungsdatum:", "Zahlbar bis:", "Rechnung an:", "Pos.",
     "Bezeichnung", "Menge", "Einzelpreis", "Betrag", "Zwischensumme", "MwSt. 19 %", "Gesamtbetrag",
     "Bitte überweisen Sie den Betrag unter Angabe der Rechnungsnummer. Die Ware bleibt bis zur "
     "vollständigen Bezahlung unser Eigentum.",
     "Seite {n} von {of}", 0.19, "EUR"},
    {"FACTURE", "Facture n° :", "Date de facture :", "Échéance :", "Facturé à :", "N°",
     "Désignation", "Qté", "Prix unitaire", "Montant", "Total HT", "TVA 20 %", "Total TTC",
     "Merci de rappeler le numéro de facture lors du règlement. Aucun escompte pour paiement "
     "anticipé.",
     "Page {n} sur {of}", 0.20, "EUR"},
    {"FACTURA", "Factura n.º:", "Fecha de factura:", "Vencimiento:", "Facturar a:", "N.º",
     "Descripción", "Cant.", "Precio", "Importe", "Base imponible", "IVA 21 %", "Total",
     "Rogamos indique el número de factura al realizar el pago. La mercancía es de nuestra "
     "propiedad hasta su pago.",
     "Página {n} de {of}", 0.21, "EUR"},
};

constexpr std::string_view kGoods[kLanguages][10] = {
    {"Wheelchair, folding", "Bandage, elastic 8 cm", "Examination gloves, box of 100",
     "Blood pressure monitor", "Walking frame with wheels", "Home visit, nursing care",
     "Compression stockings", "Shower chair", "Pulse oximeter", "Delivery and fitting"},
    {"Rollstuhl, faltbar", "Elastische Binde 8 cm", "Untersuchungshandschuhe, 100 Stück",
     "Blutdruckmessgerät", "Gehwagen mit Rädern", "Hausbesuch Pflegedienst", "Kompressionsstrümpfe",
     "Duschstuhl", "Pulsoximeter", "Lieferung und Anpassung"},
    {"Fauteuil roulant pliant", "Bande élastique 8 cm", "Gants d'examen, boîte de 100",
     "Tensiomètre électronique", "Déambulateur à roulettes", "Visite à domicile, soins",
     "Bas de contention", "Chaise de douche", "Oxymètre de pouls", "Livraison et réglage"},
    {"Silla de ruedas plegable", "Venda elástica 8 cm", "Guantes de exploración, caja de 100",
     "Tensiómetro digital", "Andador con ruedas", "Visita a domicilio, enfermería",
     "Medias de compresión", "Silla de ducha", "Pulsioxímetro", "Entrega y ajuste"},
};

TableRow total_row(std::string_view title, const std::string& amount, bool bold) {
  TableRow row;
  row.cells = {Prose(""), Prose(title), Prose(""), Prose(""), Prose(amount)};
  row.bold = bold;
  return row;
}

Table positions(Scribe& scribe, const Words& words, const Style& style) {
  Chance& chance = scribe.chance();
  const auto& goods = kGoods[at(scribe.language())];
  Table table;
  table.style = style;
  table.look = chance.pick(std::array{TableLook::rules, TableLook::grid, TableLook::zebra});
  table.columns = {{std::string(words.position), 0.6, Align::left},
                   {std::string(words.description), 4.0, Align::left},
                   {std::string(words.quantity), 0.9, Align::right},
                   {std::string(words.price), 1.5, Align::right},
                   {std::string(words.sum), 1.6, Align::right}};
  double net = 0;
  const int count = chance.whole(3, 8);
  const std::size_t first = chance.index(std::size(goods));
  for (int i = 0; i < count; ++i) {
    const int quantity = chance.whole(1, 6);
    const double price = chance.whole(450, 28900) / 100.0;
    net += quantity * price;
    TableRow row;
    row.cells = {Prose(fmt::format("{}", i + 1)),
                 Prose(goods[(first + static_cast<std::size_t>(i)) % std::size(goods)]),
                 Prose(fmt::format("{}", quantity)), Prose(scribe.number(price, 2)),
                 Prose(scribe.number(quantity * price, 2))};
    table.rows.push_back(std::move(row));
  }
  const double tax = std::round(net * words.tax_rate * 100) / 100;
  table.rows.push_back(total_row(words.net, scribe.number(net, 2), false));
  table.rows.push_back(total_row(words.tax, scribe.number(tax, 2), false));
  table.rows.push_back(total_row(fmt::format("{} ({})", words.total, words.currency),
                                 scribe.number(net + tax, 2), true));
  return table;
}

}  // namespace

Document write_invoice(Chance chance, Language language) {
  Scribe scribe(language, chance.fork("scribe"));
  Chance& own = scribe.chance();
  const Words& words = kWords[at(language)];
  const Institution company = make_company(own, language);
  Style style;
  style.face = own.pick(std::array{Face::sans, Face::serif, Face::dejavu});
  style.size_pt = style.face == Face::dejavu ? 9.0 : 10.0;

  Document document;
  document.language = language;
  document.title = words.title;
  Letterhead head;
  head.lines = {company.name, company.place.street + ", " + company.place.town};
  head.face = style.face;
  document.blocks.emplace_back(head);
  const Patient& patient = scribe.patient();
  Prose address;
  address.say(words.customer).say("\n").add(scribe.person(patient.person, {}, "customer"));
  address.say("\n").say(patient.place.street).say("\n").say(patient.place.town);
  document.blocks.emplace_back(
      Paragraph{.text = std::move(address), .style = style, .after_pt = 14});
  Style title = style;
  title.bold = true;
  title.size_pt = 15;
  document.blocks.emplace_back(Paragraph{.text = Prose(words.title), .style = title});
  Fields fields;
  fields.style = style;
  fields.columns = 1;
  const std::string number = fmt::format("{}-{:05}", own.whole(2100, 2599), own.whole(100, 99999));
  fields.pairs = {
      {std::string(words.number), scribe.identifier(number, "invoice_number")},
      {std::string(words.date), scribe.date(scribe.today(), "document")},
      {std::string(words.due),
       scribe.date(plain_day(own, scribe.today() + std::chrono::days(14), 30), "due")},
  };
  document.blocks.emplace_back(std::move(fields));
  document.blocks.emplace_back(positions(scribe, words, style));
  document.blocks.emplace_back(Paragraph{.text = Prose(words.terms), .style = style});
  document.footer = words.footer;
  return document;
}

}  // namespace millrace::samples
