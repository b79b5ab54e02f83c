#include "store/parse_store.h"

#include "base/json_members.h"
#include "pg/pool.h"
#include "store/sqlstate.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAcquire{10'000};
constexpr milliseconds kCall{30'000};

milliseconds seconds_of(const json::Object& object, std::string_view name) {
  return milliseconds(static_cast<std::int64_t>(number_member(object, name) * 1'000));
}

std::optional<Uuid> uuid_of(const json::Object& object, std::string_view name) {
  const auto text = text_member(object, name);
  if (text.empty()) return std::nullopt;
  const auto parsed = Uuid::parse(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

Result<ParseState> read_state(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text));
  ParseState out{.state = text_member(object, "state"),
                 .remote_id = text_member(object, "remote_id"),
                 .reason = text_member(object, "reason"),
                 .asks = static_cast<int>(int_member(object, "asks")),
                 .call = uuid_of(object, "call_id"),
                 .previous_call = uuid_of(object, "previous_call_id"),
                 .waited = seconds_of(object, "waited_seconds"),
                 .left = seconds_of(object, "left_seconds")};
  const auto* ask = object.if_contains("ask");
  out.ask = ask != nullptr && ask->is_bool() && ask->get_bool();
  const auto* content = object.if_contains("content");
  if (content != nullptr && content->is_object()) {
    const auto& found = content->get_object();
    out.content = ContentRef{.sha256 = text_member(found, "sha256"),
                             .size_bytes = int_member(found, "size_bytes"),
                             .store_key = text_member(found, "store_key")};
  }
  return out;
}

class PgParseStore final : public ParseStore {
 public:
  explicit PgParseStore(pg::Pool& pool) : pool_(pool) {}

  Task<std::optional<ParseState>> find_parse(HeldJob held, ParseWanted wanted) override {
    auto params = pg::params(held.job, held.token);
    params.add_json(json::Object{{"parser", std::move(wanted.parser)},
                                 {"request_sha256", std::move(wanted.request_sha256)}});
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("find_parse"), "select millrace.ask_parse($1, $2, $3)",
                           std::move(params)));
    if (text.empty()) co_return std::nullopt;
    MR_CO_TRY(auto state, read_state(text));
    co_return std::move(state);
  }

  Task<ParseState> ask_parse(HeldJob held, NewParse parse) override {
    json::Object request{{"parser", parse.parser},
                         {"capability_sha256", parse.capability_sha256},
                         {"deadline_seconds", static_cast<double>(parse.deadline.count()) / 1'000}};
    if (parse.call) request["call_id"] = parse.call->to_string();
    auto params = pg::params(held.job, held.token);
    params.add_json(request);
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("ask_parse"), "select millrace.ask_parse($1, $2, $3)",
                           std::move(params)));
    co_return read_state(text);
  }

  Task<ParseState> note_asked(HeldJob held, std::string remote_id) override {
    return note(held, json::Object{{"remote_id", std::move(remote_id)}});
  }
  Task<ParseState> note_failed(HeldJob held, std::string reason) override {
    return note(held, json::Object{{"failed", std::move(reason)}});
  }
  Task<void> withdraw(HeldJob held) override {
    MR_CO_TRY_VOID(co_await note(held, json::Object{{"withdrawn", true}}));
    co_return ok();
  }

 private:
  Task<ParseState> note(HeldJob held, json::Object what) {
    auto params = pg::params(held.job, held.token);
    params.add_json(what);
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("note_parse"), "select millrace.note_parse($1, $2, $3)",
                           std::move(params)));
    co_return read_state(text);
  }

  // The first column of the first row; null gives an empty text.
  Task<std::string> ask(fault::Point point, std::string sql, pg::Params params) {
    auto name = "mr_parse_" + std::string(point.name);
    MR_CO_TRY(auto connection, co_await pool_.acquire(kAcquire, name));
    MR_CO_TRY(const auto rows,
              translate(co_await connection->prepared(std::move(name), std::move(sql),
                                                      std::move(params), {kCall, point})));
    co_return rows.rows() == 0 || rows[0].is_null(0) ? std::string() : std::string(rows[0].text(0));
  }

  pg::Pool& pool_;
};

}  // namespace

std::unique_ptr<ParseStore> make_parse_store(pg::Pool& pool) {
  return std::make_unique<PgParseStore>(pool);
}

SqlStatement end_parse_statement(JobId job) {
  return {.sql = "select millrace.end_parse($1)", .params = {job.to_string()}};
}

}  // namespace millrace::store
