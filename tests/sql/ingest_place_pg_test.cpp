// Chunks are put in place before they are published, batch by batch: the switch is short whatever
// their number, a death between two batches costs nothing, and nobody sees what is not published.
#include "sql/ingest_world.h"

#include <algorithm>

namespace millrace::test {
namespace {

class IngestPlaces : public IngestTest {};

// B-25: what the settlement writes does not grow with the document. Chunks are put in place before
// it, batch by batch.
TEST_F(IngestPlaces, b22_the_switch_writes_as_many_rows_for_many_chunks_as_for_few) {
  sql.run("create temp table wrote (rows bigint)");
  const std::pair<std::string, pg::Params> so_far = {
      "insert into pg_temp.wrote select sum(n_tup_ins + n_tup_upd + n_tup_del) from "
      "pg_stat_xact_user_tables where schemaname = 'millrace'",
      {}};
  const auto rows_of_switch = [&](int chunks) {
    std::string text;
    for (int i = 0; i < chunks; ++i) text += fmt::format("{}w{}", i == 0 ? "" : " ", i);
    const auto file = upload(fmt::format("{} chunks", chunks));
    parse(file, text);
    validate();
    const auto generation = chunked(file, text);
    embed(file, generation, text);
    const auto job = take("ingest_publish");
    for (int left = chunks; left > 0; left -= 20) {
      EXPECT_EQ(place(job, generation, 20), std::to_string(std::min(left, 20)));
    }
    EXPECT_EQ(place(job, generation, 20), "0");
    EXPECT_EQ(buffered(generation), "");
    sql.run("truncate pg_temp.wrote");
    expect_settled(settle_with(job, {so_far,
                                     {"select millrace.publish_generation($1::uuid, $2::uuid)",
                                      pg::params(job.id, generation)},
                                     so_far,
                                     stage_statement(job, "ingest_publish", "{}")}));
    EXPECT_EQ(seen(file), text);
    end();
    return sql.value("select max(rows) - min(rows) from pg_temp.wrote");
  };
  const auto few = rows_of_switch(2);
  EXPECT_EQ(rows_of_switch(95), few);
  EXPECT_NE(few, "0");
}

// F07: what lies in its place and is not published is seen by nobody, whichever way one looks.
TEST_F(IngestPlaces, f07_chunks_that_are_put_in_place_are_not_seen_before_the_switch) {
  const auto file = ingested("wheel paddle");
  again(file);
  parse(file, "wheel sluice gate");
  validate();
  const auto generation = chunked(file, "wheel sluice gate");
  embed(file, generation, "wheel sluice gate");
  const auto job = take("ingest_publish");
  const auto expect_seen = [&](const std::string& text, const std::string& wheel) {
    EXPECT_EQ(listed(file), text);
    EXPECT_EQ(found("wheel"), wheel);
    EXPECT_EQ(found("wheel sluice paddle",
                    ", p_vector => '{1,1}', p_embed_model => 'm', "
                    "p_embed_version => '1'"),
              text);
  };
  EXPECT_EQ(place(job, generation, 2), "2");
  EXPECT_EQ(sql.value("select count(*) from millrace.document_chunks"), "4");
  expect_seen("wheel paddle", "wheel");
  EXPECT_EQ(place(job, generation, 2), "1");
  EXPECT_EQ(place(job, generation, 2), "0");
  EXPECT_EQ(buffered(generation), "");
  expect_seen("wheel paddle", "wheel");
  ServerSession reader{database, kTenant};
  EXPECT_EQ(seen(reader, file), "wheel paddle") << "who may read the table";
  EXPECT_EQ(progress(file, "chunks_done"), "3");
  EXPECT_EQ(progress(file, "chunks_in_buffer"), "0");
  expect_settled(publish(job, generation));
  expect_seen("wheel sluice gate", "wheel");
  EXPECT_EQ(seen(file), "wheel sluice gate");
}

// V-24: a death between two batches; the next delivery goes on, and the dead one is refused.
TEST_F(IngestPlaces, v24_placing_goes_on_where_a_death_left_it) {
  const auto file = upload("text");
  parse(file, "a b c d");
  validate();
  const auto generation = chunked(file, "a b c d");
  embed(file, generation, "a b c d");
  const auto dead = take("ingest_publish");
  EXPECT_EQ(place(dead, generation, 3), "3");
  worker.settle(dead, "handback");
  const auto job = take("ingest_publish");
  EXPECT_EQ(sql.refused("select millrace.place_chunks($1::uuid, $2::uuid, $3::uuid)",
                        pg::params(dead.id, dead.token, generation))
                .sqlstate,
            "MR001");
  EXPECT_EQ(buffered(generation), "d+");
  EXPECT_EQ(place(job, generation, 3), "1");
  EXPECT_EQ(place(job, generation, 3), "0");
  expect_settled(publish(job, generation));
  EXPECT_EQ(seen(file), "a b c d");
  EXPECT_EQ(sql.value("select string_agg(embedding::text, ' ' order by chunk_ord) from "
                      "millrace.document_chunks"),
            "{0,1} {1,1} {2,1} {3,1}");
}

// A publishing that was given up half way; the document is begun anew with the same text.
TEST_F(IngestPlaces, v24_what_is_in_place_is_neither_cut_nor_paid_for_again) {
  const auto file = upload("text");
  parse(file, "a b c");
  validate();
  const auto generation = chunked(file, "a b c");
  embed(file, generation, "a b c");
  const auto dead = take("ingest_publish");
  EXPECT_EQ(place(dead, generation, 2), "2");
  worker.settle(dead, "permanent", R"({"error": {"error_type": "x", "message": "x"}})");
  again(file);
  parse(file, "a b c");
  validate();
  EXPECT_EQ(chunked(file, "a b c"), generation);
  EXPECT_EQ(buffered(generation), "c+");
  EXPECT_EQ(progress(file, "chunks_done"), "3");
  EXPECT_EQ(progress(file, "embeds_done"), "3");
  const auto job = take("ingest_embed");
  EXPECT_EQ(
      sql.value("select count(*) from millrace.pending_chunks($1::uuid)", pg::params(generation)),
      "0");
  expect_settled(settle_with(job, {stage_statement(job, "ingest_embed", "{}")}));
  expect_settled(publish(generation));
  EXPECT_EQ(seen(file), "a b c");
}

// What was replaced goes in batches, so that neither the switch nor the keeper is held up by it.
TEST_F(IngestPlaces, b22_what_was_replaced_is_removed_in_batches_and_seen_by_nobody_meanwhile) {
  const auto file = ingested("wheel paddle");
  sql.run(
      "insert into millrace.document_chunks select (jsonb_populate_record(c, "
      "jsonb_build_object('chunk_id', gen_random_uuid(), 'chunk_ord', i))).* from "
      "millrace.document_chunks c, generate_series(2, 2001) i where c.chunk_ord = 0");
  sql.run("update millrace.generation set chunks_total = 2002, chunks_placed = 2002");
  again(file);
  parse(file, "sluice gate");
  validate();
  const auto generation = chunked(file, "sluice gate");
  embed(file, generation, "sluice gate");
  expect_settled(publish(generation));
  EXPECT_EQ(sql.value("select count(*) from millrace.document_chunks"), "1004");
  EXPECT_EQ(listed(file), "sluice gate");
  EXPECT_EQ(found("wheel"), "");
  EXPECT_EQ(found("sluice"), "sluice");
  sql.run("select millrace.expire_generations(100)");
  EXPECT_EQ(seen(file), "sluice gate");
  EXPECT_EQ(sql.value("select string_agg(state || ' ' || chunks_placed, ', ' order by created_at) "
                      "from millrace.generation"),
            "superseded 0, published 2");
}

}  // namespace
}  // namespace millrace::test
