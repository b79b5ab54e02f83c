#include "document/markdown/inline_text.h"

#include "document/markdown/escape.h"

#include <algorithm>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kOpenMarksMax = 8;

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

std::string_view opening(InlineMark mark) {
  switch (mark) {
    case InlineMark::strong:
      return "**";
    case InlineMark::emphasis:
      return "*";
    case InlineMark::strike:
      return "~~";
    case InlineMark::above:
      return "<sup>";
    case InlineMark::below:
      return "<sub>";
  }
  return {};
}

std::string_view closing(InlineMark mark) {
  if (mark == InlineMark::above) return "</sup>";
  if (mark == InlineMark::below) return "</sub>";
  return opening(mark);
}

// Whether Markdown finds the mark by what stands on both sides of it.
bool needs_neighbours(InlineMark mark) {
  return mark != InlineMark::above && mark != InlineMark::below;
}

}  // namespace

void InlineText::flush_blank() {
  const bool needed = std::exchange(blank_, false) && !out_.empty() && !is_white(out_.back());
  if (!needed) return;
  // What begins here begins behind the blank.
  for (auto& open : marks_) open.at += open.at == out_.size() ? 1 : 0;
  if (link_at_ == out_.size()) ++link_at_;
  out_ += ' ';
}

// A mark that was closed after punctuation must not be followed by a letter.
void InlineText::before_text(char next) {
  flush_blank();
  if (last_.end != out_.size() || is_punctuation(next)) return;
  const auto close = closing(last_.mark);
  const auto inner_end = out_.size() - close.size();
  if (!needs_neighbours(last_.mark) || !is_punctuation(out_[inner_end - 1])) return;
  out_.erase(inner_end);
  out_.erase(last_.begin, opening(last_.mark).size());
  const auto gone = close.size() + opening(last_.mark).size();
  for (auto& open : marks_) open.at -= open.at >= last_.end ? gone : 0;
  if (link_at_ != std::string::npos && link_at_ >= last_.end) link_at_ -= gone;
  last_ = {};
}

void InlineText::text(std::string_view raw) {
  while (!raw.empty()) {
    if (is_white(raw.front())) {
      blank_ = true;
      raw.remove_prefix(1);
      continue;
    }
    const auto end = std::ranges::find_if(raw, is_white) - raw.begin();
    const auto word = raw.substr(0, static_cast<std::size_t>(end));
    before_text(word.front());
    raw.remove_prefix(word.size());
    append_escaped(out_, word, raw.empty() ? '\0' : ' ');
  }
}

void InlineText::line_break() {
  if (place_ == Place::heading) {
    blank_ = true;
    return;
  }
  if (empty()) return;
  blank_ = false;
  while (out_.ends_with(' ')) out_.pop_back();
  if (place_ == Place::paragraph) {
    out_ += "\\\n";
  } else if (!out_.ends_with("<br>")) {
    out_ += "<br>";
  }
}

void InlineText::code(std::string_view raw) {
  std::string code;
  for (const char c : raw) {
    if (is_white(c)) {
      if (!code.empty() && code.back() != ' ') code += ' ';
    } else if (static_cast<unsigned char>(c) > 0x20) {
      if (c == '|' && place_ == Place::cell) code += '\\';
      code += c;
    }
  }
  while (code.ends_with(' ')) code.pop_back();
  if (code.empty()) return;
  if (!raw.empty() && is_white(raw.front())) blank_ = true;
  before_text('`');
  const auto fence = fence_for(code, 1);
  const bool padded = code.front() == '`' || code.back() == '`';
  if (out_.ends_with('`')) out_ += ' ';  // Two runs of code would become one.
  out_.append(fence).append(padded ? " " : "").append(code).append(padded ? " " : "").append(fence);
}

void InlineText::image(std::string_view alt, std::string_view url) {
  InlineText label(Place::heading);
  label.text(alt);
  const auto shown = label.take();
  if (shown.empty()) return;
  before_text('!');
  out_.append("![").append(shown).append("](").append(link_target(url)).append(")");
}

void InlineText::open(InlineMark mark) {
  const bool twice = std::ranges::find(marks_, mark, &OpenMark::mark) != marks_.end();
  if (twice || marks_.size() >= kOpenMarksMax) return;
  flush_blank();
  marks_.push_back({.mark = mark, .at = out_.size(), .in_link = link_at_ != std::string::npos});
}

void InlineText::close(InlineMark mark) {
  const auto found = std::ranges::find(marks_, mark, &OpenMark::mark);
  if (found == marks_.end()) return;
  if (!found->in_link) end_link();  // A link cannot begin within a mark and end behind it.
  // What was opened later ends here too and begins again.
  std::vector<InlineMark> again;
  while (marks_.back().mark != mark) {
    again.push_back(marks_.back().mark);
    wrap(marks_.back());
    marks_.pop_back();
  }
  wrap(marks_.back());
  marks_.pop_back();
  for (auto at = again.rbegin(); at != again.rend(); ++at) {
    marks_.push_back({.mark = *at, .at = out_.size(), .in_link = link_at_ != std::string::npos});
  }
}

void InlineText::wrap(const OpenMark& open) {
  while (out_.size() > open.at && out_.back() == ' ') {
    out_.pop_back();
    blank_ = true;
  }
  if (out_.size() <= open.at || out_.find('\n', open.at) != std::string::npos) return;
  const auto begin = opening(open.mark);
  if (needs_neighbours(open.mark)) {
    if (last_.end == open.at && last_.mark == open.mark && open.at > 0) {
      const bool others_begin_here =
          link_at_ == open.at || std::ranges::count(marks_, open.at, &OpenMark::at) > 1;
      if (others_begin_here) return;
      // "**a****b**" would be neither: one mark over both.
      out_.erase(open.at - begin.size(), begin.size());
      out_ += begin;
      last_.end = out_.size();
      return;
    }
    const bool inside = open.at > 0 && !is_white(out_[open.at - 1]);
    if (inside && is_punctuation(out_[open.at]) && !is_punctuation(out_[open.at - 1])) return;
  }
  out_.insert(open.at, begin).append(closing(open.mark));
  last_ = {.mark = open.mark, .begin = open.at, .end = out_.size()};
}

void InlineText::begin_link(std::string_view url) {
  end_link();
  auto target = link_target(url);
  if (target.empty()) return;
  flush_blank();
  url_ = std::move(target);
  link_at_ = out_.size();
}

void InlineText::end_link() {
  finish_link();
  url_.clear();
}

void InlineText::finish_link() {
  if (link_at_ == std::string::npos) return;
  const auto at = std::exchange(link_at_, std::string::npos);
  while (out_.size() > at && out_.back() == ' ') {
    out_.pop_back();
    blank_ = true;
  }
  if (out_.size() <= at || url_.empty()) return;
  if (at > 0 && out_[at - 1] == '!') return;  // It would be an image.
  out_.insert(at, "[").append("](").append(url_).append(")");
  // Marks that were opened within the link go on behind it.
  for (auto& mark : marks_) {
    if (mark.at > at) mark.at = out_.size();
  }
  last_ = {};
}

std::string InlineText::take() {
  const auto url = url_;
  finish_link();
  std::vector<InlineMark> again;
  for (const auto& open : marks_) again.push_back(open.mark);
  while (!marks_.empty()) {
    wrap(marks_.back());
    marks_.pop_back();
  }
  auto out = std::exchange(out_, {});
  for (;;) {
    if (out.ends_with(' ')) {
      out.pop_back();
    } else if (out.ends_with("\\\n")) {
      out.resize(out.size() - 2);
    } else if (out.ends_with("<br>")) {
      out.resize(out.size() - 4);
    } else {
      break;
    }
  }
  last_ = {};
  blank_ = false;
  for (const auto mark : again) marks_.push_back({.mark = mark, .at = 0});
  if (!url.empty()) {
    url_ = url;
    link_at_ = 0;
  }
  return out;
}

void InlineText::reset(Place place) { *this = InlineText(place); }

}  // namespace millrace::document
