// The stores of the API server against PostgreSQL, through the login they have there
// (millrace_api): every call under the role of its caller, one connection for all of them.
#include "store/api/api_store.h"

#include "base/fault.h"
#include "base/random.h"
#include "base/run.h"
#include "sql/server_world.h"
#include "store/api/values.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class ApiStorePg : public EngineTest {
 protected:
  template <class T>
  T run(Task<T> task) {
    return must(run_blocking(io, std::move(task)));
  }
  template <class T>
  Error refused(Task<T> task) {
    auto result = run_blocking(io, std::move(task));
    if (!result) return std::move(result).error();
    ADD_FAILURE() << "was not refused";
    return {};
  }
  static store::CallContext person(std::string_view user, std::string_view tenant = kTenant) {
    return {
        .role = "authenticated",
        .tenant = TenantId::parse(tenant).value(),
        .claims_json = fmt::format(
            R"({{"sub": "{}", "role": "authenticated", "app_metadata": {{"tenant_id": "{}"}}}})",
            user, tenant)};
  }
  static store::CallContext service(std::string_view tenant = kTenant) {
    return {
        .role = "service_role",
        .tenant = tenant.empty() ? std::nullopt : std::optional(TenantId::parse(tenant).value()),
        .claims_json = R"({"role": "service_role"})",
        .actor = "key:k1"};
  }
  static store::CallContext staff() { return {.role = "millrace_api", .actor = "key:k2"}; }
  static Uuid uuid(std::string_view text) { return Uuid::parse(text).value(); }

  store::StoredBlob blob(std::string_view content) {
    const auto digest =
        sql.value("select encode(sha256(convert_to($1, 'UTF8')), 'hex')", pg::params(content));
    return {.sha256 = digest,
            .size_bytes = static_cast<std::int64_t>(content.size()),
            .content_type = "text/plain",
            .store_key = "sha256/" + digest,
            .stored_at = store::wall_from_micros(
                sql.number("select (extract(epoch from millrace.now()) * 1000000)::bigint"))};
  }
  std::string upload(std::string_view user, std::string_view content, const std::string& key) {
    auto begun = run(api.uploads->begin_upload(person(user), {.user = uuid(user),
                                                              .size_bytes = content.size(),
                                                              .file_name = "a.txt",
                                                              .idempotency_key = key}));
    if (!begun.upload) return begun.existing_json;
    return finish(user, begun.upload->id, content);
  }
  std::string finish(std::string_view user, store::UploadId id, std::string_view content) {
    return run(api.uploads->finish_upload(person(user), id, uuid(user), blob(content))).json;
  }
  std::string object(std::string_view user, const std::string& name, std::string_view content) {
    auto begun = run(api.uploads->begin_upload(person(user), {.kind = store::UploadKind::object,
                                                              .user = uuid(user),
                                                              .size_bytes = content.size(),
                                                              .bucket = "medical-docs",
                                                              .object_name = name}));
    return finish(user, begun.upload->id, content);
  }

  boost::asio::io_context io{1};
  SeededRandom random{7};
  pg::Pool pool{io.get_executor(),
                pg::connect_options(database.url("millrace_api")),
                {.connections_max = 1},
                random};
  store::ApiStore api = store::make_api_store(pool);
};

// --- Who acts ---

// I03, I04: one connection, many callers: each has its own rights and nothing of the one before.
TEST_F(ApiStorePg, EveryCallHasTheRightsOfItsCallerAndOfNobodyElse) {
  run(api.jobs_write->enqueue_jobs(
      service(),
      fmt::format(R"([{{"job_type": "noop", "payload": {{"n": 1}}, "owner_id": "{}"}}])", kAda),
      {}));
  const auto jobs = [&](store::CallContext caller) {
    return run(api.jobs_read->list_jobs(std::move(caller), {}));
  };
  EXPECT_THAT(jobs(person(kAda)), HasSubstr("noop"));
  EXPECT_THAT(jobs(person(kBob)), Not(HasSubstr("noop")));
  EXPECT_THAT(jobs(person(kAda, kOther)), Not(HasSubstr("noop")));
  EXPECT_THAT(jobs(service(kOther)), Not(HasSubstr("noop")));
  EXPECT_THAT(jobs(service()), HasSubstr("noop"));
  EXPECT_THAT(jobs(staff()), HasSubstr("noop"));
  EXPECT_EQ(refused(api.jobs_write->enqueue_jobs(
                        person(kAda), R"([{"job_type": "noop", "payload": {"n": 1}}])", {}))
                .sqlstate,
            "42501");
  EXPECT_EQ(refused(api.jobs_read->list_jobs({}, {})).sqlstate, "42501");  // anon
  EXPECT_EQ(refused(api.operations->pause_queue(service(), "default", {})).sqlstate, "42501");
  EXPECT_EQ(pool.counts().open, 1U);
  EXPECT_EQ(
      sql.value(
          "select string_agg(distinct actor, ' ') from millrace.audit where action = 'enqueued'"),
      "key:k1/service_role");
}

// A role that the server may not take is an error, never the server's own rights.
TEST_F(ApiStorePg, AnUnknownRoleGetsNothing) {
  store::CallContext odd{.role = "millrace_owner"};
  EXPECT_EQ(refused(api.jobs_read->list_jobs(odd, {})).sqlstate, "42501");
  odd.role = "nobody'; set role postgres; --";
  EXPECT_FALSE(run_blocking(io, api.jobs_read->list_jobs(odd, {})).has_value());
}

TEST_F(ApiStorePg, ReadingCannotWriteWhateverItCalls) {
  const auto surface = run(api.rest->rest_surface());
  const auto error = refused(api.rest->call_function(
      service(), surface,
      {.function = "enqueue_job_v3",
       .args_json = R"({"job_type": "audit_cleanup", "job_name": "n", "job_payload": {"a": 1}})",
       .reading = true}));
  EXPECT_EQ(error.sqlstate, "25006");
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
}

// --- Jobs ---

TEST_F(ApiStorePg, JobsAreMadeShownCancelledAndAudited) {
  const auto made = run(api.jobs_write->enqueue_jobs(
      service(),
      R"([{"job_type": "noop", "payload": {"n": 1}}, {"job_type": "noop", "payload": {"n": 2}}])",
      {}));
  const auto ids =
      sql.rows("select j ->> 'job_id' from jsonb_array_elements($1::jsonb) j", pg::params(made));
  ASSERT_EQ(ids.rows(), 2U);
  const auto job = JobId::parse(ids[0].text(0)).value();
  EXPECT_EQ(member(sql, run(api.jobs_read->job_status(service(), job)), "status"), "pending");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{payload,n}'",
                      pg::params(run(api.jobs_read->job_detail(service(), job)))),
            "1");
  EXPECT_THAT(run(api.jobs_write->cancel_jobs(service(), {job}, "enough", {})),
              HasSubstr("cancelled"));
  EXPECT_THAT(run(api.evidence->job_audit(staff(), job)), HasSubstr("enough"));
  EXPECT_EQ(run(api.jobs_read->job_log_page(service(), job, 0, 10)), "[]");
  EXPECT_EQ(refused(api.jobs_read->job_status(service(kOther), job)).kind, ErrorKind::not_found);
  const auto batch = run(api.jobs_write->create_batch(
      service(), R"([{"job_type": "noop", "payload": {"n": 3}}])", "{}", {}));
  EXPECT_EQ(member(sql,
                   run(api.jobs_read->get_batch(
                       service(), BatchId::parse(member(sql, batch, "batch_id")).value())),
                   "total"),
            "1");
  EXPECT_THAT(run(api.jobs_read->list_batches(service(), {}, 10)), HasSubstr("\"total\":1"));
  EXPECT_EQ(run(api.jobs_read->dead_groups(staff(), {}, {}, 10)),
            R"({"next": null, "groups": []})");
  EXPECT_EQ(
      run(api.jobs_write->redrive_jobs(staff(), {.filter_json = R"({"queue": "default"})"}, {})),
      "[]");
  EXPECT_THAT(run(api.jobs_write->retry_job(staff(), job, {}, {})), HasSubstr("final"));
  EXPECT_THAT(run(api.evidence->log_audit_event(
                  service(), {.table_name = "t", .record_id = "1", .operation = "UPDATE"}, {})),
              HasSubstr("audit_id"));
  EXPECT_THAT(run(api.evidence->list_audit(staff(), {.record_id = "1"})), HasSubstr("logged"));
  EXPECT_THAT(run(api.evidence->verify_audit(staff(), {}, 100)), HasSubstr(R"("problems": [])"));
}

// P3, P4: the answer was lost after the commit: the repeat under its key finds it.
TEST_F(ApiStorePg, ARequestWhoseAnswerWasLostIsDoneOnce) {
  const auto begin = [&] {
    return run(api.requests->begin_request(service(), "POST /jobs", "k", "print", {}));
  };
  const auto begun = begin();
  ASSERT_EQ(begun.state, store::RequestBegun::State::started);
  const store::RequestKey key{.scope = "POST /jobs", .key = "k", .token = begun.token};
  must(fault::arm("api_enqueue.after_send=drop"));
  const auto lost = refused(api.jobs_write->enqueue_jobs(
      service(), R"([{"job_type": "noop", "payload": {"n": 1}}])", key));
  fault::disarm();
  EXPECT_EQ(lost.kind, ErrorKind::in_doubt);
  // The server's late commit may still be on its way.
  while (begin().state == store::RequestBegun::State::running) {
  }
  const auto again = begin();
  ASSERT_EQ(again.state, store::RequestBegun::State::done);
  EXPECT_THAT(again.answer.effect_json, HasSubstr("created"));
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
  EXPECT_EQ(refused(api.jobs_write->enqueue_jobs(
                        service(), R"([{"job_type": "noop", "payload": {"n": 1}}])", key))
                .sqlstate,
            "MR033");
}

TEST_F(ApiStorePg, AnAnswerThatWasKeptIsTheSameBytes) {
  const auto begun =
      run(api.requests->begin_request(person(kAda), "PUT /x", "k", std::string("\0\x01", 2), {}));
  const store::RequestKey key{.scope = "PUT /x", .key = "k", .token = begun.token};
  const std::string body("bytes \0 and \xff", 13);
  run(api.requests->finish_request(
      person(kAda), key, {.status = 201, .headers_json = R"({"etag": "x"})", .body = body}));
  const auto again =
      run(api.requests->begin_request(person(kAda), "PUT /x", "k", std::string("\0\x01", 2), {}));
  EXPECT_EQ(again.answer.status, 201);
  EXPECT_EQ(again.answer.body, body);
  EXPECT_EQ(run(api.requests->begin_request(person(kAda), "PUT /x", "k", "other", {})).state,
            store::RequestBegun::State::mismatch);
  run(api.requests->release_request(person(kAda), key));
}

// --- Uploads, files, objects ---

TEST_F(ApiStorePg, AnUploadBecomesAFileOnce) {
  const auto first = upload(kAda, "hello", "k");
  EXPECT_EQ(member(sql, upload(kAda, "hello", "k"), "id"), member(sql, first, "id"));
  const auto id = uuid(member(sql, first, "id"));
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{job,status}'",
                      pg::params(run(api.files->get_file(person(kAda), id)).json)),
            "pending");
  EXPECT_EQ(refused(api.files->get_file(person(kBob), id)).kind, ErrorKind::not_found);
  EXPECT_THAT(run(api.files->list_files(person(kAda), {})), HasSubstr(member(sql, first, "id")));
  const auto stored =
      run(api.files->get_object(person(kAda), "medical-docs", member(sql, first, "storage_path")));
  EXPECT_EQ(stored.size_bytes, 5);
  EXPECT_EQ(stored.store_key, "sha256/" + stored.sha256);
  EXPECT_EQ(stored.content_type, "text/plain");
  EXPECT_THAT(run(api.files->delete_shell_file(person(kAda), id, {})),
              HasSubstr(member(sql, first, "id")));
  EXPECT_EQ(run(api.files->list_files(person(kAda), {})), "[]");
}

TEST_F(ApiStorePg, PiecesOfAnUploadAreAcceptedBehindTheFence) {
  auto begun = run(api.uploads->begin_upload(
      person(kAda), {.user = uuid(kAda), .size_bytes = 6, .metadata_json = R"({"a": "b"})"}));
  const auto id = begun.upload->id;
  EXPECT_GT(begun.upload->size_max_bytes, 0);
  const auto writer = uuid(kOther);
  const auto taken = run(api.uploads->take_upload(person(kAda), id, uuid(kAda), writer, 30s));
  EXPECT_EQ(taken.offset_bytes, 0);
  EXPECT_EQ(taken.metadata_json, R"({"a":"b"})");
  EXPECT_EQ(run(api.uploads->advance_upload(person(kAda), id, writer,
                                            {.offset_bytes = 0, .size_bytes = 4, .handle = "p1"})),
            4);
  const auto wrong = refused(api.uploads->advance_upload(
      person(kAda), id, writer, {.offset_bytes = 0, .size_bytes = 2, .handle = "p2"}));
  EXPECT_EQ(wrong.kind, ErrorKind::conflict);
  EXPECT_EQ(wrong.detail, "4");
  const auto state = run(api.uploads->get_upload(person(kAda), id, uuid(kAda)));
  EXPECT_EQ(state.parts_left, taken.parts_left - 1);
  EXPECT_EQ(state.size_max_bytes, begun.upload->size_max_bytes);
  const auto parts = run(api.uploads->list_parts(person(kAda), id, uuid(kAda), 0, 10));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].handle, "p1");
  EXPECT_EQ(parts[0].size_bytes, 4);
  EXPECT_TRUE(run(api.uploads->list_parts(person(kAda), id, uuid(kAda), 4, 10)).empty());
  EXPECT_EQ(refused(api.uploads->get_upload(person(kAda), id, uuid(kBob))).kind,
            ErrorKind::not_found);
  EXPECT_EQ(refused(api.uploads->list_parts(person(kAda), id, uuid(kBob), 0, 10)).kind,
            ErrorKind::not_found);
  EXPECT_TRUE(run(api.uploads->abort_upload(person(kAda), id, uuid(kAda))));
  EXPECT_TRUE(run(api.uploads->expire_uploads(10)).empty());
  pass(sql, "3 hours");
  auto dead = run(api.uploads->expire_uploads(10));
  ASSERT_EQ(dead.size(), 1U);
  run(api.uploads->delay_parts(dead));
  EXPECT_TRUE(run(api.uploads->expire_uploads(10)).empty());
  pass(sql, "1 hour");
  EXPECT_EQ(run(api.uploads->expire_uploads(10)).size(), 1U);
  run(api.uploads->forget_parts(std::move(dead)));
  EXPECT_TRUE(run(api.uploads->expire_uploads(10)).empty());
}

// The one that came second is told so, and the file's JSON says nothing of it.
TEST_F(ApiStorePg, TheLoserOfTwoUploadsWithOneKeyIsToldSo) {  // F03
  const store::NewUpload announced{.user = uuid(kAda), .size_bytes = 5, .idempotency_key = "k"};
  const auto one = run(api.uploads->begin_upload(person(kAda), announced)).upload->id;
  const auto two = run(api.uploads->begin_upload(person(kAda), announced)).upload->id;
  const auto first = run(api.uploads->finish_upload(person(kAda), one, uuid(kAda), blob("hello")));
  const auto second = run(api.uploads->finish_upload(person(kAda), two, uuid(kAda), blob("hello")));
  EXPECT_FALSE(first.replayed);
  EXPECT_TRUE(second.replayed);
  EXPECT_EQ(second.json, first.json);
  const auto state = run(api.uploads->get_upload(person(kAda), two, uuid(kAda)));
  EXPECT_TRUE(state.replayed);
  EXPECT_EQ(state.answer_json, first.json);
}

TEST_F(ApiStorePg, AnUploadOfUnknownSizeGrows) {
  auto begun =
      run(api.uploads->begin_upload(person(kAda), {.user = uuid(kAda), .reserve_bytes = 10}));
  run(api.uploads->grow_upload(person(kAda), begun.upload->id, uuid(kAda), 20, {}));
  run(api.uploads->grow_upload(person(kAda), begun.upload->id, uuid(kAda), 20, 5));
  run(api.uploads->finish_upload(person(kAda), begun.upload->id, uuid(kAda), blob("hello")));
}

TEST_F(ApiStorePg, ContentThatNothingRefersToIsSwept) {
  const auto name = fmt::format("{}/a", kAda);
  object(kAda, name, "hello");
  EXPECT_THAT(run(api.files->list_objects(person(kAda),
                                          {.bucket = "medical-docs", .prefix = std::string(kAda)})),
              HasSubstr("\"name\":\"a\""));
  EXPECT_THAT(run(api.files->remove_objects(person(kAda), "medical-docs", {name})),
              HasSubstr(name));
  EXPECT_EQ(refused(api.files->get_object(person(kAda), "medical-docs", name)).sqlstate, "MR031");
  pass(sql, "25 hours");
  auto condemned = run(api.blobs->condemn_blobs(10));
  ASSERT_EQ(condemned.size(), 1U);
  EXPECT_TRUE(condemned[0].removable);
  EXPECT_EQ("sha256/" + store::hex(condemned[0].sha256), condemned[0].store_key);
  const store::ListedBlob known{condemned[0].store_key, condemned[0].sha256};
  const store::ListedBlob unknown{"sha256/x", std::vector<std::uint8_t>(32, 1)};
  const auto lost = run(api.blobs->unknown_blobs({known, unknown}));
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].store_key, "sha256/x");
  run(api.blobs->delay_blobs(condemned));
  EXPECT_EQ(run(api.blobs->forget_blobs(std::move(condemned))), 1);
  EXPECT_EQ(run(api.blobs->sweep_objects(10)), 0);
}

TEST_F(ApiStorePg, RemovalsAreMarkedAndEnded) {  // U-08
  object(kAda, fmt::format("{}/a", kAda), "known");
  const auto known = blob("known").store_key;
  const auto marked = run(api.blobs->mark_blobs({known, "sha256/x", "sha256/y"}));
  ASSERT_EQ(marked.size(), 2U);
  EXPECT_TRUE(run(api.blobs->mark_blobs({"sha256/x"})).empty());
  EXPECT_TRUE(run(api.blobs->lapsed_removals(10)).empty());
  run(api.blobs->end_removals({marked[0].removal}));
  pass(sql, "11 minutes");
  const auto lapsed = run(api.blobs->lapsed_removals(10));
  ASSERT_EQ(lapsed.size(), 1U);
  EXPECT_EQ(lapsed[0].store_key, marked[1].store_key);
  EXPECT_TRUE(run(api.uploads->clear_removal(marked[0].store_key, marked[0].removal)));
  EXPECT_FALSE(run(api.uploads->clear_removal(marked[1].store_key, marked[1].removal)));
}

// --- Events ---

TEST_F(ApiStorePg, EventsAreFollowedAndTakenUpAgain) {
  auto position = run(api.events->event_start(0));
  run(api.jobs_write->enqueue_jobs(service(), R"([{"job_type": "noop", "payload": {"n": 1}}])",
                                   {}));
  run(api.jobs_write->enqueue_jobs(service(kOther),
                                   R"([{"job_type": "noop", "payload": {"n": 1}}])", {}));
  const auto batch = run(api.events->read_events(position, 100, true));
  ASSERT_EQ(batch.events.size(), 2U);
  EXPECT_EQ(batch.events[0].kind, "job.enqueued");
  EXPECT_EQ(batch.events[0].tenant.to_string(), kTenant);
  EXPECT_EQ(batch.events[0].queue, "default");
  ASSERT_EQ(batch.events[0].job_ids.size(), 1U);
  EXPECT_FALSE(batch.more);
  EXPECT_TRUE(run(api.events->read_events(batch.next, 100, true)).events.empty());
  // A stream that saw the first one comes back.
  const auto seen = store::EventPosition::parse(batch.events[0].position).value();
  const auto missed = run(api.events->events_after(seen, {}, 100));
  ASSERT_EQ(missed.events.size(), 1U);
  EXPECT_EQ(missed.events[0].event_id, batch.events[1].event_id);
  EXPECT_TRUE(
      run(api.events->events_after(
              position,
              {.tenant = TenantId::parse(kOther).value(), .job = batch.events[0].job_ids[0]}, 100))
          .events.empty());
  EXPECT_EQ(run(api.events->events_after(
                    position, {.queue = "default", .job = batch.events[0].job_ids[0]}, 100))
                .events.size(),
            1U);
  EXPECT_TRUE(run(api.events->events_after(position, {}, 1)).too_old);
  // A server that begins now, one event before the end.
  const auto start = run(api.events->event_start(1));
  const auto last = run(api.events->read_events(start, 100, true));
  ASSERT_EQ(last.events.size(), 1U);
  EXPECT_EQ(last.events[0].event_id, batch.events[1].event_id);
}

TEST_F(ApiStorePg, RevokedCredentialsAreNamed) {
  const auto good = uuid(kTenant);
  const auto bad = uuid(kOther);
  run(api.tenants->create_tenant(staff(), "kept", good, {}, {}));
  run(api.tenants->create_tenant(staff(), "gone", bad, {}, {}));
  run(api.tenants->disable_tenant(staff(), bad, "no more"));
  run(api.tokens->revoke_api_token(staff(), "jti:taken-back", "lost"));
  const auto revoked = run(api.events->revoked_holders({"taken-back", "never heard of"},
                                                       {TenantId{good}, TenantId{bad}}));
  EXPECT_EQ(revoked.tokens, std::set<std::string>{"taken-back"});
  EXPECT_EQ(revoked.tenants, std::set<TenantId>{TenantId{bad}});
}

// --- Tenants, tokens ---

TEST_F(ApiStorePg, TenantsProfilesAndTokensAreKept) {
  const auto made =
      run(api.tenants->create_tenant(staff(), "clinic", uuid(kTenant), {{"quota_bytes", 5}}, {}));
  EXPECT_EQ(member(sql, made, "tenant_id"), kTenant);
  EXPECT_EQ(member(sql, made, "quota_bytes"), "5");
  const auto tenant = uuid(kTenant);
  EXPECT_EQ(member(sql, run(api.tenants->get_tenant(staff(), tenant)).json, "quota_bytes"), "5");
  EXPECT_EQ(refused(api.tenants->get_tenant(staff(), uuid(kOther))).sqlstate, "MR034");
  run(api.tenants->set_tenant_quota(staff(), tenant, {{"requests_per_minute", 7}}, {}));
  EXPECT_EQ(run(api.tenants->tenant_policy({tenant})).requests_per_minute, 7);
  const auto profile =
      uuid(member(sql, run(api.tenants->create_profile(person(kAda), "Ada", {}, {}, {})), "id"));
  run(api.tenants->rename_profile(person(kAda), profile, "A", {}));
  EXPECT_EQ(member(sql, run(api.tenants->get_profile(person(kAda), profile)).json, "display_name"),
            "A");
  EXPECT_EQ(refused(api.tenants->get_profile(person(kBob), profile)).sqlstate, "MR036");
  EXPECT_THAT(run(api.tenants->list_profiles(service(), {}, uuid(kAda))),
              HasSubstr(profile.to_string()));
  run(api.tenants->delete_profile(person(kAda), profile, {}));
  run(api.tenants->disable_tenant(staff(), tenant, "unpaid"));
  EXPECT_TRUE(run(api.tenants->tenant_policy({tenant})).disabled);
  EXPECT_EQ(refused(api.jobs_read->list_jobs(person(kAda), {})).sqlstate, "MR026");
  run(api.tenants->enable_tenant(staff(), tenant));
  EXPECT_THAT(run(api.tenants->list_tenants(staff(), {})), HasSubstr("clinic"));

  store::TokenHash hash{};
  hash.fill(0xAB);
  const auto id =
      run(api.tokens->create_api_token(staff(), {{"kind", "api_key"},
                                                 {"role", "service_role"},
                                                 {"hash", store::hex(hash)},
                                                 {"public_id", "p1"},
                                                 {"tenant_id", kTenant},
                                                 {"scopes", {"work"}},
                                                 {"expires_at", "2199-01-01T00:00:00Z"}}));
  const auto found = run(api.tokens->find_api_token("p1", {}));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token_id, id);
  EXPECT_EQ(found->hash, hash);
  EXPECT_EQ(found->tenant->to_string(), kTenant);
  EXPECT_EQ(found->scopes, std::vector<std::string>{"work"});
  EXPECT_EQ(store::iso_time(*found->expires_at), "2199-01-01T00:00:00.000000Z");
  EXPECT_TRUE(run(api.tokens->find_api_token("", hash)).has_value());
  EXPECT_FALSE(run(api.tokens->find_api_token("no", hash)).has_value());
  run(api.tokens->touch_api_tokens({id.to_string()}));
  EXPECT_THAT(run(api.tokens->list_api_tokens(staff(), {})), HasSubstr(id.to_string()));
  EXPECT_EQ(run(api.tokens->revoke_api_token(staff(), id.to_string(), {})), id);
  EXPECT_TRUE(run(api.tokens->find_api_token("p1", {}))->revoked);
  run(api.tokens->revoke_api_token(staff(), "jti:j", {}));
  EXPECT_TRUE(run(api.tokens->is_token_revoked("j")));
}

// --- Compute ---

TEST_F(ApiStorePg, AComputeQuestionIsAnsweredWithItsArtifacts) {
  store::NewCompute question{.app_id = "app",
                             .definition = "solver",
                             .version = "1.0.0",
                             .inputs_json = R"({"x": 1})",
                             .inputs_hash = std::string(64, 'a'),
                             .owner = uuid(kAda)};
  const auto first = run(api.compute->submit_compute(person(kAda), question, {}));
  EXPECT_EQ(first.state, store::ComputeAnswer::State::created);
  EXPECT_EQ(run(api.compute->submit_compute(person(kAda), question, {})).state,
            store::ComputeAnswer::State::running);
  Worker worker(sql);
  const auto delivery = worker.take({.queue = "compute"});
  const auto effects = store::output_effects_json(
      R"({"y": 2})", 0.25,
      {{.kind = "model", .file_name = "m", .blob = blob("3d"), .expires_in = 60s}});
  EXPECT_EQ(worker.settle(delivery, "ok", fmt::format(R"({{"effects": {}}})", effects)), "settled");
  const auto result = run(api.compute->get_result(person(kAda), first.job));
  EXPECT_EQ(member(sql, result, "score"), "0.25");
  EXPECT_EQ(sql.value("select $1::jsonb #>> '{artifacts,0,store_key}'", pg::params(result)),
            blob("3d").store_key);
  EXPECT_EQ(run(api.compute->submit_compute(person(kAda), question, {})).state,
            store::ComputeAnswer::State::cached);
  EXPECT_EQ(refused(api.compute->get_result(person(kBob), first.job)).kind, ErrorKind::not_found);
}

// --- Clients of PostgREST ---

class RestPg : public ApiStorePg {
 protected:
  store::RestSurfacePtr surface = run(api.rest->rest_surface());
  std::string profile =
      member(sql, run(api.tenants->create_profile(person(kAda), "Ada", {}, {}, {})), "id");
  store::RestInsert upsert(const std::string& path, const std::string& key) {
    return {
        .table = "shell_files",
        .rows_json = fmt::format(
            R"([{{"patient_id": "{}", "storage_path": "{}", "idempotency_key": "{}", "status": "uploaded"}}])",
            profile, path, key),
        .on_conflict = store::RestInsert::OnConflict::merge,
        .conflict_columns = "idempotency_key",
        .columns = {"id"}};
  }
};

// The upload of the source's client: store, upsert, read back; a retry is the same row.
TEST_F(RestPg, ASourcesUploadRunsAndItsRetryIsTheSameRow) {
  const auto path = fmt::format("{}/1_a.pdf", kAda);
  object(kAda, path, "hello");
  const auto first = run(api.rest->insert_rows(person(kAda), surface, upsert(path, "k")));
  EXPECT_EQ(first.returned, 1);
  EXPECT_EQ(run(api.rest->insert_rows(person(kAda), surface, upsert(path, "k"))).rows_json,
            first.rows_json);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
  EXPECT_EQ(refused(api.rest->insert_rows(person(kBob), surface, upsert(path, "k"))).sqlstate,
            "42501");
  auto other = upsert(path, "k");
  other.conflict_columns = "status";
  EXPECT_EQ(refused(api.rest->insert_rows(person(kAda), surface, other)).sqlstate, "42P10");
}

TEST_F(RestPg, RowsAreFilteredOrderedCountedAndConfined) {
  for (const auto* name : {"a", "b", "c"}) upload(kAda, name, name);
  upload(kBob, "d", "d");
  using Op = store::RestFilter::Op;
  const auto all = run(api.rest->select_rows(
      person(kAda), surface,
      {.table = "shell_files",
       .columns = {"idempotency_key"},
       .filters = {{.column = "status", .values = {"uploaded"}},
                   {.column = "created_at", .op = Op::lt, .values = {"2999-01-01"}}},
       .orders = {{.column = "idempotency_key", .descending = true}},
       .limit = 2,
       .count = true}));
  EXPECT_EQ(all.rows_json, R"([{"idempotency_key":"c"}, 
 {"idempotency_key":"b"}])");
  EXPECT_EQ(all.total, 3);
  EXPECT_EQ(all.returned, 2);
  const auto count = [&](store::CallContext caller, std::vector<store::RestFilter> filters) {
    return run(api.rest->select_rows(std::move(caller), surface,
                                     {.table = "shell_files",
                                      .filters = std::move(filters),
                                      .limit = 0,
                                      .count = true}))
        .total.value_or(-1);
  };
  EXPECT_EQ(
      count(person(kAda), {{.column = "idempotency_key", .op = Op::in, .values = {"a", "d"}}}), 1);
  EXPECT_EQ(count(person(kAda), {{.column = "processing_error", .op = Op::is, .values = {"null"}}}),
            3);
  EXPECT_EQ(
      count(person(kAda),
            {{.column = "idempotency_key", .op = Op::like, .values = {"a%"}, .negated = true}}),
      2);
  // service_role passes by row security; its tenant confines it all the same.
  EXPECT_EQ(count(service(), {}), 4);
  EXPECT_EQ(count(service(kOther), {}), 0);
  EXPECT_EQ(count(service(""), {}), 4);
  EXPECT_EQ(refused(api.rest->select_rows(
                        person(kAda), surface,
                        {.table = "shell_files", .filters = {{.column = "id", .values = {"x"}}}}))
                .sqlstate,
            "22P02");
  EXPECT_EQ(refused(api.rest->select_rows(person(kAda), surface, {.table = "job_queue"})).sqlstate,
            "42501");
}

TEST_F(RestPg, OwnRowsAreChangedAndDeletedAndOthersAreNot) {
  const auto mine = member(sql, upload(kAda, "a", "a"), "id");
  const auto bobs = member(sql, upload(kBob, "b", "b"), "id");
  const auto by_id = [](const std::string& id) {
    return store::RestQuery{.table = "shell_files",
                            .columns = {"id", "file_name"},
                            .filters = {{.column = "id", .values = {id}}}};
  };
  EXPECT_THAT(
      run(api.rest->update_rows(person(kAda), surface, by_id(mine), R"({"file_name": "new"})", {}))
          .rows_json,
      HasSubstr("new"));
  EXPECT_EQ(
      run(api.rest->update_rows(person(kAda), surface, by_id(bobs), R"({"file_name": "new"})", {}))
          .returned,
      0);
  EXPECT_EQ(refused(api.rest->update_rows(person(kAda), surface, by_id(mine),
                                          R"({"status": "completed"})", {}))
                .sqlstate,
            "42501");
  EXPECT_EQ(run(api.rest->delete_rows(person(kAda), surface, by_id(bobs), {})).returned, 0);
  EXPECT_EQ(
      refused(api.rest->delete_rows(person(kAda), surface, by_id(bobs), {.single = true})).sqlstate,
      "PT406");
  const auto minimal = run(api.rest->delete_rows(person(kAda), surface, by_id(mine),
                                                 {.rows = false, .single = true, .rows_max = 1}));
  EXPECT_EQ(minimal.returned, 1);
  EXPECT_EQ(minimal.rows_json, "[]");
  EXPECT_EQ(sql.value("select string_agg(id::text, ' ') from millrace.shell_files"), bobs);
}

// I06: users write no jobs; a service makes them by the one function.
TEST_F(RestPg, NobodyWritesJobsThroughATable) {
  const store::RestInsert insert{
      .table = "export_jobs",
      .rows_json = fmt::format(
          R"([{{"user_id": "{0}", "document_id": "{0}", "status": "completed"}}])", kAda),
      .columns = {"status", "user_id"}};
  EXPECT_EQ(refused(api.rest->insert_rows(person(kAda), surface, insert)).sqlstate, "42501");
  EXPECT_EQ(run(api.rest->insert_rows(service(), surface, insert)).rows_json,
            fmt::format(R"([{{"status":"pending","user_id":"{}"}}])", kAda));
  const store::RestQuery all{.table = "export_jobs"};
  const std::string completed = R"({"status": "completed"})";
  EXPECT_EQ(refused(api.rest->update_rows(person(kAda), surface, all, completed, {})).sqlstate,
            "42501");
  // A service ends deliveries, and there is none.
  EXPECT_EQ(refused(api.rest->update_rows(service(), surface, all, completed, {})).sqlstate,
            "MR001");
  EXPECT_EQ(
      refused(api.rest->update_rows(service(), surface, all, R"({"attempts": 0})", {})).sqlstate,
      "42501");
  EXPECT_EQ(
      refused(api.rest->update_rows(service(), surface, all, completed, {.rows_max = 0})).sqlstate,
      "PT400");
  for (const auto& caller : {person(kAda), service()}) {
    EXPECT_EQ(refused(api.rest->delete_rows(caller, surface, all, {})).sqlstate, "42501");
  }
  EXPECT_EQ(run(api.rest->select_rows(person(kAda), surface, all)).returned, 1);
  EXPECT_EQ(run(api.rest->select_rows(person(kBob), surface, all)).returned, 0);
  EXPECT_EQ(run(api.rest->select_rows(service(kOther), surface, all)).returned, 0);
}

TEST_F(RestPg, ExportHistoryIsWrittenByServicesAndCountedByUsers) {
  const store::RestInsert insert{
      .table = "export_history",
      .rows_json = fmt::format(
          R"([{{"user_id": "{}", "file_name": "cv.pdf", "file_path": "p", "file_size": 3}}])",
          kAda),
      .columns = {"download_count"}};
  EXPECT_EQ(run(api.rest->insert_rows(service(), surface, insert)).rows_json,
            R"([{"download_count":0}])");
  EXPECT_EQ(refused(api.rest->insert_rows(person(kAda), surface, insert)).sqlstate, "42501");
  EXPECT_EQ(run(api.rest->update_rows(person(kAda), surface,
                                      {.table = "export_history", .columns = {"download_count"}},
                                      R"({"download_count": 1})", {}))
                .rows_json,
            R"([{"download_count":1}])");
  EXPECT_THAT(run(api.files->list_export_history(person(kAda), {}, 10)), HasSubstr("cv.pdf"));
  EXPECT_EQ(run(api.files->list_export_history(person(kBob), {}, 10)), "[]");
  EXPECT_EQ(
      run(api.rest->delete_rows(person(kAda), surface, {.table = "export_history"}, {})).returned,
      1);
}

// The sources' rpc calls, with arguments by name; one signature per name.
TEST_F(RestPg, FunctionsOfTheSourcesAreCalledByName) {
  const auto call = [&](store::CallContext caller, const std::string& function,
                        const std::string& args) {
    return api.rest->call_function(std::move(caller), surface,
                                   {.function = function, .args_json = args});
  };
  const auto id =
      run(call(service(), "enqueue_job_v3",
               R"({"job_type": "audit_cleanup", "job_name": "n", "job_payload": {"a": 1}})"))
          .body_json;
  EXPECT_EQ(id.size(), 38U);
  const auto claimed = run(call(service(), "claim_next_job_v3",
                                R"({"worker_id": "w", "job_types": ["audit_cleanup"]})"));
  EXPECT_THAT(claimed.body_json, HasSubstr("audit_cleanup"));
  const auto job = id.substr(1, 36);
  EXPECT_EQ(run(call(service(), "complete_job",
                     fmt::format(R"({{"p_job_id": "{}", "p_worker_id": "w"}})", job)))
                .body_json,
            "true");
  EXPECT_EQ(run(call(service(), "claim_next_job_v3", R"({"worker_id": "w"})")).body_json, "[]");
  EXPECT_TRUE(run(call(service(), "release_api_capacity",
                       R"({"p_provider_name": "openai", "p_api_endpoint": "gpt-4o-mini"})"))
                  .is_void);
  EXPECT_EQ(
      refused(call(person(kAda), "enqueue_job_v3",
                   R"({"job_type": "audit_cleanup", "job_name": "n", "job_payload": {"a": 1}})"))
          .sqlstate,
      "42501");
  EXPECT_EQ(refused(call(service(), "enqueue_job_v3",
                         R"({"job_type": "no", "job_name": "n", "job_payload": {"a": 1}})"))
                .sqlstate,
            "MR002");
  EXPECT_EQ(refused(call(service(), "set_queue", "{}")).sqlstate, "42883");
  EXPECT_EQ(refused(call(service(), "complete_job", R"({"p_job_id": "x"})")).sqlstate, "42883");
  EXPECT_EQ(
      refused(call(service(), "complete_job", R"({"p_job_id": "x", "p_worker_id": "w"})")).sqlstate,
      "22P02");
}

// --- Remote workers ---

TEST_F(ApiStorePg, ARemoteWorkerWorksUnderItsTokenAlone) {
  run(api.jobs_write->enqueue_jobs(
      service(),
      R"([{"job_type": "noop", "payload": {"n": 1}}, {"job_type": "noop", "payload": {"n": 2}}])",
      {}));
  const auto process = run(api.remote_work->register_worker(
      service(), "r1", {.host = "h", .version = "1", .slots = 2, .queues = {"default"}},
      uuid(kAda)));
  const store::RemoteWorker worker{.key = {"r1", process}, .token_id = uuid(kAda)};
  const store::RemoteWorker thief{.key = {"r1", process}, .token_id = uuid(kBob)};
  EXPECT_EQ(refused(api.remote_work->claim_jobs(service(), thief, {.queue = "default"})).kind,
            ErrorKind::lease_lost);
  auto jobs = run(api.remote_work->claim_jobs(service(), worker, {.queue = "default", .limit = 5}));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_TRUE(run(api.remote_work->beat_worker(service(), worker, {.running = 2})).alive);
  EXPECT_TRUE(
      run(api.remote_work->extend_leases(service(), worker, {{jobs[0].id, jobs[0].token}}, 60s))[0]
          .extended);
  const auto item = fmt::format(
      R"([{{"job_id": "{}", "token": "{}", "progress": 10, "message": "m", "outcome": "ok"}}])",
      jobs[0].id, jobs[0].token);
  EXPECT_THAT(run(api.remote_work->report_progress(service(), worker, item)), HasSubstr("settled"));
  EXPECT_EQ(run(api.remote_work->append_logs(service(), worker, item)), 1);
  EXPECT_EQ(run(api.remote_work->unheld_leases(service(), worker, {jobs[0].token})).size(), 1U);
  EXPECT_EQ(refused(api.remote_work->settle_jobs(service(), thief, item)).kind,
            ErrorKind::lease_lost);
  EXPECT_THAT(run(api.remote_work->settle_jobs(service(), worker, item)), HasSubstr("settled"));
  EXPECT_EQ(run(api.remote_work->retire_worker(service(), worker)), 1);
  EXPECT_THAT(run(api.remote_work->settle_jobs(service(), worker, item)),
              HasSubstr("already_settled"));
  EXPECT_EQ(imbalance(sql), "");
}

// --- Operators and numbers ---

TEST_F(ApiStorePg, OperatorsSeeAndChangeWhatRuns) {
  auto& operations = *api.operations;
  run(operations.set_queue(staff(), "mine", R"({"max_attempts": 3})", {}));
  run(operations.pause_queue(staff(), "mine", "because"));
  EXPECT_EQ(member(sql, run(operations.get_queue(staff(), "mine")).json, "paused_reason"),
            "because");
  run(operations.resume_queue(staff(), "mine"));
  EXPECT_THAT(run(operations.list_queues(staff())), HasSubstr("\"mine\""));
  EXPECT_EQ(refused(operations.get_queue(staff(), "no")).kind, ErrorKind::not_found);
  run(operations.set_job_type(staff(), "t", R"({"queue": "mine"})"));
  EXPECT_THAT(run(operations.list_job_types(staff())), HasSubstr("\"t\""));
  const store::ProviderName name{"p", "e"};
  run(operations.set_limit(staff(), name, R"({"requests_per_minute": 5})", {}));
  run(operations.override_limit(
      staff(), name, {.values_json = R"({"requests_per_minute": 1})", .reason = "r", .ttl = 60s}));
  EXPECT_THAT(run(operations.list_limits(staff())), HasSubstr("\"overridden\":true"));
  run(operations.clear_override(staff(), name));
  run(operations.reset_breaker(staff(), name));
  run(operations.set_cron(staff(),
                          {.name = "c",
                           .schedule = "@daily",
                           .job_json = R"({"job_type": "noop", "payload": {"n": 1}})"},
                          {}));
  EXPECT_THAT(run(operations.list_cron(staff())), HasSubstr("@daily"));
  EXPECT_THAT(run(operations.cron_now(staff(), "c", {})), HasSubstr("job_id"));
  run(operations.delete_cron(staff(), "c", {}));
  EXPECT_EQ(refused(operations.delete_cron(staff(), "c", {})).kind, ErrorKind::not_found);
  EXPECT_EQ(run(operations.list_workers(staff())), "[]");
  run(operations.set_configuration(staff(), "partition.days", "3"));
  EXPECT_THAT(run(operations.list_configuration(staff())), HasSubstr("partition.days"));
  store::CallContext reader{.role = "millrace_reader"};
  EXPECT_THAT(run(operations.list_queues(reader)), HasSubstr("\"mine\""));
  EXPECT_EQ(refused(operations.pause_queue(reader, "mine", {})).sqlstate, "42501");
}

TEST_F(ApiStorePg, NumbersComeWithoutAskingForJobs) {
  run(api.jobs_write->enqueue_jobs(service(), R"([{"job_type": "noop", "payload": {"n": 1}}])",
                                   {}));
  const auto health = run(api.health->health_counts());
  EXPECT_EQ(health.queue_depth, 1);
  EXPECT_GE(health.schema_version, 16);
  const auto loads = run(api.health->queue_load(staff(), "default"));
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].demand, 1);
  EXPECT_FALSE(loads[0].drain_s.has_value());
  EXPECT_TRUE(run(api.health->queue_load(staff(), "no")).empty());
  EXPECT_FALSE(run(api.health->metrics_snapshot()).empty());
}

}  // namespace
}  // namespace millrace::test
