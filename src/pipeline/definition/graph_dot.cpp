#include "pipeline/definition/graph.h"
#include "pipeline/definition/graph_layout.h"

#include <fmt/format.h>

namespace millrace::pipeline {
namespace {

std::string dot_quote(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "\"";
}

}  // namespace

std::string graph_dot(const Pipeline& pipeline) {
  auto out = fmt::format(
      "digraph {} {{\n  label={};\n  labelloc=t;\n  fontname=\"sans-serif\";\n"
      "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      dot_quote(pipeline.name), dot_quote(pipeline.name + " " + pipeline.version));
  for (const auto& stage : pipeline.stages) {
    auto label = dot_quote(fmt::format("{}\n{}\n{}\n{} · {}", stage.title, stage.name,
                                       work_note(stage), stage.queue, policy_note(stage)));
    for (auto at = label.find('\n'); at != label.npos; at = label.find('\n')) {
      label.replace(at, 1, "\\n");
    }
    // A box behind the box is a stage per page.
    out += fmt::format("  {} [label={}{}];\n", dot_quote(stage.name), label,
                       stage.each == Each::page ? ", peripheries=2" : "");
  }
  for (const auto& stage : pipeline.stages) {
    for (const auto* source : direct_sources(pipeline, stage)) {
      const auto note = arrow_note(*source, stage);
      out += fmt::format("  {} -> {}{};\n", dot_quote(source->name), dot_quote(stage.name),
                         note.empty() ? "" : fmt::format(" [label={}]", dot_quote(note)));
    }
  }
  return out + "}\n";
}

}  // namespace millrace::pipeline
