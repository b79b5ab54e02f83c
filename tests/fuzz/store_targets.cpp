#include "base/json.h"
#include "fuzz/rows.h"
#include "fuzz/targets.h"
#include "model/job_json.h"
#include "store/answers.h"
#include "store/settlement_json.h"
#include "store/sql_script.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <array>

namespace millrace::fuzz {
namespace {

std::vector<std::string> texts_of(const std::vector<store::SqlStatement>& statements) {
  std::vector<std::string> texts;
  for (const auto& statement : statements) texts.push_back(statement.text);
  return texts;
}

std::optional<std::vector<std::string>> split(const std::string& script) {
  const auto statements = store::split_statements(script);
  if (!statements) return std::nullopt;
  return texts_of(*statements);
}

// No parenthesis or block is open at its end, so that the next semicolon ends it.
bool is_closed(const std::string& script) {
  const auto alone = split(script);
  const auto followed = split(script + "\n;\nlast");
  return alone && followed && followed->size() == alone->size() + 1;
}

void check_places(Input script, const std::vector<store::SqlStatement>& statements) {
  std::size_t from = 0;
  for (const auto& statement : statements) {
    property(!statement.text.empty(), "a statement is not empty");
    const auto at = script.find(statement.text, from);
    property(at != script.npos, "statements are pieces of the script, in order", statement.text);
    const auto line = 1 + std::ranges::count(script.substr(0, at), '\n');
    // Its text may also stand in a comment before it, so the line is not smaller.
    property(statement.line >= line, "a statement's line", statement.text);
    from = at + statement.text.size();
  }
}

void check_roles(const std::string& statement) {
  std::vector<std::string> missing;
  const auto all =
      store::without_missing_roles(statement, [](std::string_view) { return true; }, missing);
  property(all == statement, "with every role there is nothing to take away", statement);
  property(missing.empty(), "with every role none is missing");

  const auto left = store::without_missing_roles(
      statement, [](std::string_view role) { return !role.starts_with('x'); }, missing);
  property(missing.empty() == (left == statement), "what changes has lost a role", statement);
  for (const auto& role : missing) property(role.starts_with('x'), "only missing ones go", role);
  const auto before = split(statement);
  if (left && before && before->size() == 1) {
    const auto after = split(*left);
    property(after && after->size() == 1, "it is still one statement", *left);
  }
  const auto view = store::created_view(statement);
  property(!view || statement.contains(*view), "a view's name is part of its statement");
}

}  // namespace

namespace {

void check_beat(Input text) {
  const auto answer = store::read_beat_answer(text);
  if (!answer) return check_told(answer.error(), ErrorKind::internal);
  property(answer->lease >= std::chrono::milliseconds(0), "a lease is not negative");
  property(answer->lease <= std::chrono::days(366), "a lease fits into the clock");
  property(answer->suspects >= 0, "a number of suspects is not negative");
  for (const auto& request : answer->cancel) {
    property(text.contains(request.reason) || text.contains('\\'), "a reason is what was said");
  }
}

// The columns of claim_jobs in order; a missing line is a null.
void check_claimed(Input& input) {
  constexpr std::array<const char*, 24> kNames{
      "job_id",         "token",        "tenant_id",  "job_type",       "payload",     "priority",
      "attempt",        "max_attempts", "generation", "delivery_count", "lease_ms",    "alone",
      "run_timeout_ms", "job_name",     "owner_id",   "correlation_id", "traceparent", "pipeline",
      "stage",          "batch_id",     "parent_id",  "serial_key",     "carry",       "mark"};
  std::vector<Column> columns;
  for (const auto* name : kNames) {
    const auto line = take_line(input);
    columns.push_back({.name = name, .value = std::nullopt});
    if (!line.empty()) columns.back().value = line;
  }
  const auto payload = columns[4].value;
  const auto set = make_row(std::move(columns));
  try {
    const auto job = store::read_claimed(set[0], "queue");
    property(job.payload_json == payload, "a payload is passed on as it is");
    property(!idempotency_key(job).empty(), "a job has a key");
    if (parse_json(job.payload_json) && is_utf8(job.job_type) && !job.carry_json) {
      const auto text = job_json(job);
      property(parse_json_object(text, {.max_bytes = text.size(), .max_depth = 66}).has_value(),
               "a handler gets JSON", text);
    }
  } catch (const pg::RowError& error) {
    property(std::string_view(error.what()).size() < 200, "a RowError is short", error.what());
  }
}

void check_settled(Input& input) {
  const auto id = take_line(input);
  const auto answer = take_line(input);
  const auto set = make_row({{.name = "job_id", .value = std::string(id)},
                             {.name = "answer", .value = std::string(answer)}});
  store::AnswerMap answers;
  try {
    const auto read = store::read_answers(set, answers);
    if (!read) return check_told(read.error(), ErrorKind::internal);
    property(answers.size() == 1, "a row is an answer");
    property(to_string(answers.begin()->second) == answer, "an answer is what was said", answer);
  } catch (const pg::RowError& error) {
    property(!JobId::parse(id), "a row that can be read is read", error.what());
  }
}

}  // namespace

// The first byte says which answer follows.
void fuzz_answers(Input input) {
  switch (take_byte(input)) {
    case 'c':
      return check_claimed(input);
    case 's':
      return check_settled(input);
    default:
      check_beat(input);
      check_linear(input, [](std::string_view text) { check_beat(text); });
  }
}

void fuzz_script(Input input) {
  const auto statements = store::split_statements(input);
  if (!statements) {
    check_told(statements.error());
    property(statements.error().message.contains(':'), "the line is named",
             statements.error().message);
  } else {
    check_places(input, *statements);
    const auto texts = texts_of(*statements);
    std::string joined;
    for (const auto& text : texts) joined += text + "\n;\n";
    property(split(joined) == texts || !is_closed(std::string(input)),
             "statements one after the other are the same", joined);
    for (const auto& text : texts) check_roles(text);
    // Cut in two anywhere between statements, the halves give what the whole gives.
    const std::string first(input.substr(0, input.size() / 2));
    const std::string second(input.substr(input.size() / 2));
    auto halves = split(first);
    const auto rest = split(second);
    if (is_closed(first) && rest) {
      halves->insert(halves->end(), rest->begin(), rest->end());
      property(split(first + "\n;\n" + second) == halves, "a script is the sum of its parts");
    }
  }
  check_roles(std::string(input));
  const auto name = store::quote_identifier(input);
  property(name.size() >= input.size() + 2, "a name is quoted");
  if (const auto quoted = split(name)) {
    property(quoted->size() == 1 && quoted->front() == name, "a quoted name is one word", name);
  }
  check_linear(input,
               [](std::string_view text) { static_cast<void>(store::split_statements(text)); });
}

namespace {

// What a handler may hand over as JSON: some text, when it is JSON at all.
std::string json_or_nothing(std::string_view text) {
  return parse_json(text).has_value() ? std::string(text) : std::string();
}

Settlement take_settlement(Input& input) {
  Settlement settlement;
  auto& outcome = settlement.outcome;
  const auto kind = take_byte(input);
  outcome.kind = static_cast<Outcome::Kind>(kind % 8);
  settlement.id.value.bytes[0] = kind;
  settlement.token.value.bytes[15] = take_byte(input);
  if (kind >= 0x80) outcome.retry_after = std::chrono::milliseconds(take_byte(input) * 333);
  if (kind >= 0xc0) outcome.actual_tokens = static_cast<std::int64_t>(take_byte(input)) << 40U;
  outcome.crash = kind % 3 == 0;
  outcome.provider = take_line(input);
  outcome.result_json = json_or_nothing(take_line(input));
  outcome.error_json = error_json(take_line(input), take_line(input));
  outcome.parts_json = json_or_nothing(take_line(input));
  outcome.effects_json = json_or_nothing(take_line(input));
  settlement.logs.push_back({.level = LogLevel::warn, .message = std::string(take_line(input))});
  return settlement;
}

json::Array must_be_array(const std::string& text, std::size_t size) {
  const auto parsed = parse_json(text, {.max_bytes = text.size(), .max_depth = 80});
  if (!parsed || !parsed->is_array()) broken("the database gets a JSON array", text);
  property(parsed->as_array().size() == size, "with an element each", text);
  return parsed->as_array();
}

}  // namespace

void fuzz_settlements(Input input) {
  std::vector<Settlement> settlements;
  while (!input.empty() && settlements.size() < 8) settlements.push_back(take_settlement(input));
  std::vector<const Settlement*> pointers;
  std::vector<store::JobLogItem> logs;
  std::vector<store::ProgressItem> progress;
  store::Marks marks;
  for (const auto& settlement : settlements) {
    pointers.push_back(&settlement);
    logs.push_back({settlement.id, settlement.token, settlement.logs[0]});
    progress.push_back({.id = settlement.id,
                        .token = settlement.token,
                        .percent = settlement.id.value.bytes[0],
                        .message = settlement.logs[0].message,
                        .data_json = settlement.outcome.result_json});
    marks[settlement.outcome.provider] = settlement.id.value.bytes[0];
  }
  const auto written = must_be_array(store::settlements_json(pointers), settlements.size());
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    const auto& object = written[i].as_object();
    property(object.at("outcome").as_string() == to_string(settlements[i].outcome.kind),
             "the outcome");
    property(object.at("job_id").as_string() == settlements[i].id.to_string(), "the job");
    property(object.contains("result") == !settlements[i].outcome.result_json.empty(),
             "a result is there when there is one");
    property(
        object.contains("retry_after_seconds") == settlements[i].outcome.retry_after.has_value(),
        "a wait is there when there is one");
  }
  if (const auto results = store::results_json(pointers); !results.empty()) {
    must_be_array(results, settlements.size());
  }
  must_be_array(store::logs_json(logs), logs.size());
  must_be_array(store::progress_json(progress), progress.size());
  property(parse_json_object(store::marks_json(marks)).has_value() ||
               !std::ranges::all_of(marks, [](const auto& mark) { return is_utf8(mark.first); }),
           "marks are an object");
}

}  // namespace millrace::fuzz
