#include "template/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace millrace::templates {
namespace {

using std::string_view_literals::operator""sv;

constexpr auto kElements = std::to_array<std::string_view>({"a",          "abbr",
                                                            "address",    "article",
                                                            "aside",      "b",
                                                            "bdi",        "bdo",
                                                            "blockquote", "br",
                                                            "caption",    "circle",
                                                            "cite",       "code",
                                                            "col",        "colgroup",
                                                            "dd",         "defs",
                                                            "del",        "desc",
                                                            "dfn",        "div",
                                                            "dl",         "dt",
                                                            "ellipse",    "em",
                                                            "figcaption", "figure",
                                                            "footer",     "g",
                                                            "h1",         "h2",
                                                            "h3",         "h4",
                                                            "h5",         "h6",
                                                            "header",     "hgroup",
                                                            "hr",         "i",
                                                            "img",        "ins",
                                                            "kbd",        "li",
                                                            "line",       "lineargradient",
                                                            "main",       "mark",
                                                            "nav",        "ol",
                                                            "p",          "path",
                                                            "polygon",    "polyline",
                                                            "pre",        "q",
                                                            "rect",       "s",
                                                            "samp",       "section",
                                                            "small",      "span",
                                                            "stop",       "strong",
                                                            "sub",        "sup",
                                                            "svg",        "table",
                                                            "tbody",      "td",
                                                            "text",       "tfoot",
                                                            "th",         "thead",
                                                            "time",       "tr",
                                                            "tspan",      "u",
                                                            "ul",         "var",
                                                            "wbr"});

constexpr auto kForbiddenAttributes = std::to_array<std::string_view>(
    {"action",     "archive", "background", "cite",        "classid",  "codebase",     "data",
     "formaction", "icon",    "imagesizes", "imagesrcset", "longdesc", "manifest",     "ping",
     "profile",    "srcdoc",  "srcset",     "usemap",      "xml:base", "attributename"});

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::unexpected<std::string> wrong(std::string message) {
  return std::unexpected(std::move(message));
}

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, lower);
}

}  // namespace

std::string_view to_string(ContextKind kind) {
  switch (kind) {
    case ContextKind::plain:
      return "plain text";
    case ContextKind::html:
      return "the text of an element";
    case ContextKind::attribute:
      return "the value of an attribute";
    case ContextKind::link:
      return "a link";
    case ContextKind::resource:
      return "the address of a picture";
    case ContextKind::url_part:
      return "a part of an address";
    case ContextKind::css_value:
      return "a value of CSS";
    case ContextKind::css_string:
      return "a text of CSS";
  }
  return "";
}

bool link_allowed(std::string_view text) {
  return text.starts_with('#') || begins_with(text, "https://") || begins_with(text, "http://") ||
         begins_with(text, "mailto:") || begins_with(text, "tel:");
}

bool resource_allowed(std::string_view text) {
  return std::ranges::any_of(
      std::to_array({"data:image/png;base64,"sv, "data:image/jpeg;base64,"sv,
                     "data:image/gif;base64,"sv, "data:image/webp;base64,"sv}),
      [&](std::string_view prefix) { return begins_with(text, prefix); });
}

std::expected<void, MarkupProblem> MarkupState::feed(std::string_view text) {
  if (markup_ == Markup::plain) return {};
  return markup_ == Markup::css ? css_.feed(text) : feed_html(text);
}

std::expected<void, MarkupProblem> MarkupState::feed_html(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (mode_ == Mode::tag_open && text.substr(i).starts_with("!--")) {
      mode_ = Mode::comment;
      dashes_ = 0;
      i += 2;
      continue;
    }
    if (auto stepped = step(text[i]); !stepped) {
      return std::unexpected(MarkupProblem{i, std::move(stepped.error())});
    }
  }
  return {};
}

std::expected<void, std::string> MarkupState::step(char c) {
  switch (mode_) {
    case Mode::text:
      if (c == '<') mode_ = Mode::tag_open;
      return {};
    case Mode::comment:
      if (c == '>' && dashes_ >= 2) {
        rest();
        return {};
      }
      dashes_ = c == '-' ? std::min(dashes_ + 1, 2) : 0;
      return {};
    case Mode::tag_open:
    case Mode::tag_name:
    case Mode::end_tag:
      return step_tag(c);
    case Mode::in_tag:
    case Mode::attribute_name:
    case Mode::after_name:
    case Mode::before_value:
      return step_attribute(c);
    case Mode::value:
      return step_value(c);
  }
  return {};
}

std::expected<void, std::string> MarkupState::close_name() {
  if (std::ranges::find(kElements, element_) != kElements.end()) return {};
  return wrong(fmt::format("<{}> is not among the elements that templates may use", element_));
}

std::expected<void, std::string> MarkupState::step_tag(char c) {
  if (mode_ == Mode::tag_open) {
    element_.clear();
    if (c == '/') {
      mode_ = Mode::end_tag;
      return {};
    }
    if (!is_letter(c))
      return wrong("expected the name of an element after '<'; write &lt; for the sign");
    mode_ = Mode::tag_name;
    element_ = lower(c);
    return {};
  }
  if (mode_ == Mode::end_tag) {
    if (c == '<') return wrong("expected '>' at the end of the tag");
    if (c == '>') rest();
    return {};
  }
  if (is_letter(c) || (c >= '0' && c <= '9')) {
    element_ += lower(c);
    return {};
  }
  if (auto known = close_name(); !known) return known;
  if (c == '>') {
    rest();
  } else if (is_space(c) || c == '/') {
    mode_ = Mode::in_tag;
  } else {
    return wrong(fmt::format("expected a space, '/' or '>' after <{}", element_));
  }
  return {};
}

std::expected<void, std::string> MarkupState::step_attribute(char c) {
  if (c == '<') return wrong("expected '>' at the end of the tag");
  if (mode_ == Mode::before_value) {
    if (is_space(c)) return {};
    if (c != '"' && c != '\'') return wrong("expected a quote: values of attributes are quoted");
    quote_ = c;
    mode_ = Mode::value;
    return begin_value();
  }
  if (name_ended_ && !is_space(c) && c != '/' && c != '>') {
    return wrong("expected a space, '/' or '>' after %}");
  }
  name_ended_ = false;
  if (c == '>') {
    rest();
    return {};
  }
  if (c == '=') {
    if (mode_ == Mode::in_tag) return wrong("expected the name of an attribute before '='");
    mode_ = Mode::before_value;
    return {};
  }
  if (is_space(c) || c == '/') {
    mode_ = mode_ == Mode::attribute_name && c != '/' ? Mode::after_name
            : c == '/'                                ? Mode::in_tag
                                                      : mode_;
    return {};
  }
  if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != ':' && c != '_') {
    return wrong("expected the name of an attribute");
  }
  if (mode_ != Mode::attribute_name) attribute_.clear();
  mode_ = Mode::attribute_name;
  attribute_ += lower(c);
  return {};
}

std::expected<void, std::string> MarkupState::begin_value() {
  value_begin_.clear();
  value_printed_ = false;
  if (attribute_.starts_with("on")) {
    return wrong(fmt::format("{}: templates have no scripts", attribute_));
  }
  if (std::ranges::find(kForbiddenAttributes, attribute_) != kForbiddenAttributes.end()) {
    return wrong(fmt::format("the attribute {} is not allowed", attribute_));
  }
  if (attribute_ == "style") {
    value_kind_ = ContextKind::css_value;
    css_ = {};
  } else if (attribute_ == "href" && (element_ == "a" || element_ == "area")) {
    value_kind_ = ContextKind::link;
  } else if (attribute_ == "href" || attribute_.ends_with(":href") || attribute_ == "src" ||
             attribute_ == "poster") {
    value_kind_ = ContextKind::resource;
  } else {
    value_kind_ = ContextKind::attribute;
  }
  return {};
}

std::expected<void, std::string> MarkupState::end_value() {
  mode_ = Mode::in_tag;
  if (value_kind_ == ContextKind::css_value) {
    if (!css_.at_rest()) return wrong("a text, comment or url() of the style is not closed");
    css_ = {};
  }
  const auto bad = [&](auto allowed) {
    return !value_printed_ && !value_begin_.empty() && !allowed(value_begin_);
  };
  if (value_kind_ == ContextKind::link && bad(link_allowed)) {
    return wrong("a link begins with https://, http://, mailto:, tel: or #");
  }
  if (value_kind_ == ContextKind::resource && bad(resource_allowed)) {
    return wrong("pictures are data:image/…;base64, or come from the data");
  }
  quote_ = 0;
  attribute_.clear();
  value_begin_.clear();
  value_printed_ = false;
  value_kind_ = ContextKind::attribute;
  return {};
}

void MarkupState::rest() { *this = MarkupState(markup_); }

std::expected<void, std::string> MarkupState::boundary() {
  css_.boundary();
  if (mode_ == Mode::tag_open || mode_ == Mode::end_tag || mode_ == Mode::before_value) {
    return wrong(fmt::format("no {{% … %}} can stand {}", describe()));
  }
  if (mode_ == Mode::tag_name) {
    if (auto known = close_name(); !known) return known;
  }
  if (mode_ == Mode::tag_name || mode_ == Mode::attribute_name || mode_ == Mode::after_name) {
    name_ended_ = mode_ != Mode::after_name;
    mode_ = Mode::in_tag;
    attribute_.clear();
  }
  return {};
}

bool MarkupState::merge(const MarkupState& other) {
  const bool name_ended = name_ended_ || other.name_ended_;
  auto theirs = other;
  name_ended_ = theirs.name_ended_ = name_ended;
  return *this == theirs;
}

std::expected<void, std::string> MarkupState::step_value(char c) {
  if (c == quote_) return end_value();
  if (value_kind_ == ContextKind::css_value) {
    // The parser would have to read entities first: quotes of the other kind do as well.
    if (c == '&') return wrong("write no entities in a style");
    if (auto fed = css_.feed({&c, 1}); !fed) return wrong(std::move(fed.error().message));
  } else if (holds_address() && value_begin_.size() < 64 && !value_printed_) {
    // An entity could hide what an address begins with.
    if (c == '&' && value_begin_.find(':') == std::string::npos) {
      return wrong("an address may have entities only behind its beginning");
    }
    value_begin_ += c;
  }
  return {};
}

Result<Context> MarkupState::print() {
  const auto refuse = [](std::string message) {
    return fail(ErrorKind::invalid_argument, std::move(message));
  };
  if (markup_ == Markup::plain) return Context{.kind = ContextKind::plain};
  if (markup_ == Markup::css) return css_.context();
  if (mode_ == Mode::text) return Context{.kind = ContextKind::html};
  if (mode_ != Mode::value) return refuse("no value can be printed " + describe());
  if (value_kind_ == ContextKind::css_value) {
    MR_TRY(auto context, css_.context());
    context.in_attribute = true;
    return context;
  }
  Context context{.kind = value_kind_, .in_attribute = true};
  if (holds_address()) {
    if (!value_begin_.empty()) {
      if (value_kind_ == ContextKind::resource || !link_allowed(value_begin_)) {
        return refuse("an address that is partly literal begins with https://, mailto:, tel: or #");
      }
      context.kind = ContextKind::url_part;
    } else if (value_printed_) {
      context.kind = ContextKind::url_part;
    }
  }
  value_printed_ = holds_address();
  return context;
}

bool MarkupState::at_rest() const {
  if (markup_ == Markup::css) return css_.at_rest();
  return markup_ == Markup::plain || mode_ == Mode::text;
}

std::string MarkupState::describe() const {
  if (markup_ == Markup::css) return "within a text, comment or url() of CSS";
  switch (mode_) {
    case Mode::text:
      return "between tags";
    case Mode::comment:
      return "in a comment";
    case Mode::tag_open:
    case Mode::tag_name:
    case Mode::end_tag:
      return "in the name of an element";
    case Mode::in_tag:
    case Mode::attribute_name:
    case Mode::after_name:
      return fmt::format("in the tag <{}>, where attributes stand", element_);
    case Mode::before_value:
      return fmt::format("as the value of {} without quotes", attribute_);
    case Mode::value:
      return fmt::format("within the value of {}", attribute_);
  }
  return "";
}

}  // namespace millrace::templates
