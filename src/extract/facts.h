// Facts: linked entities written down as layout's facts, each with its evidence and assertion.
#pragma once

#include "extract/chart.h"
#include "extract/document_date.h"
#include "extract/link.h"
#include "layout/clinical/extraction.h"

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::extract {

inline constexpr double kDoubtful = 0.7;  // For a person to look at.

class FactWriter {
 public:
  FactWriter(const Manner& manner, const Written& written,
             const layout::clinical::PassLimits& limits)
      : manner_(manner), written_(written), limits_(limits) {}

  // Everything that one passage says.
  void write(const Group& group);
  // People are named in many places: written when all are known.
  void write_people(std::span<const Group> groups);
  layout::clinical::Extraction take() { return std::move(out_); }

 private:
  void write_medications(const Group& group);
  void write_observations(const Group& group);
  void write_vitals(const Group& group);
  void write_allergies(const Group& group);
  void write_conditions(const Group& group);
  void write_procedures(const Group& group);
  void write_immunizations(const Group& group);

  // A fact of this type about the head, with every field null but its name.
  layout::clinical::Fact fact_of(layout::clinical::FactType type, const Group& group,
                                 const Placed& head) const;
  void judge_fact(layout::clinical::Fact& fact, const Group& group, const Placed& head) const;
  static void rest_on(layout::clinical::Fact& fact, const Placed& placed);
  void add(layout::clinical::Fact fact);

  // ISO form of a date entity; empty when it is none.
  std::string iso_of(const Placed& placed) const;
  // The number and unit of an entity; false: there is none.
  bool set_quantity(json::Object& value, std::string_view field, const Placed& placed) const;
  bool set_range(json::Object& value, const Placed& placed) const;

  Manner manner_;
  Written written_;
  layout::clinical::PassLimits limits_;
  layout::clinical::Extraction out_;
};

// What a key says right before a token, over colons and points, on its line: of persons only.
Kinds key_before(const PageReading& page, std::size_t token);

// The text of an entity as a name: on one line, without the dash of a divided word.
std::string name_text(std::string_view text);

}  // namespace millrace::extract
