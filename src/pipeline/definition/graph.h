// Pictures of a pipeline: for the terminal, as SVG, and as text for Graphviz.
#pragma once

#include "pipeline/definition/definition.h"

#include <string>

namespace millrace::pipeline {

struct TextGraphOptions {
  bool unicode = true;  // False: the signs of ASCII only.
};

// Boxes and arrows; a stage per page is a stack of boxes. Lines end with a newline, no blanks
// before it.
std::string graph_text(const Pipeline& pipeline, TextGraphOptions options = {});
std::string graph_svg(const Pipeline& pipeline);
std::string graph_dot(const Pipeline& pipeline);

}  // namespace millrace::pipeline
