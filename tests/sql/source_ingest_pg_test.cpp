// The operations of the BaseWorker RFC under their own names (S-29): ids, webhooks, logs, and what
// is asked of the ingest of a document.
#include "sql/import_world.h"
#include "sql/ingest_world.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace millrace::test {
namespace {

class SourceIngest : public IngestTest {
 protected:
  // A client of the source, confined to its tenant.
  ServerSession client{database, kTenant, "service_role"};

  std::string job_of(const std::string& file) {
    return sql.value("select job_id from millrace.upload_jobs where document_id = $1::uuid",
                     pg::params(file));
  }
  bool ok(std::string_view condition) { return client.yes(fmt::format("select {}", condition)); }
};

// --- Ids ---

// The same as C++ and Python's uuid.uuid5 make of them (B-09, B-10).
TEST_F(SourceIngest, s29_ids_are_those_of_the_source) {
  EXPECT_EQ(client.value("select millrace.chunk_id('A1B2C3D4-0000-4000-8000-00000000abcd', "
                         "'markdown-simple', '1', 0)"),
            "e78325a2-5af7-5794-8ab1-83a87c5e220c");
  EXPECT_EQ(client.value("select millrace.chunk_id('A1B2C3D4-0000-4000-8000-00000000abcd', "
                         "'Markdown-Simple', '1', 17)"),
            "b1025793-a57a-53df-b173-b48d41849565");
  EXPECT_EQ(client.value("select millrace.parse_id('A1B2C3D4-0000-4000-8000-00000000abcd', "
                         "'LlamaParse', '2.0')"),
            "55747612-3aa8-5858-b71d-d6c66163fd5a");
}

// FIPS 180: nothing, one block, two blocks, and each length around the edge of a block.
TEST_F(SourceIngest, sha1_is_the_published_function) {
  const auto sha1 = [&](std::string_view text) {
    return sql.value("select encode(millrace.sha1(convert_to($1, 'UTF8')), 'hex')",
                     pg::params(text));
  };
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(sha1(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  EXPECT_EQ(sha1(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

// --- Webhooks ---

// RFC 4231, test cases 1, 2 and 6: a key that is longer than a block.
TEST_F(SourceIngest, hmac_is_the_published_function) {
  const auto hmac = [&](std::string_view key, std::string_view message) {
    return sql.value(
        fmt::format("select encode(millrace.hmac_sha256({}, {}), 'hex')", key, message));
  };
  EXPECT_EQ(hmac("decode(repeat('0b', 20), 'hex')", "'Hi There'"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("'Jefe'", "'what do ya want for nothing?'"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac("decode(repeat('aa', 131), 'hex')",
                 "'Test Using Larger Than Block-Size Key - Hash Key First'"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_F(SourceIngest, w02_a_signature_is_of_these_bytes_and_this_secret) {
  const std::string right = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  const auto verify = [&](std::string_view payload, std::string_view signature,
                          std::string_view secret) {
    return client.yes("select millrace.verify_signature(convert_to($1, 'UTF8'), $2, $3)",
                      pg::params(payload, signature, secret));
  };
  EXPECT_TRUE(verify("what do ya want for nothing?", right, "Jefe"));
  EXPECT_FALSE(verify("what do ya want for nothing!", right, "Jefe"));
  EXPECT_FALSE(verify("what do ya want for nothing?", right, "jefe"));
  EXPECT_FALSE(verify("what do ya want for nothing?", right.substr(1), "Jefe"));
  EXPECT_FALSE(verify("what do ya want for nothing?", "", "Jefe"));
  // HMAC has a value for an empty secret: whoever forgot to set one must not be open to all.
  EXPECT_FALSE(verify("", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", ""));
  EXPECT_TRUE(ok("not millrace.verify_signature(null, 'x', 'y')"));
  EXPECT_TRUE(ok("not millrace.verify_signature('x', null, 'y')"));
  EXPECT_TRUE(ok("not millrace.verify_signature('x', 'y', null)"));
}

TEST_F(SourceIngest, w05_a_time_is_good_for_300_seconds_either_way) {
  stop_clock(sql);
  const auto verify = [&](std::int64_t ago, std::string_view more = "") {
    return client.yes(
        fmt::format("select millrace.verify_timestamp(floor(extract(epoch from "
                    "millrace.now()))::bigint - {}{})",
                    ago, more));
  };
  EXPECT_TRUE(verify(0));
  EXPECT_TRUE(verify(300));
  EXPECT_TRUE(verify(-300));
  EXPECT_FALSE(verify(301));
  EXPECT_FALSE(verify(-301));
  EXPECT_TRUE(verify(5, ", 5"));
  EXPECT_FALSE(verify(6, ", p_tolerance => 5"));
  EXPECT_TRUE(ok("not millrace.verify_timestamp(null)"));
  EXPECT_TRUE(ok("not millrace.verify_timestamp(-9223372036854775808)"));
}

TEST_F(SourceIngest, w05_an_id_is_taken_once) {
  stop_clock(sql);
  const auto check = [&](Session& by, std::string_view id, int ago = 0) {
    return by.yes(
        "select millrace.check_webhook_replay($1, floor(extract(epoch from "
        "millrace.now()))::bigint - $2::int)",
        pg::params(id, ago));
  };
  EXPECT_TRUE(check(client, "w-1"));
  EXPECT_FALSE(check(client, "w-1"));
  EXPECT_FALSE(check(client, "w-2", 301));  // Too old, and not remembered for that.
  EXPECT_TRUE(check(client, "w-2"));
  ServerSession other{database, kOther, "service_role"};
  EXPECT_TRUE(check(other, "w-1"));  // Nobody uses up the ids of another tenant.
  for (const auto* id : {"", "null"}) {
    EXPECT_EQ(
        client
            .refused("select millrace.check_webhook_replay(nullif($1, 'null'), 0)", pg::params(id))
            .sqlstate,
        "MR024");
  }
  // With the transaction that acts on it, or not at all.
  client.script("begin");
  EXPECT_TRUE(check(client, "w-3"));
  client.script("rollback");
  EXPECT_TRUE(check(client, "w-3"));
}

// Check-then-insert would let both pass.
TEST_F(SourceIngest, h02_of_deliveries_at_once_one_is_acted_on) {
  std::atomic<int> taken = 0;
  together(4, [&](int, const std::atomic<bool>&) {
    ServerSession session{database, kTenant, "service_role"};
    for (int i = 0; i < 25; ++i) {
      if (session.yes("select millrace.check_webhook_replay($1, extract(epoch from "
                      "millrace.now())::bigint)",
                      pg::params(fmt::format("w-{}", i)))) {
        ++taken;
      }
    }
  });
  EXPECT_EQ(taken, 25);
}

TEST_F(SourceIngest, w06_an_origin_is_one_of_the_addresses_that_are_allowed) {
  const auto verify = [&](std::string_view address) {
    return client.yes("select millrace.verify_webhook_origin($1)", pg::params(address));
  };
  EXPECT_TRUE(verify("192.0.2.1"));  // None are named.
  EXPECT_FALSE(verify("not an address"));
  EXPECT_FALSE(verify("192.0.2.0/24"));
  EXPECT_TRUE(ok("not millrace.verify_webhook_origin(null)"));
  sql.run(
      "select millrace.set_config_value('webhook.allowed_addresses', '192.0.2.0/24, "
      "198.51.100.7,2001:db8::/32')");
  EXPECT_TRUE(verify("192.0.2.255"));
  EXPECT_TRUE(verify("::ffff:192.0.2.9"));
  EXPECT_TRUE(verify("198.51.100.7"));
  EXPECT_TRUE(verify("2001:db8:1::5"));
  EXPECT_FALSE(verify("192.0.3.1"));
  EXPECT_FALSE(verify("198.51.100.8"));
  EXPECT_FALSE(verify("::1"));
  EXPECT_EQ(sql.refused("select millrace.set_config_value('webhook.allowed_addresses', "
                        "'192.0.2.0/24, everybody')")
                .sqlstate,
            "MR020");
}

// --- Logs ---

TEST_F(SourceIngest, t09_log_data_says_nothing_of_documents) {
  EXPECT_EQ(
      client.value("select millrace.sanitize_log_data('{\"text\": \"secret\", \"page\": 3, "
                   "\"more\": {\"vector\": [1, 2]}}')::text"),
      R"({"more": {"vector": "[REDACTED - 6 chars]"}, "page": 3, "text": "[REDACTED - 6 chars]"})");
}

// --- Ingest ---

TEST_F(SourceIngest, s29_a_job_that_waits_goes_on_when_it_is_asked_to) {
  const auto file = upload("text");
  const auto id = job_of(file);
  EXPECT_EQ(client.value("select millrace.process_job($1::uuid)", pg::params(id)), "uploaded");
  parse(file, "one two");
  const auto job = take("ingest_validate");
  EXPECT_EQ(worker.settle(job, "retry", R"({"retry_after_seconds": 3600})"), "settled");
  EXPECT_EQ(sql.value("select millrace.place_of($1::uuid)", pg::params(job.id)), "delayed");
  EXPECT_EQ(client.value("select millrace.process_job($1::uuid)", pg::params(id)), "parsed");
  validate();  // It could be claimed.
  ServerSession other{database, kOther, "service_role"};
  EXPECT_EQ(other.refused("select millrace.process_job($1::uuid)", pg::params(id)).sqlstate,
            "MR009");
  EXPECT_EQ(client.refused("select millrace.process_job(gen_random_uuid())").sqlstate, "MR009");
}

TEST_F(SourceIngest, s29_a_parse_that_was_submitted_is_known_by_its_id) {
  const auto file = upload("text");
  const auto id = job_of(file);
  const auto path = sql.value("select storage_path from millrace.shell_files where id = $1::uuid",
                              pg::params(file));
  const auto submit = [&] {
    return client.value("select millrace.submit_parse_job($1::uuid, $2)", pg::params(id, path));
  };
  EXPECT_EQ(submit(), "(null)");
  const auto job = take("ingest_document");
  sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
  sql.run(
      "select millrace.ask_parse($1::uuid, $2::uuid, jsonb_build_object('parser', "
      "'llamaparse', 'capability_sha256', repeat('ab', 32), 'deadline_seconds', 60))",
      pg::params(job.id, job.token));
  sql.run("select millrace.note_parse($1::uuid, $2::uuid, '{\"remote_id\": \"pjb-7\"}')",
          pg::params(job.id, job.token));
  EXPECT_EQ(submit(), "pjb-7");
  const auto status = [&] {
    return client.value("select status from millrace.upload_jobs where document_id = $1::uuid",
                        pg::params(file));
  };
  EXPECT_EQ(status(), "parse_queued");
  EXPECT_EQ(
      client
          .refused("select millrace.submit_parse_job($1::uuid, 'another/path.pdf')", pg::params(id))
          .sqlstate,
      "MR024");
  // Begun anew: the parse of the run before is not that of this one.
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  sql.run("select millrace.retry_document($1::uuid)", pg::params(file));
  EXPECT_EQ(status(), "uploaded");
  EXPECT_EQ(client.value("select millrace.submit_parse_job($1::uuid, $2)",
                         pg::params(job_of(file), path)),
            "(null)");
}

// What parsed_path names is there: of the owner and the tenant, as the text is now, as long as it
// is.
TEST_F(SourceIngest, b06_parsed_text_is_an_object_of_that_name) {
  const auto file = upload("bytes");
  const auto name = fmt::format("{}/parsed/{}.md", kAda, file);
  User ada{database, kAda};
  User bob{database, kBob};
  User elsewhere{database, kAda, kOther};
  ServerSession other{database, kOther, "service_role"};
  const std::string get = "select millrace.get_object('medical-docs', $1)";
  const auto sha256_of = [&](std::string_view text) {
    return sql.value("select encode(sha256(convert_to($1, 'UTF8')), 'hex')", pg::params(text));
  };
  const auto at = [&](Session& by) { return by.value(get + " ->> 'sha256'", pg::params(name)); };
  const auto parsed_path = [&] {
    return sql.value(
        "select coalesce(parsed_path, 'none') from millrace.upload_jobs where document_id = "
        "$1::uuid",
        pg::params(file));
  };
  EXPECT_EQ(parsed_path(), "none");
  EXPECT_EQ(ada.refused(get, pg::params(name)).sqlstate, "MR031");
  parse(file, "as it came");
  EXPECT_EQ(parsed_path(), "storage://" + name);
  EXPECT_EQ(at(ada), sha256_of("as it came"));
  const auto job = take("ingest_validate");
  const auto sha256 = sha256_of("its one form");
  expect_settled(settle_with(
      job,
      {stage_statement(job, "ingest_validate",
                       fmt::format(R"({{"results": [{{"page": 0, "stage": "ingest_validate",
                               "reuse_key": "{}", "blob": {}, "meta": {{"parsed_sha256": "{}"}}}}]}})",
                                   std::string(64, '1'), stored(sql, "its one form"), sha256))}));
  EXPECT_EQ(at(ada), sha256);
  EXPECT_EQ(at(client), sha256);
  EXPECT_EQ(ada.value(get + " ->> 'store_key'", pg::params(name)), "sha256/" + sha256);
  EXPECT_EQ(ada.value(get + " ->> 'size_bytes'", pg::params(name)), "12");
  for (Session* by : std::initializer_list<Session*>{&bob, &elsewhere, &other}) {
    EXPECT_EQ(by->refused(get, pg::params(name)).sqlstate, "MR031");
  }
  for (const auto& wrong :
       {fmt::format("{}/parsed/{}.md", kBob, file), fmt::format("{}/parsed/{}.txt", kAda, file),
        fmt::format("x/{}/parsed/{}.md", kAda, file), fmt::format("{}/parsed/{}.md", kAda, kBob)}) {
    EXPECT_EQ(client.refused(get, pg::params(wrong)).sqlstate, "MR031") << wrong;
  }
  EXPECT_EQ(client.refused("select millrace.get_object('exports', $1)", pg::params(name)).sqlstate,
            "MR031");
  // Nobody can put another text in its place, and no room is taken for it.
  ServerSession server{database, kTenant};
  put_object(server, kAda, name, "forged");
  EXPECT_EQ(at(client), sha256);
  EXPECT_EQ(sql.value("select coalesce(string_agg(name, ' '), '') from millrace.storage_object "
                      "where sha256 = decode($1, 'hex')",
                      pg::params(sha256)),
            "");
  // The next run's, from the moment it is there.
  worker.settle(take("ingest_chunk"), "permanent",
                R"({"error": {"error_type": "x", "message": "x"}})");
  again(file);
  EXPECT_EQ(at(ada), sha256);
  parse(file, "another text");
  EXPECT_EQ(at(ada), sha256_of("another text"));
  ada.run("select millrace.delete_shell_files(array[$1::uuid])", pg::params(file));
  EXPECT_NE(at(client), sha256_of("another text"));
}

TEST_F(SourceIngest, b21_buffers_are_promoted_when_they_are_whole) {
  const auto file = upload("text");
  const auto promote = [&](Session& by) {
    return by.value("select millrace.promote_buffers_to_production($1::uuid)", pg::params(file));
  };
  const auto refused = [&](Session& by) {
    return by.refused("select millrace.promote_buffers_to_production($1::uuid)", pg::params(file))
        .sqlstate;
  };
  EXPECT_EQ(refused(client), "MR041");  // Nobody has begun it.
  parse(file, "one two three");
  EXPECT_EQ(refused(client), "MR046");
  validate();
  const auto generation = chunked(file, "one two three");
  EXPECT_EQ(refused(client), "MR046");  // Without vectors.
  EXPECT_EQ(buffered(generation), "one two three");
  embed(file, generation, "one two three");
  ServerSession other{database, kOther, "service_role"};
  EXPECT_EQ(refused(other), "MR041");
  EXPECT_EQ(seen(file), "");
  EXPECT_EQ(promote(client), "3");
  EXPECT_EQ(seen(file), "one two three");
  EXPECT_EQ(buffered(generation), "");
  EXPECT_EQ(promote(client), "3");
  // The stage finds it done.
  expect_settled(publish(generation));
  end();
  EXPECT_EQ(seen(file), "one two three");
  EXPECT_EQ(stage_of(file), "complete");
}

TEST_F(SourceIngest, b20_what_was_not_promoted_is_never_cleaned_up) {
  const auto file = upload("text");
  const auto clean = [&] {
    return client.value("select millrace.cleanup_completed_buffers($1::uuid)", pg::params(file));
  };
  parse(file, "one two");
  validate();
  const auto generation = chunked(file, "one two");
  EXPECT_EQ(clean(), "0");
  EXPECT_EQ(buffered(generation), "one two");
  embed(file, generation, "one two");
  EXPECT_EQ(clean(), "0");
  EXPECT_EQ(buffered(generation), "one+ two+");
  expect_settled(publish(generation));
  end();
  // As an older version may have left them.
  sql.run(
      "insert into millrace.document_chunk_buffer (generation_id, chunk_id, tenant_id, "
      "document_id, content_id, chunk_ord, chunker_name, chunker_version, chunk_sha, "
      "embed_sha256, text, meta, config, words, created_at) select generation_id, chunk_id, "
      "tenant_id, "
      "document_id, content_id, chunk_ord, chunker_name, chunker_version, chunk_sha, "
      "embed_sha256, text, meta, config, words, created_at from millrace.document_chunks");
  EXPECT_EQ(buffered(generation), "one two");
  EXPECT_EQ(clean(), "2");
  EXPECT_EQ(buffered(generation), "");
  EXPECT_EQ(seen(file), "one two");
  ServerSession other{database, kOther, "service_role"};
  EXPECT_EQ(other.refused("select millrace.cleanup_completed_buffers($1::uuid)", pg::params(file))
                .sqlstate,
            "MR041");
}

// V-23: one document by the stages of our worker, one with the verbs of the source called beside
// it: the same chunks, and the same states on the way.
TEST_F(SourceIngest, v23_the_sources_verbs_beside_our_worker_give_the_same_chunks_and_states) {
  const std::string text = "one two three";
  const auto states_of = [&](const std::string& file, bool by_verbs) {
    std::vector<std::string> states;
    const auto note = [&] { states.push_back(stage_of(file)); };
    const auto nudge = [&] {
      if (by_verbs) client.run("select millrace.process_job($1::uuid)", pg::params(job_of(file)));
      note();
    };
    nudge();
    parse(file, text);
    nudge();
    validate();
    nudge();
    const auto generation = chunked(file, text);
    nudge();
    embed(file, generation, text);
    nudge();
    const auto job = take("ingest_publish");
    if (by_verbs) {
      const auto promote = [&] {
        return client.value("select millrace.promote_buffers_to_production($1::uuid)",
                            pg::params(file));
      };
      EXPECT_EQ(promote(), "3");
      EXPECT_EQ(promote(), "3") << "and again";
    } else {
      EXPECT_EQ(place(job, generation, 2), "2");
      EXPECT_EQ(place(job, generation, 2), "1");
    }
    expect_settled(publish(job, generation));
    note();
    end();
    note();
    if (by_verbs) {
      EXPECT_EQ(
          client.value("select millrace.cleanup_completed_buffers($1::uuid)", pg::params(file)),
          "0");
    }
    return fmt::format("{}", fmt::join(states, " "));
  };
  const auto chunks_of = [&](const std::string& file) {
    return sql.value(
        "select string_agg(concat_ws('|', chunk_ord, content_id, chunk_sha, text, heading_path, "
        "start_byte, end_byte, embedding, vector_sha, signature, embed_model, words), ' ' order by "
        "chunk_ord) from millrace.document_chunks where document_id = $1::uuid",
        pg::params(file));
  };
  const auto ours = upload("ours");
  const auto our_states = states_of(ours, false);
  EXPECT_EQ(our_states,
            "uploaded parsed parse_validated chunks_stored embeddings_stored embeddings_stored "
            "complete");
  const auto theirs = upload("theirs");
  EXPECT_EQ(states_of(theirs, true), our_states);
  EXPECT_EQ(chunks_of(theirs), chunks_of(ours));
  EXPECT_EQ(listed(theirs), text);
}

// V-23: a job that stands in the source's own table is moved here, beside one that began here: the
// same states and the same chunks, under the id that its client knows.
TEST_F(SourceIngest, v23_an_imported_job_ends_with_the_chunks_of_one_that_began_here) {
  const std::string text = "one two three";
  const auto run = [&](const std::string& file) {
    std::vector<std::string> states{stage_of(file)};
    parse(file, text);
    states.push_back(stage_of(file));
    validate();
    const auto generation = chunked(file, text);
    states.push_back(stage_of(file));
    embed(file, generation, text);
    expect_settled(publish(generation));
    states.push_back(stage_of(file));
    end();
    states.push_back(stage_of(file));
    return fmt::format("{}", fmt::join(states, " "));
  };
  const auto chunks_of = [&](const std::string& file) {
    return sql.value(
        "select string_agg(concat_ws('|', chunk_ord, content_id, text, embedding, vector_sha), ' ' "
        "order by chunk_ord) from millrace.document_chunks where document_id = $1::uuid",
        pg::params(file));
  };
  const auto ours = upload("ours");
  const auto states = run(ours);
  // The file is here, under the document's id, and its job is still with the source.
  const auto enqueue = [&](const char* enabled) {
    sql.run(
        "update millrace.system_configuration set config_value = $1 where config_key = "
        "'system.enqueue_enabled'",
        pg::params(enabled));
  };
  enqueue("false");
  const auto theirs = upload("theirs");
  enqueue("true");
  sql.script(kBaseWorkerTables);
  const auto id = sql.value(
      "insert into public.upload_jobs (user_id, document_id, status, raw_path) values ($1::uuid, "
      "$2::uuid, 'uploaded', 'raw/a') returning job_id",
      pg::params(kAda, theirs));
  as_tenant(sql, std::string(kTenant));
  const auto moved = move_batch(sql, "baseworker", "public");
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].job_id, id);
  // The source knows no pipelines: a worker brings its own.
  sql.run(
      "select millrace.begin_document($1::uuid, jsonb_build_object('name', v.name, 'version', "
      "v.version, 'hash', encode(v.hash, 'hex'), 'first_job', v.first_job, 'definition', "
      "v.definition, 'job_types', '[]'::jsonb)) from millrace.pipeline_version v where v.name = "
      "'ingest'",
      pg::params(id));
  EXPECT_EQ(run(theirs), states);
  EXPECT_EQ(chunks_of(theirs), chunks_of(ours));
  EXPECT_EQ(job_of(theirs), id);
}

TEST_F(SourceIngest, users_have_none_of_these) {
  User user{database, kAda};
  for (const auto* call :
       {"process_job(gen_random_uuid())", "promote_buffers_to_production(gen_random_uuid())",
        "cleanup_completed_buffers(gen_random_uuid())", "check_webhook_replay('x', 0)",
        "verify_webhook_origin('::1')"}) {
    EXPECT_EQ(user.refused(fmt::format("select millrace.{}", call)).sqlstate, "42501") << call;
  }
}

}  // namespace
}  // namespace millrace::test
