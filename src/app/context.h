// Context: what every command gets: settings, terminal, clock, log, and a way to the database.
#pragma once

#include "app/config/settings.h"
#include "app/database.h"
#include "app/table.h"
#include "app/terminal.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "http/span.h"
#include "store/admin_store.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::app {

struct GlobalOptions {
  std::optional<std::string> database_url;
  std::optional<std::string> data_dir;
  std::optional<std::string> config_file;
  std::optional<std::string> tenant;
  std::optional<std::string> log_level;
  bool json = false;
  bool no_color = false;
};

struct Context {
  GlobalOptions global;
  Environment environment;
  Terminal terminal;
  Settings settings;
  SystemClock clock;
  SystemRandom random;
  Logger log = Logger::silent();
  MetricRegistry metrics;          // Of this process.
  http::Tracer* tracer = nullptr;  // Nothing: not traced. Set by Telemetry, which owns it.
  // Job types, each with its queue, of versions of pipelines that no file has any more and
  // documents still use. Set by prepare_queues.
  std::vector<std::pair<std::string, std::string>> kept_types;

  bool json() const { return global.json; }

  // Connected, with the schema in place.
  Result<store::AdminStore> connect();
  Result<store::AdminStore> connect_to(const Database& database);

  void print(std::string_view text) const;  // Standard output.
  void print_json(const json::Value& value) const;
  // To people only: standard error, not with --json.
  void note(std::string_view text) const;
};

// Rows for people: which member of each JSON row goes into which column.
struct ColumnSpec {
  std::string title;
  std::string key;
  bool right = false;
  std::function<Cell(const json::Value& value, const json::Object& row)> render = {};
};

// A table on the terminal, or the rows themselves with --json. `nothing` is said when there are
// none.
void print_rows(const Context& context, const json::Array& rows,
                const std::vector<ColumnSpec>& columns, std::string_view nothing);

// Cells of the usual kinds.
Cell show_value(const json::Value& value);  // Texts as they are, null as "-", others as JSON.
Cell show_count(const json::Value& value, const json::Object& row);
Cell show_age(const json::Value& value, const json::Object& row);     // "3m ago" from a timestamp.
Cell show_status(const json::Value& value, const json::Object& row);  // Coloured.
Cell show_error(const json::Value& value, const json::Object& row);   // The message of an error.
Cell show_interval(const json::Value& value, const json::Object& row);  // "00:05:00" as "5m".

const json::Value* member(const json::Object& object, std::string_view key);
std::string text_member(const json::Object& object, std::string_view key);
std::int64_t int_member(const json::Object& object, std::string_view key);
bool bool_member(const json::Object& object, std::string_view key);

// "2026-11-15T09:50:48.123+00:00" as PostgreSQL writes timestamps in JSON.
std::optional<Clock::Wall> parse_timestamp(std::string_view text);
std::string format_timestamp(Clock::Wall time);         // "2026-11-15T09:50:48Z"
std::string format_age(std::chrono::milliseconds age);  // "3m", "2h", "5d"
std::optional<std::chrono::milliseconds> parse_interval(std::string_view text);

}  // namespace millrace::app
