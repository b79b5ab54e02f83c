#include "store/ingest_store.h"

#include "base/json_members.h"
#include "pg/pool.h"
#include "store/sqlstate.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAcquire{10'000};
constexpr milliseconds kCall{60'000};

std::optional<int> int_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return static_cast<int>(value->to_number<double>());
}

Result<Generation> read_generation(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text));
  Generation generation;
  MR_TRY(generation.id, Uuid::parse(text_member(object, "generation_id")));
  generation.state = text_member(object, "state");
  generation.model = text_member(object, "embed_model");
  generation.version = text_member(object, "embed_version");
  generation.dimension = int_of(object, "dimension");
  generation.chunks_total = int_of(object, "chunks_total");
  generation.chunks_done = int_of(object, "chunks_done").value_or(0);
  generation.embeds_done = int_of(object, "embeds_done").value_or(0);
  generation.placed =
      generation.chunks_done - int_of(object, "chunks_in_buffer").value_or(generation.chunks_done);
  generation.turned_away = int_of(object, "turned_away").value_or(0);
  return generation;
}

class PgIngestStore final : public IngestStore {
 public:
  explicit PgIngestStore(pg::Pool& pool) : pool_(pool) {}

  Task<std::optional<ContentRef>> find_parsed(JobId job) override {
    MR_CO_TRY(const auto text, co_await ask(MR_POINT("find_parsed"),
                                            "select millrace.find_parsed($1)", pg::params(job)));
    if (text.empty()) co_return std::optional<ContentRef>();
    MR_CO_TRY(const auto object, parse_json_object(text));
    co_return std::optional(ContentRef{.sha256 = text_member(object, "sha256"),
                                       .size_bytes = int_member(object, "size_bytes"),
                                       .store_key = text_member(object, "store_key")});
  }

  Task<Generation> begin_generation(Held held, json::Object generation) override {
    pg::Params params;
    params.add(held.job).add(held.token).add_json(generation);
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("begin_generation"),
                           "select millrace.begin_generation($1, $2, $3)", std::move(params)));
    co_return read_generation(text);
  }

  Task<std::optional<Generation>> find_generation(JobId job) override {
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("find_generation"), "select millrace.find_generation($1)",
                           pg::params(job)));
    if (text.empty()) co_return std::optional<Generation>();
    MR_CO_TRY(auto generation, read_generation(text));
    co_return std::optional(std::move(generation));
  }

  Task<void> put_chunks(Held held, Uuid generation, json::Array chunks) override {
    pg::Params params;
    params.add(held.job).add(held.token).add(generation).add_json(json::Value(std::move(chunks)));
    MR_CO_TRY_VOID(co_await call(MR_POINT("put_chunks"),
                                 "select millrace.put_chunks($1, $2, $3, $4)", std::move(params)));
    co_return ok();
  }

  Task<std::vector<PendingChunk>> pending_chunks(Uuid generation, int after, int limit) override {
    MR_CO_TRY(auto rows,
              co_await call(MR_POINT("pending_chunks"),
                            "select chunk_id, chunk_ord, embed_sha256, embedding_text from "
                            "millrace.pending_chunks($1, $2, $3)",
                            pg::params(generation, after, limit)));
    std::vector<PendingChunk> chunks;
    chunks.reserve(rows.rows());
    for (const auto row : rows) {
      chunks.push_back({.id = row.uuid(0),
                        .ord = row.i32(1),
                        .embed_sha256 = std::string(row.text(2)),
                        .text = std::string(row.text(3))});
    }
    co_return chunks;
  }

  Task<int> reuse_vectors(Held held, Uuid generation, ChunkRange range) override {
    MR_CO_TRY(auto rows, co_await call(MR_POINT("reuse_vectors"),
                                       "select millrace.reuse_vectors($1, $2, $3, p_after => $4, "
                                       "p_through => $5)",
                                       pg::params(held.job, held.token, generation, range.after,
                                                  range.through)));
    co_return rows[0].i32(0);
  }

  Task<void> put_vectors(Held held, Uuid generation, VectorBatch batch,
                         std::optional<CallSettled> paid) override {
    pg::Params params;
    params.add(held.job).add(held.token).add(generation).add(batch.id);
    params.add_uuid_array(batch.chunks).add_array(batch.vectors).add_array(batch.shas);
    params.add_array(batch.signatures);
    if (paid) {
      params.add(paid->call).add_json(paid->end);
    } else {
      params.add_null().add_null();
    }
    MR_CO_TRY_VOID(co_await call(
        MR_POINT("put_vectors"),
        "select millrace.put_vectors($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", std::move(params)));
    co_return ok();
  }

  Task<int> place_chunks(Held held, Uuid generation) override {
    MR_CO_TRY(auto rows,
              co_await call(MR_POINT("place_chunks"), "select millrace.place_chunks($1, $2, $3)",
                            pg::params(held.job, held.token, generation)));
    co_return rows[0].i32(0);
  }

  Task<CapacityGrant> take_capacity(Held held, int requests, std::uint64_t tokens,
                                    std::string provider) override {
    MR_CO_TRY(
        const auto text,
        co_await ask(MR_POINT("take_capacity"), "select millrace.take_capacity($1, $2, $3, $4, $5)",
                     pg::params(held.job, held.token, requests, tokens, provider)));
    MR_CO_TRY(const auto answer, parse_json_object(text));
    CapacityGrant grant;
    grant.granted = bool_member(answer, "granted");
    if (const auto* capacity = object_member(answer, "capacity")) grant.capacity = *capacity;
    grant.tokens_room = int_member(answer, "tokens_room");
    grant.retry = milliseconds(int_member(answer, "retry_ms"));
    co_return grant;
  }

  Task<std::vector<std::string>> list_chunks(Uuid file, int after, int limit) override {
    MR_CO_TRY(auto rows, co_await call(MR_POINT("list_chunks"),
                                       "select c from millrace.list_chunks($1, $2, $3) c",
                                       pg::params(file, after, limit)));
    std::vector<std::string> chunks;
    chunks.reserve(rows.rows());
    for (const auto row : rows) chunks.emplace_back(row.text(0));
    co_return chunks;
  }

 private:
  Task<pg::ResultSet> call(fault::Point point, std::string sql, pg::Params params) {
    auto name = "mr_ingest_" + std::string(point.name);
    MR_CO_TRY(auto connection, co_await pool_.acquire(kAcquire, name));
    co_return translate(co_await connection->prepared(std::move(name), std::move(sql),
                                                      std::move(params), {kCall, point}));
  }

  // The first column of the first row; null gives an empty text.
  Task<std::string> ask(fault::Point point, std::string sql, pg::Params params) {
    MR_CO_TRY(auto rows, co_await call(point, std::move(sql), std::move(params)));
    co_return rows.rows() == 0 || rows[0].is_null(0) ? std::string() : std::string(rows[0].text(0));
  }

  pg::Pool& pool_;
};

}  // namespace

json::Object Generation::progress() const {
  json::Object object;
  object["chunks_total"] = chunks_total ? json::Value(*chunks_total) : json::Value(nullptr);
  object["chunks_done"] = chunks_done;
  object["embeds_done"] = embeds_done;
  object["chunks_in_buffer"] = std::max(0, chunks_done - placed);
  object["vectors_in_buffer"] = std::max(0, embeds_done - placed);
  return object;
}

void VectorBatch::add(Uuid chunk, const std::vector<float>& vector) {
  chunks.push_back(chunk);
  vectors.push_back(vector_text(vector));
  shas.push_back(vector_sha(vector));
  signatures.push_back(signature_of(vector));
}

std::unique_ptr<IngestStore> make_ingest_store(pg::Pool& pool) {
  return std::make_unique<PgIngestStore>(pool);
}

SqlStatement settle_chunks_statement(JobId job, Uuid generation, int total) {
  return {.sql = "select millrace.settle_chunks($1, $2, $3)",
          .params = {job.to_string(), generation.to_string(), std::to_string(total)}};
}

SqlStatement publish_generation_statement(JobId job, Uuid generation) {
  return {.sql = "select millrace.publish_generation($1, $2)",
          .params = {job.to_string(), generation.to_string()}};
}

std::string vector_sha(const std::vector<float>& vector) {
  std::string bytes;
  bytes.reserve(vector.size() * 4);
  for (const float x : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((bits >> shift) & 0xff);
  }
  std::string base64((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                       static_cast<int>(bytes.size()));
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(base64.data()), static_cast<std::size_t>(length),
           digest.data());
  std::string hex;
  for (const auto byte : digest) fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

std::string signature_of(const std::vector<float>& vector) {
  std::string bits;
  bits.reserve(vector.size());
  for (const float x : vector) bits += x > 0 ? '1' : '0';
  return bits;
}

std::string vector_text(const std::vector<float>& vector) {
  std::string text = "{";
  for (const float x : vector) {
    if (text.size() > 1) text += ',';
    fmt::format_to(std::back_inserter(text), "{}", x);
  }
  return text + '}';
}

}  // namespace millrace::store
