#include "api/rest/rest_api.h"

#include "api/api_fixture.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser = *identity::UserId::parse("22222222-2222-4222-8222-222222222222");

class FakeRest final : public store::RestStore {
 public:
  Task<store::RestSurfacePtr> rest_surface() override {
    ++surfaces;
    auto parsed = store::RestSurface::parse(R"({
      "functions": {
        "add": {"set": false, "void": false, "read_only": true, "args": [
          {"name": "a", "type": "integer", "optional": false},
          {"name": "b", "type": "jsonb", "optional": true}]},
        "list": {"set": true, "void": false, "read_only": false, "args": []},
        "forget": {"set": false, "void": true, "read_only": false, "args": []}},
      "tables": {"shell_files": {"id": "uuid", "status": "text", "file_name": "text"}}})");
    if (!parsed) co_return fail(std::move(parsed).error());
    co_return std::make_shared<const store::RestSurface>(*std::move(parsed));
  }
  Task<store::RestRows> select_rows(store::CallContext caller, store::RestSurfacePtr,
                                    store::RestQuery asked) override {
    last_caller = std::move(caller);
    query = std::move(asked);
    if (error) co_return fail(*error);
    co_return rows;
  }
  Task<store::RestRows> insert_rows(store::CallContext, store::RestSurfacePtr,
                                    store::RestInsert asked) override {
    insert = std::move(asked);
    ++writes;
    if (error) co_return fail(*error);
    co_return rows;
  }
  Task<store::RestRows> update_rows(store::CallContext, store::RestSurfacePtr,
                                    store::RestQuery asked, std::string patch_json,
                                    store::RestWanted wants) override {
    query = std::move(asked);
    patch = std::move(patch_json);
    wanted = wants;
    ++writes;
    if (error) co_return fail(*error);
    co_return rows;
  }
  Task<store::RestRows> delete_rows(store::CallContext, store::RestSurfacePtr,
                                    store::RestQuery asked, store::RestWanted wants) override {
    query = std::move(asked);
    wanted = wants;
    ++writes;
    if (error) co_return fail(*error);
    co_return rows;
  }
  Task<store::RestAnswer> call_function(store::CallContext, store::RestSurfacePtr,
                                        store::RestCall asked) override {
    call = std::move(asked);
    if (error) co_return fail(*error);
    co_return answer;
  }

  store::RestRows rows{.rows_json = R"([{"id":"a"}])", .returned = 1, .total = {}};
  store::RestAnswer answer{.body_json = "3", .is_void = false};
  std::optional<Error> error;
  store::CallContext last_caller;
  store::RestQuery query;
  store::RestInsert insert;
  store::RestWanted wanted;
  std::string patch;
  store::RestCall call;
  int writes = 0;
  int surfaces = 0;
};

class RestApiTest : public testing::Test {
 protected:
  std::string headers(Role role = Role::authenticated, std::string more = {}) {
    const auto user = role == Role::authenticated ? std::optional(kUser) : std::nullopt;
    return ApiFixture::bearer(api_.token(role, kTenant, user)) + more;
  }
  http::Reply get(std::string_view path, std::string more = {}) {
    return api_.get(path, headers(Role::authenticated, std::move(more)));
  }
  http::Reply post(std::string_view path, std::string_view body, std::string more = {}) {
    return api_.post(path, body, headers(Role::authenticated, std::move(more)));
  }
  http::Reply send(std::string_view method, std::string_view path, std::string_view body,
                   std::string more = {}) {
    return api_.ask(fmt::format(
        "{} {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
        "{}Content-Length: {}\r\n\r\n{}",
        method, path, headers(Role::authenticated, std::move(more)), body.size(), body));
  }
  static std::string code_of(const http::Reply& reply) { return text_of(object_of(reply), "code"); }

  SystemClock clock_;
  FakeRest store_;
  RestApi rest_{store_, clock_, {.rows_max = 5}};
  ApiFixture api_{rest_.operations()};
};

const std::string kObject = "Accept: application/vnd.pgrst.object+json\r\n";

TEST_F(RestApiTest, RowsComeAsTheDatabaseGaveThemToTheCallersRole) {  // T-11
  const auto reply = get("/rest/v1/shell_files?select=id&status=eq.uploaded&order=id&limit=2");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"([{"id":"a"}])");
  EXPECT_EQ(reply.header("content-range"), "0-0/*");
  EXPECT_EQ(store_.last_caller.role, "authenticated");
  EXPECT_EQ(store_.last_caller.tenant, kTenant);
  EXPECT_EQ(store_.query.table, "shell_files");
  EXPECT_THAT(store_.query.columns, ElementsAre("id"));
  EXPECT_EQ(store_.query.limit, 2);
  ASSERT_EQ(store_.query.filters.size(), 1U);
}

TEST_F(RestApiTest, NoAnswerHasMoreRowsThanTheLimitOfTheServer) {
  EXPECT_EQ(get("/rest/v1/shell_files?limit=1000000").status, 200);
  EXPECT_EQ(store_.query.limit, 5);
  get("/rest/v1/shell_files");
  EXPECT_EQ(store_.query.limit, 5);
  get("/rest/v1/shell_files", "Range: 2-4\r\n");
  EXPECT_EQ(store_.query.offset, 2);
  EXPECT_EQ(store_.query.limit, 3);
}

TEST_F(RestApiTest, ACountSaysWhetherThereIsMore) {
  store_.rows = {.rows_json = "[{},{}]", .returned = 2, .total = 7};
  const auto some = get("/rest/v1/shell_files?offset=1&limit=2", "Prefer: count=exact\r\n");
  EXPECT_TRUE(store_.query.count);
  EXPECT_EQ(some.status, 206);
  EXPECT_EQ(some.header("content-range"), "1-2/7");
  EXPECT_EQ(some.header("preference-applied"), "count=exact");
  store_.rows = {.rows_json = "[]", .returned = 0, .total = 0};
  const auto none = get("/rest/v1/shell_files", "Prefer: count=exact\r\n");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.header("content-range"), "*/0");
  const auto behind = get("/rest/v1/shell_files?offset=3", "Prefer: count=exact\r\n");
  EXPECT_EQ(behind.status, 416);
  EXPECT_EQ(code_of(behind), "PGRST103");
}

TEST_F(RestApiTest, OneRowComesWithoutBracketsAndAnyOtherNumberIsRefused) {
  const auto one = get("/rest/v1/shell_files?id=eq.1", kObject);
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.body, R"({"id":"a"})");
  EXPECT_THAT(one.header("content-type"), HasSubstr("application/vnd.pgrst.object+json"));
  for (const int count : {0, 2}) {
    store_.rows = {.rows_json = "[]", .returned = count, .total = {}};
    const auto other = get("/rest/v1/shell_files?id=eq.1", kObject);
    EXPECT_EQ(other.status, 406);
    EXPECT_EQ(code_of(other), "PGRST116");
    EXPECT_THAT(text_of(object_of(other), "details"), HasSubstr(fmt::format("{} rows", count)));
  }
}

TEST_F(RestApiTest, AnUpsertReachesTheStoreAsTheClientWordedIt) {  // U-03
  const auto reply =
      post("/rest/v1/shell_files?on_conflict=idempotency_key&select=id", R"({"status":"uploaded"})",
           "Prefer: resolution=merge-duplicates,return=representation\r\n" + kObject);
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, R"({"id":"a"})");
  EXPECT_EQ(store_.insert.rows_json, R"([{"status":"uploaded"}])");
  EXPECT_EQ(store_.insert.on_conflict, store::RestInsert::OnConflict::merge);
  EXPECT_EQ(store_.insert.conflict_columns, "idempotency_key");
  EXPECT_THAT(store_.insert.columns, ElementsAre("id"));
}

TEST_F(RestApiTest, AnInsertThatWantsNothingBackGetsNothing) {
  const auto reply = post("/rest/v1/shell_files", R"([{"status":"uploaded"},{}])");
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(store_.insert.rows_json, R"([{"status":"uploaded"},{}])");
  EXPECT_EQ(post("/rest/v1/shell_files", "[]").status, 201);
  EXPECT_EQ(store_.writes, 1);
}

TEST_F(RestApiTest, RowsAreChangedByAFilterOrNotAtAll) {
  for (const auto* const method : {"PATCH", "DELETE"}) {
    const auto body = std::string_view(method) == "PATCH" ? "{}" : "";
    const auto all = send(method, "/rest/v1/shell_files", body);
    EXPECT_EQ(all.status, 400) << method;
    EXPECT_EQ(code_of(all), "21000") << method;
    EXPECT_EQ(send(method, "/rest/v1/shell_files?id=eq.1&offset=1", body).status, 400);
  }
  EXPECT_EQ(store_.writes, 0);
  const auto patched = send("PATCH", "/rest/v1/shell_files?id=eq.1", R"({"file_name":"b"})");
  EXPECT_EQ(patched.status, 204);
  EXPECT_EQ(store_.patch, R"({"file_name":"b"})");
  EXPECT_EQ(patched.header("content-range"), "0-0/*");
  const auto deleted = send("DELETE", "/rest/v1/shell_files?id=eq.1", "",
                            "Prefer: return=representation,count=exact\r\n");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.header("content-range"), "*/1");
}

TEST_F(RestApiTest, WhoWantsOneRowLeavesTheJudgementToTheTransactionThatWrites) {
  store_.error = Error{.kind = ErrorKind::internal,
                       .message = "the result is not a single row",
                       .sqlstate = "PT406",
                       .detail = "The result contains 2 rows"};
  const auto judged = [&](const http::Reply& reply) {
    EXPECT_EQ(reply.status, 406) << reply.body;
    EXPECT_EQ(code_of(reply), "PGRST116");
    EXPECT_EQ(text_of(object_of(reply), "details"), "The result contains 2 rows");
  };
  const auto path = "/rest/v1/shell_files?status=eq.x";
  judged(send("PATCH", path, "{}", kObject));
  EXPECT_TRUE(store_.wanted.single);
  store_.wanted = {};
  judged(send("DELETE", path, "", kObject));
  EXPECT_TRUE(store_.wanted.single);
  judged(post("/rest/v1/shell_files", "[{},{}]", kObject));
  EXPECT_TRUE(store_.insert.wanted.single);
  judged(post("/rest/v1/rpc/list", "{}", kObject));
  EXPECT_TRUE(store_.call.single);
}

TEST_F(RestApiTest, AWriteTellsHowManyRowsItMayChangeAndWhetherTheyAreWanted) {
  const auto path = "/rest/v1/shell_files?status=eq.x";
  EXPECT_EQ(send("PATCH", path, "{}").status, 204);
  EXPECT_FALSE(store_.wanted.rows);
  EXPECT_FALSE(store_.wanted.single);
  EXPECT_EQ(store_.wanted.rows_max, 5);
  EXPECT_EQ(send("PATCH", path, "{}", "Prefer: return=representation\r\n").status, 200);
  EXPECT_TRUE(store_.wanted.rows);
  store_.error = Error{.kind = ErrorKind::internal,
                       .message = "more than 5 rows match",
                       .sqlstate = "PT400",
                       .hint = "change them in parts"};
  const auto many = send("DELETE", path, "");
  EXPECT_EQ(many.status, 400) << many.body;
  EXPECT_EQ(code_of(many), "PGRST124");
  EXPECT_EQ(text_of(object_of(many), "message"), "more than 5 rows match");
}

TEST_F(RestApiTest, TheLargestNumbersOfARangeAreRowsOrARefusalAndNeverLess) {
  const std::string most = "9223372036854775807";
  EXPECT_EQ(get("/rest/v1/shell_files", fmt::format("Range: 0-{}\r\n", most)).status, 200);
  EXPECT_EQ(store_.query.limit, 5);
  EXPECT_EQ(get("/rest/v1/shell_files", fmt::format("Range: {0}-{0}\r\n", most)).status, 200);
  EXPECT_EQ(store_.query.limit, 1);
  const auto beyond = get("/rest/v1/shell_files?offset=" + most, "Range: 1-2\r\n");
  EXPECT_EQ(beyond.status, 416) << beyond.body;
  EXPECT_EQ(code_of(beyond), "PGRST103");
}

TEST_F(RestApiTest, NamesThatAreNotOfferedHavePostgrestsCodes) {
  const auto table = get("/rest/v1/job_fact");
  EXPECT_EQ(table.status, 404);
  EXPECT_EQ(code_of(table), "PGRST205");
  const auto column = get("/rest/v1/shell_files?select=*,tenant_id");
  EXPECT_EQ(column.status, 400);
  EXPECT_EQ(code_of(column), "42703");
  EXPECT_EQ(code_of(post("/rest/v1/shell_files?columns=evil", "{}")), "PGRST204");
  const auto function = post("/rest/v1/rpc/pg_sleep", R"({"a":1})");
  EXPECT_EQ(function.status, 404);
  EXPECT_EQ(code_of(function), "PGRST202");
  const auto schema = get("/rest/v1/shell_files", "Accept-Profile: millrace\r\n");
  EXPECT_EQ(schema.status, 406);
  EXPECT_EQ(code_of(schema), "PGRST106");
  EXPECT_EQ(get("/rest/v1/shell_files", "Accept: text/csv\r\n").status, 406);
  EXPECT_EQ(
      get("/rest/v1/shell_files", "Accept: application/vnd.pgrst.array+json;nulls=stripped\r\n")
          .status,
      406);
  EXPECT_EQ(code_of(post("/rest/v1/shell_files", "{}", "Prefer: tx=rollback\r\n")), "PGRST122");
  EXPECT_EQ(code_of(post("/rest/v1/shell_files", "{}",
                         "Prefer: handling=strict\r\nPrefer: max-affected=1\r\n")),
            "PGRST122");
  EXPECT_EQ(store_.writes, 0);
}

TEST_F(RestApiTest, ARefusalSpeaksOfTheTableAndNotOfWhatIsBehindIt) {  // I06
  store_.error = Error{.kind = ErrorKind::invalid_argument,
                       .message = "permission denied for function put_shell_files",
                       .sqlstate = "42501"};
  const auto user = post("/rest/v1/shell_files", "{}");
  EXPECT_EQ(user.status, 403);
  EXPECT_EQ(code_of(user), "42501");
  EXPECT_EQ(text_of(object_of(user), "message"), "permission denied for table shell_files");
  const auto nobody = api_.post("/rest/v1/shell_files", "{}", headers(Role::anon));
  EXPECT_EQ(nobody.status, 401);
}

TEST_F(RestApiTest, FunctionsTakeNamedArgumentsAndAnswerBare) {
  const auto scalar = post("/rest/v1/rpc/add", R"({"a":1})");
  EXPECT_EQ(scalar.status, 200);
  EXPECT_EQ(scalar.body, "3");
  EXPECT_EQ(store_.call.args_json, R"({"a":1})");
  EXPECT_TRUE(store_.call.reading);  // It says of itself that it only reads.
  store_.answer = {.body_json = "null", .is_void = true};
  const auto nothing = post("/rest/v1/rpc/forget", "");
  EXPECT_EQ(nothing.status, 204);
  EXPECT_FALSE(store_.call.reading);
  EXPECT_EQ(store_.call.args_json, "{}");
  store_.answer = {.body_json = R"([{"n":1}])", .is_void = false};
  EXPECT_EQ(post("/rest/v1/rpc/list", "{}").body, R"([{"n":1}])");
  EXPECT_EQ(post("/rest/v1/rpc/list", "{}", kObject).body, R"({"n":1})");
  store_.answer = {.body_json = "[]", .is_void = false};
  EXPECT_EQ(post("/rest/v1/rpc/list", "{}", kObject).status, 406);
}

TEST_F(RestApiTest, AFunctionCalledByGetReadsItsArgumentsFromTheQuery) {
  EXPECT_EQ(get("/rest/v1/rpc/add?a=1&b=%7B%22x%22%3A2%7D").status, 200);
  EXPECT_EQ(store_.call.args_json, R"({"a":"1","b":{"x":2}})");
  EXPECT_TRUE(store_.call.reading);
  EXPECT_EQ(code_of(get("/rest/v1/rpc/add?c=1")), "PGRST202");
  EXPECT_EQ(code_of(get("/rest/v1/rpc/add?a=1&select=x")), "PGRST100");
  EXPECT_EQ(code_of(get("/rest/v1/rpc/add?a=%00")), "PGRST100");
  store_.error = Error{.kind = ErrorKind::unavailable,
                       .message = "cannot execute INSERT in a read-only transaction",
                       .sqlstate = "25006"};
  EXPECT_EQ(get("/rest/v1/rpc/forget").status, 405);
}

TEST_F(RestApiTest, WhatThereIsIsAskedForOnce) {
  for (int i = 0; i < 3; ++i) get("/rest/v1/shell_files");
  EXPECT_EQ(store_.surfaces, 1);
}

TEST_F(RestApiTest, AliasesNameColumnsOfTheAnswer) {
  store_.rows = {.rows_json = R"([{"file_name":"a.pdf"}])", .returned = 1, .total = {}};
  EXPECT_EQ(get("/rest/v1/shell_files?select=name:file_name").body, R"([{"name":"a.pdf"}])");
  EXPECT_THAT(store_.query.columns, ElementsAre("file_name"));
}

}  // namespace
}  // namespace millrace::api
