// Linking: which entities of a passage belong to which. A dose belongs to the medicine before it, a
// range to the test of its row.
#pragma once

#include "extract/reading.h"
#include "layout/clinical/detection.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace millrace::extract {

// An entity and where it stands in the reading of its page.
struct Placed {
  const layout::clinical::Entity* entity = nullptr;
  TokenRange tokens = {};
  layout::clinical::Category category() const { return entity->category; }
};

// The entities of one passage, in the order of the text.
struct Group {
  const PageReading* page = nullptr;
  const Passage* passage = nullptr;  // Null: outside of all passages; then there is one entity.
  std::vector<Placed> entities = {};
  std::string_view section = {};
};

// `detection` is grounded in the pages of these readings.
std::vector<Group> group_entities(const layout::clinical::Detection& detection,
                                  const std::vector<PageReading>& pages);

// A head (a medicine, a test) with what belongs to it.
struct Cluster {
  const Placed* head = nullptr;
  std::vector<const Placed*> parts = {};
  TokenRange tokens =
      {};  // From the head to the next one: where flags and statuses are looked for.
};

// What stands between a head and the next one belongs to it; in a row with one head everything
// does; what stands before the first one goes to it when it has nothing of that kind itself.
std::vector<Cluster> clusters_of(const Group& group, layout::clinical::Category head,
                                 std::initializer_list<layout::clinical::Category> parts);

}  // namespace millrace::extract
