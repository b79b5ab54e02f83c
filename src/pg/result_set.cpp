#include "pg/result_set.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <charconv>

namespace millrace::pg {
namespace {

[[noreturn]] void wrong_type(const pg_result* result, int column, std::string_view value,
                             const char* type) {
  throw RowError(fmt::format("column {} holds '{}', which is not {}", PQfname(result, column),
                             value.substr(0, 40), type));
}

template <class T>
T number(const pg_result* result, int column, std::string_view value, const char* type) {
  T parsed{};
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (code != std::errc{} || end != value.data() + value.size())
    wrong_type(result, column, value, type);
  return parsed;
}

}  // namespace

int Row::index(Column column) const {
  const int count = PQnfields(result_);
  if (column.name_.data() == nullptr) {
    if (column.index_ >= static_cast<std::size_t>(count)) {
      throw RowError(fmt::format("there is no column {}, only {}", column.index_, count));
    }
    return static_cast<int>(column.index_);
  }
  for (int i = 0; i < count; ++i) {
    if (column.name_ == PQfname(result_, i)) return i;
  }
  throw RowError(fmt::format("there is no column named {}", column.name_));
}

bool Row::is_null(Column column) const { return PQgetisnull(result_, row_, index(column)) != 0; }

std::string_view Row::text(Column column) const {
  const int i = index(column);
  if (PQgetisnull(result_, row_, i) != 0) {
    throw RowError(fmt::format("column {} is null", PQfname(result_, i)));
  }
  return {PQgetvalue(result_, row_, i), static_cast<std::size_t>(PQgetlength(result_, row_, i))};
}

std::int64_t Row::i64(Column column) const {
  return number<std::int64_t>(result_, index(column), text(column), "a 64-bit integer");
}

std::int32_t Row::i32(Column column) const {
  return number<std::int32_t>(result_, index(column), text(column), "a 32-bit integer");
}

double Row::f64(Column column) const {
  return number<double>(result_, index(column), text(column),
                        "a number");  // Reads NaN, Infinity too.
}

bool Row::boolean(Column column) const {
  const auto value = text(column);
  if (value == "t") return true;
  if (value == "f") return false;
  wrong_type(result_, index(column), value, "a boolean");
}

Uuid Row::uuid(Column column) const {
  const auto value = text(column);
  auto parsed = Uuid::parse(value);
  if (!parsed) wrong_type(result_, index(column), value, "a UUID");
  return *parsed;
}

std::vector<std::string> Row::text_array(Column column) const {
  const auto value = text(column);
  std::vector<std::string> elements;
  if (value.size() < 2 || value.front() != '{' || value.back() != '}') {
    wrong_type(result_, index(column), value, "an array");
  }
  const auto body = value.substr(1, value.size() - 2);
  for (std::size_t i = 0; i < body.size();) {
    std::string element;
    const bool quoted = body[i] == '"';
    if (quoted) {
      for (++i; i < body.size() && body[i] != '"'; ++i) {
        if (body[i] == '\\') ++i;
        if (i < body.size()) element += body[i];
      }
      ++i;
    } else {
      while (i < body.size() && body[i] != ',') element += body[i++];
      if (element == "NULL" || element.starts_with('{')) {
        wrong_type(result_, index(column), value, "a flat array without nulls");
      }
    }
    elements.push_back(std::move(element));
    if (i < body.size()) ++i;  // The comma.
  }
  return elements;
}

std::optional<std::string> Row::opt_text(Column column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(text(column));
}
std::optional<std::int64_t> Row::opt_i64(Column column) const {
  if (is_null(column)) return std::nullopt;
  return i64(column);
}
std::optional<double> Row::opt_f64(Column column) const {
  if (is_null(column)) return std::nullopt;
  return f64(column);
}
std::optional<bool> Row::opt_boolean(Column column) const {
  if (is_null(column)) return std::nullopt;
  return boolean(column);
}
std::optional<Uuid> Row::opt_uuid(Column column) const {
  if (is_null(column)) return std::nullopt;
  return uuid(column);
}

void ResultSet::Clear::operator()(pg_result* result) const { PQclear(result); }

ResultSet::ResultSet(pg_result* result) : result_(result) {}

std::size_t ResultSet::rows() const {
  return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0;
}

std::size_t ResultSet::columns() const {
  return result_ ? static_cast<std::size_t>(PQnfields(result_.get())) : 0;
}

Row ResultSet::operator[](std::size_t row) const {
  if (row >= rows()) throw RowError(fmt::format("there is no row {}, only {}", row, rows()));
  return {result_.get(), static_cast<int>(row)};
}

std::string_view ResultSet::column_name(std::size_t column) const {
  if (column >= columns()) throw RowError(fmt::format("there is no column {}", column));
  return PQfname(result_.get(), static_cast<int>(column));
}

bool ResultSet::has_column(std::string_view name) const {
  for (std::size_t i = 0; i < columns(); ++i) {
    if (column_name(i) == name) return true;
  }
  return false;
}

std::int64_t ResultSet::affected() const {
  if (!result_) return 0;
  const std::string_view text = PQcmdTuples(result_.get());
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::string_view ResultSet::command_tag() const {
  return result_ ? PQcmdStatus(result_.get()) : "";
}

}  // namespace millrace::pg
