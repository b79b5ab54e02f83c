#include "pipeline/definition/graph.h"
#include "pipeline/definition/graph_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr double kCardWidth = 300;
constexpr double kCardHeight = 88;
constexpr double kLean = 7;      // How far each card of a stack lies behind the one before it.
constexpr double kAcross = 44;   // Between cards side by side.
constexpr double kBetween = 62;  // Between layers.
constexpr double kMargin = 32;
constexpr double kHead = 100;
constexpr double kFoot = 56;

struct QueueColor {
  const char* strong;
  const char* pale;
};
// Told apart by people who do not see all colours, too.
constexpr QueueColor kColors[] = {{"#0b6e99", "#e6f2f7"}, {"#c2622a", "#fcefe6"},
                                  {"#7a5195", "#f2ecf6"}, {"#3c8a5d", "#e9f5ee"},
                                  {"#5f6b76", "#eef0f2"}, {"#b23a57", "#faeaee"}};

std::string escape(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

// At most so many characters: a card has one width.
std::string cut(std::string_view text, std::size_t signs_max) {
  std::size_t signs = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (++signs > signs_max) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

class SvgPicture {
 public:
  explicit SvgPicture(const Pipeline& pipeline)
      : pipeline_(pipeline), layout_(lay_out(pipeline)), spots_(layout_.nodes.size()) {
    for (const auto& stage : pipeline_.stages) {
      if (std::ranges::find(queues_, stage.queue) == queues_.end()) queues_.push_back(stage.queue);
    }
  }

  std::string draw() {
    place();
    for (const auto& edge : layout_.edges) draw_edge(edge);
    for (std::size_t node = 0; node < layout_.nodes.size(); ++node) draw_node(node);
    return head() + body_ + foot() + "</svg>\n";
  }

 private:
  struct Spot {
    double x = 0;  // Of the left side,
    double middle = 0;
    double y = 0;
  };

  double width_of(std::size_t node) const {
    return layout_.nodes[node].stage == nullptr ? 0 : kCardWidth;
  }

  void place() {
    double widest = 420;
    std::vector<double> widths;
    for (const auto& layer : layout_.layers) {
      double width = kAcross * static_cast<double>(layer.size() - 1);
      for (const auto node : layer) width += width_of(node);
      widths.push_back(width);
      widest = std::max(widest, width);
    }
    width_ = widest + 2 * kMargin + 2 * kLean;
    double y = kHead;
    for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
      auto x = kMargin + (widest - widths[i]) / 2;
      for (const auto node : layout_.layers[i]) {
        spots_[node] = {.x = x, .middle = x + width_of(node) / 2, .y = y};
        x += width_of(node) + kAcross;
      }
      y += kCardHeight + kBetween;
    }
    height_ = y - kBetween + kFoot;
  }

  const QueueColor& color(const std::string& queue) const {
    const auto index =
        static_cast<std::size_t>(std::ranges::find(queues_, queue) - queues_.begin());
    return kColors[index % std::size(kColors)];
  }

  bool is_stack(std::size_t node) const {
    const auto* stage = layout_.nodes[node].stage;
    return stage != nullptr && stage->each == Each::page;
  }

  void draw_edge(const GraphEdge& edge) {
    const auto& from = spots_[edge.from];
    const auto& to = spots_[edge.to];
    const bool passes = layout_.nodes[edge.to].stage == nullptr;
    const double begin = from.y + kCardHeight;
    const double end = passes ? to.y : to.y - (is_stack(edge.to) ? 2 * kLean : 0) - 7;
    const double bend = begin + (to.y - begin) / 2;
    body_ += fmt::format(
        "<path d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" "
        "class=\"arrow\"{}/>\n",
        from.middle, begin, from.middle, bend, to.middle, std::min(bend, end), to.middle, end,
        passes ? "" : " marker-end=\"url(#head)\"");
    if (passes) {  // Straight through the layer.
      body_ += fmt::format("<path d=\"M{0:.1f} {1:.1f} V{2:.1f}\" class=\"arrow\"/>\n", to.middle,
                           to.y, to.y + kCardHeight);
    }
  }

  void draw_node(std::size_t node) {
    const auto* stage = layout_.nodes[node].stage;
    if (stage == nullptr) return;
    const auto& spot = spots_[node];
    const auto& look = color(stage->queue);
    for (int behind = is_stack(node) ? 2 : 0; behind > 0; --behind) {
      body_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{}\" "
          "stroke=\"{}\" stroke-opacity=\"0.45\"/>\n",
          spot.x + behind * kLean, spot.y - behind * kLean, kCardWidth, kCardHeight, look.pale,
          look.strong);
    }
    body_ += fmt::format(
        "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{3}\" rx=\"8\" fill=\"#fff\" "
        "stroke=\"{4}\"/>\n"
        "<path d=\"M{5:.1f} {1:.1f} h-4 a8 8 0 0 0 -8 8 v{6} a8 8 0 0 0 8 8 h4 z\" "
        "fill=\"{4}\"/>\n",
        spot.x, spot.y, kCardWidth, kCardHeight, look.strong, spot.x + 12, kCardHeight - 16);
    draw_words(*stage, spot, look);
    draw_note(node);
  }

  // On the side that the arrows do not come from.
  void draw_note(std::size_t node) {
    const auto note = arrow_note(pipeline_, *layout_.nodes[node].stage);
    if (note.empty()) return;
    const auto& spot = spots_[node];
    double lean = 0;
    for (const auto& edge : layout_.edges) {
      if (edge.to == node) lean += spots_[edge.from].middle - spot.middle;
    }
    const bool at_left = lean > 1;
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"note\" text-anchor=\"{}\">{}</text>\n",
        spot.middle + (at_left ? -10 : 10), spot.y - (is_stack(node) ? 2 * kLean : 0) - 14,
        at_left ? "end" : "start", note);
  }

  void draw_words(const Stage& stage, const Spot& spot, const QueueColor& look) {
    const double left = spot.x + 24;
    const auto line = [&](double down, std::string_view kind, const std::string& text) {
      body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", left,
                           spot.y + down, kind, escape(text));
    };
    line(25, "title", cut(stage.title, stage.each == Each::page ? 26 : 34));
    line(43, "name", cut(stage.name, 36));
    line(61, "fact", cut(work_note(stage), 44));
    line(77, "fact", cut(policy_note(stage), 44));
    if (stage.each != Each::page) return;
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"58\" height=\"20\" rx=\"10\" fill=\"{}\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"11\" fill=\"{}\">× "
        "page</text>\n",
        spot.x + kCardWidth - 68, spot.y + 10, look.pale, spot.x + kCardWidth - 39, spot.y + 24,
        look.strong);
  }

  std::string head() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"sans-serif\" fill=\"#1f2933\">\n"
        "<title>{2} {3}</title>\n"
        "<style>.title{{font-size:15px;font-weight:bold}}.name{{font-size:11.5px;"
        "font-family:monospace;fill:#52606d}}.fact{{font-size:12px;fill:#3e4c59}}"
        ".note{{font-size:11.5px;font-style:italic;fill:#616e7c;"
        "paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}}"
        ".arrow{{fill:none;stroke:#7b8794;stroke-width:1.6}}</style>\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"3\" refY=\"5\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" fill=\"#7b8794\"/>"
        "</marker></defs>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n"
        "<text x=\"{4}\" y=\"34\" font-size=\"19\" font-weight=\"bold\">{2}"
        "<tspan dx=\"8\" font-weight=\"normal\" fill=\"#616e7c\">{3}</tspan></text>\n"
        "{5}",
        width_, height_, escape(pipeline_.name), escape(pipeline_.version), kMargin, description());
  }

  // At most two lines of it.
  std::string description() const {
    const auto line_max = static_cast<std::size_t>((width_ - 2 * kMargin) / 6.6);
    std::string_view rest = pipeline_.description;
    std::string out;
    for (int line = 0; line < 2 && !rest.empty(); ++line) {
      auto end = rest.size();
      if (line == 0 && end > line_max) {
        end = rest.rfind(' ', line_max);
        if (end == rest.npos) end = rest.size();
      }
      out += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"#52606d\">{}</text>\n",
                         kMargin, 54 + 17 * line, escape(cut(rest.substr(0, end), line_max)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
  }

  // Which colour is which queue.
  std::string foot() const {
    std::string out;
    double x = kMargin;
    const double y = height_ - 22;
    for (const auto& queue : queues_) {
      const auto name = cut(queue, 30);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{}\"/>\n"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"#3e4c59\">{}</text>\n",
          x, y - 10, color(queue).strong, x + 18, y, escape(name));
      x += 44 + 6.8 * static_cast<double>(name.size());
    }
    return out;
  }

  const Pipeline& pipeline_;
  GraphLayout layout_;
  std::vector<Spot> spots_;
  std::vector<std::string> queues_;
  double width_ = 0;
  double height_ = 0;
  std::string body_;
};

}  // namespace

std::string graph_svg(const Pipeline& pipeline) { return SvgPicture(pipeline).draw(); }

}  // namespace millrace::pipeline
