#include "extract/unit.h"

#include "extract/terms.h"
#include "layout/clinical/ucum.h"

#include <array>
#include <unordered_map>
#include <utility>

namespace millrace::extract {
namespace {

struct Atom {
  std::string_view text;  // Folded.
  UnitClass kind;
  std::string_view code;
};

// What units are made of, as people write them.
constexpr auto kAtoms = std::to_array<Atom>({
    {"mg", UnitClass::mass, "mg"},
    {"g", UnitClass::mass, "g"},
    {"gm", UnitClass::mass, "g"},
    {"gr", UnitClass::mass, "g"},
    {"mcg", UnitClass::mass, "ug"},
    {"µg", UnitClass::mass, "ug"},
    {"ug", UnitClass::mass, "ug"},
    {"meg", UnitClass::mass, "ug"},  // What OCR makes of mcg.
    {"microg", UnitClass::mass, "ug"},
    {"mikrogramm", UnitClass::mass, "ug"},
    {"microgrammes", UnitClass::mass, "ug"},
    {"microgramos", UnitClass::mass, "ug"},
    {"micrograms", UnitClass::mass, "ug"},
    {"milligrams", UnitClass::mass, "mg"},
    {"milligram", UnitClass::mass, "mg"},
    {"miligramos", UnitClass::mass, "mg"},
    {"grams", UnitClass::mass, "g"},
    {"ng", UnitClass::mass, "ng"},
    {"pg", UnitClass::mass, "pg"},
    {"kg", UnitClass::other, "kg"},
    {"ml", UnitClass::volume, "mL"},
    {"cc", UnitClass::volume, "mL"},
    {"l", UnitClass::volume, "L"},
    {"dl", UnitClass::volume, "dL"},
    {"cl", UnitClass::volume, "cL"},
    {"µl", UnitClass::volume, "uL"},
    {"ul", UnitClass::volume, "uL"},
    {"nl", UnitClass::volume, "nL"},
    {"fl", UnitClass::other, "fL"},
    {"mol", UnitClass::other, "mol"},
    {"mmol", UnitClass::mass, "mmol"},
    {"µmol", UnitClass::other, "umol"},
    {"umol", UnitClass::other, "umol"},
    {"nmol", UnitClass::other, "nmol"},
    {"pmol", UnitClass::other, "pmol"},
    {"meq", UnitClass::mass, "meq"},
    {"u", UnitClass::activity, "U"},
    {"ku", UnitClass::activity, "kU"},
    {"mu", UnitClass::activity, "mU"},
    {"µu", UnitClass::activity, "uU"},
    {"iu", UnitClass::activity, "[iU]"},
    {"ui", UnitClass::activity, "[iU]"},
    {"ie", UnitClass::activity, "[iU]"},
    {"miu", UnitClass::activity, "m[iU]"},
    {"mui", UnitClass::activity, "m[iU]"},
    {"mlu", UnitClass::activity, "m[iU]"},     // As OCR reads it,
    {"vil", UnitClass::concentration, "U/L"},  // and this one.
    {"mie", UnitClass::activity, "m[iU]"},
    {"µiu", UnitClass::activity, "u[iU]"},
    {"µui", UnitClass::activity, "u[iU]"},
    {"µie", UnitClass::activity, "u[iU]"},
    {"uiu", UnitClass::activity, "u[iU]"},
    {"kiu", UnitClass::activity, "k[iU]"},
    {"kui", UnitClass::activity, "k[iU]"},
    {"unit", UnitClass::activity, "[iU]"},
    {"units", UnitClass::activity, "[iU]"},
    {"einheit", UnitClass::activity, "[iU]"},
    {"einheiten", UnitClass::activity, "[iU]"},
    {"unite", UnitClass::activity, "[iU]"},
    {"unites", UnitClass::activity, "[iU]"},
    {"unidad", UnitClass::activity, "[iU]"},
    {"unidades", UnitClass::activity, "[iU]"},
    {"mmhg", UnitClass::other, "mm[Hg]"},
    {"kpa", UnitClass::other, "kPa"},
    {"cmh2o", UnitClass::other, "cm[H2O]"},
    {"°c", UnitClass::other, "Cel"},
    {"°f", UnitClass::other, "[degF]"},
    {"c", UnitClass::other, "Cel"},
    {"f", UnitClass::other, "[degF]"},
    {"cm", UnitClass::other, "cm"},
    {"mm", UnitClass::other, "mm"},
    {"m", UnitClass::other, "m"},
    {"m2", UnitClass::other, "m2"},
    {"m²", UnitClass::other, "m2"},
    {"mm3", UnitClass::volume, "uL"},
    {"mm³", UnitClass::volume, "uL"},
    {"in", UnitClass::other, "[in_i]"},
    {"inches", UnitClass::other, "[in_i]"},
    {"ft", UnitClass::other, "[ft_i]"},
    {"lb", UnitClass::other, "[lb_av]"},
    {"lbs", UnitClass::other, "[lb_av]"},
    {"kilogramm", UnitClass::other, "kg"},
    {"oz", UnitClass::other, "[oz_av]"},
    {"s", UnitClass::other, "s"},
    {"sec", UnitClass::other, "s"},
    {"sek", UnitClass::other, "s"},
    {"seconds", UnitClass::other, "s"},
    {"min", UnitClass::other, "min"},
    {"h", UnitClass::other, "h"},
    {"hr", UnitClass::other, "h"},
    {"std", UnitClass::other, "h"},
    {"hour", UnitClass::other, "h"},
    {"day", UnitClass::other, "d"},
    {"d", UnitClass::other, "d"},
    {"24h", UnitClass::other, "(24.h)"},
    {"bpm", UnitClass::other, "/min"},
    {"lpm", UnitClass::other, "/min"},
    {"mosm", UnitClass::other, "mosm"},
    {"mosmol", UnitClass::other, "mosm"},
    {"hpf", UnitClass::other, "[HPF]"},
    {"lpf", UnitClass::other, "[LPF]"},
    {"beats", UnitClass::other, "{beats}"},
    {"breaths", UnitClass::other, "{breaths}"},
    {"cells", UnitClass::other, "{cells}"},
    {"zellen", UnitClass::other, "{cells}"},
    {"copies", UnitClass::other, "{copies}"},
    {"ratio", UnitClass::other, "{ratio}"},
    {"index", UnitClass::other, "{index}"},
    {"schlage", UnitClass::other, "{beats}"},
    {"batt", UnitClass::other, "{beats}"},
    {"battements", UnitClass::other, "{beats}"},
    {"latidos", UnitClass::other, "{beats}"},
    {"ipm", UnitClass::other, "/min"},
    {"rpm", UnitClass::other, "/min"},
    {"puff", UnitClass::count, "{puff}"},
    {"puffs", UnitClass::count, "{puff}"},
    {"actuation", UnitClass::count, "{actuation}"},
    {"dose", UnitClass::count, "{dose}"},
    {"hub", UnitClass::count, "{puff}"},
    {"tablette", UnitClass::count, "{tablet}"},
    {"tabletten", UnitClass::count, "{tablet}"},
    {"tbl", UnitClass::count, "{tablet}"},
    {"tabl", UnitClass::count, "{tablet}"},
    {"filmtablette", UnitClass::count, "{tablet}"},
    {"filmtabletten", UnitClass::count, "{tablet}"},
    {"comprime", UnitClass::count, "{tablet}"},
    {"comprimes", UnitClass::count, "{tablet}"},
    {"cp", UnitClass::count, "{tablet}"},
    {"cpr", UnitClass::count, "{tablet}"},
    {"comprimido", UnitClass::count, "{tablet}"},
    {"comprimidos", UnitClass::count, "{tablet}"},
    {"tableta", UnitClass::count, "{tablet}"},
    {"tabletas", UnitClass::count, "{tablet}"},
    {"kapsel", UnitClass::count, "{capsule}"},
    {"kapseln", UnitClass::count, "{capsule}"},
    {"kps", UnitClass::count, "{capsule}"},
    {"gelule", UnitClass::count, "{capsule}"},
    {"gelules", UnitClass::count, "{capsule}"},
    {"capsula", UnitClass::count, "{capsule}"},
    {"capsulas", UnitClass::count, "{capsule}"},
    {"tropfen", UnitClass::count, "[drp]"},
    {"goutte", UnitClass::count, "[drp]"},
    {"gouttes", UnitClass::count, "[drp]"},
    {"gota", UnitClass::count, "[drp]"},
    {"gotas", UnitClass::count, "[drp]"},
    {"hube", UnitClass::count, "{puff}"},
    {"bouffee", UnitClass::count, "{puff}"},
    {"bouffees", UnitClass::count, "{puff}"},
    {"inhalacion", UnitClass::count, "{puff}"},
    {"inhalaciones", UnitClass::count, "{puff}"},
    {"tsd", UnitClass::none, "10*3"},
    {"k", UnitClass::none, "10*3"},
    {"thou", UnitClass::none, "10*3"},
    {"mio", UnitClass::none, "10*6"},
    {"mill", UnitClass::none, "10*6"},
    {"millones", UnitClass::none, "10*6"},
    {"giga", UnitClass::none, "10*9"},
    {"gpt", UnitClass::none, "10*9"},
    {"tpt", UnitClass::none, "10*12"},
    {"tera", UnitClass::none, "10*12"},
});

const Atom* atom_of(std::string_view fold) {
  static const auto kByText = [] {
    std::unordered_map<std::string_view, const Atom*> map;
    for (const auto& atom : kAtoms) map.emplace(atom.text, &atom);
    return map;
  }();
  const auto at = kByText.find(fold);
  return at == kByText.end() ? nullptr : at->second;
}

bool is_figure(char c) { return c >= '0' && c <= '9'; }

std::string_view text_of(const Token& token, std::string_view text) {
  return text.substr(token.bytes.begin, token.bytes.size());
}

// The power of ten behind "10": 3, 6, 9 or 12, in any way of raising it. OCR makes a four or a
// quote of the small hat ("1049/L").
std::string power_of(std::string_view rest) {
  static constexpr auto kSigns = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"³", "3"}, {"⁶", "6"}, {"⁹", "9"}, {"¹²", "12"}});
  for (const auto& [sign, figures] : kSigns) {
    if (rest == sign) return std::string(figures);
  }
  if (rest.size() > 1 && !is_figure(rest[0])) rest.remove_prefix(1);
  if (rest.size() > 1 && rest[0] == '4') rest.remove_prefix(1);
  const bool power = rest == "3" || rest == "6" || rest == "9" || rest == "12";
  return power ? std::string(rest) : std::string();
}

// "10^9", "10*9", "10e9", "x10^9", "x 10³": how many tokens, and the code.
std::pair<std::size_t, std::string> read_power(std::span<const Token> tokens, std::size_t at) {
  auto i = at;
  if (i < tokens.size() && (tokens[i].is("x") || tokens[i].is("*"))) ++i;
  if (i >= tokens.size()) return {};
  std::string_view whole = tokens[i].fold;
  if (whole.starts_with('x')) whole.remove_prefix(1);
  if (!whole.starts_with("10")) return {};
  if (const auto power = power_of(whole.substr(2)); !power.empty()) {
    return {i + 1 - at, "10*" + power};  // "x109", "x10e9"
  }
  if (whole != "10" || i + 1 >= tokens.size() || !tokens[i + 1].glued) return {};
  if (!tokens[i + 1].is_number()) {
    if (const auto power = power_of(tokens[i + 1].fold); !power.empty()) {
      return {i + 2 - at, "10*" + power};
    }
  }
  // One sign, whatever it was, between the ten and its power.
  const bool sign =
      tokens[i + 1].kind == TokenKind::punct && !tokens[i + 1].is("/") && !tokens[i + 1].is("-");
  if (!(sign || tokens[i + 1].is("e")) || i + 2 >= tokens.size() || !tokens[i + 2].glued) return {};
  if (const auto power = power_of(tokens[i + 2].fold);
      !power.empty() && tokens[i + 2].is_number()) {
    return {i + 3 - at, "10*" + power};
  }
  return {};
}

struct Part {
  std::size_t tokens = 0;
  UnitClass kind = UnitClass::none;
  std::string code = {};
  bool mass = false;  // Figures and a mass.
};

// French counts cells in giga and tera per litre, with capitals that mean nothing else there.
std::string_view french_count(std::string_view printed, std::span<const Token> tokens,
                              std::size_t at) {
  const bool per_litre = at + 2 < tokens.size() && tokens[at + 1].is("/") && tokens[at + 2].is("l");
  if (!per_litre) return {};
  if (printed == "G") return "10*9";
  return printed == "T" ? "10*12" : std::string_view();
}

Part read_numerator(std::span<const Token> tokens, std::size_t at, std::string_view text) {
  if (at >= tokens.size()) return {};
  const auto& token = tokens[at];
  if (token.is("%")) return {.tokens = 1, .kind = UnitClass::percent, .code = "%"};
  if (token.is("/")) return {};
  if (auto [used, code] = read_power(tokens, at); used > 0) {
    return {.tokens = used, .kind = UnitClass::none, .code = std::move(code)};
  }
  if (token.is("°") && at + 1 < tokens.size() &&
      (tokens[at + 1].is("c") || tokens[at + 1].is("f"))) {
    return {
        .tokens = 2, .kind = UnitClass::other, .code = tokens[at + 1].is("c") ? "Cel" : "[degF]"};
  }
  if (token.is("mm") && at + 1 < tokens.size() && tokens[at + 1].is("hg")) {
    return {.tokens = 2, .kind = UnitClass::other, .code = "mm[Hg]"};
  }
  if (const auto power = french_count(text_of(token, text), tokens, at); !power.empty()) {
    return {.tokens = 1, .kind = UnitClass::none, .code = std::string(power)};
  }
  const auto* atom = atom_of(token.fold);
  if (atom != nullptr) {
    return {.tokens = 1, .kind = atom->kind, .code = std::string(atom->code)};
  }
  const auto form = Terms::get().longest(tokens, at, bit(Is::form));
  if (form.tokens > 0 && token.fold.size() > 2) {
    const auto printed =
        text.substr(token.bytes.begin, tokens[at + form.tokens - 1].bytes.end - token.bytes.begin);
    auto code = layout::clinical::to_ucum(printed);
    return {.tokens = form.tokens,
            .kind = UnitClass::count,
            .code = code ? *code : std::string(printed)};
  }
  return {};
}

// Behind a slash: "dL", "24h", "5 mL", "1.73 m²", "(1.73m2)", "puff".
Part read_denominator(std::span<const Token> tokens, std::size_t at) {
  auto i = at;
  bool open = false;
  if (i < tokens.size() && tokens[i].is("(")) {
    open = true;
    ++i;
  }
  std::string number;
  if (i < tokens.size() && tokens[i].is_number() && same_line(tokens, i)) number = tokens[i++].fold;
  if (i >= tokens.size() || !same_line(tokens, i)) return {};
  // OCR reads "U/L" as "U/I".
  const std::string_view fold = tokens[i].fold;
  const auto* atom = atom_of(fold == "i" ? "l" : fold == "di" ? "dl" : fold == "mi" ? "ml" : fold);
  if (atom == nullptr) return {};
  ++i;
  if (open && i < tokens.size() && tokens[i].is(")")) ++i;
  Part part{.tokens = i - at, .kind = atom->kind};
  if (number.empty()) {
    part.code = atom->code;
  } else if (number == "1.73" || number == "1,73") {
    part.code = "{1.73_m2}";
    part.kind = UnitClass::other;
  } else if (number == "24") {
    part.code = "(24.h)";
    part.kind = UnitClass::other;
  } else {
    part.code = number + std::string(atom->code);
    part.kind = UnitClass::strength;
    part.mass = atom->kind == UnitClass::mass && number != "1" && number != "100";
  }
  return part;
}

bool is_given_per(std::string_view code) {
  return code == "kg" || code == "{puff}" || code == "{actuation}" || code == "{dose}" ||
         code == "h" || code == "d" || code == "min";
}

// What a fraction is: a result, or the strength of a medicine.
UnitClass fraction_kind(const Part& top, const Part& bottom) {
  if (bottom.kind == UnitClass::strength) return UnitClass::strength;
  const bool mass = top.kind == UnitClass::mass || top.kind == UnitClass::activity;
  if (mass && is_given_per(bottom.code)) return UnitClass::strength;
  // An infusion of 75 mL/h; what kidneys do is told by the minute.
  if (top.kind == UnitClass::volume && bottom.code == "h") return UnitClass::strength;
  return UnitClass::concentration;
}

Unit read_fraction(std::span<const Token> tokens, std::size_t at, Part top) {
  Unit unit{.tokens = top.tokens, .kind = top.kind, .code = std::move(top.code)};
  top.code = unit.code;
  bool fraction = false;
  while (at + unit.tokens < tokens.size() && tokens[at + unit.tokens].is("/") &&
         same_line(tokens, at + unit.tokens)) {
    const auto bottom = read_denominator(tokens, at + unit.tokens + 1);
    if (bottom.tokens == 0 || bottom.mass) break;  // "875 mg/125 mg" has two doses.
    unit.kind = fraction_kind(top, bottom);
    unit.code += '/' + bottom.code;
    unit.tokens += 1 + bottom.tokens;
    fraction = true;
  }
  // "10^9" and "K" alone are no units.
  if (!fraction && unit.kind == UnitClass::none) return {};
  return unit;
}

}  // namespace

bool is_unit_word(std::string_view fold) { return atom_of(fold) != nullptr; }

// A number and its unit may be parted by the end of a line. Rows of tables are spans of their own.
bool same_line(std::span<const Token> tokens, std::size_t at) {
  return at < tokens.size() && at > 0 && tokens[at].line <= tokens[at - 1].line + 1;
}

bool is_dose_unit(UnitClass kind) {
  return kind == UnitClass::mass || kind == UnitClass::count || kind == UnitClass::volume ||
         kind == UnitClass::activity || kind == UnitClass::strength || kind == UnitClass::percent;
}

Unit read_unit(std::span<const Token> tokens, std::size_t at, std::string_view text) {
  if (at >= tokens.size()) return {};
  if (tokens[at].is("/")) {  // "72/min", "8 /µL"
    const auto bottom = read_denominator(tokens, at + 1);
    if (bottom.tokens == 0 || bottom.kind == UnitClass::strength) return {};
    return {
        .tokens = 1 + bottom.tokens, .kind = UnitClass::concentration, .code = '/' + bottom.code};
  }
  auto top = read_numerator(tokens, at, text);
  if (top.tokens == 0) return {};
  return read_fraction(tokens, at, std::move(top));
}

}  // namespace millrace::extract
