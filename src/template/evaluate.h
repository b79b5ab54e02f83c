// Evaluator: one rendering of parsed files: names to values, conditions, loops, text with a limit.
//
// Names are looked up from the inside out: variables of loops and lets, then `labels`, `page` and
// `data`, then members of the data. What is not there is null and prints as nothing. Errors name
// the place in the template and, for what comes from the data, the JSON pointer. One thread, one
// rendering; parsed files and data outlive it.
#pragma once

#include "template/ast.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::templates {

struct RenderLimits {
  std::size_t output_max_bytes = std::size_t{8} * 1024 * 1024;
  // Every printed value, condition and turn of a loop is a step; long values are several.
  std::uint64_t steps_max = 2'000'000;
  std::size_t items_max = 100'000;  // Turns of all loops together.
  int depth_max = 128;
};

struct Surroundings {
  const json::Value* data = nullptr;
  const json::Value* labels = nullptr;
  const json::Value* page = nullptr;
  const Locale* locale = nullptr;
};

class Evaluator {
 public:
  Evaluator(Surroundings surroundings, RenderLimits limits)
      : surroundings_(surroundings), limits_(limits) {}

  // The text of one file; limits count over all calls.
  Result<std::string> run(const ParsedFile& file);
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Variable {
    std::string_view name;
    Value value;
    std::string pointer;    // Of the list, for variables of loops.
    std::size_t index = 0;  // In that list.
    bool from_data = false;
  };

  Result<void> block(const Block& block);
  Result<void> node(const Node::Text& node);
  Result<void> node(const Node::Print& node);
  Result<void> node(const Node::If& node);
  Result<void> node(const Node::For& node);
  Result<void> node(const Node::Let& node);
  Result<void> node(const Node::Include& node);
  Result<void> turn(const Node::For& node, const Value& item, std::size_t index, std::size_t count,
                    const std::optional<std::string>& pointer);
  Result<bool> holds(const Condition& condition);
  Result<bool> compare(const Condition::Compare& compare);
  Result<Value> value_of(const Expression& expression);
  Value value_of(const Operand& operand) const;
  Value value_of(const Path& path) const;
  // Where in the data a path leads; nothing when it leads elsewhere.
  std::optional<std::string> pointer_of(const Path& path) const;
  std::string subject_of(const Operand& operand) const;
  Result<void> spend(std::uint64_t steps, Place place);
  std::unexpected<Error> wrong(Place place, std::string_view message) const;

  Surroundings surroundings_;
  RenderLimits limits_;
  std::uint64_t steps_ = 0;
  std::size_t items_ = 0;
  int depth_ = 0;
  std::size_t bytes_before_ = 0;  // Of files that were run earlier.
  const ParsedFile* file_ = nullptr;
  std::vector<Variable> variables_;
  std::vector<std::string> warnings_;
  std::string out_;
};

}  // namespace millrace::templates
