// Ingest in the database: generations that are built in buffers and published by one switch.
// Requirements B-01 … B-26, V-24; defects F07, G03, G06, G07, G12, I07, K03.
#include "sql/ingest_world.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class Ingest : public IngestTest {};

// B-01, B-02: nothing is skipped, and the names are the RFC's.
TEST_F(Ingest, b01_a_document_goes_through_all_stages_of_the_rfc) {
  const auto file = upload("text");
  EXPECT_EQ(stage_of(file), "uploaded");
  parse(file, "one two three");
  EXPECT_EQ(stage_of(file), "parsed");
  validate();
  EXPECT_EQ(stage_of(file), "parse_validated");
  const auto built = cut(file, "one two three");
  EXPECT_EQ(stage_of(file), "chunking");
  expect_settled(settle_cut(built, 3));
  EXPECT_EQ(stage_of(file), "chunks_stored");
  const auto job = take("ingest_embed");
  EXPECT_EQ(stage_of(file), "embedding_queued");
  sql.run(put_vectors_sql({chunk(file, 0)}, {"{1,1}"}),
          pg::params(job.id, job.token, built.generation));
  EXPECT_EQ(stage_of(file), "embedding_in_progress");
  put_all(job, file, built.generation, "one two three");
  expect_settled(settle_with(job, {stage_statement(job, "ingest_embed", "{}")}));
  EXPECT_EQ(stage_of(file), "embeddings_stored");
  EXPECT_EQ(seen(file), "");
  expect_settled(publish(built.generation));
  EXPECT_EQ(seen(file), "one two three");
  end();
  EXPECT_EQ(stage_of(file), "complete");
  EXPECT_EQ(state(file), "completed");
  EXPECT_EQ(imbalance(sql), "");
}

// B-26: finalize fails as failed_embedding; the attempts are those of the stage.
TEST_F(Ingest, b26_a_stage_that_fails_for_good_names_the_failure_of_the_rfc) {
  const std::vector<std::pair<std::string, std::string>> ends = {
      {"ingest_document", "failed_parse"},
      {"ingest_validate", "failed_parse"},
      {"ingest_chunk", "failed_chunking"},
      {"ingest_embed", "failed_embedding"},
      {"ingest_publish", "failed_embedding"}};
  for (const auto& [stage, failed] : ends) {
    const auto file = upload(stage);
    std::string generation;
    for (const auto& one : ends) {
      if (one.first == stage) {
        const auto job = take(stage);
        if (stage == "ingest_document") {
          sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
        }
        EXPECT_EQ(worker.settle(job, "permanent",
                                R"({"error": {"error_type": "broken", "message": "it broke"}})"),
                  "settled");
        break;
      }
      if (one.first == "ingest_document") parse(file, stage);
      if (one.first == "ingest_validate") validate();
      if (one.first == "ingest_chunk") generation = chunked(file, stage);
      if (one.first == "ingest_embed") embed(file, generation, stage);
    }
    EXPECT_EQ(stage_of(file), failed) << stage;
    EXPECT_EQ(state(file), "failed") << stage;
    // R-12
    EXPECT_EQ(sql.value("select (last_error ->> 'error') || ' ' || (last_error ->> 'error_type') "
                        "from millrace.upload_jobs where document_id = $1::uuid",
                        pg::params(file)),
              "it broke broken")
        << stage;
  }
}

// R-12: what a stage overcame is not told of the next one.
TEST_F(Ingest, r12_an_error_that_was_overcome_is_not_the_last_error) {
  const auto file = upload("text");
  const auto job = take("ingest_document");
  sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
  worker.settle(job, "retry", R"({"error": {"error_type": "reset", "message": "cut off"}})");
  EXPECT_EQ(sql.value("select last_error ->> 'error_type' from millrace.upload_jobs"), "reset");
  EXPECT_EQ(sql.value("select retry_count from millrace.upload_jobs"), "1");
  pass(sql, "1 hour");
  parse(file, "one");
  EXPECT_EQ(sql.value("select last_error is null from millrace.upload_jobs"), "t");
  EXPECT_EQ(sql.value("select retry_count from millrace.upload_jobs"), "0");
}

// B-12, F07: the same again changes nothing; another text at the place replaces it and its vector.
TEST_F(Ingest, b12_a_chunk_that_differs_replaces_the_one_at_its_place) {
  const auto file = upload("text");
  parse(file, "a b c");
  validate();
  const auto built = cut(file, "a b c");
  const auto held = pg::params(built.job.id, built.job.token, built.generation);
  sql.run(put_vectors_sql({chunk(file, 0), chunk(file, 1)}, {"{1,1}", "{2,1}"}), held);
  EXPECT_EQ(buffered(built.generation), "a+ b+ c");
  EXPECT_EQ(sql.value(put_chunks_sql(file, "a b c"), held), "0");
  EXPECT_EQ(buffered(built.generation), "a+ b+ c");
  EXPECT_EQ(sql.value(put_chunks_sql(file, "a x c d"), held), "1");
  EXPECT_EQ(buffered(built.generation), "a+ x c d");
  // B-13: what is behind the last one goes.
  expect_settled(settle_cut(built, 3));
  EXPECT_EQ(buffered(built.generation), "a+ x c");
  EXPECT_EQ(progress(file, "chunks_total"), "3");
  EXPECT_EQ(progress(file, "chunks_done"), "3");
}

TEST_F(Ingest, b13_chunks_that_are_missing_do_not_settle) {
  const auto file = upload("text");
  parse(file, "a b c");
  validate();
  const auto built = cut(file, "a b c");
  const auto error = settle_cut(built, 4);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR046");
  EXPECT_EQ(stage_of(file), "chunking");
}

// V-24: a delivery that died while cutting; the next one goes on in the same generation.
TEST_F(Ingest, v24_chunking_re_enters_where_a_death_left_it) {
  const auto file = upload("text");
  parse(file, "a b c d");
  validate();
  const auto dead = take("ingest_chunk");
  const auto generation = begin_generation(dead, "a b c d");
  sql.run(put_chunks_sql(file, "a b c d", 0, 2), pg::params(dead.id, dead.token, generation));
  worker.settle(dead, "handback");
  const auto next = take("ingest_chunk");
  EXPECT_EQ(begin_generation(next, "a b c d"), generation);
  sql.run(put_chunks_sql(file, "a b c d"), pg::params(next.id, next.token, generation));
  EXPECT_EQ(buffered(generation), "a b c d");
}

// F07: another text is another generation; what was built of the old one goes.
TEST_F(Ingest, f07_what_is_built_of_another_text_is_given_up) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto job = take("ingest_chunk");
  const auto first = begin_generation(job, "a b");
  sql.run(put_chunks_sql(file, "a b"), pg::params(job.id, job.token, first));
  const auto second = begin_generation(job, "x y z");
  EXPECT_NE(first, second);
  EXPECT_EQ(buffered(first), "");
  EXPECT_EQ(sql.value("select count(*) from millrace.generation"), "1");
  EXPECT_EQ(sql.refused(put_chunks_sql(file, "a b"), pg::params(job.id, job.token, first)).sqlstate,
            "MR001");
}

// --- The fence ---

TEST_F(Ingest, v24_a_stale_delivery_writes_nothing) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto stale = take("ingest_chunk");
  const auto generation = begin_generation(stale, "a b");
  worker.settle(stale, "handback");
  const auto job = take("ingest_chunk");
  const auto held = pg::params(stale.id, stale.token, generation);
  EXPECT_EQ(sql.refused(put_chunks_sql(file, "x y"), held).sqlstate, "MR001");
  EXPECT_EQ(buffered(generation), "");
  EXPECT_EQ(sql.refused("select millrace.begin_generation($1::uuid, $2::uuid, '{}')",
                        pg::params(stale.id, stale.token))
                .sqlstate,
            "MR001");
  sql.run(put_chunks_sql(file, "a b"), pg::params(job.id, job.token, generation));
  EXPECT_EQ(sql.refused(put_vectors_sql({chunk(file, 0)}, {"{1,1}"}), held).sqlstate, "MR001");
  EXPECT_EQ(
      sql.refused("select millrace.reuse_vectors($1::uuid, $2::uuid, $3::uuid)", held).sqlstate,
      "MR001");
  EXPECT_EQ(buffered(generation), "a b");
}

TEST_F(Ingest, v24_a_stale_delivery_publishes_nothing) {
  const auto file = ingested("a b");
  again(file);
  parse(file, "x y z");
  validate();
  const auto generation = chunked(file, "x y z");
  embed(file, generation, "x y z");
  const auto stale = take("ingest_publish");
  worker.settle(stale, "handback");
  const auto job = take("ingest_publish");
  const auto error = publish(stale, generation);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR001");
  EXPECT_EQ(seen(file), "a b");
  expect_settled(publish(job, generation));
  EXPECT_EQ(seen(file), "x y z");
}

// A dead letter of an earlier run that is redriven while a later run is under way.
TEST_F(Ingest, a_job_that_the_document_has_left_behind_writes_nothing) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto dead = take("ingest_chunk");
  worker.settle(dead, "permanent", R"({"error": {"error_type": "x", "message": "x"}})");
  again(file);
  parse(file, "a b");
  sql.run("select * from millrace.redrive_jobs($1::jsonb)",
          pg::params(fmt::format(R"({{"job_ids": ["{}"]}})", dead.id)));
  const auto late = take("ingest_chunk");
  ASSERT_EQ(late.id, dead.id);
  EXPECT_EQ(sql.refused("select millrace.begin_generation($1::uuid, $2::uuid, '{}')",
                        pg::params(late.id, late.token))
                .sqlstate,
            "MR001");
}

// --- Vectors (G12, B-14 … B-19) ---

class IngestVectors : public Ingest {
 protected:
  void SetUp() override {
    Ingest::SetUp();
    file_ = upload("text");
    parse(file_, "a b c");
    validate();
    generation_ = chunked(file_, "a b c");
    job_ = take("ingest_embed");
  }
  pg::Params held() const { return pg::params(job_.id, job_.token, generation_); }
  void expect_refused(const std::vector<std::string>& chunks,
                      const std::vector<std::string>& vectors, const std::string& why) {
    const auto error = sql.refused(put_vectors_sql(chunks, vectors), held());
    EXPECT_EQ(error.sqlstate, "MR045") << why;
    EXPECT_THAT(error.message, HasSubstr(why));
    EXPECT_EQ(buffered(generation_), "a b c") << why;
  }

  std::string file_;
  std::string generation_;
  Delivery job_;
};

TEST_F(IngestVectors, g12_vectors_that_do_not_fit_the_batch_are_refused_and_none_is_written) {
  const auto a = chunk(file_, 0);
  const auto b = chunk(file_, 1);
  expect_refused({a, b}, {"{1,1}"}, "2 chunks, 1 vectors");
  expect_refused({a}, {"{1,1}", "{2,1}"}, "1 chunks, 2 vectors");
  expect_refused({a, a}, {"{1,1}", "{2,1}"}, "named twice");
  expect_refused({a, "gen_random_uuid()"}, {"{1,1}", "{2,1}"}, "not of generation");
  expect_refused({a, b}, {"{1,1}", "{1,1,1}"}, "vector 2: 3 components, m 1 has 2");
  expect_refused({a, b}, {"{1,1}", "{NaN,1}"}, "vector 2: a component is no finite number");
  expect_refused({a, b}, {"{Infinity,1}", "{1,1}"}, "vector 1: a component is no finite number");
  expect_refused({a}, {"{0,0}"}, "all components are zero");
}

TEST_F(IngestVectors, b15_a_batch_has_256_chunks_at_most) {
  std::vector<std::string> chunks(257, "gen_random_uuid()");
  std::vector<std::string> vectors(257, "{1,1}");
  expect_refused(chunks, vectors, "1 to 256 chunks");
}

// B-17
TEST_F(IngestVectors, b17_pending_are_the_chunks_without_a_vector_of_the_model) {
  const auto pending = [&] {
    return sql.value(
        "select coalesce(string_agg(embedding_text, ' ' order by chunk_ord), '') from "
        "millrace.pending_chunks($1::uuid)",
        pg::params(generation_));
  };
  EXPECT_EQ(pending(), "a b c");
  sql.run(put_vectors_sql({chunk(file_, 1)}, {"{1,1}"}), held());
  EXPECT_EQ(pending(), "a c");
  sql.run(put_vectors_sql({chunk(file_, 0), chunk(file_, 2)}, {"{1,1}", "{2,1}"}), held());
  EXPECT_EQ(pending(), "");
}

// B-18: what has the same hash is left as it is.
TEST_F(IngestVectors, b18_a_vector_is_replaced_only_if_its_hash_differs) {
  const auto row = [&] {
    return sql.value("select xmin || ' ' || vector::text from millrace.document_vector_buffer");
  };
  sql.run(put_vectors_sql({chunk(file_, 0)}, {"{1,1}"}), held());
  const auto first = row();
  EXPECT_EQ(sql.value(put_vectors_sql({chunk(file_, 0)}, {"{1,1}"}), held()), "0");
  EXPECT_EQ(row(), first);
  EXPECT_EQ(sql.value(put_vectors_sql({chunk(file_, 0)}, {"{1,1}"}, "other"), held()), "1");
  EXPECT_NE(row(), first);
}

// G03: each batch is its own transaction: a death after it loses none of it.
TEST_F(IngestVectors, g03_batches_that_were_stored_survive_the_delivery) {
  sql.run(put_vectors_sql({chunk(file_, 0), chunk(file_, 1)}, {"{1,1}", "{2,1}"}), held());
  worker.settle(job_, "retry", R"({"error": {"error_type": "x", "message": "x"}})");
  EXPECT_EQ(buffered(generation_), "a+ b+ c");
  EXPECT_EQ(progress(file_, "embeds_done"), "2");
  EXPECT_EQ(progress(file_, "chunks_total"), "3");
}

// K03: counted from rows, so a repetition counts once.
TEST_F(IngestVectors, k03_progress_is_never_above_the_total) {
  for (int i = 0; i < 3; ++i) put_all(job_, file_, generation_, "a b c");
  sql.run(put_vectors_sql({chunk(file_, 0)}, {"{7,1}"}, "other"), held());
  EXPECT_EQ(progress(file_, "embeds_done"), "3");
  EXPECT_EQ(progress(file_, "chunks_done"), "3");
  EXPECT_EQ(progress(file_, "vectors_in_buffer"), "3");  // B-24
  EXPECT_EQ(progress(file_, "chunks_in_buffer"), "3");
}

// F08: the end of the call that was paid for is of one piece with the vectors.
// Of twenty, so that a rolling deploy does not end what the next worker can do.
TEST_F(IngestVectors, deliveries_to_workers_with_another_model_are_counted) {
  const auto turned_away = [&] {
    return sql.value("select millrace.find_generation($1::uuid) ->> 'turned_away'",
                     pg::params(job_.id));
  };
  const auto deliver = [&](const std::string& error_type) {
    EXPECT_EQ(worker.settle(job_, "throttled",
                            fmt::format(R"({{"retry_after_seconds": 0, "error": {{"error_type":
                                        "{}", "message": "m", "asked": false}}}})",
                                        error_type)),
              "settled");
    job_ = take("ingest_embed");
  };
  EXPECT_EQ(turned_away(), "0");
  deliver("held_up");
  for (int i = 0; i < 19; ++i) deliver("other_model");
  EXPECT_EQ(turned_away(), "19");
  deliver("other_model");
  EXPECT_EQ(turned_away(), "20");
  deliver("other_model");
  EXPECT_EQ(turned_away(), "20");
  deliver("held_up");
  EXPECT_EQ(turned_away(), "19");
}

TEST_F(IngestVectors, f08_a_batch_and_the_end_of_its_call_commit_together) {
  const auto call = sql.value(
      "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'delivery_count', 1, "
      "'stage', 'ingest_embed', 'provider', 'openai:m', 'model', 'm', 'request_sha256', repeat('a',"
      " 64), 'estimated_tokens', 100, 'reserved_micros', 50)) ->> 'call_id'",
      pg::params(job_.id));
  const auto put = [&](std::string_view vector) {
    return fmt::format(
        "select millrace.put_vectors($1::uuid, $2::uuid, $3::uuid, gen_random_uuid(), array[{}], "
        "array['{}'], array['s'], array['11'], '{}'::uuid, '{{\"state\": \"answered\", "
        "\"cost_micros\": 7, \"input_tokens\": 5, \"output_tokens\": 0}}')",
        chunk(file_, 0), vector, call);
  };
  const auto state = [&] {
    return sql.value("select state || ' ' || coalesce(cost_micros, 0) from millrace.provider_call");
  };
  EXPECT_EQ(sql.refused(put("{NaN,1}"), held()).sqlstate, "MR045");
  EXPECT_EQ(state(), "sent 0");
  sql.run(put("{1,1}"), held());
  EXPECT_EQ(state(), "answered 7");
  EXPECT_EQ(sql.value("select reserved_micros || ' ' || spent_micros from millrace.provider_spend"),
            "0 7");
}

TEST_F(Ingest, b14_the_dimension_belongs_to_model_and_version) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto job = take("ingest_chunk");
  begin_generation(job, "a b", "m", "2");
  const auto error = sql.refused(
      "select millrace.begin_generation($1::uuid, $2::uuid, jsonb_build_object('embed_model', 'm', "
      "'embed_version', '1', 'dimension', 3))",
      pg::params(job.id, job.token));
  EXPECT_EQ(error.sqlstate, "MR045");
  EXPECT_THAT(error.message, HasSubstr("m 1 has 2 dimensions, not 3"));
}

// B-14: no check on 1536; a service whose model says nothing of it teaches it with its first
// answer.
TEST_F(Ingest, b14_the_first_answer_says_how_long_vectors_are) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto job = take("ingest_chunk");
  const auto generation = sql.value(
      "select millrace.begin_generation($1::uuid, $2::uuid, jsonb_build_object('parsed_sha256', "
      "repeat('ab', 32), 'params_sha256', repeat('cd', 32), 'parse_id', gen_random_uuid(), "
      "'parser_name', 'p', 'parser_version', '1', 'chunker_name', 'c', 'chunker_version', '1', "
      "'embed_model', 'new', 'embed_version', '1')) ->> 'generation_id'",
      pg::params(job.id, job.token));
  const auto held = pg::params(job.id, job.token, generation);
  sql.run(put_chunks_sql(file, "a b"), held);
  sql.run(put_vectors_sql({chunk(file, 0)}, {"{1,2,3,4,5}"}), held);
  EXPECT_EQ(sql.value("select dimension from millrace.embedding_model where embed_model = 'new'"),
            "5");
  EXPECT_EQ(sql.refused(put_vectors_sql({chunk(file, 1)}, {"{1,2,3}"}), held).sqlstate, "MR045");
}

// B-14: a wrong first answer is not for ever; what readers have seen is.
TEST_F(Ingest, b14_what_a_wrong_answer_taught_is_forgotten_until_something_is_published) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto cut_it = cut(file, "a b", "new");
  sql.run("update millrace.embedding_model set dimension = null where embed_model = 'new'");
  expect_settled(settle_cut(cut_it, 2));
  const auto job = take("ingest_embed");
  const auto held = pg::params(job.id, job.token, cut_it.generation);
  sql.run(put_vectors_sql({chunk(file, 0)}, {"{1,2,3,4,5}"}), held);
  const auto right = put_vectors_sql({chunk(file, 0), chunk(file, 1)}, {"{1,2,3}", "{3,2,1}"});
  EXPECT_EQ(sql.refused(right, held).sqlstate, "MR045");
  const std::string forget = "select millrace.forget_dimension('new', '1')";
  EXPECT_EQ(sql.value(forget), "1");
  EXPECT_EQ(sql.value("select vectors_done from millrace.generation where generation_id = $1::uuid",
                      pg::params(cut_it.generation)),
            "0");
  EXPECT_EQ(sql.value(forget), "0") << "and again";
  sql.run(right, held);
  expect_settled(settle_with(job, {stage_statement(job, "ingest_embed", "{}")}));
  const auto publishing = take("ingest_publish");
  EXPECT_EQ(place(publishing, cut_it.generation, 1), "1");
  EXPECT_EQ(sql.refused(forget).sqlstate, "MR045");
  expect_settled(publish(publishing, cut_it.generation));
  EXPECT_EQ(sql.refused(forget).sqlstate, "MR045");
  EXPECT_EQ(sql.value("select dimension from millrace.embedding_model where embed_model = 'new'"),
            "3");
  EXPECT_EQ(sql.refused("select millrace.forget_dimension('other', '1')").sqlstate, "MR024");
}

// Vectors that are on their way when it is forgotten are gone with the others, or the first of the
// new length.
TEST_F(Ingest, b14_a_batch_on_its_way_is_waited_for) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto cut_it = cut(file, "a b", "new");
  expect_settled(settle_cut(cut_it, 2));
  const auto job = take("ingest_embed");
  Session other{database};
  other.run("begin");
  other.run(put_vectors_sql({chunk(file, 0)}, {"{1,2}"}),
            pg::params(job.id, job.token, cut_it.generation));
  std::string forgotten;
  std::jthread waiting([&] {
    Session operates{database};
    forgotten = operates.value("select millrace.forget_dimension('new', '1')");
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  other.run("commit");
  waiting.join();
  EXPECT_EQ(forgotten, "1");
  EXPECT_EQ(sql.value("select count(*) from millrace.document_vector_buffer"), "0");
}

// --- The switch ---

// F07, B-20, B-22: nobody sees half of one or a mixture of two.
TEST_F(Ingest, f07_a_concurrent_reader_sees_the_old_chunks_or_the_new_ones) {
  const auto file = ingested("a b c d");
  EXPECT_EQ(seen(file), "a b c d");
  again(file);
  parse(file, "x y");
  validate();
  const auto generation = chunked(file, "x y");
  embed(file, generation, "x y");
  EXPECT_EQ(seen(file), "a b c d");
  const auto job = take("ingest_publish");
  Session reader{database};
  reader.run("begin isolation level repeatable read");
  EXPECT_EQ(seen(reader, file), "a b c d");
  auto& connection = sql.connection();
  must(connection.query("begin"));
  must(connection.query(
      "select millrace.settle_or_raise($1, jsonb_build_array(jsonb_build_object('job_id', "
      "$2::text, 'token', $3::text, 'outcome', 'ok')))",
      pg::params(worker.id(), job.id, job.token)));
  must(connection.query("select millrace.publish_generation($1::uuid, $2::uuid)",
                        pg::params(job.id, generation)));
  Session other{database};
  EXPECT_EQ(seen(other, file), "a b c d") << "not committed yet";
  const auto [statement, params] = stage_statement(job, "ingest_publish", "{}");
  must(connection.query(statement, params));
  must(connection.query("commit"));
  EXPECT_EQ(seen(other, file), "x y");
  EXPECT_EQ(seen(reader, file), "a b c d") << "its snapshot is older";
  EXPECT_EQ(buffered(generation), "");
  EXPECT_EQ(sql.value("select string_agg(state, ' ' order by created_at) from millrace.generation"),
            "superseded published");
}

// MR046; B-20: cleaning up requires promotion.
TEST_F(Ingest, b20_a_generation_that_is_not_whole_is_neither_published_nor_cleaned_up) {
  const auto file = upload("text");
  parse(file, "a b c");
  validate();
  const auto generation = chunked(file, "a b c");
  const auto embedding = take("ingest_embed");
  sql.run(put_vectors_sql({chunk(file, 0), chunk(file, 2)}, {"{1,1}", "{2,1}"}),
          pg::params(embedding.id, embedding.token, generation));
  expect_settled(settle_with(embedding, {stage_statement(embedding, "ingest_embed", "{}")}));
  const auto error = publish(generation);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR046");
  EXPECT_EQ(buffered(generation), "a+ b c+");
  EXPECT_EQ(seen(file), "");
}

// B-21, G07: with vectors of several models in the buffer, those of the generation's own count.
TEST_F(Ingest, b21_vectors_of_another_model_are_not_promoted) {
  const auto file = upload("text");
  parse(file, "a b");
  validate();
  const auto generation = chunked(file, "a b");
  const auto job = take("ingest_embed");
  put_all(job, file, generation, "a b");
  sql.run(
      "insert into millrace.document_vector_buffer select gen_random_uuid(), generation_id, "
      "chunk_id, tenant_id, document_id, 'other', embed_version, '{9,9}', 'x', b'11', batch_id, "
      "created_at from millrace.document_vector_buffer");
  expect_settled(settle_with(job, {stage_statement(job, "ingest_embed", "{}")}));
  expect_settled(publish(generation));
  EXPECT_EQ(sql.value("select string_agg(embed_model || embedding::text, ' ' order by chunk_ord) "
                      "from millrace.document_chunks"),
            "m{0,1} m{1,1}");
  EXPECT_EQ(sql.value("select count(*) from millrace.document_vector_buffer"), "0");
}

// V-24: the last transaction of a stage, said again.
TEST_F(Ingest, v24_a_document_that_is_begun_anew_with_the_same_text_pays_for_nothing) {
  const auto file = ingested("a b c");
  const auto before = sql.value(
      "select string_agg(xmin::text, ' ' order by chunk_ord) from millrace.document_chunks");
  again(file);
  parse(file, "a b c");
  validate();
  const auto job = take("ingest_chunk");
  const auto generation = begin_generation(job, "a b c");
  EXPECT_EQ(sql.value("select millrace.find_generation($1::uuid) ->> 'state'", pg::params(job.id)),
            "published");
  expect_settled(settle_with(job, {stage_statement(job, "ingest_chunk", "{}")}));
  const auto embedding = take("ingest_embed");
  expect_settled(settle_with(embedding, {stage_statement(embedding, "ingest_embed", "{}")}));
  expect_settled(publish(generation));
  end();
  EXPECT_EQ(
      sql.value(
          "select string_agg(xmin::text, ' ' order by chunk_ord) from millrace.document_chunks"),
      before);
  EXPECT_EQ(state(file), "completed");
  EXPECT_EQ(progress(file, "embeds_done"), "3");
}

// --- Equal texts ---

TEST_F(Ingest, f08_vectors_of_equal_texts_of_the_tenant_are_taken_over) {
  ingested("a b c");
  const auto file = upload("another");
  parse(file, "b z c");
  validate();
  const auto generation = chunked(file, "b z c");
  const auto job = take("ingest_embed");
  const auto reuse = [&] {
    return sql.value("select millrace.reuse_vectors($1::uuid, $2::uuid, $3::uuid)",
                     pg::params(job.id, job.token, generation));
  };
  EXPECT_EQ(reuse(), "2");
  EXPECT_EQ(reuse(), "0");
  EXPECT_EQ(buffered(generation), "b+ z c+");
  EXPECT_EQ(sql.value("select string_agg(vector::text, ' ' order by vector::text) from "
                      "millrace.document_vector_buffer"),
            "{1,1} {2,1}");
}

// Within a document too, for the part that is asked about; a text is looked up once.
TEST_F(Ingest, f08_vectors_of_equal_texts_of_the_document_are_taken_over) {
  const auto file = upload("text");
  parse(file, "a b a c a b");
  validate();
  const auto generation = chunked(file, "a b a c a b");
  const auto job = take("ingest_embed");
  const auto reuse = [&](int after, std::optional<int> through) {
    return sql.value(
        "select millrace.reuse_vectors($1::uuid, $2::uuid, $3::uuid, p_after => $4::int, "
        "p_through => $5::int)",
        pg::params(job.id, job.token, generation, after, through));
  };
  EXPECT_EQ(reuse(-1, std::nullopt), "0");
  sql.run(put_vectors_sql({chunk(file, 0), chunk(file, 1)}, {"{1,1}", "{2,1}"}),
          pg::params(job.id, job.token, generation));
  EXPECT_EQ(reuse(1, 3), "1");
  EXPECT_EQ(buffered(generation), "a+ b+ a+ c a b");
  EXPECT_EQ(reuse(-1, 3), "0");
  EXPECT_EQ(reuse(3, std::nullopt), "2");
  EXPECT_EQ(buffered(generation), "a+ b+ a+ c a+ b+");
  EXPECT_EQ(progress(file, "embeds_done"), "5");
}

TEST_F(Ingest, i07_nothing_is_taken_over_from_another_tenant) {
  ingested("a b c");
  const auto file = upload("another", kBob, kOther);
  parse(file, "a b c");
  validate();
  const auto generation = chunked(file, "a b c");
  const auto job = take("ingest_embed");
  EXPECT_EQ(sql.value("select millrace.reuse_vectors($1::uuid, $2::uuid, $3::uuid)",
                      pg::params(job.id, job.token, generation)),
            "0");
  EXPECT_EQ(buffered(generation), "a b c");
}

TEST_F(Ingest, vectors_of_another_model_are_not_taken_over) {
  ingested("a b");
  const auto file = upload("another");
  parse(file, "a b");
  validate();
  const auto generation = chunked(file, "a b", "n");
  const auto job = take("ingest_embed");
  EXPECT_EQ(sql.value("select millrace.reuse_vectors($1::uuid, $2::uuid, $3::uuid)",
                      pg::params(job.id, job.token, generation)),
            "0");
}

// --- Ends ---

TEST_F(Ingest, a_deleted_file_takes_its_chunks_along) {
  const auto file = ingested("a b");
  const auto kept = ingested("c d");
  User ada{database, kAda};
  ada.run("select millrace.delete_shell_files(array[$1::uuid])", pg::params(file));
  EXPECT_EQ(seen(file), "");
  EXPECT_EQ(seen(kept), "c d");
  EXPECT_EQ(sql.value("select count(*) from millrace.generation"), "1");
}

// B-23
TEST_F(Ingest, b23_what_was_never_published_is_removed_after_a_while) {
  const auto file = ingested("a b");
  again(file);
  parse(file, "x y");
  validate();
  const auto generation = chunked(file, "x y");
  const auto expire = [&] { return sql.value("select millrace.expire_generations(100)"); };
  pass(sql, "8 days");
  EXPECT_EQ(expire(), "0") << "somebody works on it";
  worker = Worker{sql, "w2"};  // The first one is long gone.
  const auto job = take("ingest_embed");
  worker.settle(job, "permanent", R"({"error": {"error_type": "x", "message": "x"}})");
  EXPECT_EQ(buffered(generation), "x y");
  EXPECT_EQ(expire(), "1");
  EXPECT_EQ(buffered(generation), "");
  EXPECT_EQ(seen(file), "a b") << "what is read stays";
}

// A parser that lost pages.
TEST_F(Ingest, a_document_whose_parser_lost_pages_is_partial) {
  const auto file = upload("text");
  const auto job = take("ingest_document");
  sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
  const auto item = fmt::format(
      R"({{"results": [{{"page": 0, "stage": "ingest_document", "reuse_key": "{}", "blob": {}, "meta": {{}}}}],
           "describes": {{"kind": "pdf", "mime": "application/pdf", "page_count": 3}}, "summary": {{"pages_failed": [2]}}}})",
      std::string(64, '0'), stored(sql, "a b"));
  expect_settled(settle_with(job, {stage_statement(job, "ingest_document", item)}));
  validate();
  const auto generation = chunked(file, "a b");
  embed(file, generation, "a b");
  expect_settled(publish(generation));
  end();
  EXPECT_EQ(state(file), "partial");
  EXPECT_EQ(stage_of(file), "complete");
  EXPECT_EQ(sql.value("select page_count from millrace.document"), "3");
}

TEST_F(Ingest, a_file_that_the_parser_refuses_is_rejected_with_the_rule) {
  const auto file = upload("text");
  const auto job = take("ingest_document");
  sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
  expect_settled(settle_with(
      job,
      {stage_statement(
          job, "ingest_document",
          R"({"rejected": [{"rule": "not_parsed", "severity": "refuse", "detail": "no"}]})")}));
  EXPECT_EQ(state(file), "rejected");
  EXPECT_EQ(stage_of(file), "failed_parse");
  EXPECT_EQ(sql.value("select findings #>> '{0,rule}' from millrace.document"), "not_parsed");
}

// T-02: what others ingest is not told.
TEST_F(Ingest, a_user_sees_the_state_of_the_own_documents_only) {
  const auto file = ingested("a b");
  User ada{database, kAda};
  User bob{database, kBob};
  const auto job = sql.value("select job_id from millrace.upload_jobs");
  EXPECT_EQ(ada.value("select status from millrace.upload_jobs"), "complete");
  EXPECT_EQ(bob.value("select count(*) from millrace.upload_jobs"), "0");
  EXPECT_EQ(ada.value("select millrace.ingest_state($1::uuid) ->> 'document_id'", pg::params(job)),
            file);
  EXPECT_EQ(bob.value("select millrace.ingest_state($1::uuid)", pg::params(job)), "(null)");
}

// B-14: the extension is not packaged everywhere; a type of its name with the casts that the real
// one has stands in for it.
TEST_F(Ingest, b14_vectors_get_the_type_vector_where_there_is_one) {
  const auto file = ingested("a b");
  EXPECT_EQ(sql.value("select millrace.use_vector_type()"), "real[]");
  sql.script(R"(
    create type public.vector as (numbers real[]);
    create function public.to_vector(real[]) returns public.vector language sql immutable as 'select row($1)::public.vector';
    create function public.from_vector(public.vector) returns real[] language sql immutable as 'select $1.numbers';
    create cast (real[] as public.vector) with function public.to_vector(real[]) as assignment;
    create cast (public.vector as real[]) with function public.from_vector(public.vector) as implicit;)");
  EXPECT_EQ(sql.value("select millrace.use_vector_type()"), "public.vector");
  EXPECT_EQ(sql.value("select millrace.use_vector_type()"), "public.vector") << "and again";
  EXPECT_EQ(sql.value("select string_agg(embedding::real[]::text, ' ' order by chunk_ord) from "
                      "millrace.document_chunks"),
            "{0,1} {1,1}");
  // Everything goes on as before.
  const auto next = ingested("b c d");
  EXPECT_EQ(seen(next), "b c d");
  EXPECT_EQ(sql.value("select string_agg(embedding::real[]::text, ' ' order by chunk_ord) from "
                      "millrace.document_chunks where document_id = $1::uuid",
                      pg::params(next)),
            "{0,1} {1,1} {2,1}");
  again(file);
  build(file, "b z");
  EXPECT_EQ(seen(file), "b z");
}

// L-04, B-16: a call more than the one that the claim took has room or is told when.
TEST_F(IngestVectors, l17_calls_of_one_job_share_the_limit_of_the_provider) {
  sql.run(
      "insert into millrace.api_rate_limits (provider_name, api_endpoint) values ('openai', 'm') "
      "on "
      "conflict do nothing");
  sql.run(
      "select millrace.set_limit('openai', 'm', '{\"requests_per_minute\": 2, "
      "\"tokens_per_minute\": "
      "1000}')");
  sql.run("select millrace.bind_providers('{\"ingest_embed\": \"openai:m\"}')");
  const auto ask = [&](int requests, int tokens) {
    return sql.value(
        "select concat_ws(' ', a ->> 'granted', a ->> 'tokens_room', (a ->> 'retry_ms')::numeric > "
        "0) from millrace.take_capacity($1::uuid, $2::uuid, $3::int, $4::bigint) a",
        pg::params(job_.id, job_.token, requests, tokens));
  };
  EXPECT_EQ(ask(0, 300), "true");
  EXPECT_EQ(ask(1, 300), "true");
  EXPECT_EQ(ask(0, 500), "false 400 t") << "a smaller batch would fit";
  EXPECT_EQ(ask(0, 400), "true");
  EXPECT_EQ(ask(1, 1), "false 0 t");
}

// A job that was let in goes on in its own slot, however many others there are: it would wait for
// itself.
TEST_F(IngestVectors, l17_a_further_call_of_a_job_needs_no_further_slot) {
  sql.run(
      "insert into millrace.api_rate_limits (provider_name, api_endpoint) values ('openai', 'm') "
      "on conflict do nothing");
  sql.run("select millrace.set_limit('openai', 'm', '{\"concurrent_requests\": 1}')");
  sql.run("select millrace.bind_providers('{\"ingest_embed\": \"openai:m\"}')");
  const auto provider = sql.value(
      "select provider_id from millrace.api_rate_limits where provider_name = 'openai' and "
      "api_endpoint = 'm'");
  sql.run(
      "select millrace.capacity_take($1::int, array[$2::uuid], array[$3::uuid], 'w', "
      "array[1::bigint], null)",
      pg::params(provider, job_.id, job_.token));
  const auto ask = [&] {
    return sql.value(
        "select concat_ws(' ', a ->> 'granted', (a ->> 'retry_ms')::numeric <= 2000) from "
        "millrace.take_capacity($1::uuid, $2::uuid, 1, 10) a",
        pg::params(job_.id, job_.token));
  };
  EXPECT_EQ(ask(), "true");
  sql.run("select millrace.set_breaker($1::int, 'half_open', millrace.now(), 1, 1, 'broken')",
          pg::params(provider));
  EXPECT_EQ(ask(), "false t") << "asked again soon, not in minutes";
}

}  // namespace
}  // namespace millrace::test
