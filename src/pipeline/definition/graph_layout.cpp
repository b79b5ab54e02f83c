#include "pipeline/definition/graph_layout.h"

#include "base/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace millrace::pipeline {
namespace {

class Layouter {
 public:
  explicit Layouter(const Pipeline& pipeline) : pipeline_(pipeline) {}

  GraphLayout run() {
    for (const auto& stage : pipeline_.stages) place(stage);
    for (const auto& stage : pipeline_.stages) {
      for (const auto* source : direct_sources(pipeline_, stage)) connect(*source, stage);
    }
    // Up and down a few times: stages near what they are connected with.
    for (int round = 0; round < 4; ++round) {
      for (std::size_t layer = 1; layer < out_.layers.size(); ++layer) sort_layer(layer, true);
      for (std::size_t layer = out_.layers.size() - 1; layer-- > 0;) sort_layer(layer, false);
    }
    return std::move(out_);
  }

 private:
  void place(const Stage& stage) {
    std::size_t layer = 0;
    for (const auto& name : stage.after) {
      layer = std::max(layer, out_.nodes[by_name_.at(name)].layer + 1);
    }
    by_name_[stage.name] = add({.stage = &stage, .layer = layer});
  }

  std::size_t add(GraphNode node) {
    if (out_.layers.size() <= node.layer) out_.layers.resize(node.layer + 1);
    out_.layers[node.layer].push_back(out_.nodes.size());
    out_.nodes.push_back(node);
    return out_.nodes.size() - 1;
  }

  // Arrows of one stage share their way.
  void connect(const Stage& source, const Stage& target) {
    const auto to = by_name_.at(target.name);
    auto at = by_name_.at(source.name);
    while (out_.nodes[at].layer + 1 < out_.nodes[to].layer) {
      const auto layer = out_.nodes[at].layer + 1;
      const auto [pass, is_new] = passes_.try_emplace({source.name, layer}, out_.nodes.size());
      if (is_new) {
        add({.stage = nullptr, .layer = layer});
        out_.edges.push_back({at, pass->second});
      }
      at = pass->second;
    }
    out_.edges.push_back({at, to});
  }

  void sort_layer(std::size_t layer, bool by_above) {
    std::map<std::size_t, std::pair<double, std::size_t>> wanted;  // Ties as they stand.
    const auto& other = out_.layers[by_above ? layer - 1 : layer + 1];
    const auto& own = out_.layers[layer];
    for (std::size_t i = 0; i < own.size(); ++i) {
      double sum = 0;
      int count = 0;
      for (const auto& edge : out_.edges) {
        if ((by_above ? edge.to : edge.from) != own[i]) continue;
        const auto neighbour = by_above ? edge.from : edge.to;
        const auto found = std::ranges::find(other, neighbour);
        sum += static_cast<double>(found - other.begin()) + 0.5;
        ++count;
      }
      const auto size = static_cast<double>(own.size());
      wanted[own[i]] = {count == 0 ? (static_cast<double>(i) + 0.5) / size
                                   : sum / count / static_cast<double>(other.size()),
                        i};
    }
    std::ranges::sort(out_.layers[layer], {}, [&](std::size_t node) { return wanted[node]; });
  }

  const Pipeline& pipeline_;
  GraphLayout out_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> passes_;
};

}  // namespace

GraphLayout lay_out(const Pipeline& pipeline) { return Layouter(pipeline).run(); }

std::vector<const Stage*> direct_sources(const Pipeline& pipeline, const Stage& stage) {
  std::set<const Stage*> implied;
  for (const auto& name : stage.after) {
    for (const auto* earlier : pipeline.ancestors(name)) implied.insert(earlier);
  }
  std::vector<const Stage*> out;
  for (const auto& name : stage.after) {
    const auto* source = pipeline.find(name);
    if (!implied.contains(source)) out.push_back(source);
  }
  return out;
}

std::string_view arrow_note(const Stage& from, const Stage& to) {
  if (from.each == to.each) return {};
  return to.each == Each::page ? "one job per page" : "when all pages have ended";
}

std::string_view arrow_note(const Pipeline& pipeline, const Stage& to) {
  for (const auto* from : direct_sources(pipeline, to)) {
    if (const auto note = arrow_note(*from, to); !note.empty()) return note;
  }
  return {};
}

std::string work_note(const Stage& stage) {
  auto text = stage.run;
  if (stage.kind == RunKind::exec) text = "exec " + stage.run.substr(5);
  if (stage.provider != kNoProvider) text += " · " + stage.provider;
  return text;
}

std::string policy_note(const Stage& stage) {
  auto text = format_duration(stage.timeout);
  if (stage.max_attempts) {
    const auto count = *stage.max_attempts;
    text += fmt::format(" · {} attempt{}", count, count == 1 ? "" : "s");
  }
  return text;
}

}  // namespace millrace::pipeline
