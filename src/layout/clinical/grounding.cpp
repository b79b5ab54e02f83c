#include "layout/clinical/grounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace millrace::layout::clinical {
namespace {

// Characters that may be searched in all; after that only around the places that the answer names.
constexpr std::size_t kWorkMax = 500'000'000;

struct Place {
  Evidence at = {};
  QuoteMatch match = {};
};

class Searcher {
 public:
  Searcher(const SpatialMap& map, const QuoteOptions& options) : map_(map), options_(options) {}

  std::optional<Place> find(const Entity& entity) {
    if (auto place = find_on(entity.at.page, entity.text, entity.at.words.first)) return place;
    for (const auto other : {entity.at.page + 1, entity.at.page - 1}) {
      if (auto place = find_on(other, entity.text, std::nullopt)) return place;
    }
    return std::nullopt;
  }

 private:
  std::optional<Place> find_on(std::uint32_t number, std::string_view text,
                               std::optional<std::uint32_t> word) {
    const auto* page = map_.page(number);
    if (page == nullptr) return std::nullopt;
    const auto& finder = finders_.try_emplace(number, page->text, options_).first->second;
    std::optional<std::uint32_t> near;
    if (word && *word < page->words.size()) near = page->words[*word].bytes.begin;
    std::optional<QuoteMatch> match;
    if (work_ < kWorkMax) {
      work_ += finder.size();
      match = finder.find(text, near);
    } else if (near) {
      match = finder.find_around(text, *near);
    }
    if (!match) return std::nullopt;
    const auto at = evidence_at(*page, match->bytes);
    if (!at) return std::nullopt;
    return Place{.at = *at, .match = *match};
  }

  const SpatialMap& map_;
  QuoteOptions options_;
  std::map<std::uint32_t, QuoteFinder> finders_;
  std::size_t work_ = 0;
};

class Grounder {
 public:
  Grounder(const SpatialMap& map, const QuoteOptions& options)
      : map_(map), searcher_(map, options) {}

  Grounded run(Detection answer) {
    for (std::size_t i = 0; i < answer.entities.size(); ++i) {
      if (ground_entity(answer.entities[i], i)) {
        out_.detection.entities.push_back(std::move(answer.entities[i]));
      }
    }
    for (std::size_t i = 0; i < answer.sections.size(); ++i) {
      if (ground_section(answer.sections[i], i)) {
        out_.detection.sections.push_back(std::move(answer.sections[i]));
      }
    }
    for (std::size_t i = 0; i < answer.illegible.size(); ++i) {
      if (map_.page(answer.illegible[i].page) != nullptr) {
        out_.detection.illegible.push_back(answer.illegible[i]);
      } else {
        add(Severity::review, Rule::unknown_page, fmt::format("illegible[{}].page", i), {});
      }
    }
    out_.detection.document_type = std::move(answer.document_type);
    out_.detection.language = std::move(answer.language);
    return std::move(out_);
  }

 private:
  void add(Severity severity, Rule rule, std::string path, std::string id) {
    out_.findings.push_back(
        {.severity = severity, .rule = rule, .path = std::move(path), .id = std::move(id)});
  }

  bool ground_entity(Entity& entity, std::size_t i) {
    const auto path = fmt::format("entities[{}]", i);
    if (!ids_.insert(entity.id).second) {
      add(Severity::reject, Rule::duplicate_id, path + ".id", entity.id);
      return false;
    }
    const auto claimed = entity.at.page;
    const auto place = searcher_.find(entity);
    if (!place) {
      add(Severity::reject, Rule::evidence_not_found, path + ".text", entity.id);
      return false;
    }
    if (place->match.errors > 0) {
      add(Severity::review, Rule::evidence_approximate, path + ".text", entity.id);
      entity.doubts.push_back(Rule::evidence_approximate);
      entity.conf *= 1 - place->match.error_share();
    } else if (place->at.page != claimed) {
      add(Severity::review, Rule::unknown_page, path + ".page", entity.id);
      entity.doubts.push_back(Rule::unknown_page);
    }
    entity.at = place->at;
    entity.text = quoted(map_, entity.at);
    return true;
  }

  // A section may be too long, but not somewhere else.
  bool ground_section(Section& section, std::size_t i) {
    const auto path = fmt::format("segments[{}]", i);
    const auto* page = map_.page(section.page);
    if (!ids_.insert(section.id).second) {
      add(Severity::review, Rule::duplicate_id, path + ".id", section.id);
      return false;
    }
    if (page == nullptr || section.words.first >= page->words.size()) {
      add(Severity::review, page == nullptr ? Rule::unknown_page : Rule::offsets_wrong,
          path + (page == nullptr ? ".page" : ".words"), section.id);
      return false;
    }
    const auto last = static_cast<std::uint32_t>(page->words.size() - 1);
    section.words.last = std::min(section.words.last, last);
    return true;
  }

  const SpatialMap& map_;
  Searcher searcher_;
  std::set<std::string> ids_;
  Grounded out_;
};

}  // namespace

Grounded ground(Detection answer, const SpatialMap& map, const QuoteOptions& options) {
  return Grounder(map, options).run(std::move(answer));
}

}  // namespace millrace::layout::clinical
