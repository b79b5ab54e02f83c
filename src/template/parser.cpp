#include "template/parser.h"

#include "template/expression_parser.h"
#include "template/font.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace millrace::templates {
namespace {

enum class TagKind : std::uint8_t { print, block, comment };

struct Tag {
  TagKind kind = TagKind::print;
  std::size_t begin = 0;  // Of "{{".
  std::size_t inner_begin = 0;
  std::size_t inner_end = 0;
  std::size_t end = 0;  // Behind "}}".
};

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

class Parser {
 public:
  explicit Parser(const ParseInput& input)
      : input_(input), source_(input.text), state_(input.markup) {}

  Result<std::shared_ptr<const ParsedFile>> parse() {
    if (source_.size() > kSourceMaxBytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{}: must have at most {} bytes", input_.file, kSourceMaxBytes));
    }
    auto file = std::make_shared<ParsedFile>();
    file->name = input_.file;
    MR_TRY_VOID(block(file->block, {}));
    if (!state_.at_rest()) {
      return wrong(source_.size(), fmt::format("the file ends {}", state_.describe()));
    }
    return std::shared_ptr<const ParsedFile>(std::move(file));
  }

 private:
  std::unexpected<Error> wrong(std::size_t offset, std::string_view message) const {
    return fail_at(input_.file, place_of(source_, offset), message);
  }

  ExpressionParser inner(const Tag& tag) const {
    return {input_.file, source_, tag.inner_begin, tag.inner_end};
  }

  Result<void> literal(Block& out, std::size_t begin, std::size_t end) {
    if (begin >= end) return {};
    const auto text = source_.substr(begin, end - begin);
    if (auto fed = state_.feed(text); !fed) {
      return wrong(begin + fed.error().offset, fed.error().message);
    }
    out.push_back({Node::Text{std::string(text)}});
    return {};
  }

  // The next tag from at_ on, or none. Quotes hide what ends a tag: {{ x | default: "}}" }}.
  Result<std::optional<Tag>> find_tag() {
    auto begin = at_;
    for (;; ++begin) {
      begin = source_.find('{', begin);
      if (begin == source_.npos || begin + 1 >= source_.size()) return std::optional<Tag>();
      const char c = source_[begin + 1];
      if (c == '{' || c == '%' || c == '#') break;
    }
    Tag tag{.begin = begin, .inner_begin = begin + 2};
    const char open = source_[begin + 1];
    tag.kind = open == '{' ? TagKind::print : open == '%' ? TagKind::block : TagKind::comment;
    const auto closing = open == '{' ? "}}" : open == '%' ? "%}" : "#}";
    char quote = 0;
    for (auto i = tag.inner_begin; i + 1 < source_.size(); ++i) {
      if (quote != 0) {
        if (source_[i] == '\\')
          ++i;
        else if (source_[i] == quote)
          quote = 0;
        continue;
      }
      if (tag.kind != TagKind::comment && (source_[i] == '"' || source_[i] == '\'')) {
        quote = source_[i];
      } else if (source_.substr(i, 2) == closing) {
        tag.inner_end = i;
        tag.end = i + 2;
        return std::optional(tag);
      }
    }
    return wrong(begin, fmt::format("expected {} at the end of this tag", closing));
  }

  // A block tag or comment alone on its line takes the line with it.
  void take_line(Tag& tag) const {
    if (tag.kind == TagKind::print) return;
    const auto before = source_.substr(0, tag.begin);
    const auto line = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    auto end = source_.find('\n', tag.end);
    if (end == source_.npos) end = source_.size();
    if (line < at_ || !is_blank(before.substr(line)) ||
        !is_blank(source_.substr(tag.end, end - tag.end))) {
      return;
    }
    tag.begin = line;
    tag.end = std::min(end + 1, source_.size());
  }

  // Reads until one of the words in `ends`, whose tag it leaves in last_ and last_word_; without
  // any until the end of the file.
  Result<void> block(Block& out, std::initializer_list<std::string_view> ends) {
    const auto opened = last_;
    if (++depth_ > kBlockDepthMax) {
      return wrong(at_, fmt::format("blocks may be nested {} deep", kBlockDepthMax));
    }
    for (;;) {
      MR_TRY(auto found, find_tag());
      if (!found) {
        if (ends.size() > 0) {
          return wrong(opened.inner_begin - 2,
                       fmt::format("expected {{% {} %}} for this tag, found the end of the file",
                                   *(ends.end() - 1)));
        }
        MR_TRY_VOID(literal(out, at_, source_.size()));
        at_ = source_.size();
        --depth_;
        return {};
      }
      auto tag = *found;
      take_line(tag);
      MR_TRY_VOID(literal(out, at_, tag.begin));
      at_ = tag.end;
      if (tag.kind == TagKind::comment) continue;
      if (tag.kind == TagKind::print) {
        MR_TRY_VOID(print(out, tag));
        continue;
      }
      if (auto ended = state_.boundary(); !ended) return wrong(tag.inner_begin - 2, ended.error());
      auto words = inner(tag);
      MR_TRY(const auto word, words.name("a word such as if, for, let or include"));
      last_ = tag;
      last_word_ = word;
      if (std::ranges::find(ends, word) != ends.end()) {
        --depth_;
        return {};
      }
      MR_TRY_VOID(statement(out, tag, word, words, ends));
    }
  }

  Result<void> statement(Block& out, const Tag& tag, const std::string& word,
                         ExpressionParser& words, std::initializer_list<std::string_view> ends) {
    if (word == "if") return if_block(out, tag, words);
    if (word == "for") return for_block(out, tag, words);
    if (word == "let") return let(out, words);
    if (word == "include") return include(out, tag, words);
    if (word == "font") return font(out, tag, words);
    const std::string_view hint = ends.size() > 0 ? *(ends.end() - 1) : "";
    return wrong(tag.inner_begin - 2,
                 fmt::format("expected if, for, let, include{}{}, found '{}'",
                             hint.empty() ? "" : " or ", hint, word.substr(0, 40)));
  }

  Result<void> print(Block& out, const Tag& tag) {
    auto context = state_.print();
    if (!context) return wrong(tag.begin, context.error().message);
    auto words = inner(tag);
    MR_TRY(auto expression, words.expression());
    MR_TRY_VOID(words.end("'|' or '}}'"));
    if (!expression.filters.empty()) {
      const auto& last = expression.filters.back();
      if (last.filter->gives_markup && context->kind != ContextKind::html) {
        return fail_at(input_.file, last.place,
                       fmt::format("{} gives markup and cannot be printed as {}", last.filter->name,
                                   to_string(context->kind)));
      }
    }
    out.push_back({Node::Print{std::move(expression), *context}});
    return {};
  }

  Result<void> meet(std::optional<MarkupState>& end, const Tag& tag) {
    if (!end) {
      end = state_;
    } else if (!end->merge(state_)) {
      return wrong(tag.inner_begin - 2,
                   fmt::format("this way ends {}, another one {}: both must end in the same place "
                               "of the markup",
                               state_.describe(), end->describe()));
    }
    return {};
  }

  Result<void> if_block(Block& out, Tag tag, ExpressionParser words) {
    Node::If node;
    const auto begin = state_;
    std::optional<MarkupState> end;
    bool has_else = false;
    for (;;) {
      MR_TRY(auto condition, words.condition());
      MR_TRY_VOID(words.end("and, or, a comparison or '%}'"));
      auto& branch = node.branches.emplace_back(std::move(condition), Block());
      state_ = begin;
      MR_TRY_VOID(block(branch.block, {"elsif", "else", "endif"}));
      MR_TRY_VOID(meet(end, last_));
      if (last_word_ != "elsif") break;
      words = inner(last_);
      words.take_word("elsif");
    }
    if (last_word_ == "else") {
      has_else = true;
      MR_TRY_VOID(only_word(last_));
      state_ = begin;
      MR_TRY_VOID(block(node.otherwise, {"endif"}));
      MR_TRY_VOID(meet(end, last_));
    }
    MR_TRY_VOID(only_word(last_));
    if (!has_else) {
      state_ = begin;
      MR_TRY_VOID(meet(end, tag));
    }
    state_ = *end;
    out.push_back({std::move(node)});
    return {};
  }

  Result<void> for_block(Block& out, const Tag& tag, ExpressionParser& words) {
    Node::For node;
    MR_TRY(node.variable, words.name("the name of a variable"));
    if (!words.take_word("in")) return words.expected("'in'");
    MR_TRY(node.list, words.expression());
    MR_TRY_VOID(words.end("'|' or '%}'"));
    std::optional<MarkupState> end = state_;
    const auto begin = state_;
    MR_TRY_VOID(block(node.body, {"else", "endfor"}));
    MR_TRY_VOID(meet(end, tag));
    MR_TRY_VOID(only_word(last_));
    if (last_word_ == "else") {
      state_ = begin;
      MR_TRY_VOID(block(node.otherwise, {"endfor"}));
      MR_TRY_VOID(meet(end, last_));
      MR_TRY_VOID(only_word(last_));
    }
    state_ = *end;
    out.push_back({std::move(node)});
    return {};
  }

  Result<void> only_word(const Tag& tag) const {
    auto words = inner(tag);
    MR_TRY_VOID(words.name("a word"));
    return words.end("'%}'");
  }

  Result<void> let(Block& out, ExpressionParser& words) {
    Node::Let node;
    MR_TRY(node.variable, words.name("the name of a variable"));
    if (!words.take_sign("=")) return words.expected("'='");
    MR_TRY(node.expression, words.expression());
    MR_TRY_VOID(words.end("'|' or '%}'"));
    out.push_back({std::move(node)});
    return {};
  }

  Result<void> include(Block& out, const Tag& tag, ExpressionParser& words) {
    const auto place = words.place();
    MR_TRY(const auto name, words.quoted("the name of a partial in quotes"));
    MR_TRY_VOID(words.end("'%}'"));
    if (input_.markup != Markup::html || !state_.at_rest()) {
      return wrong(tag.inner_begin - 2, "a partial can be included between tags only");
    }
    const bool plain_name =
        !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
          return (c < 0x80 && std::isalnum(c) != 0) || c == '_' || c == '-';
        });
    if (!plain_name) {
      return fail_at(input_.file, place,
                     "the name of a partial has letters, digits, '-' and '_' only");
    }
    const auto file_name = fmt::format("_{}.html", name);
    const auto found =
        input_.files == nullptr ? TemplateFiles::const_iterator{} : input_.files->find(file_name);
    if (input_.files == nullptr || found == input_.files->end()) {
      return fail_at(input_.file, place, fmt::format("there is no partial {}", file_name));
    }
    MR_TRY(auto file, partial(place, *found));
    out.push_back({Node::Include{std::move(file)}});
    return {};
  }

  Result<std::shared_ptr<const ParsedFile>> partial(Place place,
                                                    const TemplateFiles::value_type& file) {
    if (const auto known = input_.partials->find(file.first); known != input_.partials->end()) {
      return known->second;
    }
    auto including = input_.including;
    including.push_back(input_.file);
    if (std::ranges::find(including, file.first) != including.end()) {
      return fail_at(input_.file, place, fmt::format("{} would include itself", file.first));
    }
    if (including.size() >= kIncludeDepthMax) {
      return fail_at(input_.file, place,
                     fmt::format("partials may include partials {} deep", kIncludeDepthMax));
    }
    MR_TRY(auto parsed, parse_template({.file = file.first,
                                        .text = file.second,
                                        .files = input_.files,
                                        .partials = input_.partials,
                                        .including = std::move(including)}));
    input_.partials->emplace(file.first, parsed);
    return parsed;
  }

  Result<void> font(Block& out, const Tag& tag, ExpressionParser& words) {
    const auto place = words.place();
    MR_TRY(const auto name, words.quoted("the name of a font file in quotes"));
    MR_TRY_VOID(words.end("'%}'"));
    if (input_.markup != Markup::css || !state_.at_rest()) {
      return wrong(tag.inner_begin - 2, "a font can be named in style.css only");
    }
    const auto found =
        input_.files == nullptr ? TemplateFiles::const_iterator{} : input_.files->find(name);
    if (input_.files == nullptr || found == input_.files->end()) {
      return fail_at(input_.file, place, fmt::format("there is no file {}", name.substr(0, 80)));
    }
    auto address = font_address(found->first, found->second);
    if (!address) return fail_at(input_.file, place, address.error().message);
    out.push_back({Node::Text{std::move(*address)}});
    return {};
  }

  const ParseInput& input_;
  std::string_view source_;
  MarkupState state_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Tag last_;
  std::string last_word_;
};

}  // namespace

Result<std::shared_ptr<const ParsedFile>> parse_template(const ParseInput& input) {
  return Parser(input).parse();
}

}  // namespace millrace::templates
