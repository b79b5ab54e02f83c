#include "extract/link.h"

#include <algorithm>
#include <map>

namespace millrace::extract {
namespace {

using layout::clinical::Category;

bool is_part(const Placed& placed, std::initializer_list<Category> parts) {
  return std::ranges::find(parts, placed.category()) != parts.end();
}

TokenRange tokens_at(const PageReading& page, const layout::clinical::Entity& entity) {
  const auto first = std::ranges::upper_bound(page.tokens, entity.at.bytes.begin, {},
                                              [](const Token& token) { return token.bytes.end; });
  const auto end = std::ranges::lower_bound(page.tokens, entity.at.bytes.end, {},
                                            [](const Token& token) { return token.bytes.begin; });
  return {.first = static_cast<std::size_t>(first - page.tokens.begin()),
          .end = static_cast<std::size_t>(end - page.tokens.begin())};
}

// "At bedtime, take X", "2. Once daily, X": nothing in front of it but the mark of a list.
bool begins_passage(const Group& group, const Placed& placed) {
  if (group.passage == nullptr) return false;
  const auto& tokens = group.page->tokens;
  for (auto at = group.passage->tokens.first; at < placed.tokens.first; ++at) {
    const bool counts =
        tokens[at].is_number() && (tokens[at + 1].is(".") || tokens[at + 1].is(")"));
    if (tokens[at].kind != TokenKind::punct && !counts) return false;
  }
  return true;
}

}  // namespace

std::vector<Group> group_entities(const layout::clinical::Detection& detection,
                                  const std::vector<PageReading>& pages) {
  std::map<std::uint32_t, const PageReading*> by_number;
  for (const auto& page : pages) by_number.emplace(page.page->info.page, &page);
  std::map<std::pair<std::uint32_t, std::size_t>, Group> groups;
  for (const auto& entity : detection.entities) {
    const auto page = by_number.find(entity.at.page);
    if (page == by_number.end()) continue;
    const auto tokens = tokens_at(*page->second, entity);
    if (tokens.empty()) continue;
    const auto* passage = page->second->passage_at(tokens.first);
    const auto key = passage == nullptr ? tokens.first : passage->tokens.first;
    auto& group = groups[{entity.at.page, key}];
    group.page = page->second;
    group.passage = passage;
    group.entities.push_back({.entity = &entity, .tokens = tokens});
  }
  std::vector<Group> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) {
    std::ranges::sort(group.entities, {}, [](const Placed& placed) {
      return std::pair(placed.tokens.first, placed.tokens.end);
    });
    if (group.passage != nullptr) group.section = group.page->section_of(*group.passage).kind;
    out.push_back(std::move(group));
  }
  return out;
}

std::vector<Cluster> clusters_of(const Group& group, Category head,
                                 std::initializer_list<Category> parts) {
  std::vector<Cluster> out;
  std::vector<const Placed*> before;
  for (const auto& placed : group.entities) {
    if (placed.category() == head) {
      if (!out.empty()) out.back().tokens.end = placed.tokens.first;
      out.push_back({.head = &placed, .tokens = {.first = placed.tokens.first, .end = 0}});
    } else if (is_part(placed, parts)) {
      if (out.empty()) {
        before.push_back(&placed);
      } else {
        out.back().parts.push_back(&placed);
      }
    }
  }
  if (out.empty()) return out;
  const auto end =
      group.passage == nullptr ? out.back().head->tokens.end : group.passage->tokens.end;
  out.back().tokens.end = end;
  const bool row = group.passage != nullptr && group.passage->table >= 0 && out.size() == 1;
  if (row) out.front().tokens.first = group.passage->tokens.first;
  for (const auto* placed : before) {
    const bool has_one = std::ranges::any_of(out.front().parts, [&](const Placed* part) {
      return part->category() == placed->category();
    });
    // "Pen V 500 BID, Lipitor 40": of what stands before the comma, known or not.
    const bool of_other =
        placed->category() == Category::frequency && !begins_passage(group, *placed) &&
        std::any_of(group.page->tokens.begin() + static_cast<std::ptrdiff_t>(placed->tokens.end),
                    group.page->tokens.begin() +
                        static_cast<std::ptrdiff_t>(out.front().head->tokens.first),
                    [](const Token& token) { return token.is(",") || token.is(";"); });
    if (row || (!has_one && !of_other)) out.front().parts.insert(out.front().parts.begin(), placed);
  }
  return out;
}

}  // namespace millrace::extract
