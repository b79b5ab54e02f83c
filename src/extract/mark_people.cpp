// People and identifiers: behind titles, and behind the keys of forms.
#include "extract/marks.h"

#include <algorithm>
#include <initializer_list>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

constexpr Kinds kKeys = bit(Is::patient_key) | bit(Is::id_key) | bit(Is::practitioner_key) |
                        bit(Is::birth_key) | bit(Is::sex_key) | bit(Is::title) | bit(Is::courtesy) |
                        bit(Is::given_key) | bit(Is::family_key);

class PeopleMarker {
 public:
  PeopleMarker(const Chart& chart, Marks& marks, SplitName& split)
      : page_(*chart.page),
        tokens_(page_.tokens),
        range_(chart.passage->tokens),
        marks_(marks),
        split_(split) {
    // The key may be the heading that the passage stands behind: "Patient: Jane Doe".
    auto first = range_.first;
    while (first > 0 && tokens_[first - 1].line == tokens_[range_.first].line &&
           page_.passage_at(first - 1) == nullptr)
      --first;
    start_ = first;
  }

  void run() {
    for (auto at = start_; at < range_.end;) {
      const auto key =
          Terms::get().longest(std::span<const Token>(tokens_).first(range_.end), at, kKeys);
      if (key.tokens == 0 || !tokens_[at].is_word()) {
        mark_numbered(at);
        mark_with_role(at);
        ++at;
        continue;
      }
      at = take_key(at, key);
    }
  }

 private:
  std::size_t take_key(std::size_t at, const Match& key) {
    auto next = at + key.tokens;
    if (key.is(Is::title) || key.is(Is::courtesy)) {
      if (!tokens_[at].capital) return at + 1;
      while (next < range_.end &&
             (tokens_[next].is(".") || tokens_[next].is("/") || is_title(next)))
        ++next;
      const auto end = name_end(next);
      if (end > next) {
        marks_.add(Category::person, {.first = next, .end = end}, kListed);
        return end;
      }
      if (!(key.kinds & (bit(Is::patient_key) | bit(Is::practitioner_key))))
        return std::max(next, at + 1);
    }
    while (next < range_.end &&
           (tokens_[next].is(".") || tokens_[next].is("#") || tokens_[next].is("°")))
      ++next;
    const bool colon = next < range_.end && (tokens_[next].is(":") || tokens_[next].is("#"));
    if (colon) ++next;
    if (key.is(Is::id_key)) {
      const auto end = identifier_end(next);
      if (end > next && (colon || tokens_[at].caps || key.tokens > 1)) {
        marks_.add(Category::identifier, {.first = next, .end = end}, kListed);
        return end;
      }
    }
    if (colon && (key.is(Is::given_key) || key.is(Is::family_key))) {
      const auto end = name_end(next);
      if (end > next) {
        auto& part = key.is(Is::given_key) ? split_.given : split_.family;
        part = phrase_of(std::span<const Token>(tokens_).subspan(next, end - next));
        split_.marks.push_back({.category = Category::person,
                                .tokens = {.first = next, .end = end},
                                .conf = kStructured});
      }
      return std::max(end, at + key.tokens);
    }
    const bool names = key.is(Is::patient_key) || key.is(Is::practitioner_key);
    if (!names || !colon) return at + key.tokens;
    while (next < range_.end && is_title(next)) {
      ++next;
      if (next < range_.end && tokens_[next].is(".")) ++next;
    }
    const auto end = name_end(next);
    if (end > next) marks_.add(Category::person, {.first = next, .end = end}, kStructured);
    return std::max(end, at + key.tokens);
  }

  // "Invoice no. 2272-90944", "Fall-Nr.: 4711": whatever is numbered.
  void mark_numbered(std::size_t at) {
    const auto& fold = tokens_[at].fold;
    const bool compound = fold.size() > 4 && (fold.ends_with("nr") || fold.ends_with("nummer"));
    if (!compound &&
        !one_of(fold, {"no", "nr", "number", "numero", "num", "n", "n°", "nº", "id", "ref"}))
      return;
    if (at > start_ && one_of(tokens_[at - 1].fold, {"tel", "telefon", "phone", "fax", "telephone",
                                                     "telefono", "mobile", "room"}))
      return;
    auto next = at + 1;
    while (next < range_.end && next < at + 4 &&
           (tokens_[next].is(".") || tokens_[next].is(":") || tokens_[next].is("°") ||
            tokens_[next].is("º") || tokens_[next].is("#") || tokens_[next].is("*") ||
            tokens_[next].is("?")))
      ++next;
    if (next == at + 1 && tokens_[at].fold.size() <= 2) return;
    const auto end = identifier_end(next);
    if (end == next) return;
    const auto text = page_.text_of({.first = next, .end = end});
    // "(ref 0.4-4.5)", "(N : 60-110)": what is normal.
    if (one_of(fold, {"ref", "n"}) && at > start_ && tokens_[at - 1].is("(")) return;
    if (std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) < 4) return;
    marks_.add(Category::identifier, {.first = next, .end = end}, kStructured);
  }

  // "Jane Doe, pharmacist": two names or more before a comma and what somebody is.
  void mark_with_role(std::size_t at) {
    if (!tokens_[at].is(",") || at + 1 >= range_.end || at < start_ + 2) return;
    const auto role = Terms::get().longest(std::span<const Token>(tokens_).first(range_.end),
                                           at + 1, bit(Is::role) | bit(Is::credential));
    if (role.tokens == 0) return;
    auto first = at;
    while (first > start_ && at - first < 3 && tokens_[first - 1].is_word() &&
           tokens_[first - 1].capital && tokens_[first - 1].line == tokens_[at].line &&
           !Terms::get().has(tokens_[first - 1].key, Is::common))
      --first;
    if (at - first >= 2) marks_.add(Category::person, {.first = first, .end = at}, kStructured);
  }

  // Whether a colon follows soon: these words are a key.
  bool leads_to_colon(std::size_t at) const {
    for (auto i = at; i < range_.end && i < at + 4 && tokens_[i].line == tokens_[at].line; ++i) {
      if (tokens_[i].is(":")) return true;
    }
    return false;
  }

  // Whether a key of a form begins here: "Naomi Barlow   Lab no.: …".
  bool starts_pair(std::size_t at) const {
    const auto& pairs = page_.page->pairs;
    const auto pair = std::ranges::lower_bound(
        pairs, tokens_[at].word, {}, [](const layout::KeyValue& one) { return one.key.first; });
    return pair != pairs.end() && pair->key.first == tokens_[at].word;
  }

  bool is_title(std::size_t at) const {
    return tokens_[at].is_word() &&
           (Terms::get().kinds_of(tokens_[at].key) & (bit(Is::title) | bit(Is::courtesy))) != 0 &&
           tokens_[at].fold.size() <= 9 &&
           (tokens_[at].capital || one_of(tokens_[at].fold, {"med", "dr"}));
  }

  bool is_key(std::size_t at) const {
    const auto key = Terms::get().longest(std::span<const Token>(tokens_).first(range_.end), at,
                                          kKeys & ~(bit(Is::title) | bit(Is::courtesy)));
    if (key.tokens == 0) return false;
    const auto behind = at + key.tokens;
    return behind < range_.end && (tokens_[behind].is(":") || tokens_[behind].is("."));
  }

  // Capital words, with initials and the small words of names.
  std::size_t name_end(std::size_t at) const {
    auto end = at;
    std::size_t words = 0;
    for (auto i = at; i < range_.end && words < 5; ++i) {
      const auto& token = tokens_[i];
      if (i > at && token.line != tokens_[at].line && words >= 2) break;
      if (token.is_word() && token.capital) {
        if (i > at && (is_key(i) || starts_pair(i))) break;
        const auto kinds = Terms::get().kinds_of(token.key);
        const bool other = (kinds & (bit(Is::common) | bit(Is::role) | bit(Is::credential) |
                                     bit(Is::organization))) != 0;
        // "Dr. Marta Izquierdo": a name may be a word of the language, but not an all-day one.
        const bool common = (kinds & ~bit(Is::common)) == 0;
        const bool inside =
            words > 0 && words < 3 && common && token.fold.size() > 3 && !leads_to_colon(i);
        const bool first = words == 0 && i + 1 < range_.end && tokens_[i + 1].capital;
        if (other && !first && !inside) break;
        if (token.line != tokens_[at].line) break;
        end = i + 1;
        ++words;
        continue;
      }
      const bool initial =
          token.is(".") && token.glued && i > at && tokens_[i - 1].fold.size() == 1;
      const bool particle = one_of(token.fold, {"von", "van", "de", "der", "den", "du", "la", "le",
                                                "del", "los", "las", "zu", "da", "di", "y", "d"}) &&
                            i + 1 < range_.end && tokens_[i + 1].capital;
      const bool joint = (token.is("-") || token.is("'")) && token.glued && i + 1 < range_.end &&
                         tokens_[i + 1].capital;
      // "Doe, Jane"
      const bool comma = token.is(",") && words == 1 && i + 1 < range_.end &&
                         tokens_[i + 1].capital && !tokens_[i + 1].caps && i > start_ + 1 &&
                         tokens_[at - 1].is(":");
      if (initial) {
        end = i + 1;
        continue;
      }
      if (!particle && !joint && !comma) break;
    }
    return end;
  }

  // Figures with letters and dashes between them, without a space.
  std::size_t identifier_end(std::size_t at) const {
    if (at >= range_.end) return at;
    auto end = at;
    bool figures = false;
    for (auto i = at; i < range_.end; ++i) {
      const auto& token = tokens_[i];
      if (i > at && !token.glued) {
        // "943 476 5919": groups of figures are one number.
        if (!(token.is_number() && tokens_[i - 1].is_number() && i - at < 6)) break;
      }
      const bool part = token.is_number() || token.is_word() || token.is("-") || token.is("/") ||
                        token.is(".") || token.is("#");
      if (!part || token.line != tokens_[at].line) break;
      figures |= token.is_number() || token.fold.find_first_of("0123456789") != std::string::npos;
      if (token.kind != TokenKind::punct) end = i + 1;
    }
    return figures ? end : at;
  }

  const PageReading& page_;
  const std::vector<Token>& tokens_;
  TokenRange range_;
  Marks& marks_;
  SplitName& split_;
  std::size_t start_ = 0;
};

}  // namespace

void mark_people(const Chart& chart, Marks& marks, SplitName& split) {
  PeopleMarker(chart, marks, split).run();
}

}  // namespace millrace::extract
