// Ingest as a test speaks it, without a parser and a model: a file, the jobs of its stages one
// after the other, chunks and vectors by their numbers. Statements of a stage go with the
// settlement of its job, as the worker sends them.
#pragma once

#include "sql/server_world.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

inline constexpr std::string_view kIngestStages[] = {"ingest_document", "ingest_validate",
                                                     "ingest_chunk",    "ingest_embed",
                                                     "ingest_publish",  "document_outputs"};

class IngestTest : public EngineTest {
 protected:
  void SetUp() override {
    sql.run(R"(select millrace.register_pipelines(jsonb_build_array(jsonb_build_object(
      'name', 'ingest', 'version', '1.0.0', 'hash', repeat('ab', 32),
      'first_job', '{"job_type": "ingest_document", "queue": "ingest"}'::jsonb,
      'definition', '{"name": "ingest", "stage": [
         {"name": "ingest_document", "run": "parse", "queue": "ingest"},
         {"name": "ingest_validate", "run": "validate", "queue": "ingest"},
         {"name": "ingest_chunk", "run": "chunk", "queue": "ingest"},
         {"name": "ingest_embed", "run": "embed", "queue": "ingest"},
         {"name": "ingest_publish", "run": "publish", "queue": "ingest"}]}'::jsonb,
      'job_types', '[{"job_type": "ingest_validate", "queue": "ingest"},
         {"job_type": "ingest_chunk", "queue": "ingest"}, {"job_type": "ingest_embed", "queue": "ingest"},
         {"job_type": "ingest_publish", "queue": "ingest"}]'::jsonb))))");
  }

  // --- A file and its jobs ---

  std::string upload(std::string_view content, std::string_view user = kAda,
                     std::string_view tenant = kTenant) {
    User person{database, user, tenant};
    if (person.value("select id from millrace.user_profiles limit 1") == "(none)") {
      person.run("select millrace.create_profile('P')");
    }
    ServerSession server{database, tenant};
    return member(server, put_file(server, user, content, R"({"pipeline": "ingest"})"), "id");
  }
  Delivery take(std::string_view type) {
    keep(sql);
    return worker.take({.queue = type == "document_outputs" ? "fast_queue" : "ingest",
                        .types = fmt::format("{{{}}}", type)});
  }
  std::optional<Error> settle_with(const Delivery& job,
                                   const std::vector<std::pair<std::string, pg::Params>>& all) {
    auto& connection = sql.connection();
    must(connection.query("begin"));
    auto done = connection.query(
        "select millrace.settle_or_raise($1, jsonb_build_array(jsonb_build_object('job_id', "
        "$2::text, 'token', $3::text, 'outcome', 'ok')))",
        pg::params(worker.id(), job.id, job.token));
    for (const auto& [statement, params] : all) {
      if (done) done = connection.query(statement, params);
    }
    if (!done) {
      must(connection.query("rollback"));
      return std::move(done).error();
    }
    must(connection.query("commit"));
    return std::nullopt;
  }
  static std::string plan_after(std::string_view stage) {
    for (std::size_t i = 0; i + 1 < std::size(kIngestStages); ++i) {
      if (kIngestStages[i] != stage) continue;
      return fmt::format(R"({{"stage": "{}", "each": "document", "job": {{}}}})",
                         kIngestStages[i + 1]);
    }
    return "null";
  }
  static std::pair<std::string, pg::Params> stage_statement(const Delivery& job,
                                                            std::string_view stage,
                                                            const std::string& item) {
    return {"select millrace.settle_stage($1::uuid, $2::jsonb, nullif($3::jsonb, 'null'))",
            pg::params(job.id, item, plan_after(stage))};
  }
  void expect_settled(const std::optional<Error>& error) {
    EXPECT_FALSE(error) << error->describe();
  }

  // The parse says so much of itself, and hands over this text.
  void parse(const std::string& file, std::string_view text) {
    const auto job = take("ingest_document");
    EXPECT_EQ(payload(job, "shell_file_id"), file);
    sql.run("select millrace.begin_document($1::uuid, null)", pg::params(job.id));
    const auto item = fmt::format(
        R"({{"results": [{{"page": 0, "stage": "ingest_document", "reuse_key": "{}", "blob": {},
             "meta": {{"parser": "builtin"}}}}], "describes": {{"kind": "markdown", "mime": "text/markdown",
             "page_count": null}}, "summary": {{"pages_failed": []}}}})",
        std::string(64, '0'), stored(sql, text));
    expect_settled(settle_with(job, {stage_statement(job, "ingest_document", item)}));
  }
  void validate() {
    const auto job = take("ingest_validate");
    expect_settled(settle_with(job, {stage_statement(job, "ingest_validate", "{}")}));
  }

  // --- Chunks ---

  struct Built {
    Delivery job;
    std::string generation;
    std::string text;
  };
  std::string begin_generation(const Delivery& job, std::string_view text,
                               std::string_view model = "m", std::string_view dimension = "2") {
    return sql.value(
        "select millrace.begin_generation($1::uuid, $2::uuid, jsonb_build_object('parsed_sha256', "
        "encode(sha256(convert_to($3, 'UTF8')), 'hex'), 'params_sha256', repeat('cd', 32), "
        "'parse_id', gen_random_uuid(), 'parser_name', 'builtin', 'parser_version', '1', "
        "'chunker_name', 'markdown-simple', 'chunker_version', '1', 'embed_model', $4::text, "
        "'embed_version', '1', 'dimension', $5::int, 'language', 'en')) ->> 'generation_id'",
        pg::params(job.id, job.token, text, model, dimension));
  }
  // Of the text "a b c" three chunks: a, b and c.
  static std::string chunk_rows(std::string_view document, std::string_view text, int from = 0,
                                int to = 1'000) {
    std::string rows;
    int ord = 0;
    for (std::size_t at = 0; at < text.size(); ++ord) {
      const auto end = std::min(text.find(' ', at), text.size());
      const auto word = text.substr(at, end - at);
      if (ord >= from && ord < to) {
        rows += fmt::format(
            R"({}jsonb_build_object('chunk_id', md5('{}:{}')::uuid, 'content_id', md5('{}')::uuid,
               'chunk_ord', {}, 'chunk_sha', encode(sha256('{}'::bytea), 'hex'), 'embed_sha256',
               encode(sha256('{}'::bytea), 'hex'), 'text', '{}', 'meta', jsonb_build_object('headings',
               jsonb_build_array('Title'), 'page', jsonb_build_array(1, 2), 'offsets',
               jsonb_build_object('start_byte', {}, 'end_byte', {}))))",
            rows.empty() ? "" : ", ", document, ord, word, ord, word, word, word, at, end);
      }
      at = end + 1;
    }
    return "jsonb_build_array(" + rows + ")";
  }
  static int chunk_count(std::string_view text) {
    return static_cast<int>(std::ranges::count(text, ' ')) + 1;
  }
  static std::string put_chunks_sql(std::string_view document, std::string_view text, int from = 0,
                                    int to = 1'000) {
    return "select millrace.put_chunks($1::uuid, $2::uuid, $3::uuid, " +
           chunk_rows(document, text, from, to) + ")";
  }
  // The stage `chunk` up to its settlement.
  Built cut(const std::string& file, std::string_view text, std::string_view model = "m") {
    const auto job = take("ingest_chunk");
    const auto generation = begin_generation(job, text, model);
    sql.run(put_chunks_sql(file, text), pg::params(job.id, job.token, generation));
    return {.job = job, .generation = generation, .text = std::string(text)};
  }
  std::optional<Error> settle_cut(const Built& built, int total) {
    return settle_with(built.job, {{"select millrace.settle_chunks($1::uuid, $2::uuid, $3::int)",
                                    pg::params(built.job.id, built.generation, total)},
                                   stage_statement(built.job, "ingest_chunk", "{}")});
  }
  std::string chunked(const std::string& file, std::string_view text,
                      std::string_view model = "m") {
    const auto built = cut(file, text, model);
    expect_settled(settle_cut(built, chunk_count(text)));
    return built.generation;
  }

  // --- Vectors ---

  static std::string chunk(std::string_view document, int ord) {
    return fmt::format("md5('{}:{}')::uuid", document, ord);
  }
  std::string put_vectors_sql(const std::vector<std::string>& chunks,
                              const std::vector<std::string>& vectors,
                              std::string_view sha = "sha") {
    std::string texts;
    std::string shas;
    std::string bits;
    for (const auto& one : vectors) {
      const std::string comma = texts.empty() ? "" : ", ";
      const auto size = static_cast<std::size_t>(std::ranges::count(one, ',') + 1);
      texts += fmt::format("{}'{}'", comma, one);
      shas += fmt::format("{}'{}{}'", comma, sha, one);
      bits += fmt::format("{}'{}'", comma, std::string(size, '1'));
    }
    return fmt::format(
        "select millrace.put_vectors($1::uuid, $2::uuid, $3::uuid, gen_random_uuid(), "
        "array[{}]::uuid[], array[{}], array[{}], array[{}])",
        fmt::join(chunks, ", "), texts, shas, bits);
  }
  void embed(const std::string& file, const std::string& generation, std::string_view text) {
    const auto job = take("ingest_embed");
    put_all(job, file, generation, text);
    expect_settled(settle_with(job, {stage_statement(job, "ingest_embed", "{}")}));
  }
  void put_all(const Delivery& job, const std::string& file, const std::string& generation,
               std::string_view text) {
    std::vector<std::string> chunks;
    std::vector<std::string> vectors;
    for (int i = 0; i < chunk_count(text); ++i) {
      chunks.push_back(chunk(file, i));
      vectors.push_back(fmt::format("{{{},1}}", i));
    }
    sql.run(put_vectors_sql(chunks, vectors), pg::params(job.id, job.token, generation));
  }
  std::optional<Error> publish(const std::string& generation) {
    const auto job = take("ingest_publish");
    return publish(job, generation);
  }
  std::optional<Error> publish(const Delivery& job, const std::string& generation) {
    return settle_with(job, {{"select millrace.publish_generation($1::uuid, $2::uuid)",
                              pg::params(job.id, generation)},
                             stage_statement(job, "ingest_publish", "{}")});
  }
  // A batch of what will be published, as the stage does before its settlement.
  std::string place(const Delivery& job, const std::string& generation, int limit) {
    return sql.value("select millrace.place_chunks($1::uuid, $2::uuid, $3::uuid, $4::int)",
                     pg::params(job.id, job.token, generation, limit));
  }
  void end() {
    const auto job = take("document_outputs");
    expect_settled(settle_with(job, {stage_statement(job, "document_outputs", "{}")}));
  }
  // From upload to the end.
  std::string ingested(std::string_view text, std::string_view user = kAda,
                       std::string_view tenant = kTenant) {
    const auto file = upload(text, user, tenant);
    build(file, text);
    return file;
  }
  void build(const std::string& file, std::string_view text) {
    parse(file, text);
    validate();
    const auto generation = chunked(file, text);
    embed(file, generation, text);
    expect_settled(publish(generation));
    end();
  }
  void again(const std::string& file) {
    sql.run("select millrace.retry_document($1::uuid)", pg::params(file));
  }

  // --- Looking ---

  std::string payload(const Delivery& job, std::string_view field) {
    return sql.value("select payload ->> $2 from millrace.job_fact where job_id = $1::uuid",
                     pg::params(job.id, field));
  }
  // "a b c", as whoever searches sees it.
  std::string seen(const std::string& file) { return seen(sql, file); }
  static std::string seen(Session& by, const std::string& file) {
    return by.value(
        "select coalesce(string_agg(text, ' ' order by chunk_ord), '') from "
        "millrace.document_chunks where document_id = $1::uuid",
        pg::params(file));
  }
  // The same as the outputs have it, and as a question finds it, in the order of the text.
  std::string listed(const std::string& file) {
    return sql.value(
        "select coalesce(string_agg(c ->> 'text', ' ' order by (c ->> 'ord')::int), '') from "
        "millrace.list_chunks($1::uuid) c",
        pg::params(file));
  }
  std::string found(std::string_view query, std::string_view more = "") {
    ServerSession api{database, kTenant};
    return api.value(
        fmt::format("select coalesce(string_agg(s ->> 'text', ' ' order by (s ->> 'chunk_ord')::"
                    "int), '') from millrace.search_chunks(p_query => $1{}) s",
                    more),
        pg::params(query));
  }
  std::string buffered(const std::string& generation) {
    return sql.value(
        "select coalesce(string_agg(b.text || case when v.chunk_id is null then '' else '+' end, "
        "' ' order by b.chunk_ord), '') from millrace.document_chunk_buffer b left join "
        "millrace.document_vector_buffer v using (generation_id, chunk_id) where b.generation_id = "
        "$1::uuid",
        pg::params(generation));
  }
  std::string stage_of(const std::string& file) {
    return sql.value("select status from millrace.upload_jobs where document_id = $1::uuid",
                     pg::params(file));
  }
  std::string progress(const std::string& file, std::string_view name) {
    return sql.value(
        "select progress ->> $2 from millrace.upload_jobs where document_id = $1::uuid",
        pg::params(file, name));
  }
  std::string state(const std::string& file) {
    return sql.value("select status from millrace.shell_files where id = $1::uuid",
                     pg::params(file));
  }

  Worker worker{sql, "w1"};
};

}  // namespace millrace::test
