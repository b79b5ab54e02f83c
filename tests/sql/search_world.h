// Published chunks as a test wants them, and questions to them.
//
// Rows are put where publishing leaves them, without the stages before: those have tests of their
// own. Words and signatures are made by the functions that publishing calls.
#pragma once

#include "sql/server_world.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace millrace::test {

struct PutChunk {
  std::string name = "a";  // Of the document; equal names of one owner are one document.
  std::string text = "text";
  std::string headings = "{}";    // An array literal.
  std::string vector = "(none)";  // Likewise; of the model "m".
  std::string version = "1";      // Of the model.
  std::string config = "english";
  std::string_view tenant = kTenant;
  std::string_view owner = kAda;
  std::int64_t start_byte = 0;
};

class SearchTest : public EngineTest {
 protected:
  void SetUp() override {
    // Only this session: chunks stand without the generations that made them.
    sql.run("set session_replication_role = replica");
  }

  static std::string document_of(std::string_view name, std::string_view owner) {
    return fmt::format("md5('{}/{}')::uuid", owner, name);
  }

  void put(const PutChunk& chunk) {
    const auto document = document_of(chunk.name, chunk.owner);
    sql.run(fmt::format(
                "insert into millrace.shell_files (id, tenant_id, owner_id, patient_id, file_name, "
                "size_bytes, content_type, sha256, storage_path, created_at, updated_at) "
                "select {0}, $1::uuid, $2::uuid, $2::uuid, $3, 1, 'text/plain', sha256('x'), 'x', "
                "millrace.now(), millrace.now() "
                "where not exists (select from millrace.shell_files where id = {0})",
                document),
            pg::params(chunk.tenant, chunk.owner, chunk.name));
    sql.run(fmt::format(R"(
      insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text,
          heading_path, start_byte, end_byte, meta, embedding, embed_sha256, signature, embed_model, embed_version, config, words, created_at)
      select {0}, gen_random_uuid(), {0}, gen_random_uuid(), $1::uuid, $2::uuid, (select count(*) from millrace.document_chunks where document_id = {0}), 'm', '1', '', $3::text,
             $4::text[], $8::bigint, $8::bigint + octet_length($3::text), '{{}}', v.v, '\x00', millrace.vector_signature(v.v), case when v.v is null then null else 'm' end,
             case when v.v is null then null else $6::text end, $7::text, millrace.chunk_words($7::text::regconfig, $4::text[], $3::text), millrace.now()
        from (select nullif($5::text, '(none)')::real[] as v) v)",
                        document),
            pg::params(chunk.tenant, chunk.owner, chunk.text, chunk.headings, chunk.vector,
                       chunk.version, chunk.config, chunk.start_byte));
  }

  // "a 0, b 1": name of the document and number of the chunk, best first. `more`: named arguments.
  static std::string ask(Session& session, std::string_view query, std::string_view more = "") {
    return session.value(
        fmt::format("select coalesce(string_agg(concat_ws(' ', s ->> 'document_name', s ->> "
                    "'chunk_ord'), ', ' order by (s ->> 'rank')::integer), '') "
                    "from millrace.search_chunks(p_query => $1{}{}) s",
                    more.empty() ? "" : ", ", more),
        pg::params(query));
  }
  std::string ask(std::string_view query, std::string_view more = "") {
    ServerSession api{database};
    return ask(api, query, more);
  }
};

}  // namespace millrace::test
