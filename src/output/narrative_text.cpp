#include "output/narrative_text.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;

enum class Style { markdown, plain };

// Whether Markdown would take the character for more than itself here. `before` is what stands in
// front of it in its line, `rest` what follows.
bool is_markup(char32_t code, std::string_view before, std::string_view rest) {
  if (code >= 0x80) return false;
  const char c = static_cast<char>(code);
  if (std::string_view("\\`*_[]<>#|~&!@").contains(c)) return true;
  if (c == ':') return rest.starts_with("//");
  if (c == '.' && (before.ends_with("www") || before.ends_with("WWW"))) return true;
  const bool first = before.find_first_not_of("0123456789") == std::string_view::npos;
  const bool ends = rest.empty() || rest.starts_with(' ');  // "1. item", not "2.5 mg".
  if (c == '.' || c == ')') return first && !before.empty() && ends;
  return before.empty() && std::string_view("+-=").contains(c);
}

// One line of text that means only itself.
std::string clean(std::string_view text, Style style) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto next = layout::decode_at(text, i);
    i += next.bytes;
    if (layout::is_space(next.code)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else if (!next.valid || layout::is_control(next.code)) {
      layout::append_utf8(out, layout::kReplacement);
    } else if (style == Style::plain) {
      const auto code = next.code == '[' ? U'(' : next.code == ']' ? U')' : next.code;
      layout::append_utf8(out, code);
    } else {
      if (is_markup(next.code, out, text.substr(i))) out += '\\';
      layout::append_utf8(out, next.code);
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

struct Writer {
  const NarrativeInput& input;
  Style style;
  std::string out = {};
  std::vector<std::string> cited = {};  // In the order of their first mark,
  std::set<std::string> seen = {};      // each once.

  void heading(int level, std::string_view text) {
    if (style == Style::markdown) {
      out += std::string(static_cast<std::size_t>(level), '#') + " ";
    }
    out += clean(text, style);
    out += style == Style::markdown || level == 1 ? "\n\n" : ":\n";
  }

  std::string mark(const std::string& fact) {
    if (seen.insert(fact).second) cited.push_back(fact);
    return "[" + clean(fact, Style::plain) + "]";
  }

  std::string marks(const std::vector<std::string>& facts) {
    std::string text;
    for (const auto& fact : facts) text += mark(fact);
    return text;
  }

  void sentences() {
    const std::set<std::string> doubtful(input.narrative.uncertain.begin(),
                                         input.narrative.uncertain.end());
    for (const auto& sentence : input.narrative.sentences) {
      const bool doubt = std::ranges::any_of(
          sentence.facts, [&](const auto& fact) { return doubtful.contains(fact); });
      out += clean(sentence.text, style) + " " + marks(sentence.facts);
      if (doubt) out += " (to be checked)";
      out += style == Style::markdown ? "\n\n" : "\n";
    }
    if (style == Style::plain && !input.narrative.sentences.empty()) out += '\n';
  }

  void conflicts() {
    if (input.narrative.conflicts.empty()) return;
    heading(2, "Conflicts");
    for (const auto& conflict : input.narrative.conflicts) {
      out += "- " + clean(conflict.note, style) + " " + marks(conflict.facts) + "\n";
    }
    out += '\n';
  }

  void uncertain() {
    if (input.narrative.uncertain.empty()) return;
    heading(2, "To be checked by a person");
    for (const auto& fact : input.narrative.uncertain) out += "- " + mark(fact) + "\n";
    out += '\n';
  }

  void sources() {
    if (cited.empty()) return;
    heading(2, "Sources");
    std::map<std::string_view, const clinical::Fact*> facts;
    for (const auto& fact : input.extraction.facts) facts.emplace(fact.id, &fact);
    for (const auto& id : cited) {
      out += "- [" + clean(id, Style::plain) + "]";
      const auto fact = facts.find(id);
      const auto places =
          fact == facts.end() ? std::vector<const Located*>() : input.evidence.of(*fact->second);
      std::uint32_t page = 0;
      for (const auto* located : places) {
        if (located->page != page) {
          out += fmt::format("{} page {}:", page == 0 ? "" : ";", located->page);
          page = located->page;
        } else {
          out += ',';
        }
        out += " “" + clean(located->text, style) + "”";
      }
      if (places.empty()) out += " source not found";
      out += '\n';
    }
  }

  std::string write() {
    heading(1, input.info.shown_title());
    if (input.missing) {
      out += "The narrative is missing: what was answered when it was asked for could not be used.";
      out += " The facts do not depend on it.\n\n";
    }
    sentences();
    conflicts();
    uncertain();
    sources();
    while (out.ends_with("\n\n")) out.pop_back();
    return std::move(out);
  }
};

}  // namespace

std::string narrative_markdown(const NarrativeInput& input) {
  return Writer{.input = input, .style = Style::markdown}.write();
}

std::string narrative_plain(const NarrativeInput& input) {
  return Writer{.input = input, .style = Style::plain}.write();
}

}  // namespace millrace::output
