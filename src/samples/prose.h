// Prose: text in which the places of facts are known.
//
// Writers append words and facts in order; a fact's text is the part of the prose that it covers.
#pragma once

#include "samples/fact.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::samples {

class Prose {
 public:
  Prose() = default;
  Prose(std::string text) : text_(std::move(text)) {}
  Prose(std::string_view text) : text_(text) {}
  Prose(const char* text) : text_(text) {}

  Prose& say(std::string_view text) {
    text_ += text;
    return *this;
  }
  // Appends `text`, all of it the fact's.
  Prose& state(Fact fact, std::string_view text) {
    const std::size_t from = text_.size();
    text_ += text;
    close(from, std::move(fact));
    return *this;
  }
  // What was appended since `from` (an earlier size()) is the fact's text.
  Prose& close(std::size_t from, Fact fact) {
    fact.text = text_.substr(from);
    facts_.push_back(std::move(fact));
    starts_.push_back(from);
    return *this;
  }
  Prose& add(const Prose& other) {
    for (const std::size_t start : other.starts_) starts_.push_back(text_.size() + start);
    text_ += other.text_;
    facts_.insert(facts_.end(), other.facts_.begin(), other.facts_.end());
    return *this;
  }

  // The letter at `from` becomes a capital, also in facts and names that begin there.
  void capitalise(std::size_t from);

  const std::string& text() const { return text_; }
  const std::vector<Fact>& facts() const { return facts_; }
  std::size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_ = {};
  std::vector<Fact> facts_ = {};
  std::vector<std::size_t> starts_ = {};  // Of the facts, in the text.
};

}  // namespace millrace::samples
