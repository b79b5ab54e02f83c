#include "interleave/boundaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace millrace::test {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Reader: walks over a text, knows comments, strings and words.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }

  // Over one comment, string, word, run of white space or other character; what it was.
  std::string_view next() {
    const std::size_t from = at_;
    if (text_.substr(at_).starts_with("--")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_[at_] == '\'') {
      // A doubled quote is read as two strings side by side, which comes to the same.
      at_ = text_.find('\'', at_ + 1);
      if (at_ == std::string_view::npos) throw std::runtime_error("a string without an end");
      ++at_;
    } else if (const auto tag = dollar_tag(); !tag.empty()) {
      at_ = text_.find(tag, at_ + tag.size());
      if (at_ == std::string_view::npos) throw std::runtime_error("a string without an end");
      at_ += tag.size();
    } else if (is_word(text_[at_])) {
      while (!done() && is_word(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    return text_.substr(from, at_ - from);
  }
  void skip_blank() {
    while (!done() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 ||
                       text_.substr(at_).starts_with("--"))) {
      next();
    }
  }
  // The word that comes next, without going over it.
  std::string_view peek() {
    skip_blank();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  void take(std::string_view word) {
    if (peek() != word) {
      throw std::runtime_error(fmt::format("expected {} at: {}", word, text_.substr(at_, 60)));
    }
    at_ += word.size();
  }
  // Up to and over `stop`, a word or a semicolon that belongs to no CASE expression; what stands
  // before it.
  std::string_view until(std::string_view stop) {
    const std::size_t from = at_;
    int cases = 0;
    while (!done()) {
      const std::size_t before = at_;
      const std::string_view token = next();
      if (token == stop && (cases == 0 || stop == ";")) return text_.substr(from, before - from);
      if (token == "case") ++cases;
      if (token == "end" && cases > 0) --cases;
    }
    throw std::runtime_error(fmt::format("expected {} after: {}", stop, text_.substr(from, 60)));
  }

 private:
  // "$case$" where a string in such quotes begins. A parameter ($1) begins with a digit.
  std::string_view dollar_tag() const {
    if (text_[at_] != '$') return {};
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '$' && is_word(text_[end])) ++end;
    if (end == text_.size() || text_[end] != '$') return {};
    if (std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0) return {};
    return text_.substr(at_, end + 1 - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The names x of millrace.x that a text mentions; types in casts and declarations do not count.
std::set<std::string> mentions(std::string_view text, bool declaration) {
  std::set<std::string> names;
  Reader reader(text);
  std::string before;  // The word or sign before the name.
  std::string last;
  while (!reader.done()) {
    const std::string_view token = reader.next();
    if (token.starts_with("--") || std::isspace(static_cast<unsigned char>(token[0])) != 0) {
      continue;
    }
    if (token == "millrace") {
      before = last;
      if (reader.done() || reader.next() != ".") continue;
      const std::string name(reader.next());
      const bool called = text.substr(reader.at()).starts_with("(");
      const bool read = before == "from" || before == "join";
      if (before != ":" && (!declaration || called || read)) names.insert(name);
      last = name;
    } else {
      if (token.starts_with("pg_try_advisory")) names.insert(std::string(token));
      last = std::string(token);
    }
  }
  return names;
}

enum class Kind { entry, statement, branch, otherwise, returned };

struct Point {
  Kind kind;
  std::size_t offset;  // Where the boundary would go.
  std::string text;    // What was executed just before.
  std::set<std::string> names;
};

// Parser: finds the points of one function body.
class Parser {
 public:
  explicit Parser(std::string_view body) : reader_(body) {}

  // In the order of the text.
  std::vector<Point> points() {
    block(true);
    return std::move(points_);
  }

 private:
  void add(Kind kind, std::size_t offset, std::string_view text, bool declaration = false) {
    points_.push_back({kind, offset, std::string(text), mentions(text, declaration)});
  }

  void block(bool outermost) {
    std::string_view declared;
    if (reader_.peek() == "declare") {
      reader_.take("declare");
      declared = reader_.until("begin");
    } else {
      reader_.take("begin");
    }
    if (outermost) add(Kind::entry, reader_.at(), declared, true);
    statements();
    if (reader_.peek() == "exception") {
      reader_.take("exception");
      while (reader_.peek() == "when") {
        reader_.until("then");
        statements();
      }
    }
    reader_.take("end");
    reader_.until(";");
  }

  void statements() {
    for (;;) {
      const std::string_view word = reader_.peek();
      if (word == "end" || word == "elsif" || word == "else" || word == "exception" ||
          word == "when") {
        return;
      }
      statement(word);
    }
  }

  void statement(std::string_view word) {
    if (word == "if") {
      conditional();
    } else if (word == "case") {
      choice();
    } else if (word == "begin" || word == "declare") {
      block(false);
    } else if (word == "for" || word == "foreach" || word == "while" || word == "loop") {
      const auto header = reader_.until("loop");
      add(Kind::branch, reader_.at(), header);
      statements();
      reader_.take("end");
      reader_.until(";");
      add(Kind::statement, reader_.at(), header);
    } else {
      simple(word);
    }
  }

  void conditional() {
    std::string conditions;
    reader_.take("if");
    for (;;) {
      conditions += reader_.until("then");
      add(Kind::branch, reader_.at(), conditions);
      statements();
      if (reader_.peek() != "elsif") break;
      reader_.take("elsif");
      conditions += " or ";
    }
    if (reader_.peek() == "else") {
      reader_.take("else");
      add(Kind::branch, reader_.at(), conditions);
      statements();
    } else {
      add(Kind::otherwise, reader_.at(), conditions);
    }
    reader_.take("end");
    reader_.until(";");
  }

  void choice() {
    reader_.take("case");
    reader_.until("when");
    for (;;) {
      reader_.until("then");
      statements();
      if (reader_.peek() != "when") break;
      reader_.take("when");
    }
    if (reader_.peek() == "else") {
      reader_.take("else");
      statements();
    }
    reader_.take("end");
    reader_.until(";");
  }

  void simple(std::string_view word) {
    const std::string_view text = reader_.until(";");
    if (word == "return") {
      Reader rest(text);
      rest.take("return");
      const auto form = rest.peek();
      if (form != "query" && form != "next") {
        add(Kind::returned, reader_.at(), text);
        return;
      }
    }
    if (word == "raise") return;
    add(Kind::statement, reader_.at(), text);
  }

  Reader reader_;
  std::vector<Point> points_;
};

// The function a statement calls last and for itself: perform millrace.f(…), v := millrace.f(…),
// return millrace.f(…).
std::optional<std::string> called_last(std::string_view text) {
  Reader reader(text);
  const std::string word(reader.peek());
  reader.take(word);
  if (word != "perform" && word != "return") {
    reader.skip_blank();
    if (reader.next() != ":" || reader.next() != "=") return std::nullopt;
  }
  if (reader.peek() != "millrace") return std::nullopt;
  reader.take("millrace");
  reader.next();
  const std::string name(reader.next());
  int depth = 0;
  while (!reader.done()) {
    const auto token = reader.next();
    if (token == "(") ++depth;
    if (token == ")" && --depth == 0) break;
  }
  reader.skip_blank();
  if (!reader.done()) return std::nullopt;
  return name;
}

struct Parsed {
  FunctionText function;
  std::size_t body = 0;  // Where the body begins in the definition.
  std::vector<Point> points;
};

// Decides which points are boundaries.
class Selection {
 public:
  Selection(const std::vector<Parsed>& all, const std::set<std::string>& looking)
      : looking_(looking) {
    for (const auto& one : all) parsed_[one.function.name] = &one;
    for (const auto& one : all) {
      for (const auto& point : one.points) {
        for (const auto& name : point.names) {
          // Arguments that look at the database do so before the function begins.
          if (parsed_.contains(name) && looks(point, name)) late_entry_.insert(name);
        }
      }
    }
  }

  bool wanted(const Parsed& function, const Point& point) const {
    switch (point.kind) {
      case Kind::entry:
        return looks(point) || late_entry_.contains(function.function.name);
      case Kind::returned:
        return false;
      case Kind::statement:
        return looks(point) && !ends_inside(point);
      case Kind::branch:
      case Kind::otherwise:
        return looks(point);
    }
    return false;
  }

 private:
  bool looks(const Point& point, const std::string& besides = {}) const {
    return std::ranges::any_of(point.names, [&](const std::string& name) {
      return name != besides && (looking_.contains(name) || name.starts_with("pg_"));
    });
  }
  // The last moment of this statement is a boundary of the function that it calls.
  bool ends_inside(const Point& point) const {
    const auto name = called_last(point.text);
    if (!name) return false;
    const auto found = parsed_.find(*name);
    return found != parsed_.end() && ends_at_boundary(*found->second);
  }
  bool ends_at_boundary(const Parsed& function) const {
    return std::ranges::all_of(function.points, [&](const Point& point) {
      return point.kind != Kind::returned || !looks(point) || ends_inside(point);
    });
  }

  std::set<std::string> looking_;
  std::map<std::string, const Parsed*> parsed_;
  std::set<std::string> late_entry_;
};

Parsed parse(const FunctionText& function) {
  constexpr std::string_view kQuote = "$function$";
  const auto open = function.definition.find(kQuote);
  const auto close = function.definition.rfind(kQuote);
  if (open == std::string::npos || open == close) throw std::runtime_error("no body");
  const auto body = open + kQuote.size();
  return {function, body,
          Parser(std::string_view(function.definition).substr(body, close - body)).points()};
}

// The beginning of a statement on one line.
std::string brief(std::string_view text) {
  std::string line;
  Reader reader(text);
  while (!reader.done() && line.size() < 70) {
    const auto token = reader.next();
    if (token.starts_with("--")) continue;
    const bool blank = std::isspace(static_cast<unsigned char>(token[0])) != 0;
    if (!blank) line += token;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line.empty() ? "begin" : line;
}

}  // namespace

Bounded with_boundaries(const std::vector<FunctionText>& functions,
                        const std::set<std::string>& looking) {
  std::vector<Parsed> all;
  for (const auto& function : functions) {
    try {
      all.push_back(parse(function));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(function.name + ": " + error.what());
    }
  }
  const Selection selection(all, looking);
  Bounded bounded;
  for (const auto& one : all) {
    std::string text = one.function.definition.substr(0, one.body);
    std::size_t from = one.body;
    int number = 0;
    for (const auto& point : one.points) {
      if (!selection.wanted(one, point)) continue;
      text += one.function.definition.substr(from, one.body + point.offset - from);
      from = one.body + point.offset;
      text +=
          fmt::format("{} if millrace_test.boundary('{}', {}) then end if; ",
                      point.kind == Kind::otherwise ? " else" : "", one.function.name, ++number);
      bounded.before[{one.function.name, number}] = brief(point.text);
    }
    text += one.function.definition.substr(from);
    bounded.functions.push_back({one.function.name, std::move(text)});
  }
  return bounded;
}

}  // namespace millrace::test
