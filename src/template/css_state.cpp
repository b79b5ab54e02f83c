#include "template/context.h"

#include <algorithm>
#include <cctype>

namespace millrace::templates {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '@';
}

std::unexpected<MarkupProblem> wrong(std::size_t offset, std::string message) {
  return std::unexpected(MarkupProblem{offset, std::move(message)});
}

}  // namespace

std::expected<void, MarkupProblem> CssState::feed(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') return wrong(i, "CSS may not contain '<'");
    switch (mode_) {
      case Mode::normal:
        if (auto fed = feed_normal(text, i); !fed) return fed;
        break;
      case Mode::comment:
        if (c == '*' && i + 1 < text.size() && text[i + 1] == '/') {
          mode_ = Mode::normal;
          ++i;
        }
        break;
      case Mode::string:
        if (escaped_) {
          escaped_ = false;
        } else if (c == '\\') {
          escaped_ = true;
        } else if (c == '\n') {
          return wrong(i, "a text of CSS ends on its line: the closing quote is missing");
        } else if (c == quote_) {
          mode_ = Mode::normal;
        }
        break;
      case Mode::url:
        if (auto fed = feed_url(text, i); !fed) return fed;
        break;
    }
  }
  return {};
}

std::expected<void, MarkupProblem> CssState::feed_normal(std::string_view text, std::size_t& i) {
  const char c = text[i];
  if (c == '\\') return wrong(i, "a backslash may stand only in texts of CSS");
  if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
    mode_ = Mode::comment;
    word_.clear();
    ++i;
    return {};
  }
  if (c == '"' || c == '\'') {
    mode_ = Mode::string;
    quote_ = c;
    word_.clear();
    return {};
  }
  if (c == '(' && (word_ == "url" || word_ == "src" || word_.ends_with("image-set"))) {
    if (word_ != "url") return wrong(i, "only url() may name what is shown, not " + word_ + "()");
    mode_ = Mode::url;
    word_.clear();
    return {};
  }
  if (!is_word(c)) {
    word_.clear();
    return {};
  }
  if (word_.size() < 32) word_ += lower(c);
  if (word_ == "@import") return wrong(i, "@import is not allowed: put everything into style.css");
  return {};
}

// Addresses of CSS are loaded when the page is: nothing but what stands in them is allowed.
std::expected<void, MarkupProblem> CssState::feed_url(std::string_view text, std::size_t& i) {
  const char c = text[i];
  if (c == ')') {
    if (url_.size() < 5) return wrong(i, "url() may hold data: only; fonts come by {% font %}");
    mode_ = Mode::normal;
    url_.clear();
    return {};
  }
  constexpr std::string_view kData = "data:";
  if (url_.size() < kData.size() && !(url_.empty() && (c == '"' || c == '\'' || c == ' '))) {
    if (lower(c) != kData[url_.size()]) {
      return wrong(i, "url() may hold data: only; fonts come by {% font %}");
    }
    url_ += lower(c);
  }
  return {};
}

Result<Context> CssState::context() const {
  const auto refuse = [](std::string message) {
    return fail(ErrorKind::invalid_argument, std::move(message));
  };
  if (mode_ == Mode::normal) return Context{.kind = ContextKind::css_value};
  if (mode_ == Mode::comment) return refuse("no value can be printed in a comment of CSS");
  if (mode_ == Mode::url) return refuse("no value can be printed within url()");
  if (escaped_) return refuse("no value can be printed after a backslash");
  return Context{.kind = ContextKind::css_string};
}

}  // namespace millrace::templates
