// Ast: a template's file after it was parsed. Immutable; shared by any number of renderings.
#pragma once

#include "base/json.h"
#include "template/context.h"
#include "template/filter.h"
#include "template/place.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace millrace::templates {

// profile.name, lines.0.price
struct Path {
  std::vector<std::string> names;
};

struct Operand {
  std::variant<json::Value, Path> what;
  Place place;
};

struct FilterCall {
  const Filter* filter = nullptr;
  std::vector<Operand> arguments;
  Place place;
};

struct Expression {
  Operand start;
  std::vector<FilterCall> filters;
  Place place;
};

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

struct Condition {
  struct Truth {
    Expression expression;
  };
  struct Compare {
    Expression left;
    Comparison comparison;
    Expression right;
  };
  struct Not {
    std::unique_ptr<Condition> inner;
  };
  struct Both {
    std::unique_ptr<Condition> left, right;
  };
  struct Either {
    std::unique_ptr<Condition> left, right;
  };
  std::variant<Truth, Compare, Not, Both, Either> what;
};

struct Node;
using Block = std::vector<Node>;

struct ParsedFile {
  std::string name;  // "page.html", for messages.
  Block block;
};

struct Node {
  struct Text {
    std::string text;
  };
  struct Print {
    Expression expression;
    Context context;
  };
  struct If {
    struct Branch {
      Condition condition;
      Block block;
    };
    std::vector<Branch> branches;
    Block otherwise;
  };
  struct For {
    std::string variable;
    Expression list;
    Block body;
    Block otherwise;  // For an empty list.
  };
  struct Let {
    std::string variable;
    Expression expression;
  };
  struct Include {
    std::shared_ptr<const ParsedFile> file;  // Shared: one partial may stand in many places.
  };
  std::variant<Text, Print, If, For, Let, Include> what;
};

}  // namespace millrace::templates
