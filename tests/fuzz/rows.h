// make_row: a result as libpq would hold it, with one row.
#pragma once

#include "fuzz/properties.h"
#include "pg/result_set.h"

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <vector>

namespace millrace::fuzz {

struct Column {
  std::string name;
  std::optional<std::string> value;
};

inline pg::ResultSet make_row(std::vector<Column> columns) {
  PGresult* result = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
  pg::ResultSet owner(result);
  std::vector<PGresAttDesc> attributes(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) attributes[i].name = columns[i].name.data();
  property(PQsetResultAttrs(result, static_cast<int>(attributes.size()), attributes.data()) == 1,
           "a result has columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& value = columns[i].value;
    property(PQsetvalue(result, 0, static_cast<int>(i), value ? value->data() : nullptr,
                        value ? static_cast<int>(value->size()) : -1) == 1,
             "a result has values");
  }
  return owner;
}

}  // namespace millrace::fuzz
