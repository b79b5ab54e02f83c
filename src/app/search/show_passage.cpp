#include "app/search/show_passage.h"

#include "app/context.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::app {
namespace {

struct Span {
  std::size_t from = 0;
  std::size_t to = 0;
};

// Of the highlights, within the text of the passage.
std::vector<Span> spans_of(const json::Object& passage, std::size_t size) {
  const auto begin = int_member(passage, "start_byte");
  std::vector<Span> spans;
  const auto* list = member(passage, "highlights");
  if (list == nullptr || !list->is_array()) return spans;
  for (const auto& value : list->get_array()) {
    const auto from = value.as_array().at(0).to_number<std::int64_t>() - begin;
    const auto to = value.as_array().at(1).to_number<std::int64_t>() - begin;
    const auto last = spans.empty() ? 0 : static_cast<std::int64_t>(spans.back().to);
    if (from < last || to <= from || to > static_cast<std::int64_t>(size)) continue;
    spans.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to)});
  }
  return spans;
}

// Words of the text in lines; white space of any kind is one space.
class Lines {
 public:
  Lines(const Terminal& terminal, std::size_t width) : terminal_(terminal), width_(width) {}

  void add(std::string_view text, bool marked) {
    const auto shown = printable(text);
    for (std::size_t at = 0; at < shown.size();) {
      if (shown[at] == ' ') {
        flush();
        ++at;
        continue;
      }
      const auto end = std::min(shown.find(' ', at), shown.size());
      const auto piece = std::string_view(shown).substr(at, end - at);
      word_width_ += display_width(piece);
      word_ += marked ? mark(piece) : std::string(piece);
      at = end;
    }
  }
  std::string finish() {
    flush();
    if (!line_.empty()) out_ += "   " + line_ + "\n";
    return std::move(out_);
  }

 private:
  std::string mark(std::string_view text) const {
    return terminal_.color ? terminal_.paint(Style::bold, text) : fmt::format("[{}]", text);
  }
  void flush() {
    if (word_.empty()) return;
    if (!line_.empty() && line_width_ + 1 + word_width_ > width_) {
      out_ += "   " + line_ + "\n";
      line_.clear();
      line_width_ = 0;
    }
    if (!line_.empty()) {
      line_ += ' ';
      ++line_width_;
    }
    line_ += word_;
    line_width_ += word_width_;
    word_.clear();
    word_width_ = 0;
  }

  const Terminal& terminal_;
  std::size_t width_;
  std::string out_;
  std::string line_;
  std::string word_;
  std::size_t line_width_ = 0;
  std::size_t word_width_ = 0;
};

std::string place_of(const Terminal& terminal, const json::Object& hit) {
  const std::string_view arrow = terminal.unicode ? " › " : " > ";
  std::string out;
  const auto add = [&](std::string_view part) {
    if (!out.empty()) out += arrow;
    out += printable(part);
  };
  if (const auto* path = member(hit, "heading_path"); path != nullptr && path->is_array()) {
    for (const auto& heading : path->get_array()) add(std::string_view(heading.as_string()));
  }
  const auto first = int_member(hit, "page_start");
  const auto last = int_member(hit, "page_end");
  if (first > 0) {
    add(last > first ? fmt::format("pages {}-{}", first, last) : fmt::format("page {}", first));
  }
  return out;
}

}  // namespace

std::string show_passage(const Terminal& terminal, const json::Object& hit) {
  const auto& passage = hit.at("passage").as_object();
  const auto name = text_member(hit, "document_name");
  std::string out =
      fmt::format("{}. {}\n", int_member(hit, "rank"),
                  terminal.paint(Style::bold,
                                 printable(name.empty() ? text_member(hit, "document_id") : name)));
  if (const auto place = place_of(terminal, hit); !place.empty()) {
    out += fmt::format("   {}\n", terminal.paint(Style::cyan, place));
  }
  auto where = fmt::format("document {}, bytes {}-{}, score {:.3f}",
                           text_member(hit, "document_id"), int_member(passage, "start_byte"),
                           int_member(passage, "end_byte"), hit.at("score").to_number<double>());
  if (const auto* explain = member(hit, "explain"); explain != nullptr && explain->is_object()) {
    const auto& measures = explain->get_object();
    where += fmt::format(" (words {:.3f}", measures.at("share").to_number<double>());
    if (measures.at("cosine").is_number()) {
      where += fmt::format(", meaning {:.3f}", measures.at("cosine").to_number<double>());
    }
    where += fmt::format(", {})", text_member(measures, "config"));
  }
  out += fmt::format("   {}\n", terminal.paint(Style::dim, where));
  const auto text = text_member(passage, "text");
  Lines lines(terminal, std::max<std::size_t>(terminal.width, 40) - 3);
  std::size_t at = 0;
  for (const auto& [from, to] : spans_of(passage, text.size())) {
    lines.add(std::string_view(text).substr(at, from - at), false);
    lines.add(std::string_view(text).substr(from, to - from), true);
    at = to;
  }
  lines.add(std::string_view(text).substr(at), false);
  return out + lines.finish() + "\n";
}

}  // namespace millrace::app
