#include "pipeline/definition/graph.h"
#include "pipeline/definition/graph_layout.h"
#include "pipeline/definition/text_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kGap = 5;         // Between boxes side by side; a stack leans into it.
constexpr std::size_t kStackUp = 2;     // Rows that the boxes behind take above the first,
constexpr std::size_t kStackRight = 4;  // and columns at its right.
constexpr std::size_t kTextMax = 60;

std::string cut(const std::string& text) {
  if (TextCanvas::width(text) <= kTextMax) return text;
  std::size_t end = 0;
  for (std::size_t signs = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && ++signs == kTextMax) break;
  }
  return text.substr(0, end) + "…";
}

class TextPicture {
 public:
  explicit TextPicture(const Pipeline& pipeline)
      : pipeline_(pipeline), layout_(lay_out(pipeline)), drawn_(layout_.nodes.size()) {}

  std::string draw(bool unicode) {
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      if (layout_.nodes[i].stage != nullptr) drawn_[i].lines = lines_of(*layout_.nodes[i].stage);
      for (const auto& line : drawn_[i].lines) {
        inner_width_ = std::max(inner_width_, TextCanvas::width(line));
      }
    }
    // Odd, so that arrows leave in the middle.
    inner_width_ += inner_width_ % 2 == 0 ? 1 : 0;
    place_columns();
    std::size_t y = 0;
    for (std::size_t layer = 0; layer < layout_.layers.size(); ++layer) {
      y = draw_layer(layer, y);
      if (layer + 1 < layout_.layers.size()) y = draw_channel(layer, y);
    }
    return canvas_.render(unicode);
  }

 private:
  struct Drawn {
    std::vector<std::string> lines;
    std::size_t x = 0;       // Of the left side,
    std::size_t middle = 0;  // and of arrows.
  };

  static std::vector<std::string> lines_of(const Stage& stage) {
    std::vector<std::string> lines{cut(stage.title)};
    if (stage.name != stage.title) lines.push_back(cut(stage.name));
    lines.push_back(cut(work_note(stage)));
    lines.push_back(cut(fmt::format("{} · {}", stage.queue, policy_note(stage))));
    return lines;
  }

  std::size_t box_width() const { return inner_width_ + 4; }
  std::size_t width_of(std::size_t node) const {
    return layout_.nodes[node].stage == nullptr ? 1 : box_width();
  }

  // Every layer in the middle of the widest one.
  void place_columns() {
    std::vector<std::size_t> widths;
    for (const auto& layer : layout_.layers) {
      std::size_t width = kGap * (layer.size() - 1);
      for (const auto node : layer) width += width_of(node);
      widths.push_back(width);
    }
    const auto widest = std::ranges::max(widths);
    for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
      auto x = (widest - widths[i]) / 2;
      for (const auto node : layout_.layers[i]) {
        drawn_[node].x = x;
        drawn_[node].middle = x + width_of(node) / 2;
        x += width_of(node) + kGap;
      }
    }
  }

  bool is_stack(std::size_t node) const {
    const auto* stage = layout_.nodes[node].stage;
    return stage != nullptr && stage->each == Each::page;
  }
  std::size_t stack_rows(std::size_t layer) const {
    const auto& nodes = layout_.layers[layer];
    return std::ranges::any_of(nodes, [&](auto node) { return is_stack(node); }) ? kStackUp : 0;
  }

  // Returns the row below it. `y` is where the arrows to it end.
  std::size_t draw_layer(std::size_t layer, std::size_t y) {
    const auto stack = stack_rows(layer);
    std::size_t height = 0;
    for (const auto node : layout_.layers[layer]) {
      height = std::max(height, drawn_[node].lines.size() + 2);
    }
    const auto bottom = y + stack + height - 1;
    for (const auto node : layout_.layers[layer]) {
      const auto& drawn = drawn_[node];
      if (layout_.nodes[node].stage == nullptr) {
        canvas_.line_down(drawn.middle, y == 0 ? 0 : y - 1, bottom + 1);
        continue;
      }
      if (!is_stack(node) && stack > 0 && layer > 0) {
        canvas_.line_down(drawn.middle, y - 1, y + stack - 1);
      }
      draw_box(node, {.x = drawn.x, .y = y + stack, .width = box_width(), .height = height});
      if (layer > 0) canvas_.text(drawn.middle, y + (is_stack(node) ? 0 : stack) - 1, "▼");
      if (layer > 0 && layout_.layers[layer].size() == 1) {
        const auto note = arrow_note(pipeline_, *layout_.nodes[node].stage);
        if (!note.empty()) canvas_.text(drawn.middle + 2, y - 1, note);
      }
    }
    return bottom + 1;
  }

  void draw_box(std::size_t node, const TextCanvas::Box& box) {
    if (is_stack(node)) {
      canvas_.box({box.x + kStackRight, box.y - kStackUp, box.width, box.height});
      canvas_.box({box.x + kStackRight / 2, box.y - kStackUp / 2, box.width, box.height});
    }
    canvas_.box(box);
    if (is_stack(node)) canvas_.text(box.x + box.width - 11, box.y, " × page ");
    const auto& lines = drawn_[node].lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      canvas_.text(box.x + 2, box.y + 1 + i, lines[i]);
    }
  }

  // The rows between two layers: every stage whose arrows go sideways has one for itself.
  std::size_t draw_channel(std::size_t layer, std::size_t y) {
    std::set<std::size_t> turning;
    for (const auto& edge : layout_.edges) {
      if (layout_.nodes[edge.from].layer != layer) continue;
      if (drawn_[edge.from].middle != drawn_[edge.to].middle) turning.insert(edge.from);
    }
    const auto bottom = y + turning.size() + 1;  // The row of the heads of arrows.
    std::size_t row = y + 1;
    for (const auto node : layout_.layers[layer]) {
      const auto own = turning.contains(node) ? row++ : y;
      for (const auto& edge : layout_.edges) {
        if (edge.from != node) continue;
        canvas_.line_down(drawn_[node].middle, y - 1, own);
        canvas_.line_across(own, drawn_[node].middle, drawn_[edge.to].middle);
        canvas_.line_down(drawn_[edge.to].middle, own, bottom);
      }
    }
    return bottom + 1;
  }

  const Pipeline& pipeline_;
  GraphLayout layout_;
  std::vector<Drawn> drawn_;
  std::size_t inner_width_ = 0;
  TextCanvas canvas_;
};

}  // namespace

std::string graph_text(const Pipeline& pipeline, TextGraphOptions options) {
  return TextPicture(pipeline).draw(options.unicode);
}

}  // namespace millrace::pipeline
