// ImportSummary: the account of `millrace import`: per type of the source how many jobs live there,
// how many are to be moved or were, how many are left alone, and why.
//
// Flow: made from the rows of millrace.import_report, before anything is moved; told of every job
// that was moved; and closed with another report, whose jobs are those that were left behind. So
// live = moved + left alone, whatever the source's own workers do meanwhile.
#pragma once

#include "app/context.h"
#include "base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace::app {

class ImportSummary {
 public:
  explicit ImportSummary(const json::Array& report);

  // Types of the source of which nothing can be moved: a batch need not look at them.
  std::vector<std::string> idle_types() const;
  std::int64_t to_move() const;
  std::int64_t moved() const;
  std::int64_t left() const;

  void add_moved(const std::string& source_type, std::int64_t jobs);
  void close(const json::Array& report);

  // One object per type: source_type, job_type, queue, new_type, live, to_move or moved,
  // left_alone, reasons [{reason, jobs, example}].
  json::Array rows() const;
  // For people: a table with a last line that adds up.
  void print(const Context& context) const;

 private:
  struct Reason {
    std::int64_t jobs = 0;
    std::string example;
  };
  struct Line {
    std::string job_type;
    std::string queue;
    bool is_new = false;
    std::int64_t to_move = 0;
    std::int64_t moved = 0;
    std::map<std::string, Reason> left;  // By reason.
    std::int64_t left_jobs() const;
  };

  void read(const json::Array& report);
  static std::string why(const Line& line);

  std::map<std::string, Line> lines_;  // By type of the source.
  bool closed_ = false;
};

}  // namespace millrace::app
