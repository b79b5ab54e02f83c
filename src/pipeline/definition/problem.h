// Problem: one thing that is wrong with a pipeline file, and where. All of them are collected
// before anything is said: a person corrects a file once, not error by error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

// Counted from 1; 0 is unknown (a definition from the database has no lines).
struct Place {
  int line = 0;
  int column = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Problem {
  Place place;
  std::string message;  // One line.

  // "pipelines/guardian.toml:17:1: stage \"ocr\": timeout must be ..."
  std::string text(std::string_view file) const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// A file of rubbish has as many problems as lines.
inline constexpr std::size_t kProblemsMax = 200;

class Problems {
 public:
  void add(Place place, std::string message);
  bool empty() const { return list_.empty(); }
  // By line and column; each once. When there were more than kProblemsMax, the last says so.
  std::vector<Problem> take();

 private:
  std::vector<Problem> list_;
  std::size_t left_out_ = 0;
};

}  // namespace millrace::pipeline
