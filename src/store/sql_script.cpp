#include "store/sql_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace millrace::store {

namespace {

enum class TokenKind { word, quoted_name, text, punctuation, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string word;  // Lower case for words, unquoted for quoted names, else as it stands.
};

bool starts_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) != 0 || c == '_' || byte >= 0x80;
}

bool continues_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next() {
    MR_TRY_VOID(skip_blank());
    if (at_ >= text_.size()) return Token{TokenKind::end, at_, at_, {}};
    const auto begin = at_;
    const char c = text_[at_];
    if (c == '\'') return quoted('\'', TokenKind::text, false);
    if (c == '"') return quoted('"', TokenKind::quoted_name, false);
    if (c == '$') return dollar();
    if (starts_word(c)) {
      // E'...' is the one prefix that changes where a string ends.
      if ((c == 'e' || c == 'E') && at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        ++at_;
        MR_TRY(auto token, quoted('\'', TokenKind::text, true));
        token.begin = begin;
        return token;
      }
      while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
      std::string word(text_.substr(begin, at_ - begin));
      std::ranges::transform(word, word.begin(),
                             [](unsigned char u) { return static_cast<char>(std::tolower(u)); });
      return Token{TokenKind::word, begin, at_, std::move(word)};
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at_ < text_.size() && (continues_word(text_[at_]) || text_[at_] == '.')) ++at_;
      return Token{TokenKind::text, begin, at_, {}};
    }
    ++at_;
    return Token{TokenKind::punctuation, begin, at_, std::string(1, c)};
  }

  // Asked from the beginning to the end, mostly: goes on counting where it stopped.
  int line_at(std::size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      lines_ = 0;
    }
    lines_ += std::ranges::count(text_.substr(counted_, offset - counted_), '\n');
    counted_ = offset;
    return 1 + static_cast<int>(lines_);
  }

 private:
  std::unexpected<Error> unfinished(std::string_view what, std::size_t begin) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: {} does not end", line_at(begin), what));
  }

  Result<void> skip_blank() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      }
      if (text_.substr(at_).starts_with("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        MR_TRY_VOID(skip_comment());
      } else {
        return {};
      }
    }
  }

  Result<void> skip_comment() {
    const auto begin = at_;
    int depth = 0;
    do {
      const auto rest = text_.substr(at_);
      if (rest.empty()) return unfinished("a comment", begin);
      if (rest.starts_with("/*")) {
        ++depth;
        at_ += 2;
      } else if (rest.starts_with("*/")) {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0);
    return {};
  }

  Result<Token> quoted(char mark, TokenKind kind, bool backslashes) {
    const auto begin = at_;
    std::string inner;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (backslashes && c == '\\') {
        ++at_;
        continue;
      }
      if (c == mark) {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != mark) {
          ++at_;
          return Token{kind, begin, at_, std::move(inner)};
        }
        ++at_;  // Doubled: stands for itself.
      }
      inner += c;
    }
    return unfinished("a quote", begin);
  }

  Result<Token> dollar() {
    const auto begin = at_;
    auto tag_end = at_ + 1;
    while (tag_end < text_.size() && continues_word(text_[tag_end]) && text_[tag_end] != '$') {
      ++tag_end;
    }
    const bool is_tag = tag_end < text_.size() && text_[tag_end] == '$' &&
                        std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) == 0;
    if (!is_tag) {  // A parameter such as $1.
      ++at_;
      return Token{TokenKind::punctuation, begin, at_, "$"};
    }
    const auto tag = text_.substr(at_, tag_end - at_ + 1);
    const auto close = text_.find(tag, tag_end + 1);
    if (close == std::string_view::npos) return unfinished(fmt::format("{} ...", tag), begin);
    at_ = close + tag.size();
    return Token{TokenKind::text, begin, at_, {}};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;   // Up to here
  std::ptrdiff_t lines_ = 0;  // there are so many line ends.
};

Result<std::vector<Token>> tokens_of(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  for (;;) {
    MR_TRY(auto token, lexer.next());
    tokens.push_back(std::move(token));
    if (tokens.back().kind == TokenKind::end) return tokens;
  }
}

bool is_word(const Token& token, std::string_view word) {
  return token.kind == TokenKind::word && token.word == word;
}

bool is_mark(const Token& token, std::string_view mark) {
  return token.kind == TokenKind::punctuation && token.word == mark;
}

// Whether a statement begins with these words.
bool begins_with(const std::vector<Token>& tokens, std::initializer_list<std::string_view> words) {
  std::size_t at = 0;
  for (const auto word : words) {
    if (at >= tokens.size() || !is_word(tokens[at], word)) return false;
    ++at;
  }
  return true;
}

bool controls_transaction(const Token& first) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"};
  return std::ranges::any_of(kWords, [&](auto word) { return is_word(first, word); });
}

// Finds where a statement ends: a semicolon outside parentheses and outside BEGIN ATOMIC ... END.
class StatementEnd {
 public:
  // True if `token` ends the statement that began after the last end.
  bool operator()(const Token& token) {
    if (is_mark(token, ";") && parentheses_ == 0 && blocks_ == 0) {
      *this = {};
      return true;
    }
    if (is_mark(token, "(")) ++parentheses_;
    if (is_mark(token, ")") && parentheses_ > 0) --parentheses_;
    if (token.kind == TokenKind::word) see_word(token.word);
    return false;
  }

 private:
  void see_word(const std::string& word) {
    if (words_ == 0) create_ = word == "create";
    // CREATE OR REPLACE FUNCTION: the noun is among the first four words.
    if (create_ && words_ < 4 && (word == "function" || word == "procedure")) routine_ = true;
    if (routine_) {
      if (blocks_ == 0 && word == "atomic" && last_ == "begin") {
        blocks_ = 1;
      } else if (blocks_ > 0 && (word == "case" || word == "begin")) {
        ++blocks_;
      } else if (blocks_ > 0 && word == "end") {
        --blocks_;
      }
    }
    ++words_;
    last_ = word;
  }

  int parentheses_ = 0;
  int blocks_ = 0;
  int words_ = 0;
  bool create_ = false;
  bool routine_ = false;
  std::string last_;
};

// Where the recipients of a grant, revoke or policy stand: [first, last) of tokens.
std::optional<std::pair<std::size_t, std::size_t>> recipients(const std::vector<Token>& tokens) {
  const bool policy =
      begins_with(tokens, {"create", "policy"}) || begins_with(tokens, {"alter", "policy"});
  const bool grant = begins_with(tokens, {"grant"}) || begins_with(tokens, {"revoke"}) ||
                     begins_with(tokens, {"alter", "default", "privileges"});
  if (!policy && !grant) return std::nullopt;
  const bool revokes =
      std::ranges::any_of(tokens, [](const Token& t) { return is_word(t, "revoke"); });
  const std::string_view lead = grant && revokes ? "from" : "to";
  std::optional<std::size_t> first;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_mark(tokens[i], "(")) ++depth;
    if (is_mark(tokens[i], ")")) --depth;
    if (depth == 0 && is_word(tokens[i], lead)) first = i + 1;
    if (policy && first) break;  // A later "to" would be part of an expression.
  }
  if (!first) return std::nullopt;
  auto last = *first;
  const auto ends_list = [&](const Token& token) {
    static constexpr std::array<std::string_view, 6> kAfter = {"using",   "with",     "granted",
                                                               "cascade", "restrict", "rename"};
    return token.kind == TokenKind::end || is_mark(token, ";") ||
           std::ranges::any_of(kAfter, [&](auto word) { return is_word(token, word); });
  };
  while (!ends_list(tokens[last])) ++last;
  return std::pair(*first, last);
}

bool always_exists(const Token& token) {
  static constexpr std::array<std::string_view, 4> kNames = {"public", "current_user",
                                                             "current_role", "session_user"};
  return std::ranges::any_of(kNames, [&](auto name) { return is_word(token, name); });
}

}  // namespace

Result<std::vector<SqlStatement>> split_statements(std::string_view script) {
  Lexer lexer(script);
  std::vector<SqlStatement> statements;
  StatementEnd ends;
  std::optional<Token> first;
  std::size_t end = 0;  // Of the statement's last token.
  for (;;) {
    MR_TRY(const auto token, lexer.next());
    const bool finished = token.kind == TokenKind::end || ends(token);
    if (!finished) {
      if (!first) {
        if (is_mark(token, "\\") || controls_transaction(token)) {
          return fail(ErrorKind::invalid_argument,
                      fmt::format("{}: \"{}\" does not belong in a script that runs in one "
                                  "transaction",
                                  lexer.line_at(token.begin), token.word));
        }
        first = token;
      }
      end = token.end;
      continue;
    }
    if (first) {
      statements.push_back({.text = std::string(script.substr(first->begin, end - first->begin)),
                            .line = lexer.line_at(first->begin)});
      first.reset();
    }
    if (token.kind == TokenKind::end) return statements;
  }
}

std::optional<std::string> without_missing_roles(
    const std::string& statement, const std::function<bool(std::string_view role)>& exists,
    std::vector<std::string>& missing) {
  const auto tokens = tokens_of(statement);
  if (!tokens) return statement;
  const auto list = recipients(*tokens);
  if (!list) return statement;
  std::vector<std::string> kept;
  bool dropped = false;
  for (std::size_t i = list->first; i < list->second; ++i) {
    const auto& token = (*tokens)[i];
    if (is_mark(token, ",") || is_word(token, "group")) continue;
    if (always_exists(token) || exists(token.word)) {
      kept.push_back(statement.substr(token.begin, token.end - token.begin));
    } else {
      missing.push_back(token.word);
      dropped = true;
    }
  }
  if (!dropped) return statement;
  if (kept.empty()) return std::nullopt;
  auto result = statement.substr(0, (*tokens)[list->first].begin);
  for (std::size_t i = 0; i < kept.size(); ++i) result += (i == 0 ? "" : ", ") + kept[i];
  const auto& after = (*tokens)[list->second];
  if (after.kind != TokenKind::end) result += " " + statement.substr(after.begin);
  return result;
}

std::optional<std::string> created_view(const std::string& statement) {
  const auto tokens = tokens_of(statement);
  if (!tokens || !begins_with(*tokens, {"create"})) return std::nullopt;
  std::size_t at = 1;
  while (is_word((*tokens)[at], "or") || is_word((*tokens)[at], "replace") ||
         is_word((*tokens)[at], "recursive")) {
    ++at;
  }
  if (!is_word((*tokens)[at], "view")) return std::nullopt;
  const auto begin = (*tokens)[++at].begin;
  auto end = (*tokens)[at].end;
  // The list ends with a token of kind end, which is no mark: `at` stays inside.
  while ((*tokens)[at].kind != TokenKind::end && is_mark((*tokens)[at + 1], ".")) {
    at += 2;
    end = (*tokens)[at].end;
  }
  if (begin == end) return std::nullopt;
  return statement.substr(begin, end - begin);
}

std::string quote_identifier(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace millrace::store
