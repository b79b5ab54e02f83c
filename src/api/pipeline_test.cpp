#include "api/pipeline.h"

#include "api/api_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

namespace millrace::api {
namespace {

using identity::Capability;
using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const TenantId kOtherTenant = *TenantId::parse("22222222-2222-4222-8222-222222222222");
const identity::UserId kUser = *identity::UserId::parse("33333333-3333-4333-8333-333333333333");

Operation says_who() {
  auto operation = plain_operation("who", "GET", "/who", Access::people(Capability::read));
  operation.handler = [](Call& call) -> Task<Reply> {
    const auto context = call.context();
    json::Object out{{"role", context.role}, {"actor", context.actor}};
    if (context.tenant) out["tenant"] = context.tenant->to_string();
    co_return Reply::json(out);
  };
  operation.answers[0].schema = R"({"type":"object"})";
  return operation;
}

Operation takes_body() {
  auto operation = plain_operation("put", "POST", "/things", Access::service(Capability::write));
  operation.body =
      RequestBody{.schema = R"({"type":"object","required":["size"],"additionalProperties":false,
                    "properties":{"size":{"type":"integer","minimum":1},"note":{"type":"string"}}})"};
  operation.idempotency_key = true;
  operation.handler = [](Call& call) -> Task<Reply> {
    json::Object out{{"size", call.integer("size").value_or(-1)}};
    if (call.key) out["key"] = call.key->key;
    co_return Reply::json(out, 201);
  };
  operation.answers = {{.status = 201, .description = "Made.", .schema = R"({"type":"object"})"}};
  return operation;
}

TEST(Pipeline, NobodyGetsInWithoutCredentials) {  // I08, T-01
  ApiFixture api({says_who()});
  const auto reply = api.get("/who");
  EXPECT_EQ(reply.status, 401);
  EXPECT_THAT(reply.header("www-authenticate"), StartsWith("Bearer"));
  EXPECT_EQ(reply.header("content-type"), "application/problem+json");
  const auto problem = object_of(reply);
  EXPECT_EQ(text_of(problem, "code"), "missing");
  EXPECT_EQ(text_of(problem, "cid"), reply.header("x-correlation-id"));
  EXPECT_EQ(text_of(problem, "type"), "urn:millrace:problem:missing");
}

TEST(Pipeline, ACallerIsWhoTheTokenSaysAndConfinedToItsTenant) {  // T-01
  ApiFixture api({says_who()});
  const auto reply =
      api.get("/who", ApiFixture::bearer(api.token(Role::authenticated, kTenant, kUser)));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto who = object_of(reply);
  EXPECT_EQ(text_of(who, "tenant"), kTenant.to_string());
  EXPECT_EQ(text_of(who, "actor"), "user:" + kUser.to_string());
}

TEST(Pipeline, AServiceMayActForATenantItNamesAndAConfinedOneMayNot) {
  ApiFixture api({says_who()});
  const auto wanted = "x-millrace-tenant: " + kOtherTenant.to_string() + "\r\n";
  const auto free = api.get("/who", ApiFixture::bearer(api.token(Role::service_role)) + wanted);
  ASSERT_EQ(free.status, 200) << free.body;
  EXPECT_EQ(text_of(object_of(free), "tenant"), kOtherTenant.to_string());
  for (const auto& credentials :
       {api.token(Role::service_role, kTenant), api.token(Role::authenticated, kTenant, kUser),
        api.key(Role::reader), api.key(Role::admin, kTenant)}) {
    EXPECT_EQ(api.get("/who", ApiFixture::bearer(credentials) + wanted).status, 403);
  }
  const auto bad = api.get("/who", ApiFixture::bearer(api.token(Role::service_role)) +
                                       "x-millrace-tenant: everybody\r\n");
  EXPECT_EQ(bad.status, 400);
}

TEST(Pipeline, TheKeyOfSupabaseClientsIsUnderstood) {
  ApiFixture api({says_who()});
  const auto key = api.token(Role::anon);
  const auto user = api.token(Role::authenticated, kTenant, kUser);
  const auto reply = api.get("/who", "apikey: " + key + "\r\n" + ApiFixture::bearer(user));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text_of(object_of(reply), "role"), "authenticated");
  EXPECT_EQ(api.get("/who", "apikey: " + key + "\r\n").status, 403);
}

TEST(Pipeline, EveryRoleGetsWhatItsCapabilitiesAllowAndNoMore) {
  ApiFixture api(
      {says_who(), plain_operation("service", "GET", "/service", Access::service(Capability::read)),
       plain_operation("staff", "GET", "/staff", Access::staff(Capability::operate)),
       plain_operation("admin", "GET", "/admin", Access::staff(Capability::administer))});
  struct Row {
    Role role;
    int who, service, staff, admin;
  };
  for (const auto& row :
       {Row{Role::anon, 403, 403, 403, 403}, Row{Role::authenticated, 200, 403, 403, 403},
        Row{Role::service_role, 200, 200, 403, 403}, Row{Role::reader, 200, 200, 403, 403},
        Row{Role::operator_, 200, 200, 200, 403}, Row{Role::admin, 200, 200, 200, 200}}) {
    const auto user = row.role == Role::authenticated ? std::optional(kUser) : std::nullopt;
    const auto headers = ApiFixture::bearer(api.credentials(row.role, {}, user));
    EXPECT_EQ(api.get("/who", headers).status, row.who) << to_string(row.role);
    EXPECT_EQ(api.get("/service", headers).status, row.service) << to_string(row.role);
    EXPECT_EQ(api.get("/staff", headers).status, row.staff) << to_string(row.role);
    EXPECT_EQ(api.get("/admin", headers).status, row.admin) << to_string(row.role);
  }
  // The installation's own things are not for staff of one tenant.
  const auto confined = ApiFixture::bearer(api.key(Role::operator_, kTenant));
  EXPECT_EQ(api.get("/service", confined).status, 200);
  EXPECT_EQ(api.get("/staff", confined).status, 403);
}

TEST(Pipeline, ARevokedTokenAndADisabledTenantAreRefusedAtOnce) {
  ApiFixture api({says_who()});
  const auto token = api.token(Role::service_role, kTenant);
  EXPECT_EQ(api.get("/who", ApiFixture::bearer(token)).status, 200);
  api.directory.revoked.insert(api.last_token_id);
  const auto revoked = api.get("/who", ApiFixture::bearer(token));
  EXPECT_EQ(revoked.status, 401);
  EXPECT_EQ(text_of(object_of(revoked), "code"), "revoked");
  api.directory.revoked.clear();
  api.policies.policies[kTenant].disabled = true;
  EXPECT_EQ(api.get("/who", ApiFixture::bearer(token)).status, 403);
}

TEST(Pipeline, WhenTheDirectoryIsAwayTheAnswerIs503AndNamesNoHost) {  // T-08, deny by default
  ApiFixture api({says_who()});
  const auto token = api.token(Role::service_role);
  api.directory.away = true;
  const auto reply = api.get("/who", ApiFixture::bearer(token));
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, Not(HasSubstr("10.0.0.7")));
}

TEST(Pipeline, ATicketOpensItsOwnStreamOnlyAndOnlyStreams) {  // H-04
  auto stream =
      plain_operation("stream", "GET", "/jobs/{id}/events", Access::stream(Capability::read));
  stream.parameters = {{.in = In::path, .name = "id", .description = "The job."}};
  ApiFixture api({std::move(stream), says_who()});
  const auto ticket_for = [&](std::string resource) {
    identity::StreamTicket ticket{
        .resource = std::move(resource),
        .holder = {.role = Role::authenticated,
                   .tenant = kTenant,
                   .subject = kUser.to_string(),
                   .token_id = "made-with"},
        .expires_at = identity::instant_of(api.clock().wall()) + std::chrono::minutes(5)};
    return api.tickets().make_ticket(ticket)->reveal();
  };
  const auto ticket = ticket_for("/jobs/7/events");
  EXPECT_EQ(api.get("/jobs/7/events?token=" + ticket).status, 200);
  EXPECT_EQ(api.get("/jobs/8/events?token=" + ticket).status, 401);
  EXPECT_EQ(api.get("/jobs/7/events?token=" + ticket + "x").status, 401);
  EXPECT_EQ(api.get("/jobs/7/events?token=" + ticket + "&token=" + ticket).status, 401);
  EXPECT_EQ(api.get("/jobs/7/events").status, 401);
  // Not in a header, and not for what is no stream.
  EXPECT_EQ(api.get("/jobs/7/events", ApiFixture::bearer(ticket)).status, 401);
  EXPECT_EQ(api.get("/who?token=" + ticket_for("/who")).status, 401);
  api.directory.revoked.insert("made-with");
  EXPECT_EQ(api.get("/jobs/7/events?token=" + ticket).status, 401);
}

TEST(Pipeline, ABodyIsHeldAgainstItsSchemaBeforeAnythingRuns) {  // H-23
  ApiFixture api({takes_body()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  EXPECT_EQ(api.post("/things", R"({"size": 3})", headers).status, 201);

  const auto bad = api.post("/things", R"({"size": 0, "colour": "red"})", headers);
  EXPECT_EQ(bad.status, 400);
  const auto problem = object_of(bad);
  EXPECT_EQ(text_of(problem, "code"), "invalid_body");
  const auto& errors = problem.at("errors").as_array();
  ASSERT_EQ(errors.size(), 2U);
  std::set<std::string> places;
  std::set<std::string> rules;
  for (const auto& error : errors) {
    places.insert(text_of(error.as_object(), "pointer"));
    rules.insert(text_of(error.as_object(), "rule"));
  }
  EXPECT_TRUE(places.contains("#/size"));
  EXPECT_TRUE(rules.contains("minimum"));
  EXPECT_TRUE(rules.contains("additionalProperties"));

  for (const auto* text : {"", "nonsense", "[1]", R"({"size":1,"size":2})", R"({"size":1e999})"}) {
    EXPECT_EQ(api.post("/things", text, headers).status, 400) << text;
  }
  const auto nul = api.post("/things", R"({"size":1,"note":"a\u0000b"})", headers);
  EXPECT_EQ(nul.status, 400);
  EXPECT_THAT(nul.body, HasSubstr("#/note"));
}

TEST(Pipeline, OtherContentTypesAndCompressedBodiesAreRefused) {
  ApiFixture api({takes_body()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  EXPECT_EQ(api.ask(http::post("/things", "size=1",
                               headers + "Content-Type: application/x-www-form-urlencoded\r\n"))
                .status,
            415);
  EXPECT_EQ(api.ask(http::post("/things", R"({"size":1})", headers)).status, 415);
  EXPECT_EQ(api.post("/things", R"({"size":1})", headers + "Content-Encoding: gzip\r\n").status,
            415);
  EXPECT_EQ(api.ask(http::post("/things", R"({"size":1})",
                               headers + "Content-Type: Application/JSON; charset=utf-8\r\n"))
                .status,
            201);
}

TEST(Pipeline, TheKeyOfARepeatableRequestReachesItsHandler) {
  ApiFixture api({takes_body()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  const auto quoted =
      api.post("/things", R"({"size":1})", headers + "Idempotency-Key: \"k 1\"\r\n");
  EXPECT_EQ(quoted.status, 400);  // A blank is not visible.
  const auto bare = api.post("/things", R"({"size":1})", headers + "Idempotency-Key: k-1\r\n");
  EXPECT_EQ(text_of(object_of(bare), "key"), "k-1");
}

TEST(Pipeline, ARequestWithAKeyIsDoneOnceAndAnsweredTheSameAgain) {  // F02
  int done = 0;
  auto operation = takes_body();
  operation.handler = [&done](Call& call) -> Task<Reply> {
    ++done;
    co_return Reply::json(json::Object{{"size", call.integer("size").value_or(-1)}, {"n", done}},
                          201)
        .with("Location", "/things/1");
  };
  ApiFixture api({std::move(operation)});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role, kTenant)) +
                       "Idempotency-Key: \"order-17\"\r\n";
  const auto first = api.post("/things", R"({"size":3})", headers);
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.header("idempotent-replayed"), "");
  const auto again = api.post("/things", R"({"size":3})", headers);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("location"), "/things/1");
  EXPECT_EQ(again.header("content-type"), "application/json");
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(done, 1);

  EXPECT_EQ(api.post("/things", R"({"size":4})", headers).status, 422);
  // Another tenant's key is another key.
  const auto other = ApiFixture::bearer(api.token(Role::service_role, kOtherTenant)) +
                     "Idempotency-Key: \"order-17\"\r\n";
  EXPECT_EQ(api.post("/things", R"({"size":4})", other).status, 201);
  EXPECT_EQ(done, 2);
}

// A number that is too large must not become "not said".
TEST(Pipeline, NumbersPastTheLastOneAreTheLastOne) {
  ApiFixture api({takes_body()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  for (const auto* size :
       {"9223372036854775807", "9223372036854775808", "18446744073709551615", "1e300", "9.3e18"}) {
    const auto reply = api.post("/things", fmt::format(R"({{"size":{}}})", size), headers);
    EXPECT_EQ(reply.body, R"({"size":9223372036854775807})") << size;
  }
}

TEST(Pipeline, AKeyThatIsUnderWayIsAConflictAndAFailureFreesIt) {
  bool fails = true;
  auto operation = takes_body();
  operation.handler = [&fails](Call&) -> Task<Reply> {
    if (fails) co_return fail(ErrorKind::unavailable, "away");
    co_return Reply::json_text("{}", 201);
  };
  ApiFixture api({std::move(operation)});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role)) + "Idempotency-Key: k\r\n";
  EXPECT_EQ(api.post("/things", R"({"size":3})", headers).status, 503);
  EXPECT_TRUE(api.requests.rows.empty());
  fails = false;
  EXPECT_EQ(api.post("/things", R"({"size":3})", headers).status, 201);
  ASSERT_EQ(api.requests.rows.size(), 1U);
  api.requests.rows.begin()->second.done = false;
  const auto running = api.post("/things", R"({"size":3})", headers);
  EXPECT_EQ(running.status, 409);
  EXPECT_EQ(running.header("retry-after"), "7") << "as the store said";
}

TEST(Pipeline, AnEffectThatTheDatabaseKeptIsRepliedAgain) {
  auto operation = takes_body();
  operation.replay = [](std::string effect) { return Reply::json_text(std::move(effect), 201); };
  ApiFixture api({std::move(operation)});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role)) + "Idempotency-Key: k\r\n";
  EXPECT_EQ(api.post("/things", R"({"size":3})", headers).status, 201);
  ASSERT_EQ(api.requests.rows.size(), 1U);
  auto& row = api.requests.rows.begin()->second;
  EXPECT_FALSE(row.done);  // The call of the database would have done it, with its effect.
  row.done = true;
  row.answer.effect_json = R"({"kept":true})";
  EXPECT_EQ(api.post("/things", R"({"size":3})", headers).body, R"({"kept":true})");
}

Operation lists_things() {
  auto operation = plain_operation("list", "GET", "/things", Access::service(Capability::read));
  operation.parameters = {
      {.name = "limit",
       .description = "How many.",
       .schema = R"({"type":"integer","minimum":1,"maximum":10})"},
      {.name = "status",
       .description = "Which.",
       .schema = R"({"type":"array","items":{"enum":["a","b"]},"minItems":1})"}};
  operation.handler = [](Call& call) -> Task<Reply> {
    json::Array list;
    for (const auto& status : call.parameters.list("status")) list.emplace_back(status);
    co_return Reply::json(json::Object{{"limit", call.parameters.integer("limit").value_or(5)},
                                       {"status", std::move(list)}});
  };
  operation.answers[0].schema = R"({"type":"object"})";
  operation.conditional = true;
  return operation;
}

TEST(Pipeline, QueryParametersAreReadByTheirSchemaAndUnknownOnesRefused) {
  ApiFixture api({lists_things()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  const auto good = api.get("/things?limit=3&status=a,b", headers);
  EXPECT_EQ(good.body, R"({"limit":3,"status":["a","b"]})");
  for (const auto* query : {"limit=0", "limit=11", "limit=x", "limit=", "limit=1&limit=2",
                            "status=c", "status=", "colour=red", "limit=%zz", "limit=1%00"}) {
    const auto bad = api.get(std::string("/things?") + query, headers);
    EXPECT_EQ(bad.status, 400) << query;
    EXPECT_THAT(bad.body, HasSubstr("\"errors\"")) << query;
  }
  EXPECT_THAT(api.get("/things?limit=11", headers).body, HasSubstr("limit must be 10 or less"));
}

TEST(Pipeline, AnAnswerThatTheClientHasIsNotSentAgain) {
  ApiFixture api({lists_things()});
  const auto headers = ApiFixture::bearer(api.token(Role::service_role));
  const auto first = api.get("/things", headers);
  const auto tag = first.header("etag");
  ASSERT_FALSE(tag.empty());
  EXPECT_EQ(first.header("cache-control"), "private, no-cache");
  const auto again = api.get("/things", headers + "If-None-Match: W/\"x\", " + tag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(again.header("etag"), tag);
  EXPECT_EQ(api.get("/things?limit=2", headers + "If-None-Match: " + tag + "\r\n").status, 200);
  // What is known of an answer does not open it to others.
  EXPECT_EQ(api.get("/things", "If-None-Match: " + tag + "\r\n").status, 401);
}

TEST(Pipeline, AChangeThatWantsATagNobodyHasDoesNotHappen) {
  auto get = plain_operation("get", "GET", "/thing", Access::open());
  get.conditional = true;
  std::atomic<int> changes = 0;
  auto set = plain_operation("set", "PUT", "/thing", Access::open());
  set.handler = [&changes](Call& call) {
    ++changes;
    return says_ok(call);
  };
  ApiFixture api({std::move(get), std::move(set)});
  const auto tag = api.get("/thing").header("etag");
  EXPECT_EQ(api.get("/thing", "If-Match: " + tag + "\r\n").status, 200);
  EXPECT_EQ(api.get("/thing", "If-Match: *\r\n").status, 200);
  const auto other = api.get("/thing", "If-Match: \"another\"\r\n");
  EXPECT_EQ(other.status, 412);
  EXPECT_EQ(text_of(object_of(other), "code"), "precondition_failed");
  const auto put = [&](const std::string& headers) {
    return api.ask("PUT /thing HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n" + headers + "\r\n")
        .status;
  };
  EXPECT_EQ(put("If-Match: \"x\"\r\n"), 412);
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(put("If-Match: *\r\n"), 200);
  EXPECT_EQ(put(""), 200);
  EXPECT_EQ(changes, 2);
}

TEST(Pipeline, ATenantThatAsksTooOftenWaitsAndOthersDoNot) {  // L-19
  ApiFixture api({says_who()}, {.tenant_requests_per_minute = 3});
  const auto one = ApiFixture::bearer(api.token(Role::service_role, kTenant));
  for (int i = 0; i < 3; ++i) {
    const auto reply = api.get("/who", one);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.header("ratelimit-policy"), "\"tenant\";q=3;w=60");
    EXPECT_THAT(reply.header("ratelimit"), HasSubstr(";r=" + std::to_string(2 - i)));
  }
  const auto refused = api.get("/who", one);
  EXPECT_EQ(refused.status, 429);
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_THAT(refused.body, HasSubstr("quota-exceeded"));
  EXPECT_THAT(refused.body, HasSubstr("\"violated-policies\":[\"tenant\"]"));
  EXPECT_EQ(api.get("/who", ApiFixture::bearer(api.token(Role::service_role, kOtherTenant))).status,
            200);
  api.policies.policies[kOtherTenant].requests_per_minute = 1;
  EXPECT_EQ(api.get("/who", ApiFixture::bearer(api.token(Role::service_role, kOtherTenant))).status,
            429);
}

TEST(Pipeline, GuessingCredentialsIsSlowedDownPerAddress) {
  ApiFixture api({says_who()}, {.refusals_per_minute = 2});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(api.get("/who", ApiFixture::bearer("mr_wrong")).status, 401);
  }
  EXPECT_EQ(api.get("/who", ApiFixture::bearer("mr_wrong")).status, 429);
  EXPECT_EQ(api.get("/who", ApiFixture::bearer(api.token(Role::service_role))).status, 200);
}

// Without a limit in front of it, every invented key would cost a query.
TEST(Pipeline, WhoGuessedTooOftenMakesUsAskNobodyAndKnownKeysStillPass) {
  ApiFixture api({says_who()}, {.refusals_per_minute = 2});
  SystemRandom random;
  const auto invented = [&] {
    return ApiFixture::bearer(
        identity::create_api_key(identity::ApiKeyForm::own, random).text.reveal());
  };
  const auto known = ApiFixture::bearer(api.key(Role::service_role));
  EXPECT_EQ(api.get("/who", known).status, 200);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(api.get("/who", invented()).status, 401);
  const auto asked = api.directory.asked;
  for (int i = 0; i < 20; ++i) {
    const auto reply = api.get("/who", invented());
    EXPECT_EQ(reply.status, 429);
    EXPECT_FALSE(reply.header("retry-after").empty());
  }
  EXPECT_EQ(api.directory.asked, asked);
  EXPECT_EQ(api.get("/who", known).status, 200) << "others may share the address";
  EXPECT_EQ(api.get("/who").status, 401) << "nothing presented is nothing guessed";
}

// Pages with the public key come from everywhere: one visitor must not use up all others' rate.
TEST(Pipeline, VisitorsWithoutATenantHaveARateEachByTheirAddress) {
  ApiFixture api({plain_operation("rest", "GET", "/rest", Access::database())},
                 {.tenant_requests_per_minute = 2});
  const auto request = http::get("/rest", ApiFixture::bearer(api.token(Role::anon)));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(api.ask(request).status, 200);
  EXPECT_EQ(api.ask(request).status, 429);
  http::RawClient elsewhere(api.address(), 0, "127.0.0.2");
  EXPECT_EQ(elsewhere.ask(request).status, 200);
}

TEST(Pipeline, AStreamedBodyDoesNotGetAroundIfMatch) {  // RFC 9110, 13.1.1
  std::atomic<int> changes = 0;
  auto put = plain_operation("put", "PUT", "/object", Access::open());
  put.body = RequestBody{.kind = RequestBody::Kind::stream, .schema = {}, .content_types = {"*/*"}};
  put.handler = [&changes](Call& call) {
    ++changes;
    return says_ok(call);
  };
  ApiFixture api({std::move(put)});
  const auto ask = [&](const std::string& headers) {
    return api.ask("PUT /object HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n" + headers + "\r\n")
        .status;
  };
  EXPECT_EQ(ask("If-Match: \"old\"\r\n"), 412);
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(ask("If-Match: *\r\n"), 200);
  EXPECT_EQ(ask(""), 200);
}

TEST(Pipeline, PathsWithPrivateParametersAreMarkedForTheLog) {  // T-08, J07
  auto put = plain_operation("put", "PUT", "/uploads/{key}", Access::open());
  put.parameters = {{.in = In::path,
                     .name = "key",
                     .description = "A key.",
                     .required = true,
                     .private_text = true}};
  auto get = plain_operation("get", "GET", "/jobs/{id}", Access::open());
  get.parameters = {{.in = In::path, .name = "id", .description = "A job.", .required = true}};
  ApiFixture api({std::move(put), std::move(get)});
  for (const auto& route : api.pipeline().routes()) {
    EXPECT_EQ(route.private_path, route.pattern == "/uploads/{key}") << route.pattern;
  }
}

TEST(Pipeline, ErrorsOfTheDatabaseBecomeStatusesWithoutTheirWords) {  // T-08
  auto operation = plain_operation("fails", "GET", "/fails", Access::open());
  operation.handler = [](Call&) -> Task<Reply> {
    co_return fail(Error{.kind = ErrorKind::invalid_argument,
                         .message = "column \"secret_column\" does not exist",
                         .sqlstate = "42703"});
  };
  ApiFixture api({std::move(operation)});
  const auto reply = api.get("/fails");
  EXPECT_EQ(reply.status, 500);
  EXPECT_THAT(reply.body, Not(HasSubstr("secret_column")));
  EXPECT_THAT(api.metrics_text(),
              HasSubstr("millrace_http_errors_total{kind=\"invalid_argument\"} 1"));
}

TEST(Pipeline, TheEnvelopeOfTheSourcesHoldsDataAndErrors) {  // H-12
  auto good = plain_operation("good", "GET", "/good", Access::open());
  good.form = Form::envelope;
  auto bad = plain_operation("bad", "GET", "/bad", Access::open());
  bad.form = Form::envelope;
  bad.handler = [](Call&) -> Task<Reply> { co_return fail(ErrorKind::not_found, "Job not found"); };
  ApiFixture api({std::move(good), std::move(bad)});
  EXPECT_EQ(api.get("/good").body, R"({"data":{"ok":true}})");
  const auto reply = api.get("/bad");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.header("content-type"), "application/json");
  const auto body = object_of(reply);
  EXPECT_EQ(text_of(body, "message"), "Job not found");
  EXPECT_EQ(body.at("status"), json::Value(404));
  EXPECT_EQ(text_of(body, "cid"), reply.header("x-correlation-id"));
}

TEST(Pipeline, SupabaseClientsReadErrorsInTheirOwnWords) {
  std::vector<Operation> operations;
  for (const auto& [path, form] : {std::pair{"/rest", Form::rest}, {"/storage", Form::storage}}) {
    auto operation = plain_operation(path, "GET", path, Access::database());
    operation.form = form;
    operation.handler = [](Call&) -> Task<Reply> {
      co_return fail(ErrorKind::not_found, "no such row");
    };
    operations.push_back(std::move(operation));
  }
  ApiFixture api(std::move(operations));
  const auto headers = ApiFixture::bearer(api.token(Role::anon));
  const auto rest = api.get("/rest", headers);
  EXPECT_EQ(rest.status, 404);
  EXPECT_EQ(rest.header("content-type"), "application/json");
  EXPECT_EQ(text_of(object_of(rest), "message"), "no such row");
  EXPECT_EQ(text_of(object_of(rest), "code"), "PGRST205");
  EXPECT_TRUE(object_of(rest).at("hint").is_null());
  const auto nobody = api.get("/rest");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(text_of(object_of(nobody), "code"), "PGRST301");
  const auto storage = api.get("/storage", headers);
  // Storage says 400 outside, whatever it is, and the true status inside.
  EXPECT_EQ(storage.status, 400);
  EXPECT_EQ(text_of(object_of(storage), "statusCode"), "404");
  EXPECT_EQ(text_of(object_of(storage), "error"), "not_found");
  EXPECT_EQ(text_of(object_of(storage), "cid"), storage.header("x-correlation-id"));
}

TEST(Pipeline, TheDatabasesOwnRolesReachTheDatabaseAndNobodyElseDoes) {  // T-03
  ApiFixture api({plain_operation("rest", "GET", "/rest", Access::database())});
  for (const auto role : identity::all_roles()) {
    const auto user = role == Role::authenticated ? std::optional(kUser) : std::nullopt;
    const auto headers = ApiFixture::bearer(api.credentials(role, {}, user));
    EXPECT_EQ(api.get("/rest", headers).status, identity::is_database_role(role) ? 200 : 403)
        << to_string(role);
  }
  EXPECT_EQ(api.get("/rest").status, 401);
  // A key that may only read must not become a role that may write.
  const auto key = api.key(Role::service_role);
  EXPECT_EQ(api.get("/rest", ApiFixture::bearer(key)).status, 200);
  for (auto& [id, record] : api.directory.keys) record.scopes = {"read"};
  EXPECT_EQ(api.get("/rest", ApiFixture::bearer(key)).status, 403);
}

TEST(Pipeline, OperationsThatReadTheirQueryThemselvesTakeAnyParameter) {
  auto free = plain_operation("free", "GET", "/free", Access::open());
  free.free_query = true;
  free.parameters = {
      {.name = "limit", .description = "How many.", .schema = R"({"type":"integer"})"}};
  ApiFixture api({std::move(free)});
  EXPECT_EQ(api.get("/free?id=eq.7&limit=3&or=(a.eq.1,b.eq.2)").status, 200);
  EXPECT_EQ(api.get("/free?limit=x").status, 400);
}

TEST(Pipeline, WhatTheServerRefusesIsAProblemWithTheIdOfTheRequest) {  // H-24
  ApiFixture api({says_who()});
  const auto nothing = api.get("/nothing", "x-correlation-id: order-17\r\n");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_EQ(text_of(object_of(nothing), "code"), "no_such_path");
  EXPECT_EQ(text_of(object_of(nothing), "cid"), "order-17");
  const auto method = api.ask("DELETE /who HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(text_of(object_of(method), "code"), "method_not_allowed");
}

}  // namespace
}  // namespace millrace::api
