#include "extract/frequency.h"

#include "extract/terms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace millrace::extract {
namespace {

constexpr int kCountMax = 24;

// "2", "two", "zwei", "deux", "dos"; also "q8h" has its own reader.
std::optional<int> count_of(const Token& token) {
  static constexpr auto kWords = std::to_array<std::pair<std::string_view, int>>({
      {"one", 1},    {"two", 2},     {"three", 3}, {"four", 4},   {"five", 5},   {"six", 6},
      {"eight", 8},  {"twelve", 12}, {"ein", 1},   {"eine", 1},   {"zwei", 2},   {"drei", 3},
      {"vier", 4},   {"funf", 5},    {"sechs", 6}, {"acht", 8},   {"zwolf", 12}, {"un", 1},
      {"une", 1},    {"deux", 2},    {"trois", 3}, {"quatre", 4}, {"cinq", 5},   {"huit", 8},
      {"douze", 12}, {"una", 1},     {"uno", 1},   {"dos", 2},    {"tres", 3},   {"cuatro", 4},
      {"cinco", 5},  {"seis", 6},    {"ocho", 8},  {"doce", 12},
  });
  if (token.is_number()) {
    int value = 0;
    const auto* end = token.fold.data() + token.fold.size();
    const auto read = std::from_chars(token.fold.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < 1 || value > kCountMax) return {};
    return value;
  }
  const auto at = std::ranges::find(kWords, token.fold, &std::pair<std::string_view, int>::first);
  return at == kWords.end() ? std::nullopt : std::optional(at->second);
}

bool is_hour(std::string_view fold) {
  return one_of(fold, {"h", "hr", "hrs", "hour", "hours", "std", "stunden", "stunde", "heure",
                       "heures", "hora", "horas", "hs", "stdn"});
}

bool is_minute(std::string_view fold) {
  return one_of(fold, {"min", "mins", "minute", "minutes", "minuten", "minutos"});
}

bool is_day(std::string_view fold) {
  return one_of(fold, {"day", "days", "tag", "tage", "jour", "jours", "dia", "dias", "d", "j"});
}

bool is_week(std::string_view fold) {
  return one_of(fold, {"w", "week", "weeks", "woche", "wochen", "semaine", "semaines", "semana",
                       "semanas", "wk", "wks"});
}

bool is_month(std::string_view fold) {
  return one_of(
      fold, {"mo", "mos", "month", "months", "monat", "monate", "monaten", "mois", "mes", "meses"});
}

bool is_period(std::string_view fold) {
  return is_hour(fold) || is_minute(fold) || is_day(fold) || is_week(fold) || is_month(fold) ||
         fold == "tagen";
}

// Reads tokens one after the other and remembers how many.
class Reader {
 public:
  Reader(std::span<const Token> tokens, std::size_t at) : tokens_(tokens), begin_(at), at_(at) {}

  const Token* peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
  }
  bool take(std::initializer_list<std::string_view> words) {
    if (peek() == nullptr || !one_of(peek()->fold, words)) return false;
    ++at_;
    return true;
  }
  std::optional<int> count() {
    if (peek() == nullptr) return {};
    const auto value = count_of(*peek());
    if (value) ++at_;
    return value;
  }
  template <class Test>
  bool take_if(Test test) {
    if (peek() == nullptr || !test(peek()->fold)) return false;
    ++at_;
    return true;
  }
  std::size_t used() const { return at_ - begin_; }

 private:
  std::span<const Token> tokens_;
  std::size_t begin_;
  std::size_t at_;
};

// "1-0-1", "1-0-1-0", "1½-0-½": tablets in the morning, at noon, in the evening, at night.
std::size_t read_scheme(std::span<const Token> tokens, std::size_t at) {
  std::size_t parts = 0;
  auto i = at;
  const auto is_half = [&](std::size_t k) {
    return k < tokens.size() && one_of(tokens[k].fold, {"½", "¼", "¾"});
  };
  const auto is_part = [&](std::size_t k) {
    if (k >= tokens.size()) return false;
    const auto& fold = tokens[k].fold;
    if (is_half(k)) return true;
    return tokens[k].is_number() && fold.size() <= 3 && fold[0] <= '9';
  };
  // "1/2-0-1/2": such a scheme begins with its first figure.
  const auto halves = [&](std::size_t k) {
    return k + 2 < tokens.size() && tokens[k].fold.size() == 1 && tokens[k + 1].is("/") &&
           tokens[k + 1].glued && tokens[k + 2].is_number() && tokens[k + 2].glued &&
           tokens[k + 2].fold.size() == 1;
  };
  const bool inside = at > 0 && tokens[at].glued &&
                      (tokens[at - 1].is("/") || (tokens[at - 1].is_number() && is_half(at)));
  // "1 1/2-0-0"
  if (inside || (at > 0 && halves(at) && count_of(tokens[at - 1]))) return 0;
  while (is_part(i)) {
    if (tokens[i].is_number() && tokens[i].fold.size() > 1 &&
        tokens[i].fold.find_first_of(".,") == std::string::npos && tokens[i].fold.size() > 2) {
      return 0;
    }
    ++parts;
    const bool mixed = tokens[i].is_number() && is_half(i + 1) && tokens[i + 1].glued;
    i += halves(i) ? 3 : mixed ? 2 : 1;  // "1½-0-0"
    if (parts == 4 || i + 1 >= tokens.size() || !tokens[i].is("-") || !is_part(i + 1)) break;
    if (tokens[i].line != tokens[i - 1].line) break;
    ++i;
  }
  return parts >= 3 ? i - at : 0;
}

// "q8h", "q 8 h", "q8 hours", "q4-6h", "q4-6 hrs", "q3months"
struct Interval {
  std::size_t tokens = 0;
  int count = 0;  // "q4-6h" is told by its first number.
  std::string_view period = {};
};

// The figures that a word begins with; they are taken off it. Before hours also those that OCR took
// for letters ("ql2h"); "qid" is no day.
int take_figures(std::string_view& word) {
  int value = 0;
  std::size_t size = 0;
  for (; size < word.size() && size < 2; ++size) {
    const char c = word[size];
    const bool letter = c == 'l' || c == 'i' || c == 'o';
    if (letter && !word.ends_with('h')) break;
    const auto figure = c == 'o' ? '0' : letter ? '1' : c;
    if (figure < '0' || figure > '9') break;
    value = 10 * value + (figure - '0');
  }
  word.remove_prefix(size);
  return value;
}

Interval read_q_interval(std::span<const Token> tokens, std::size_t at) {
  std::string_view word = tokens[at].fold;
  const bool hours = word.size() >= 3 && word[0] == 'g';  // "g12h" is "q12h".
  if (!word.starts_with('q') && !hours) return {};
  word.remove_prefix(1);
  auto next = at + 1;
  // The next part of it, wherever tokens end.
  const auto fill = [&] {
    if (!word.empty() || next >= tokens.size() || tokens[next].line != tokens[at].line) return;
    word = tokens[next++].fold;
  };
  if (word.empty()) {
    fill();
    // "q week", "q day"
    if (word.size() > 1 && (is_day(word) || is_week(word) || is_month(word)))
      return {.tokens = next - at, .count = 1, .period = word};
    if (word.empty() || !tokens[next - 1].is_number()) return {};
  }
  Interval out{.count = take_figures(word)};
  if (out.count == 0) return {};
  fill();
  if (one_of(word, {"to", "bis", "a"})) word = {};
  if (word.starts_with('-')) word.remove_prefix(1);
  fill();
  if (!word.empty() && word[0] >= '0' && word[0] <= '9') {
    if (take_figures(word) <= out.count) return {};
    fill();
  }
  if (!is_period(word) || (hours && word != "h")) return {};
  out.tokens = next - at;
  out.period = word;
  return out;
}

std::size_t read_q(std::span<const Token> tokens, std::size_t at) {
  return read_q_interval(tokens, at).tokens;
}

// "every 8 hours", "alle 8 Stunden", "alle 8 h", "toutes les 8 heures", "cada 8 horas", "every 6 to
// 8 hours", "8-stündlich", "tous les 2 jours"
std::size_t read_interval(std::span<const Token> tokens, std::size_t at) {
  Reader reader(tokens, at);
  // "c/8 h", "/8h"
  if (reader.take({"/"})) {
    // "/j", "/Tag"; "mg/day" is a unit.
    if (reader.take({"j", "jour", "tag", "dia"})) return reader.used();
    if (reader.peek() == nullptr || !reader.peek()->is_number()) return 0;
  } else if (reader.take({"c"})) {
    if (!reader.take({"/"})) return 0;
  } else if (reader.take({"toutes", "tous"})) {
    if (!reader.take({"les"})) return 0;
  } else if (!reader.take({"every", "each", "alle", "cada"})) {
    return 0;
  }
  if (!reader.count()) return 0;
  if (reader.take({"-", "to", "bis", "a"}) && !reader.count()) return 0;
  if (!reader.take_if(is_period)) return 0;
  return reader.used();
}

// "x 3", "x3": times, before what they are counted by.
struct Multiplier {
  std::size_t tokens = 0;
  int count = 0;
};

Multiplier multiplier_of(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size()) return {};
  std::string_view fold = tokens[at].fold;
  if (fold == "x" && at + 1 < tokens.size() && tokens[at + 1].is_number()) {
    const auto count = count_of(tokens[at + 1]);
    return count ? Multiplier{.tokens = 2, .count = *count} : Multiplier{};
  }
  if (!fold.starts_with('x') || fold.size() < 2 || fold.size() > 3) return {};
  Multiplier out{.tokens = 1};
  for (const char c : fold.substr(1)) {
    if (c < '0' || c > '9') return {};
    out.count = 10 * out.count + (c - '0');
  }
  return out.count > 0 && out.count <= kCountMax ? out : Multiplier{};
}

// "2x daily", "2 x täglich", "3 times a day", "3 fois par jour", "3 veces al día", "2 mal am Tag",
// "2x/Tag", "3x/d", "2 x pro Woche"
std::size_t read_times(std::span<const Token> tokens, std::size_t at) {
  Reader reader(tokens, at);
  // "x 3/j", "x3/Tag"
  const auto multiplied = multiplier_of(tokens, at);
  if (multiplied.tokens > 0 && at + multiplied.tokens + 1 < tokens.size() &&
      tokens[at + multiplied.tokens].is("/") && is_period(tokens[at + multiplied.tokens + 1].fold))
    return multiplied.tokens + 2;
  const auto* first = reader.peek();
  const bool fused = first != nullptr && one_of(first->fold, {"einmal", "zweimal", "dreimal",
                                                              "viermal", "once", "twice"});
  if (fused) {
    reader.take({first->fold});
  } else {
    if (!reader.count()) return 0;
    if (reader.take({"-", "to", "bis", "a"})) {
      if (!reader.count()) return 0;
    }
    if (!reader.take({"x", "times", "time", "mal", "fois", "veces", "vez", "xs"})) return 0;
  }
  if (reader.take({"daily", "taglich", "tgl", "weekly", "wochentlich", "monthly", "monatlich", "qd",
                   "diarias", "diaria", "diarios", "al"})) {
    const bool al = reader.peek() != nullptr && is_period(reader.peek()->fold);
    if (al) reader.take_if(is_period);
    return reader.used();
  }
  const bool per =
      reader.take({"/", "a", "per", "pro", "par", "por", "am", "in", "each", "every", "je", "die"});
  if (!per) return 0;
  reader.take({"der", "la", "the"});
  if (!reader.take_if(is_period)) return 0;
  return reader.used();
}

// "5 mg om", "2 tablets po om": in the morning; else it is otitis media.
bool is_behind_dose(std::span<const Token> tokens, std::size_t at) {
  const auto is = [&](Is kind) { return at > 0 && Terms::get().has(tokens[at - 1].key, kind); };
  if (is(Is::route)) --at;
  return is(Is::form) ||
         (at > 1 && tokens[at - 2].is_number() &&
          one_of(tokens[at - 1].fold, {"mg", "g", "mcg", "ug", "µg", "ng", "ml", "iu", "ie", "ui",
                                       "u", "unit", "units", "mmol", "meq"}));
}

std::size_t read_phrase(std::span<const Token> tokens, std::size_t at) {
  const auto match = Terms::get().longest(tokens, at, bit(Is::frequency));
  if (match.tokens == 0) return 0;
  if (match.tokens == 1 && tokens[at].is("om") && !is_behind_dose(tokens, at)) return 0;
  // "AC", "HS", "OD", "PC", "once" are words of other things too; they are frequencies only as
  // such.
  return match.tokens;
}

std::size_t read_one(std::span<const Token> tokens, std::size_t at) {
  if (at >= tokens.size()) return 0;
  std::size_t used = 0;
  for (const auto reader : {read_phrase, read_scheme, read_q, read_interval, read_times}) {
    used = std::max(used, reader(tokens, at));
  }
  // "8-stündlich" and its like.
  if (used == 0 && tokens[at].is_number() && at + 2 < tokens.size() && tokens[at + 1].is("-") &&
      tokens[at + 2].is("stundlich")) {
    used = 3;
  }
  return used;
}

bool links(const Token& token) {
  return token.is(",") || token.is("and") || token.is("und") || token.is("et") || token.is("y") ||
         token.is("(");
}

}  // namespace

std::size_t read_frequency(std::span<const Token> tokens, std::size_t at) {
  auto used = read_one(tokens, at);
  if (used == 0) return 0;
  for (int i = 0; i < 3; ++i) {
    auto next = at + used;
    if (next >= tokens.size()) break;
    bool open = false;
    if (links(tokens[next])) {
      open = tokens[next].is("(");
      ++next;
    }
    const auto more = read_one(tokens, next);
    // "bid OD": the right eye.
    if (tokens[std::min(next, tokens.size() - 1)].is("od")) break;
    if (more == 0 || tokens[next].line > tokens[at].line + 1) break;
    // "(1-0-1)" behind words closes what it opened.
    if (open) {
      if (next + more >= tokens.size() || !tokens[next + more].is(")")) break;
      used = next + more + 1 - at;
    } else {
      used = next + more - at;
    }
  }
  return used;
}

std::size_t read_duration(std::span<const Token> tokens, std::size_t at) {
  const auto period = [](std::string_view fold) {
    return is_day(fold) || is_week(fold) || is_month(fold) || fold == "tagen" ||
           one_of(fold, {"year", "years", "jahre", "ans", "anos"});
  };
  Reader reader(tokens, at);
  // "x3 days"
  if (multiplier_of(tokens, at).tokens == 1 && at + 1 < tokens.size() &&
      period(tokens[at + 1].fold))
    return 2;
  // "x7d"
  if (at < tokens.size() && tokens[at].fold.starts_with('x')) {
    const auto rest = std::string_view(tokens[at].fold).substr(1);
    const auto figures = rest.find_first_not_of("0123456789");
    if (figures != std::string_view::npos && figures > 0 && figures < 3 &&
        period(rest.substr(figures)))
      return 1;
  }
  const bool led = reader.take({"for", "x", "fur", "uber", "pendant", "durante", "por"});
  if (led) reader.take({"the", "a", "die"});
  if (led) reader.take({"next", "further", "total", "weitere", "insgesamt"});
  if (!reader.count() && !(led && reader.peek() != nullptr && reader.peek()->is_number() &&
                           reader.peek()->fold.size() <= 3 && reader.take({reader.peek()->fold}))) {
    return 0;
  }
  reader.take({"more", "weitere"});
  if (!reader.take_if(period)) return 0;
  if (led) return reader.used();
  // "7 Tage lang"
  return reader.take({"lang"}) ? reader.used() : 0;
}

namespace {

struct Meaning {
  std::string_view phrase;
  std::string_view normal;
};

// Words by what they add. Looked for in order, as whole words of the folded text.
constexpr auto kMoments = std::to_array<Meaning>({
    {"1 0 1", "BID"},
    {"1 0 1 0", "BID"},
    {"1 1 1", "TID"},
    {"1 1 1 0", "TID"},
    {"1 1 1 1", "QID"},
    {"1 0 0", "QAM"},
    {"1 0 0 0", "QAM"},
    {"0 1 0", "QNOON"},
    {"0 1 0 0", "QNOON"},
    {"0 0 1", "QPM"},
    {"0 0 1 0", "QPM"},
    {"0 0 0 1", "QHS"},
});

bool has_word(std::string_view text, std::string_view phrase) {
  for (std::size_t at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == ' ';
    const auto end = at + phrase.size();
    if (starts && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

template <class... Phrases>
bool has_any(std::string_view text, Phrases... phrases) {
  return (has_word(text, phrases) || ...);
}

// Words and figures with one space between them.
std::string plain_words(std::string_view text) {
  std::string out;
  for (const auto& token : tokens_of(text)) {
    if (token.kind == TokenKind::punct && !token.is("½")) continue;
    if (!out.empty()) out += ' ';
    out += token.key;
  }
  return out;
}

// "1/2-0-1/2" and "½-0-½" with ones: a scheme says when, whatever the amounts are.
std::string whole_parts(std::string_view text) {
  const auto figure = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto rest = text.substr(i);
    if (rest.starts_with("½") || rest.starts_with("¼") || rest.starts_with("¾")) {
      if (i == 0 || !figure(i - 1)) out += '1';
      ++i;
    } else if (figure(i) && i + 1 < text.size() && text[i + 1] == '/' && figure(i + 2)) {
      out += '1';
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string scheme_of(std::string_view words) {
  // Amounts may differ from one: "2-0-2" says when, like "1-0-1".
  std::string ones;
  for (const char c : words) {
    if (c != ' ' && (c < '0' || c > '9')) break;
    ones += c >= '1' && c <= '9' ? '1' : c;
  }
  while (ones.ends_with(' ')) ones.pop_back();
  const auto at = std::ranges::find(kMoments, ones, &Meaning::phrase);
  return at == kMoments.end() ? std::string() : std::string(at->normal);
}

std::string interval_code(int count, std::string_view period) {
  const auto number = std::to_string(count);
  if (is_hour(period)) return count == 24 ? "QD" : "Q" + number + "H";
  if (is_minute(period)) return "Q" + number + "MIN";
  if (is_day(period) || period == "tagen")
    return count == 1 ? "QD" : count == 2 ? "QOD" : "Q" + number + "D";
  if (is_week(period)) return count == 1 ? "QW" : "Q" + number + "W";
  if (is_month(period)) return count == 1 ? "QM" : "Q" + number + "M";
  return {};
}

std::string interval_of(std::string_view text) {
  const auto tokens = tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& fold = tokens[i].fold;
    if (const auto interval = read_q_interval(tokens, i); interval.tokens > 0)
      return interval_code(interval.count, interval.period);
    const bool slash = fold == "/" && (i == 0 || tokens[i - 1].is("c"));
    if (slash && i + 1 < tokens.size() && is_day(tokens[i + 1].fold)) return "QD";
    const bool lead = slash || one_of(fold, {"every", "alle", "cada", "les"});
    if (lead && i + 2 < tokens.size()) {
      const auto count = count_of(tokens[i + 1]);
      // "every 4 to 6 hours" is told by its first number.
      auto unit = i + 2;
      if (unit + 2 < tokens.size() && count_of(tokens[unit + 1]).has_value() &&
          !is_period(tokens[unit].fold))
        unit += 2;
      if (!count) continue;
      if (auto code = interval_code(*count, tokens[unit].fold); !code.empty()) return code;
    }
    if (tokens[i].is_number() && i + 2 < tokens.size() && tokens[i + 2].is("stundlich")) {
      return "Q" + fold + "H";
    }
  }
  return {};
}

std::string code_of(std::string_view words) {
  if (has_any(words, "qid", "qds")) return "QID";
  if (has_any(words, "tid", "tds", "thrice daily")) return "TID";
  if (has_any(words, "bid", "bd")) return "BID";
  return {};
}

std::string times_of(std::string_view text, std::string_view words) {
  if (has_any(words, "qod", "every other day", "every second day", "alternate days",
              "jeden zweiten tag", "un jour sur deux", "dias alternos", "cada dos dias",
              "alle zwei tage"))
    return "QOD";
  const bool week = has_any(words, "week", "weekly", "wochentlich", "woche", "semaine",
                            "hebdomadaire", "semana", "semanal", "semanalmente");
  const bool month =
      has_any(words, "month", "monthly", "monatlich", "mois", "mensuel", "mes", "mensual");
  int count = 0;
  const auto tokens = tokens_of(text);
  if (!tokens.empty() && text.contains('/')) count = multiplier_of(tokens, 0).count;
  for (std::size_t i = 0; i < tokens.size() && count == 0; ++i) {
    const auto& fold = tokens[i].fold;
    if (one_of(fold, {"once", "einmal"})) count = 1;
    if (one_of(fold, {"twice", "zweimal"})) count = 2;
    if (one_of(fold, {"thrice", "dreimal"})) count = 3;
    if (fold == "viermal") count = 4;
    const bool times =
        i + 1 < tokens.size() &&
        one_of(tokens[i + 1].fold, {"x", "times", "time", "mal", "fois", "veces", "vez"});
    if (count == 0 && times) count = count_of(tokens[i]).value_or(0);
  }
  if (week) return count <= 1 ? "QW" : std::to_string(count) + "/W";
  if (month) return count <= 1 ? "QM" : std::to_string(count) + "/M";
  switch (count) {
    case 2:
      return "BID";
    case 3:
      return "TID";
    case 4:
      return "QID";
    case 1:
      return "QD";
    default:
      break;
  }
  if (count > 4) return std::to_string(count) + "/D";
  return {};
}

std::string moment_of(std::string_view words) {
  const bool morning = has_any(words, "morning", "breakfast", "morgens", "morgen", "matin",
                               "manana", "desayuno", "mane", "qam", "om", "lever", "ayunas");
  const bool evening =
      has_any(words, "evening", "dinner", "abends", "abend", "soir", "tarde", "cena", "qpm");
  const bool night = has_any(words, "night", "nightly", "bedtime", "before bed", "nacht", "nachts",
                             "schlafengehen", "schlafen", "coucher", "nuit", "noche", "acostarse",
                             "dormir", "qhs", "hs", "nocte");
  if (morning && (evening || night))
    return has_any(words, "noon", "mittags", "midi", "mediodia") ? "TID" : "BID";
  if (morning) return "QAM";
  if (night) return "QHS";
  if (evening) return "QPM";
  if (has_any(words, "noon", "mittags", "midi", "mediodia")) return "QNOON";
  if (has_any(words, "qd", "qday", "od", "daily", "every day", "each day", "taglich", "jeden tag",
              "par jour", "chaque jour", "tous les jours", "quotidien", "al dia", "cada dia",
              "todos los dias", "diario", "diaria", "diariamente", "pro tag", "tgl",
              "quotidiennement"))
    return "QD";
  return {};
}

}  // namespace

std::string normal_frequency(std::string_view text) {
  const auto words = plain_words(text);
  auto out = scheme_of(plain_words(whole_parts(text)));
  if (out.empty()) out = code_of(words);
  if (out.empty()) out = interval_of(text);
  if (out.empty()) {
    out = times_of(text, words);
    // "once daily at bedtime" says when as well.
    if (out.empty() || out == "QD") {
      if (const auto moment = moment_of(words); !moment.empty()) out = moment;
    }
  }
  const bool needed = has_any(
      words, "prn", "as needed", "as required", "if required", "if necessary", "when necessary",
      "if needed", "when needed", "when required", "bei bedarf", "b bed", "bei schmerzen",
      "au besoin", "si besoin", "en cas de besoin", "si necessaire", "en cas de douleur",
      "en cas de douleurs", "si douleur", "si precisa", "si es necesario", "segun necesidad",
      "en caso de dolor", "si dolor", "si hay dolor", "a demanda");
  if (!needed) return out;
  return out.empty() ? "PRN" : out + " PRN";
}

}  // namespace millrace::extract
