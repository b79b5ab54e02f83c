// ResultSet and Row: what a statement returned.
//
// A ResultSet owns its rows; Row and the string_views it gives point into it. Reading a column that
// does not exist, a null without asking, or a value of another type is a bug in the caller or a
// wrong SQL function: it throws RowError naming the column.
#pragma once

#include "base/uuid.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct pg_result;

namespace millrace::pg {

class RowError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class Column {  // By name or by position, starting at 0.
 public:
  Column(const char* name) : name_(name) {}
  Column(std::string_view name) : name_(name) {}
  Column(const std::string& name) : name_(name) {}
  Column(std::size_t index) : index_(index) {}
  Column(int index) : index_(static_cast<std::size_t>(index)) {}

 private:
  friend class Row;
  std::string_view name_;
  std::size_t index_ = 0;
};

class ResultSet;

class Row {
 public:
  bool is_null(Column column) const;
  std::string_view text(Column column) const;
  std::int64_t i64(Column column) const;
  std::int32_t i32(Column column) const;
  double f64(Column column) const;
  bool boolean(Column column) const;
  Uuid uuid(Column column) const;
  template <class SomeId>
  SomeId id(Column column) const {
    return SomeId{uuid(column)};
  }
  std::vector<std::string> text_array(Column column) const;  // One dimension, no nulls.

  std::optional<std::string> opt_text(Column column) const;
  std::optional<std::int64_t> opt_i64(Column column) const;
  std::optional<double> opt_f64(Column column) const;
  std::optional<bool> opt_boolean(Column column) const;
  std::optional<Uuid> opt_uuid(Column column) const;
  template <class SomeId>
  std::optional<SomeId> opt_id(Column column) const {
    if (is_null(column)) return std::nullopt;
    return id<SomeId>(column);
  }

 private:
  friend class ResultSet;
  Row(const pg_result* result, int row) : result_(result), row_(row) {}
  int index(Column column) const;

  const pg_result* result_;
  int row_;
};

class ResultSet {
 public:
  ResultSet() = default;
  explicit ResultSet(pg_result* result);  // Takes ownership.

  std::size_t rows() const;
  std::size_t columns() const;
  bool empty() const { return rows() == 0; }
  Row operator[](std::size_t row) const;
  std::string_view column_name(std::size_t column) const;
  bool has_column(std::string_view name) const;
  std::int64_t affected() const;         // Rows changed or returned; 0 for other commands.
  std::string_view command_tag() const;  // "INSERT 0 3".

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Row;
    Iterator() = default;
    Row operator*() const { return (*set_)[row_]; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    Iterator operator++(int) {
      auto old = *this;
      ++row_;
      return old;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class ResultSet;
    Iterator(const ResultSet* set, std::size_t row) : set_(set), row_(row) {}
    const ResultSet* set_ = nullptr;
    std::size_t row_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, rows()}; }

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

}  // namespace millrace::pg
