// GraphLayout: a pipeline as layers from top to bottom, for the pictures.
//
// A stage lies below all it waits for. An arrow goes from one layer to the next; where it has to
// pass a layer, a node without a stage stands there for it. Arrows that others imply are left out:
// a after b after c needs none from c to a.
#pragma once

#include "pipeline/definition/definition.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

struct GraphNode {
  const Stage* stage = nullptr;  // Null: an arrow passes.
  std::size_t layer = 0;
};

struct GraphEdge {
  std::size_t from = 0;  // Nodes; `to` is one layer below.
  std::size_t to = 0;
};

struct GraphLayout {
  std::vector<GraphNode> nodes;
  std::vector<std::vector<std::size_t>> layers;  // Nodes, from left to right.
  std::vector<GraphEdge> edges;
};

// Points into `pipeline`, which outlives it.
GraphLayout lay_out(const Pipeline& pipeline);

// What it waits for, without what one of these implies. Points into `pipeline`.
std::vector<const Stage*> direct_sources(const Pipeline& pipeline, const Stage& stage);

// What an arrow between these stands for: "one job per page", "when all pages have ended", or
// nothing for one job after another.
std::string_view arrow_note(const Stage& from, const Stage& to);
// Of all arrows to this stage together: the first that has one.
std::string_view arrow_note(const Pipeline& pipeline, const Stage& to);

// "ocr · local", "exec ./label.py": what does the work, in few words.
std::string work_note(const Stage& stage);
// "2m · 7 attempts"
std::string policy_note(const Stage& stage);

}  // namespace millrace::pipeline
