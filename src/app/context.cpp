#include "app/context.h"

#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void write_all(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

Result<store::AdminStore> Context::connect() {
  MR_TRY(const auto database, find_database(settings));
  return connect_to(database);
}

Result<store::AdminStore> Context::connect_to(const Database& database) {
  std::optional<Uuid> tenant;
  if (global.tenant) {
    auto parsed = Uuid::parse(*global.tenant);
    if (!parsed) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--tenant: '{}' is not a uuid", *global.tenant));
    }
    tenant = *parsed;
  }
  auto store = store::AdminStore::connect(connect_as(database, "", "millrace-cli"), tenant);
  if (!store) return fail(cannot_connect(database, store.error()));
  MR_TRY_VOID(store->check_schema());
  return store;
}

void Context::print(std::string_view text) const { write_all(stdout, text); }

void Context::print_json(const json::Value& value) const { print(to_pretty_json(value)); }

void Context::note(std::string_view text) const {
  if (!global.json) write_all(stderr, fmt::format("{}\n", text));
}

void print_rows(const Context& context, const json::Array& rows,
                const std::vector<ColumnSpec>& columns, std::string_view nothing) {
  if (context.json()) {
    context.print_json(json::Value(rows));
    return;
  }
  if (rows.empty()) {
    context.print(fmt::format("{}\n", nothing));
    return;
  }
  std::vector<Table::Column> titles;
  for (const auto& column : columns) {
    titles.push_back(column.right ? right(column.title) : left(column.title));
  }
  Table table(std::move(titles));
  static const json::Value null;
  for (const auto& value : rows) {
    const auto& row = value.as_object();
    std::vector<Cell> cells;
    for (const auto& column : columns) {
      const auto* found = member(row, column.key);
      const auto& shown = found == nullptr ? null : *found;
      cells.push_back(column.render ? column.render(shown, row) : show_value(shown));
    }
    table.add(std::move(cells));
  }
  context.print(table.render(context.terminal));
}

Cell show_value(const json::Value& value) {
  if (value.is_null()) return {"-", Style::dim};
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool()) return value.as_bool() ? "yes" : "no";
  if (value.is_array()) {
    std::string joined;
    for (const auto& item : value.as_array()) {
      if (!joined.empty()) joined += ", ";
      joined += item.is_string() ? std::string(item.as_string()) : to_json(item);
    }
    return joined.empty() ? Cell("-", Style::dim) : Cell(joined);
  }
  return to_json(value);
}

Cell show_count(const json::Value& value, const json::Object&) {
  if (value.is_int64()) {
    Cell cell(static_cast<long long>(value.as_int64()));
    if (value.as_int64() == 0) cell.style = Style::dim;
    return cell;
  }
  return show_value(value);
}

Cell show_age(const json::Value& value, const json::Object&) {
  if (!value.is_string()) return show_value(value);
  const auto time = parse_timestamp(std::string_view(value.as_string()));
  if (!time) return std::string(value.as_string());
  const auto age =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now() - *time);
  return age.count() < 0 ? "in " + format_age(-age) : format_age(age) + " ago";
}

Cell show_status(const json::Value& value, const json::Object&) {
  auto cell = show_value(value);
  if (cell.text == "completed") cell.style = Style::green;
  if (cell.text == "failed") cell.style = Style::red;
  if (cell.text == "cancelled" || cell.text == "retrying") cell.style = Style::yellow;
  if (cell.text == "processing") cell.style = Style::cyan;
  return cell;
}

Cell show_error(const json::Value& value, const json::Object&) {
  if (!value.is_object()) return show_value(value);
  for (const char* key : {"error", "message", "error_message", "error_type"}) {
    const auto text = text_member(value.as_object(), key);
    if (!text.empty()) return text;
  }
  return to_json(value);
}

Cell show_interval(const json::Value& value, const json::Object&) {
  if (!value.is_string()) return show_value(value);
  const auto time = parse_interval(std::string_view(value.as_string()));
  return time ? format_duration(*time) : std::string(value.as_string());
}

const json::Value* member(const json::Object& object, std::string_view key) {
  return object.if_contains(key);
}

std::string text_member(const json::Object& object, std::string_view key) {
  const auto* found = member(object, key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

std::int64_t int_member(const json::Object& object, std::string_view key) {
  const auto* found = member(object, key);
  if (found == nullptr) return 0;
  if (found->is_int64()) return found->as_int64();
  if (found->is_uint64()) return static_cast<std::int64_t>(found->as_uint64());
  if (found->is_double()) return std::llround(found->as_double());
  return 0;
}

bool bool_member(const json::Object& object, std::string_view key) {
  const auto* found = member(object, key);
  return found != nullptr && found->is_bool() && found->as_bool();
}

std::optional<Clock::Wall> parse_timestamp(std::string_view text) {
  // The clock counts nanoseconds in 64 bits: some 290 years, for the difference of two times too.
  constexpr std::time_t kSecondsMax = 7'000'000'000;
  std::tm parts{};
  const std::string copy(text);
  const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) rest = ::strptime(copy.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t fraction_us = 0;
  if (*rest == '.') {
    std::int64_t unit_us = 1'000'000;
    for (++rest; is_digit(*rest); ++rest) {
      unit_us /= 10;
      fraction_us += unit_us * (*rest - '0');
    }
  }
  int hours = 0;
  int minutes = 0;
  char sign = '+';
  if (*rest == '+' || *rest == '-') {
    sign = *rest;
    if (!is_digit(rest[1]) || std::sscanf(rest + 1, "%2d:%2d", &hours, &minutes) < 1) {
      return std::nullopt;
    }
  }
  const auto seconds = ::timegm(&parts);
  if (seconds > kSecondsMax || seconds < -kSecondsMax) return std::nullopt;
  const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  auto time = std::chrono::system_clock::from_time_t(seconds);
  time += std::chrono::microseconds(fraction_us);
  return sign == '+' ? time - offset : time + offset;
}

std::string format_timestamp(Clock::Wall time) {
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

std::string format_age(milliseconds age) {
  const auto seconds = age.count() / 1000;
  if (seconds < 1) return fmt::format("{}ms", age.count());
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

std::optional<milliseconds> parse_interval(std::string_view text) {
  // PostgreSQL's default style: "1 day 02:03:04.5", "-00:05:00"; months have no length.
  constexpr double kSecondsMax = 1e12;
  long long days = 0;
  long long hours = 0;
  long long minutes = 0;
  double seconds = 0;
  int used = 0;
  std::string rest(text);
  if (const auto day = rest.find(" day"); day != rest.npos) {
    if (std::sscanf(rest.c_str(), "%8lld day%n", &days, &used) != 1 || used == 0) {
      return std::nullopt;
    }
    const auto space = rest.find(' ', day + 1);
    rest = space == rest.npos ? "" : rest.substr(space + 1);
  }
  if (!rest.empty() &&
      std::sscanf(rest.c_str(), "%9lld:%2lld:%12lf", &hours, &minutes, &seconds) != 3) {
    return std::nullopt;
  }
  const int sign = rest.starts_with('-') ? -1 : 1;  // Of "-00:05:00", where the hours have none.
  const double total = static_cast<double>(days) * 86400 + static_cast<double>(hours) * 3600 +
                       sign * (static_cast<double>(minutes) * 60 + seconds);
  if (!(std::abs(total) < kSecondsMax)) return std::nullopt;
  return milliseconds(std::llround(total * 1000));
}

}  // namespace millrace::app
