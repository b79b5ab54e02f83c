#include "extract/reading.h"

#include "extract/denial.h"
#include "extract/frequency.h"
#include "extract/heading.h"
#include "extract/terms.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <utility>

namespace millrace::extract {
namespace {

using layout::BlockKind;

constexpr std::size_t kHeadingTokensMax = 8;
constexpr std::size_t kPassageTokensMax = 400;

bool is_bullet(const Token& token) {
  return one_of(token.fold, {"•", "·", "●", "▪", "◦", "○", "■", "‣", "*", "➢", "✓", "-", "o", "►"});
}

// How many tokens of "1.", "a)", "•", "(2)" begin a line.
std::size_t marker_size(std::span<const Token> line) {
  if (line.size() >= 2 && is_bullet(line[0]) && !line[1].glued) return 1;
  const bool counted = line.size() >= 3 && line[0].is_number() && line[0].fold.size() <= 2;
  if (counted && line[1].glued && (line[1].is(".") || line[1].is(")")) && !line[2].glued) return 2;
  const bool lettered = line.size() >= 3 && line[0].is_word() && line[0].fold.size() == 1;
  if (lettered && line[1].glued && line[1].is(")")) return 2;
  const bool enclosed = line.size() >= 4 && line[0].is("(") && line[2].is(")");
  if (enclosed && line[1].is_number() && line[1].fold.size() <= 2) return 3;
  return 0;
}

struct LineTokens {
  TokenRange tokens = {};
  std::size_t marker = 0;  // Tokens of its bullet or number.
};

enum class HeadingForm { none, alone, inline_key, other_key, closing };

struct Heading {
  HeadingForm form = HeadingForm::none;
  std::string_view kind = {};
  std::size_t content = 0;  // Tokens of the heading itself, colon included.
  bool historical = false;
};

class Reader {
 public:
  Reader(const layout::PageMap& page, std::string_view open_section) : page_(page) {
    out_.page = &page;
    out_.tokens = extract::tokens_of(page);
    for (const auto kind : layout_kinds()) {
      if (kind == open_section) open_ = kind;
    }
  }

  PageReading run() {
    cut_lines();
    mark_tables();
    measure();
    out_.sections.push_back({.kind = open_, .carried = !open_.empty()});
    for (std::size_t line = 0; line < lines_.size(); ++line) take_line(line);
    flush();
    close_section(out_.tokens.size());
    return std::move(out_);
  }

 private:
  static std::span<const std::string_view> layout_kinds();

  void cut_lines() {
    lines_.resize(page_.lines.size());
    std::size_t token = 0;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      lines_[line].tokens.first = token;
      while (token < out_.tokens.size() && out_.tokens[token].line <= line) ++token;
      lines_[line].tokens.end = token;
      lines_[line].marker = marker_size(span(lines_[line].tokens));
    }
  }

  void mark_tables() {
    table_of_block_.assign(page_.blocks.size(), -1);
    for (std::size_t i = 0; i < page_.tables.size(); ++i) {
      table_of_block_[page_.tables[i].block] = static_cast<int>(i);
    }
  }

  // Where the text of each block could have gone on to: the farthest right of the blocks that
  // stand above or below it.
  void measure() {
    right_.assign(page_.blocks.size(), 0);
    constexpr std::size_t kBlocksMax = 400;  // Beyond it a page is no page; its blocks stand alone.
    for (std::size_t i = 0; i < page_.blocks.size(); ++i) {
      right_[i] = page_.blocks[i].box.x1;
      if (page_.blocks.size() > kBlocksMax) continue;
      for (const auto& other : page_.blocks) {
        const auto& a = page_.blocks[i].box;
        const auto overlap = std::min(a.x1, other.box.x1) - std::max(a.x0, other.box.x0);
        if (other.kind == BlockKind::table || other.kind == BlockKind::heading) continue;
        if (overlap > 0.5 * std::min(a.width(), other.box.width())) {
          right_[i] = std::max(right_[i], other.box.x1);
        }
      }
    }
  }

  std::span<const Token> span(TokenRange range) const {
    return std::span<const Token>(out_.tokens).subspan(range.first, range.size());
  }

  BlockKind kind_of(std::size_t line) const { return page_.blocks[page_.lines[line].block].kind; }

  bool alone_in_block(std::size_t line) const {
    const auto& block = page_.blocks[page_.lines[line].block];
    return block.first_line == block.last_line;
  }

  // -- sections --

  Heading heading_of(std::size_t line) const {
    auto tokens = span(lines_[line].tokens);
    const auto marker = lines_[line].marker;
    const auto rest = tokens.subspan(marker);
    if (rest.empty() || !rest[0].is_word()) return {};
    std::size_t colon = 0;
    while (colon < rest.size() && colon <= kHeadingTokensMax && !rest[colon].is(":")) ++colon;
    const bool has_colon = colon < rest.size() && rest[colon].is(":");
    const auto table = table_of_block_[page_.lines[line].block];
    if (has_colon) return key_heading(rest, colon, marker);
    if (const auto closing = closing_of(rest, marker)) return *closing;
    if (rest.size() > kHeadingTokensMax) return {};
    if (table >= 0 && cells_in_row(table, line) > 1) return {};
    return plain_heading(rest, line, marker);
  }

  // "Yours sincerely, Dr Jane Doe": what was listed above has ended, and a name begins.
  static std::optional<Heading> closing_of(std::span<const Token> rest, std::size_t marker) {
    std::size_t comma = 0;
    while (comma < rest.size() && comma <= kHeadingTokensMax && !rest[comma].is(",")) ++comma;
    if (comma + 1 >= rest.size() || !rest[comma].is(",") || !rest[0].capital) return std::nullopt;
    const auto kind = Terms::get().heading(phrase_of(rest.first(comma)));
    if (kind != "signature") return std::nullopt;
    return Heading{.form = HeadingForm::closing, .kind = *kind, .content = marker + comma + 1};
  }

  Heading key_heading(std::span<const Token> rest, std::size_t colon, std::size_t marker) const {
    const auto key = rest.first(colon);
    const auto phrase = phrase_of(key);
    auto kind = Terms::get().heading(phrase);
    if (!kind) {
      // "Allergies (drug): amoxicillin"; of other kinds only a line that is all heading.
      const auto parts = heading_of_parts(key);
      if (parts && (rest.size() == colon + 1 || *parts == "allergies")) kind = parts;
    }
    // "ADR" are reactions to drugs, "Adr" is where somebody lives.
    if (key.size() == 1 && key[0].is("adr") && !key[0].caps) kind = std::nullopt;
    const auto content = marker + colon + 1;
    const bool ends = rest.size() == colon + 1;
    // "All: PCN (rash)": allergies, where one is named.
    if (!kind && key.size() == 1 && key[0].is("all") && key[0].capital && names_allergen(rest) &&
        !prescribes(rest))
      kind = "allergies";
    if (kind) {
      return {.form = ends ? HeadingForm::alone : HeadingForm::inline_key,
              .kind = *kind,
              .content = content,
              .historical = says_historical(phrase)};
    }
    if (!rest[0].capital) return {};
    return {.form = ends ? HeadingForm::alone : HeadingForm::other_key,
            .kind = "other",
            .content = content};
  }

  // Whether the line above runs into this one: then its words are not a heading.
  bool follows_full_line(std::size_t line) const {
    if (line == 0) return false;
    const auto& before = page_.lines[line - 1];
    const auto& here = page_.lines[line];
    if (before.block != here.block) return false;
    const auto tokens = span(lines_[line - 1].tokens);
    const bool ended = !tokens.empty() && (tokens.back().is(".") || tokens.back().is(":"));
    if (ended) return false;
    const auto& word = page_.words[here.words.first].box;
    return before.box.width() > 0.35 && before.box.x1 + word.width() > right_[before.block] - 0.005;
  }

  Heading plain_heading(std::span<const Token> rest, std::size_t line, std::size_t marker) const {
    const auto phrase = phrase_of(rest);
    const bool stands_out = kind_of(line) == BlockKind::heading;
    if (!rest[0].capital || (follows_full_line(line) && !stands_out)) return {};
    auto kind = Terms::get().heading(phrase);
    if (!kind) {
      if (const auto type = Terms::get().document_type(phrase)) {
        kind = *type == "lab_report"            ? std::string_view("lab_results")
               : *type == "prescription"        ? std::string_view("medication_list")
               : *type == "immunization_record" ? std::string_view("immunizations")
                                                : std::string_view("other");
      }
    }
    if (kind) {
      return {.form = HeadingForm::alone,
              .kind = *kind,
              .content = marker + rest.size(),
              .historical = says_historical(phrase)};
    }
    const auto parts = heading_of_parts(rest);
    if (parts && (stands_out || alone_in_block(line) || all_parts_are_headings(rest))) {
      return {.form = HeadingForm::alone, .kind = *parts, .content = marker + rest.size()};
    }
    // A line of capitals by itself, or one that stands out.
    const bool capitals = std::ranges::all_of(
        rest, [](const Token& token) { return token.caps || !token.is_word(); });
    const bool figures =
        std::ranges::any_of(rest, [](const Token& token) { return token.is_number(); });
    if (figures || !(stands_out || (capitals && alone_in_block(line)))) return {};
    if (capitals && states_something(rest)) return {};
    return {.form = HeadingForm::alone, .kind = "other", .content = marker + rest.size()};
  }

  // "NO KNOWN DRUG ALLERGIES", "HYPERTENSION", "TAKES LISINOPRIL DAILY": some write everything in
  // capitals. "WARFARIN CLINIC" is a heading all the same.
  bool states_something(std::span<const Token> rest) const {
    constexpr auto kNamed =
        bit(Is::drug) | bit(Is::allergen) | bit(Is::condition) | bit(Is::reaction);
    bool said = false;
    bool named = false;
    bool only_names = true;
    for (std::size_t i = 0; i < rest.size();) {
      const auto& token = rest[i];
      said |= Terms::get().has(token.key, Is::negated_before) ||
              one_of(token.fold, {"nka", "nkda", "nkfa", "allergic", "allergisch", "allergique",
                                  "alergico", "alergica", "takes", "taking", "nimmt", "prend",
                                  "toma", "has", "hat", "tiene", "reports"});
      if (const auto used = read_frequency(rest, i); used > 0) {
        said = true;
        i += used;
        continue;
      }
      const auto name = Terms::get().longest(rest, i, kNamed);
      named |= name.tokens > 0;
      only_names &= name.tokens > 0 || !token.is_word() || is_joint(token);
      i += std::max<std::size_t>(name.tokens, 1);
    }
    return named ? said || only_names : said && std::ranges::any_of(rest, [](const Token& token) {
                                          return token.fold.contains("allerg") ||
                                                 token.fold.contains("alerg") ||
                                                 one_of(token.fold, {"nka", "nkda", "nkfa"});
                                        });
  }

  static bool is_joint(const Token& token) {
    return one_of(token.fold,
                  {"and", "or", "with", "und", "oder", "mit", "et", "ou", "avec", "y", "o", "con"});
  }

  std::size_t cells_in_row(int table, std::size_t line) const {
    const auto& words = page_.lines[line].words;
    const auto& cells = page_.tables[static_cast<std::size_t>(table)].cells;
    const auto first = std::ranges::lower_bound(
        cells, words.first, {}, [](const layout::Cell& cell) { return cell.words.first; });
    std::size_t count = 0;
    for (auto cell = first; cell != cells.end() && cell->words.first <= words.last; ++cell) ++count;
    return count;
  }

  void open(std::string_view kind, std::size_t token, bool historical) {
    close_section(token);
    out_.sections.push_back(
        {.kind = kind, .tokens = {.first = token, .end = token}, .historical = historical});
  }

  void close_section(std::size_t token) { out_.sections.back().tokens.end = token; }

  // -- passages --

  void take_line(std::size_t line) {
    const auto kind = kind_of(line);
    if (kind == BlockKind::header || kind == BlockKind::footer || kind == BlockKind::margin) {
      flush();
      return;
    }
    const auto range = lines_[line].tokens;
    if (range.empty()) return;
    const auto block = page_.lines[line].block;
    close_begun(line);
    const auto heading = heading_of(line);
    if (heading.form == HeadingForm::alone || heading.form == HeadingForm::closing ||
        heading.form == HeadingForm::inline_key) {
      take_heading(line, heading);
      return;
    }
    if (heading.form == HeadingForm::other_key && inline_block_) end_inline(range.first);
    if (table_of_block_[block] >= 0) {
      flush();
      add_row(line, range);
      return;
    }
    if (open_passage_ && continues(line)) {
      pending_.end = range.end;
      last_line_ = line;
      return;
    }
    flush();
    begin_passage(line, range);
  }

  void take_heading(std::size_t line, const Heading& heading) {
    auto range = lines_[line].tokens;
    const bool key = heading.form == HeadingForm::inline_key;
    flush();
    if (key && !inline_block_) before_inline_ = out_.sections.back().kind;
    inline_block_.reset();
    if (key) inline_block_ = page_.lines[line].block;
    open(heading.kind, range.first, heading.historical);
    if (heading.form == HeadingForm::alone) return;
    range.first += heading.content;
    begin_passage(line, range);
  }

  // Sections that end without a heading.
  void close_begun(std::size_t line) {
    const auto first = lines_[line].tokens.first;
    const auto block = page_.lines[line].block;
    // One that a line began ("Allergies: none") ends with its block.
    if (inline_block_ && *inline_block_ != block && !continues_inline(line)) end_inline(first);
    if (inline_block_ && *inline_block_ == block && ends_inline(line)) end_inline(first);
    // What the page before left open may have been a line by itself there.
    if (out_.sections.size() == 1 && out_.sections[0].kind == "allergies" && ends_carried(line)) {
      flush();
      open({}, first, false);
    }
  }

  // What a line stood in goes on at this token.
  void end_inline(std::size_t token) {
    flush();
    inline_block_.reset();
    open(before_inline_, token, false);
  }

  // "Allergies: latex." is done with when a list begins, or another sentence on a line of its own.
  bool ends_inline(std::size_t line) const {
    if (lines_[line].marker > 0) return true;
    if (out_.sections.back().kind == "allergies") return !lists_allergies(line);
    const bool sentence = open_passage_ && out_.tokens[pending_.end - 1].is(".");
    return sentence && !starts_small(line);
  }

  // Whether a line below "Allergies: penicillin" is still about allergies: it goes on in the middle
  // of a sentence, says more of the last one, or begins with what somebody can be allergic to and
  // names no dose. "Lungs clear" and "Metformin 500 mg daily" are what comes next.
  bool lists_allergies(std::size_t line) const {
    const auto tokens = span(lines_[line].tokens).subspan(lines_[line].marker);
    if (tokens.empty() || is_detail_line(line) || tokens[0].is("(")) return true;
    if (tells_reaction(tokens)) return true;
    if (prescribes(tokens)) return false;
    if (open_passage_ && last_line_ + 1 == line) {
      const auto& end = out_.tokens[pending_.end - 1];
      const bool open = end.is(",") || end.is("-") || end.is("(") || is_joint(end);
      if (starts_small(line) || open) return true;
    }
    return Terms::get().longest(tokens, 0, bit(Is::drug) | bit(Is::allergen)).tokens > 0;
  }

  // "Quarzelin - hives", "Ceftriaxone (hives 10 min after infusion)", "Codeine vomiting once": what
  // a substance did, before anything that could be a dose or how often.
  bool tells_reaction(std::span<const Token> tokens) const {
    const bool listed =
        Terms::get().longest(tokens, 0, bit(Is::drug) | bit(Is::allergen)).tokens > 0;
    bool parted = false;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const auto& token = tokens[i];
      parted |= token.is("(") || token.is("[") || token.is(":") || token.is("→") || token.is(">") ||
                token.is("=") || (token.is("-") && !token.glued);
      if (Terms::get().longest(tokens, i, bit(Is::reaction)).tokens > 0)
        return (listed || parted) && !prescribes(tokens.first(i));
      // "Lungs: no wheezing", "hydroxyzine for itching"
      if (says_none(token.fold) || one_of(token.fold, {"for", "against", "bei", "gegen", "pour",
                                                       "contre", "para", "contra"}))
        return false;
    }
    return false;
  }

  bool ends_carried(std::size_t line) const {
    const auto tokens = span(lines_[line].tokens).subspan(lines_[line].marker);
    if (table_of_block_[page_.lines[line].block] >= 0 || lists_allergies(line)) return false;
    if (prescribes(tokens)) return true;
    // "Quarzelin - hives"
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (Terms::get().longest(tokens, i, bit(Is::reaction)).tokens > 0) return false;
    }
    return lines_[line].marker == 0;
  }

  // A dose, how often, or a blood pressure.
  bool prescribes(std::span<const Token> tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (read_frequency(tokens, i) > 0) return true;
      if (!tokens[i].is_number()) continue;
      if (read_unit(tokens, i + 1, page_.text).tokens > 0) return true;
      if (i + 2 < tokens.size() && tokens[i + 1].is("/") && tokens[i + 2].is_number() &&
          tokens[i].fold.size() > 1 && tokens[i + 2].fold.size() < 4 &&
          !(i + 3 < tokens.size() && tokens[i + 3].is("/")))
        return true;
    }
    return false;
  }

  // "Reaction: anaphylaxis", "Severity: severe" below the name of what causes it.
  bool is_detail_line(std::size_t line) const {
    return is_detail_at(lines_[line].tokens.first + lines_[line].marker);
  }

  bool is_detail_at(std::size_t at) const {
    if (at + 1 >= out_.tokens.size() || !out_.tokens[at + 1].is(":")) return false;
    return one_of(
        out_.tokens[at].fold,
        {"reaction", "reactions", "reaktion", "reaktionen", "reaccion", "reacciones", "severity",
         "criticality", "schweregrad", "severite", "gravite", "severidad", "gravedad",
         "manifestation", "manifestations", "manifestacion", "manifestaciones"});
  }

  bool continues_inline(std::size_t line) const {
    return open_passage_ && last_line_ + 1 == line && starts_small(line);
  }

  void begin_passage(std::size_t line, TokenRange range) {
    const auto marker = std::min(lines_[line].marker, range.size());
    if (range.first == lines_[line].tokens.first) range.first += marker;
    pending_ = range;
    open_passage_ = true;
    first_line_ = line;
    last_line_ = line;
  }

  bool starts_small(std::size_t line) const {
    const auto range = lines_[line].tokens;
    if (range.empty()) return false;
    const auto& token = out_.tokens[range.first];
    return token.is_word() && !token.capital && lines_[line].marker == 0;
  }

  bool continues(std::size_t line) const {
    if (lines_[line].marker > 0 || line != last_line_ + 1) return false;
    const bool bracket = out_.tokens[lines_[line].tokens.first].is("(");
    if (out_.sections.back().kind == "allergies" && (bracket || is_detail_line(line))) return true;
    const auto& before = page_.lines[last_line_];
    const auto& here = page_.lines[line];
    const auto& end = out_.tokens[pending_.end - 1];
    const bool ended = end.is(".") || end.is("!") || end.is("?");
    if (before.block != here.block) {
      return starts_small(line) && !ended && kind_of(line) == BlockKind::text;
    }
    if (starts_small(line)) return true;
    if (end.is(",") || end.is("-") || end.is("(")) return true;
    // Prose is set as wide as it goes: the next word had no room.
    const auto& word = page_.words[here.words.first].box;
    const auto right = right_[before.block];
    const bool full = before.box.x1 + word.width() + 0.25 * word.width() / 4 > right - 0.005;
    const bool wide = before.box.width() > 0.35;
    return full && wide;
  }

  void add_row(std::size_t line, TokenRange range) {
    const auto table = table_of_block_[page_.lines[line].block];
    const auto& cells = page_.tables[static_cast<std::size_t>(table)].cells;
    const auto& words = page_.lines[line].words;
    const auto cell = std::ranges::lower_bound(cells, words.first, {},
                                               [](const layout::Cell& c) { return c.words.first; });
    const auto row = cell == cells.end() ? 0 : cell->row;
    // No row of a real table is as long; one that is costs no square.
    for (auto first = range.first; first < range.end; first += kPassageTokensMax) {
      const auto end = std::min(range.end, first + kPassageTokensMax);
      out_.passages.push_back({.tokens = {.first = first, .end = end},
                               .section = out_.sections.size() - 1,
                               .table = table,
                               .row = row,
                               .item = true});
    }
  }

  static bool is_abbreviation(std::string_view fold) {
    return one_of(
        fold,
        {"dr",  "mr",   "mrs",  "ms",   "prof", "st",  "no",   "nr",   "approx", "ca",     "tabl",
         "tbl", "kps",  "vs",   "geb",  "inkl", "bzw", "ggf",  "med",  "dra",    "sr",     "sra",
         "mme", "tel",  "fig",  "ref",  "max",  "min", "resp", "incl", "etc",    "evtl",   "tgl",
         "stk", "str",  "dipl", "priv", "doz",  "pr",  "jan",  "feb",  "mar",    "apr",    "jun",
         "jul", "aug",  "sep",  "sept", "oct",  "nov", "dec",  "okt",  "dez",    "janv",   "fevr",
         "avr", "juil", "ene",  "abr",  "ago",  "dic", "art",  "num",  "bed",    "entspr", "z",
         "v",   "b",    "s",    "d",    "p",    "i",   "c",    "a",    "n"});
  }

  // Whether a sentence ends with this token.
  bool ends_sentence(std::size_t at, TokenRange range) const {
    const auto& token = out_.tokens[at];
    // "Latex allergy? No": asked and answered.
    if (token.is("?") &&
        bare_answer(std::span(out_.tokens).first(range.end), at + 1) != Answer::none)
      return false;
    // "Penicillin; reaction: hives"
    if (token.is(";") && at + 1 < range.end && is_detail_at(at + 1) &&
        out_.sections.back().kind == "allergies")
      return false;
    if (token.is(";") || token.is("!") || token.is("?")) return true;
    if (!token.is(".") || at == range.first) return false;
    if (at + 1 >= range.end) return true;
    const auto& next = out_.tokens[at + 1];
    const auto& before = out_.tokens[at - 1];
    if (next.glued) return false;
    // "NT-proBNP. 221 pg/mL": a speck behind the name of a test.
    if (next.is_number() && out_.sections.back().kind == "lab_results") return false;
    if (next.is_word() && !next.capital) return false;
    if (before.is_number() && before.fold.size() <= 2 && next.is_word()) {
      // "5. März 2024"
      const auto date = read_date(out_.tokens, at - 1, DayMonth::day_first);
      if (date.tokens > 0) return false;
    }
    if (before.is_word() && is_abbreviation(before.fold)) {
      // "hepatitis B. She": a letter behind a small word is the end of something.
      const bool letter = before.fold.size() == 1 && before.capital && at >= 2 &&
                          out_.tokens[at - 2].is_word() && !out_.tokens[at - 2].capital;
      return letter;
    }
    return true;
  }

  void flush() {
    if (!open_passage_) return;
    open_passage_ = false;
    const bool one_line = first_line_ == last_line_;
    auto first = pending_.first;
    std::size_t sentences = 0;
    const auto around = out_.sections.back();
    const auto add = [&](std::size_t end) {
      if (sentences > 0) first = past_key(first, end);
      if (end > first) {
        out_.passages.push_back({.tokens = {.first = first, .end = end},
                                 .section = out_.sections.size() - 1,
                                 .item = one_line && sentences == 0 && end == pending_.end});
        ++sentences;
      }
      first = end;
    };
    for (auto at = pending_.first; at < pending_.end; ++at) {
      const bool full = at - first + 1 >= kPassageTokensMax;
      if (full || ends_sentence(at, pending_)) add(at + 1);
    }
    add(pending_.end);
    if (!within_line_) return;
    // What follows belongs to what the line stood in.
    within_line_ = false;
    const bool begun = inline_block_.has_value();
    inline_block_.reset();
    open(begun ? before_inline_ : around.kind, pending_.end, !begun && around.historical);
  }

  // "Allergies: none. Medications: lisinopril 10 mg daily.": behind a heading in the midst of a
  // line, whose section it opens; `first` where there is none.
  std::size_t past_key(std::size_t first, std::size_t end) {
    const auto tokens = span({.first = first, .end = end});
    std::size_t colon = 0;
    while (colon < tokens.size() && colon < kHeadingTokensMax && !tokens[colon].is(":")) ++colon;
    const bool key = colon > 0 && colon + 1 < tokens.size() && tokens[colon].is(":");
    if (!key || !tokens[0].capital) return first;
    const auto phrase = phrase_of(tokens.first(colon));
    const auto kind = Terms::get().heading(phrase);
    if (!kind || !(inline_block_ || *kind == "allergies")) return first;
    open(*kind, first, says_historical(phrase));
    within_line_ = true;
    return first + colon + 1;
  }

  const layout::PageMap& page_;
  PageReading out_;
  std::string_view open_ = {};
  std::vector<LineTokens> lines_;
  std::vector<int> table_of_block_;
  std::vector<double> right_;
  // The passage that is being collected.
  bool open_passage_ = false;
  TokenRange pending_;
  std::size_t first_line_ = 0;
  std::size_t last_line_ = 0;
  // The block of a heading with content on its line, and what was open before it.
  std::optional<std::uint32_t> inline_block_;
  std::string_view before_inline_ = {};
  bool within_line_ = false;  // A section was opened in the midst of a line.
};

std::span<const std::string_view> Reader::layout_kinds() {
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"medication_list", "lab_results", "vital_signs", "allergies", "diagnoses", "history",
       "family_history", "procedures", "immunizations", "plan", "demographics", "signature",
       "other"});
  return kKinds;
}

}  // namespace

std::string_view PageReading::text_of(TokenRange range) const {
  if (range.empty()) return {};
  const auto begin = tokens[range.first].bytes.begin;
  return std::string_view(page->text).substr(begin, tokens[range.end - 1].bytes.end - begin);
}

TokenRange PageReading::tokens_of_words(layout::WordRange words) const {
  const auto first = std::ranges::lower_bound(tokens, words.first, {}, &Token::word);
  const auto end = std::ranges::upper_bound(tokens, words.last, {}, &Token::word);
  return {.first = static_cast<std::size_t>(first - tokens.begin()),
          .end = static_cast<std::size_t>(end - tokens.begin())};
}

const Passage* PageReading::passage_at(std::size_t token) const {
  const auto after = std::ranges::upper_bound(
      passages, token, {}, [](const Passage& passage) { return passage.tokens.first; });
  if (after == passages.begin()) return nullptr;
  const auto& passage = *(after - 1);
  return token < passage.tokens.end ? &passage : nullptr;
}

PageReading read_page(const layout::PageMap& page, std::string_view open_section) {
  return Reader(page, open_section).run();
}

std::string language_of(std::span<const PageReading> pages) {
  std::array<double, kLanguages> votes = {};
  std::size_t words = 0;
  for (const auto& page : pages) {
    for (const auto& token : page.tokens) {
      if (!token.is_word()) continue;
      const auto languages = Terms::get().languages(token.key);
      if (languages == 0) continue;
      ++words;
      const auto shared = std::popcount(languages);
      for (std::size_t i = 0; i < kLanguages; ++i) {
        if ((languages >> i & 1U) != 0) votes[i] += 1.0 / shared;
      }
    }
  }
  if (words < 3) return {};
  const auto best = std::ranges::max_element(votes);
  return std::string(kLanguageNames[static_cast<std::size_t>(best - votes.begin())]);
}

Decimal decimal_of(std::string_view language) {
  return language == "de" || language == "fr" || language == "es" ? Decimal::comma : Decimal::point;
}

namespace {

// "MM/DD/YYYY", "JJ/MM/AAAA": what a form asks for.
DayMonth form_at(std::span<const Token> tokens, std::size_t at) {
  if (at + 2 >= tokens.size() || tokens[at + 1].kind != TokenKind::punct) return DayMonth::unknown;
  const auto is_day = [](const Token& token) {
    return token.is("dd") || token.is("jj") || token.is("tt");
  };
  if (is_day(tokens[at]) && tokens[at + 2].is("mm")) return DayMonth::day_first;
  return tokens[at].is("mm") && is_day(tokens[at + 2]) ? DayMonth::month_first : DayMonth::unknown;
}

// English is written with either order; spelling and institutions say where.
DayMonth likelier_order(std::span<const PageReading> pages, std::string_view language) {
  if (language == "en-US") return DayMonth::month_first;
  if (!language.empty() && language != "en") return DayMonth::day_first;
  std::size_t british = 0;
  std::size_t american = 0;
  for (const auto& page : pages) {
    for (const auto& token : page.tokens) {
      if (!token.is_word()) continue;
      british += one_of(token.fold, {"nhs", "gp", "haemoglobin", "anaemia", "oedema", "paediatric",
                                     "paediatrics", "diarrhoea", "gynaecology", "haematology"})
                     ? 1
                     : 0;
      american += one_of(token.fold, {"ssn", "pcp", "hemoglobin", "anemia", "edema", "pediatric",
                                      "pediatrics", "diarrhea", "gynecology", "hematology"})
                      ? 1
                      : 0;
    }
  }
  return british > american ? DayMonth::day_first : DayMonth::month_first;
}

}  // namespace

bool is_english(std::string_view language) {
  return language.empty() || language == "en" || language.starts_with("en-");
}

DateOrder date_order_of(std::span<const PageReading> pages, std::string_view language) {
  DateOrder out;
  bool disputed = false;
  for (const auto& page : pages) {
    for (std::size_t at = 0; at < page.tokens.size(); ++at) {
      const auto shows = page.tokens[at].is_number()
                             ? read_date(page.tokens, at, DayMonth::unknown).shows
                             : form_at(page.tokens, at);
      if (shows == DayMonth::unknown) continue;
      disputed |= out.order != DayMonth::unknown && out.order != shows;
      if (out.order == DayMonth::unknown) out.order = shows;
    }
  }
  out.certain = !disputed && (out.order != DayMonth::unknown || !is_english(language));
  if (out.order == DayMonth::unknown) out.order = likelier_order(pages, language);
  return out;
}

}  // namespace millrace::extract
