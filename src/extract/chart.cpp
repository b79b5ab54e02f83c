#include "extract/chart.h"

#include "extract/frequency.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace millrace::extract {
namespace {

constexpr Kinds kNames = bit(Is::drug) | bit(Is::analyte) | bit(Is::vital) | bit(Is::allergen) |
                         bit(Is::reaction) | bit(Is::condition) | bit(Is::procedure) |
                         bit(Is::vaccine);
constexpr Kinds kWordKinds = kNames | bit(Is::common) | bit(Is::condition_head) | bit(Is::title) |
                             bit(Is::courtesy) | bit(Is::credential) | bit(Is::role) |
                             bit(Is::organization) | bit(Is::form) | bit(Is::negated_before) |
                             bit(Is::family_before);

class Charter {
 public:
  Charter(const PageReading& page, TokenRange range, const Manner& manner)
      : tokens_(std::span<const Token>(page.tokens).first(range.end)),
        text_(page.page->text),
        at_(range.first),
        first_(range.first),
        manner_(manner) {}

  std::vector<Item> run() {
    while (at_ < tokens_.size()) {
      auto item = next();
      at_ = item.tokens.end;
      out_.push_back(std::move(item));
    }
    return std::move(out_);
  }

 private:
  Item piece(Piece what, std::size_t tokens, Kinds kinds = 0) const {
    return {.piece = what, .tokens = {.first = at_, .end = at_ + tokens}, .kinds = kinds};
  }

  Item next() {
    const auto& token = tokens_[at_];
    if (const auto date = read_date(tokens_, at_, manner_.order, may_be_year()); date.tokens > 0) {
      return piece(Piece::date, date.tokens);
    }
    if (const auto used = moment(); used > 0) return piece(Piece::word, used, bit(Is::common));
    if (token.is_number() || token.is("<") || token.is(">") || token.is("≤") || token.is("≥")) {
      return next_number();
    }
    if (token.is("½") || token.is("¼") || token.is("¾")) {
      if (const auto used = read_frequency(tokens_, at_); used > 0)
        return piece(Piece::frequency, used);
      if (auto part = read_quantity(tokens_, at_, text_, manner_.decimal); part.tokens > 0)
        return quantity_piece(std::move(part));
    }
    if (token.is("'") && is_cut_year()) return piece(Piece::date, 2);
    // "4.2 -> 2.1" compares nothing.
    if (token.is("-") && at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(">") &&
        tokens_[at_ + 1].glued)
      return piece(Piece::sign, 2);
    if (!flag_of(token).empty() && behind_value()) return piece(Piece::flag, 1);
    if (!token.is_word()) {
      // "× 5 days"
      if (token.is("x")) {
        if (const auto used = read_duration(tokens_, at_); used > 0)
          return piece(Piece::duration, used);
      }
      if (token.is("/")) {
        const bool dosed =
            !out_.empty() &&
            (out_.back().is(Piece::form) ||
             (out_.back().is(Piece::quantity) && is_dose_unit(out_.back().quantity.unit.kind)));
        if (const auto used = read_frequency(tokens_, at_); used > 0 && (dosed || is_about_drug()))
          return piece(Piece::frequency, used);
      }
      if (token.is("/") || token.is("%")) {
        if (const auto unit = read_unit(tokens_, at_, text_); unit.tokens > 0)
          return unit_piece(unit);
      }
      return piece(Piece::sign, 1);
    }
    return next_word();
  }

  Item unit_piece(const Unit& unit) const {
    auto item = piece(Piece::unit, unit.tokens);
    item.quantity.unit = unit;
    return item;
  }

  // "in '19"
  bool is_cut_year() const {
    return at_ > first_ && at_ + 1 < tokens_.size() &&
           read_date(tokens_, at_, manner_.order, true).tokens == 2 &&
           one_of(tokens_[at_ - 1].fold,
                  {"in", "since", "early", "late", "until", "from", "by", "before", "after",
                   "spring", "summer", "fall", "autumn", "winter"});
  }

  // A year by itself is a date only where a date belongs.
  bool may_be_year() const {
    if (!tokens_[at_].is_number() || tokens_[at_].fold.size() != 4) return false;
    if (at_ + 1 < tokens_.size() && tokens_[at_ + 1].glued &&
        (tokens_[at_ + 1].is("-") || tokens_[at_ + 1].is("/")) && at_ + 2 < tokens_.size() &&
        tokens_[at_ + 2].is_number()) {
      return false;
    }
    if (at_ == first_) return false;
    const auto& before = tokens_[at_ - 1].fold;
    const bool led = one_of(
        before, {"in",    "since",        "from",  "until",   "year",   "seit",      "jahr",
                 "jahre", "im",           "bis",   "von",     "ab",     "en",        "depuis",
                 "annee", "desde",        "ano",   "hasta",   "circa",  "about",     "around",
                 "early", "late",         "mid",   "of",      "ca",     "anfang",    "ende",
                 "mitte", "vers",         "hacia", "before",  "after",  "vor",       "nach",
                 "avant", "apres",        "antes", "despues", "del",    "diagnosed", "dx",
                 "ed",    "erstdiagnose", "jusqu", "by",      "during", "to",        "-"});
    if (led) return true;
    const bool enclosed = before == "(" && at_ + 1 < tokens_.size() &&
                          (tokens_[at_ + 1].is(")") || tokens_[at_ + 1].is(","));
    if (is_year_of_event()) return true;
    const bool comma = before == "," && (at_ + 1 == tokens_.size() || tokens_[at_ + 1].is(")") ||
                                         tokens_[at_ + 1].is("."));
    return enclosed || comma;
  }

  // "Appendectomy 1998, asthma": the year of what stands before it.
  bool is_year_of_event() const {
    const auto& fold = tokens_[at_].fold;
    if (out_.empty() || !(fold.starts_with("19") || fold.starts_with("20"))) return false;
    const bool event = out_.back().is(Piece::term) &&
                       (out_.back().is(Is::condition) || out_.back().is(Is::procedure));
    const auto next = at_ + 1;
    const bool closed = next >= tokens_.size() || tokens_[next].line != tokens_[at_].line ||
                        (tokens_[next].kind == TokenKind::punct && !tokens_[next].is("/") &&
                         !tokens_[next].is("-"));
    return event && closed;
  }

  // "Rose from 1.1 to 2.3": two values, and no range.
  bool is_changing() const {
    if (at_ < first_ + 2 || !one_of(tokens_[at_ - 1].fold, {"from", "von", "de", "desde"}))
      return false;
    for (auto i = at_ - 1; i > first_ && at_ - i < 6; --i) {
      if (Terms::get().has(tokens_[i - 1].key, Is::change)) return true;
    }
    return false;
  }

  // "1:30 pm", "1/15" behind a test and before its value: when it was measured, and no number of
  // it. How many tokens.
  std::size_t moment() const {
    const auto figures = [&](std::size_t i, std::size_t least) {
      const auto& fold = tokens_[i].fold;
      const bool whole = tokens_[i].is_number() && fold.size() >= least && fold.size() <= 2 &&
                         fold.find_first_of(".,") == std::string::npos;
      return whole ? std::stoi(fold) : 99;
    };
    if (at_ + 2 >= tokens_.size() || !tokens_[at_ + 1].glued || !tokens_[at_ + 2].glued) return 0;
    const auto same_line = [&](std::size_t i) {
      return i < tokens_.size() && tokens_[i].line == tokens_[at_].line;
    };
    auto end = at_ + 3;
    if (tokens_[at_ + 1].is(":") && figures(at_, 1) < 24 && figures(at_ + 2, 2) < 60) {
      const bool said = same_line(end) && one_of(tokens_[end].fold, {"am", "pm", "uhr", "hrs"});
      if (said) ++end;
      return said || is_value_at(end) ? end - at_ : 0;
    }
    const bool day = tokens_[at_ + 1].is("/") && figures(at_, 1) <= 31 &&
                     figures(at_ + 2, 2) <= 31 &&
                     std::min(figures(at_, 1), figures(at_ + 2, 2)) <= 12 && figures(at_, 1) > 0 &&
                     figures(at_ + 2, 2) > 0;
    auto before = out_.rbegin();
    if (before != out_.rend() && before->is(Piece::word) &&
        one_of(tokens_[before->tokens.first].fold, {"on", "am", "vom", "le", "du", "el", "del"}))
      ++before;
    const bool tested = before != out_.rend() && before->is(Piece::term) &&
                        (before->is(Is::analyte) || before->is(Is::vital)) && !before->is(Is::drug);
    return day && tested && is_value_at(end) ? 3 : 0;
  }

  // A number, perhaps behind a colon.
  bool is_value_at(std::size_t at) const {
    if (at < tokens_.size() && tokens_[at].is(":")) ++at;
    return at < tokens_.size() && tokens_[at].line == tokens_[at_].line &&
           tokens_[at].is_number() && !tokens_[at].glued;
  }

  Item next_number() {
    if (tokens_[at_].is_number()) {
      // "25-OH vitamin D"
      const auto term = Terms::get().longest(tokens_, at_, kNames);
      if (term.tokens > 1) return piece(Piece::term, term.tokens, term.kinds);
      if (const auto used = read_frequency(tokens_, at_); used > 0)
        return piece(Piece::frequency, used);
      if (const auto used = read_duration(tokens_, at_); used > 0)
        return piece(Piece::duration, used);
      if (is_pressure()) return pressure();
    }
    // "2.0 L 10^9/L": a unit that begins with a number, behind a flag or a bare value.
    const bool bare = !out_.empty() &&
                      (out_.back().is(Piece::flag) ||
                       (out_.back().is(Piece::quantity) && out_.back().quantity.unit.tokens == 0));
    if (bare && tokens_[at_].fold.starts_with("10")) {
      if (const auto unit = read_unit(tokens_, at_, text_); unit.tokens > 0)
        return unit_piece(unit);
    }
    auto range = is_changing() ? Range{} : read_range(tokens_, at_, text_, manner_.decimal);
    const bool compared = !tokens_[at_].is_number();
    // "< 5.0" is a range behind a value, and a value behind a name.
    if (range.tokens > 0 && (!compared || behind_value())) {
      auto item = piece(Piece::range, range.tokens);
      item.range = std::move(range);
      return item;
    }
    auto quantity = read_quantity(tokens_, at_, text_, manner_.decimal);
    if (quantity.tokens > 0) return quantity_piece(std::move(quantity));
    return piece(Piece::sign, 1);
  }

  Item quantity_piece(Quantity quantity) const {
    if (const auto per = hours_behind(quantity); per > 0 && is_about_drug()) {
      quantity.tokens -= per;
      quantity.unit =
          read_unit(tokens_.first(at_ + quantity.tokens), at_ + quantity.number_tokens, text_);
    }
    auto item = piece(Piece::quantity, quantity.tokens);
    item.quantity = std::move(quantity);
    return item;
  }

  // "10 mg/24h", "1 g / 8 h": how often a medicine is taken, and not a part of its unit. Tokens of
  // "/24h".
  std::size_t hours_behind(const Quantity& quantity) const {
    const auto first = at_ + quantity.number_tokens;
    for (auto i = first + 1; i < at_ + quantity.tokens; ++i) {
      if (!tokens_[i].is("/")) continue;
      const auto used = read_frequency(tokens_, i);
      return used > 0 && is_dose_unit(read_unit(tokens_.first(i), first, text_).kind)
                 ? at_ + quantity.tokens - i
                 : 0;
    }
    return 0;
  }

  // The nearest listed name before this is that of a medicine, and of no test.
  bool is_about_drug() const {
    for (auto item = out_.rbegin(); item != out_.rend(); ++item) {
      if (item->is(Piece::word) && Terms::get().sounds_like_drug(tokens_[item->tokens.first].fold))
        return true;
      if (!item->is(Piece::term)) continue;
      return item->is(Is::drug) && !item->is(Is::analyte);
    }
    return false;
  }

  bool is_pressure() const {
    if (at_ + 2 >= tokens_.size()) return false;
    const auto& high = tokens_[at_].fold;
    const auto& low = tokens_[at_ + 2].fold;
    if (!tokens_[at_ + 1].is("/") || !tokens_[at_ + 2].is_number()) return false;
    return (high.size() == 2 || high.size() == 3) && (low.size() == 2 || low.size() == 3) &&
           high.find_first_of(".,") == std::string::npos && !is_dosed(at_ + 3);
  }

  // "875/125 mg" is no pressure.
  bool is_dosed(std::size_t unit_at) const {
    if (unit_at >= tokens_.size() || tokens_[unit_at].line != tokens_[at_].line) return false;
    const auto kind = read_unit(tokens_, unit_at, text_).kind;
    return kind == UnitClass::mass || kind == UnitClass::strength;
  }

  Item pressure() const {
    auto item = piece(Piece::pressure, 3);
    const auto next = at_ + 3;
    if (next < tokens_.size() && tokens_[next].line == tokens_[at_].line) {
      item.quantity.unit = read_unit(tokens_, next, text_);
      item.tokens.end += item.quantity.unit.tokens;
    }
    return item;
  }

  // The piece before, or the one before brackets and a unit, is a number.
  bool behind_value() const {
    for (std::size_t back = 0; back < 5 && back < out_.size(); ++back) {
      const auto& item = out_[out_.size() - 1 - back];
      if (item.is(Piece::quantity) || item.is(Piece::range) || item.is(Piece::pressure))
        return true;
      if (item.is(Piece::unit) || item.is(Piece::flag)) continue;
      if (item.is(Piece::sign) && !is_comma(item)) continue;
      // "(normal: < 5)", "Ref. < 5"
      if (item.is(Piece::word) && one_of(tokens_[item.tokens.first].fold,
                                         {"normal", "ref", "reference", "norm", "range", "goal",
                                          "target", "norme", "referencia", "referenz", "n",
                                          "valeur", "vn", "vr", "referenzbereich", "normbereich"}))
        continue;
      return false;
    }
    return false;
  }

  bool is_comma(const Item& item) const {
    const auto& fold = tokens_[item.tokens.first].fold;
    return fold == "," || fold == ";";
  }

  // "Si douleur" of "Si douleur thoracique": the last word of the phrase begins a longer name.
  bool begins_name(std::size_t used) const {
    const auto last = at_ + used - 1;
    return used > 1 && Terms::get().longest(tokens_, last, kNames).tokens > 1;
  }

  // "Na 138, K 4.2, Cr 1.1": letters that only a panel of results gives a meaning, before a number
  // that is no dose.
  bool is_symbol() const {
    const auto printed =
        std::string_view(text_).substr(tokens_[at_].bytes.begin, tokens_[at_].bytes.size());
    if (!one_of(printed, {"Na", "K", "Cl", "Mg", "Ca", "Cr", "Phos", "Glu", "Hgb", "Hct", "Plt",
                          "Ca2", "Mg2", "Ca²", "Mg²"}))
      return false;
    if (!out_.empty() && (out_.back().is(Piece::term) ||
                          (out_.back().is(Piece::word) && !out_.back().is(Is::common))))
      return false;
    auto next = at_ + 1;
    const auto sign = [&](std::initializer_list<std::string_view> signs) {
      if (next < tokens_.size() && one_of(tokens_[next].fold, signs)) ++next;
    };
    sign({"+", "-", "⁺", "⁻"});
    sign({":", "="});
    if (next >= tokens_.size() || !tokens_[next].is_number() ||
        tokens_[next].line != tokens_[at_].line)
      return false;
    const auto unit = read_unit(tokens_, next + 1, text_);
    const bool dose = one_of(unit.code, {"mg", "g", "ug"}) || unit.kind == UnitClass::count;
    return !dose && Terms::get().longest(tokens_, at_, kNames).tokens <= 1;
  }

  Item next_word() {
    const auto& token = tokens_[at_];
    // "Ca2+": without its charge it is no name.
    if (is_symbol()) {
      const bool charge = token.fold.size() == 3 && at_ + 1 < tokens_.size() &&
                          (tokens_[at_ + 1].is("+") || tokens_[at_ + 1].is("⁺"));
      return piece(Piece::term, charge ? 2 : 1, bit(Is::analyte));
    }
    if (const auto used = read_frequency(tokens_, at_); used > 0 && !begins_name(used)) {
      return piece(Piece::frequency, used);
    }
    if (const auto used = read_duration(tokens_, at_); used > 0)
      return piece(Piece::duration, used);
    const auto route = Terms::get().longest(tokens_, at_, bit(Is::route));
    const auto term = Terms::get().longest(tokens_, at_, kNames);
    if (route.tokens > 0 && route.tokens >= term.tokens) return piece(Piece::route, route.tokens);
    if (const auto unit = read_unit(tokens_, at_, text_); stands_alone(unit, token))
      return unit_piece(unit);
    // A number that OCR read with letters.
    if (auto quantity = read_quantity(tokens_, at_, text_, manner_.decimal); quantity.tokens > 0)
      return quantity_piece(std::move(quantity));
    const auto form = Terms::get().longest(tokens_, at_, bit(Is::form));
    if (term.tokens > 0 && term.tokens >= form.tokens && !is_short_word(token, term)) {
      auto item = piece(Piece::term, term.tokens, term.kinds);
      if (term.tokens == 1) item.kinds |= Terms::get().kinds_of(token.key) & kWordKinds;
      return item;
    }
    if (form.tokens > 0) return piece(Piece::form, form.tokens);
    return piece(Piece::word, 1, Terms::get().kinds_of(token.key) & kWordKinds);
  }

  // "fr" is a rate of breathing and a country, "pt" a test and a patient: short terms count only in
  // capitals.
  bool is_short_word(const Token& token, const Match& term) const {
    return term.tokens == 1 && token.fold.size() <= 3 && !token.caps && !is_known_short(token.fold);
  }

  static bool is_known_short(std::string_view fold) {
    return one_of(fold,
                  {"hb",  "crp",  "alt",  "ast", "tsh", "hdl", "ldl", "flu", "pct", "inr", "bmi",
                   "egg", "soy",  "asa",  "kcl", "tos", "psa", "ggt", "fer", "ige", "iga", "igg",
                   "igm", "asma", "zona", "ph",  "na",  "ck",  "mcv", "mch", "a1c", "wbc", "rbc",
                   "hgb", "hct",  "plt",  "bun", "esr", "bnp", "ldh", "cpk", "anc", "pth", "gfr",
                   "rdw", "mpv",  "afp",  "cea", "wt",  "ht",  "po2"});
  }

  // A compound unit, or one right behind a flag, is a unit by itself.
  bool stands_alone(const Unit& unit, const Token& token) const {
    if (unit.tokens == 0) return false;
    if (unit.tokens >= 3 || unit.kind == UnitClass::percent) return true;
    const bool behind =
        !out_.empty() && (out_.back().is(Piece::flag) || out_.back().is(Piece::quantity));
    return behind && unit.kind != UnitClass::count && !token.is("in") && !token.is("a");
  }

  std::span<const Token> tokens_;
  std::string_view text_;
  std::size_t at_;
  std::size_t first_;
  Manner manner_;
  std::vector<Item> out_;
};

// Whether a unit of masses or concentrations stands here; no unit is as long as a page.
bool is_measure(const PageReading& page, std::size_t at) {
  constexpr std::size_t kUnitTokensMax = 12;
  const auto near =
      std::span<const Token>(page.tokens).first(std::min(page.tokens.size(), at + kUnitTokensMax));
  const auto kind = read_unit(near, at, page.page->text).kind;
  return kind == UnitClass::mass || kind == UnitClass::concentration;
}

// "7.5 mg" and "4,1 mmol/l" show the decimal sign; languages only say which one is usual, and it
// takes a page without any sign of the usual one to say otherwise.
Decimal decimal_shown(std::span<const PageReading> pages, std::string_view language) {
  const auto usual = decimal_of(language);
  if (is_english(language)) return usual;  // Where a comma is a point that OCR misread.
  std::size_t points = 0;
  std::size_t commas = 0;
  for (const auto& page : pages) {
    for (std::size_t i = 0; i + 1 < page.tokens.size(); ++i) {
      const std::string_view fold = page.tokens[i].fold;
      const auto sign = fold.find_first_of(".,");
      const bool one = page.tokens[i].is_number() && sign != fold.npos && sign > 0 &&
                       fold.find_first_of(".,", sign + 1) == fold.npos;
      if (!one) continue;
      // Thousands are parted by the other sign: "234.000".
      const bool thousands = sign <= 3 && fold[0] != '0' && fold.substr(sign) == ".000";
      const bool decimals = fold.size() - sign <= 3;  // One or two figures behind it.
      if (thousands || (decimals && fold[sign] == ',')) {
        ++commas;
      } else if (decimals && is_measure(page, i + 1)) {
        ++points;  // "10.30 Uhr" and "2.1 Diagnosen" are none.
      }
    }
  }
  if (points > 0 && commas == 0) return Decimal::point;
  return commas > 0 && points == 0 ? Decimal::comma : usual;
}

}  // namespace

Manner manner_of(std::span<const PageReading> pages, std::string_view language) {
  return {.decimal = decimal_shown(pages, language), .order = date_order_of(pages, language).order};
}

std::string_view flag_of(const Token& token) {
  static constexpr auto kHigh =
      std::to_array<std::string_view>({"high", "hh", "↑", "hoch", "erhoht", "eleve", "elevee",
                                       "haut", "alto", "alta", "elevado", "elevada", "▲"});
  static constexpr auto kLow = std::to_array<std::string_view>(
      {"low", "ll", "↓", "niedrig", "erniedrigt", "bas", "basse", "bajo", "baja", "▼"});
  if (token.fold == "h" && token.capital) return "high";
  if (token.fold == "l" && token.capital) return "low";
  if (std::ranges::find(kHigh, token.fold) != kHigh.end()) return "high";
  if (std::ranges::find(kLow, token.fold) != kLow.end()) return "low";
  if (token.fold == "*" || token.fold == "abnormal" || token.fold == "auffallig") return "abnormal";
  if (token.fold == "critical" || token.fold == "kritisch" || token.fold == "critique" ||
      token.fold == "critico")
    return "critical";
  return {};
}

Chart chart_of(const PageReading& page, const Passage& passage, const Manner& manner) {
  return chart_of(page, passage, passage.tokens, manner);
}

Chart chart_of(const PageReading& page, const Passage& passage, TokenRange part,
               const Manner& manner) {
  return {.page = &page, .passage = &passage, .items = Charter(page, part, manner).run()};
}

}  // namespace millrace::extract
