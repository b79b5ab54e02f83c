// The normalised text in slices for the model that embeds: cut while it goes by in pieces, buffered
// in batches behind the fence. A delivery that died left some of them: the next one writes the same
// again, which changes nothing, and goes on (B-02, B-12).
#include "base/json_members.h"
#include "blob/disk.h"
#include "chunk/chunker.h"
#include "chunk/identity.h"
#include "pipeline/embedding_choice.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kPieceBytes = 1024 * 1024;
constexpr std::size_t kBatchChunks = 500;
constexpr std::size_t kBatchBytes = 1024 * 1024;
// 1 GiB of text has about 3.6 million in the default pipeline, and room for four times that. The
// bound keeps ordinals, and 99 times their number (progress in percent), within an int.
constexpr std::uint64_t kChunksMax = 16'000'000;
static_assert(99 * kChunksMax <= std::numeric_limits<int>::max());

Result<chunk::Sha256Digest> digest_of(std::string_view hex) {
  MR_TRY(const auto digest, blob::Digest::parse(hex));
  return digest.bytes;
}

struct Cut {
  Uuid document;
  chunk::Sha256Digest parsed{};
  chunk::Sha256Digest params{};
};

json::Object meta_of(const chunk::Chunk& one) {
  json::Object meta;
  if (one.page_start) {
    meta["page"] = json::Array{*one.page_start, one.page_end.value_or(*one.page_start)};
  }
  json::Array headings;
  for (const auto& heading : one.heading_path) headings.emplace_back(storable_text(heading));
  if (!one.heading_path.empty()) meta["section"] = storable_text(one.heading_path.back());
  meta["headings"] = std::move(headings);
  meta["offsets"] = json::Object{{"start_byte", one.start_byte},
                                 {"end_byte", one.end_byte},
                                 {"start_code_point", one.start_code_point},
                                 {"end_code_point", one.end_code_point}};
  if (!one.prefix.empty()) meta["prefix"] = one.prefix;
  if (!one.suffix.empty()) meta["suffix"] = one.suffix;
  if (!one.overlap.empty()) meta["overlap"] = one.overlap;
  json::Array blocks;
  for (const auto kind : one.block_kinds) blocks.emplace_back(to_string(kind));
  meta["blocks"] = std::move(blocks);
  meta["tokens"] = one.token_count;
  meta["tokenizer"] = one.tokenizer;
  return meta;
}

json::Object row_of(const Cut& cut, const chunk::Chunk& one) {
  json::Object row;
  row["chunk_id"] = chunk::chunk_id(cut.document, one.ordinal).to_string();
  row["content_id"] = chunk::content_id({.parsed_sha256 = cut.parsed,
                                         .params_sha256 = cut.params,
                                         .start_byte = one.start_byte,
                                         .end_byte = one.end_byte})
                          .to_string();
  row["chunk_ord"] = one.ordinal;
  row["chunk_sha"] = chunk::to_hex(one.sha256);
  row["embed_sha256"] = chunk::to_hex(chunk::sha256_of(one.embedding_text()));
  row["text"] = one.text;
  row["meta"] = meta_of(one);
  return row;
}

// Chunks that are final and not yet in the database.
struct Waiting {
  json::Array rows;
  std::size_t bytes = 0;
  std::uint64_t total = 0;

  bool full() const { return rows.size() >= kBatchChunks || bytes >= kBatchBytes; }
};

class Cutting {
 public:
  Cutting(StageJob& job, store::Generation generation, Cut cut)
      : job_(job), generation_(std::move(generation)), cut_(std::move(cut)) {}

  chunk::ChunkSink sink() {
    return [this](const chunk::Chunk& one) -> Result<void> {
      if (one.ordinal >= kChunksMax) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("the document has more than {} chunks", kChunksMax));
      }
      waiting_.rows.push_back(row_of(cut_, one));
      waiting_.bytes += one.text.size() + one.prefix.size();
      waiting_.total = one.ordinal + 1;
      return {};
    };
  }

  Task<void> flush(bool all) {
    while (waiting_.full() || (all && !waiting_.rows.empty())) {
      json::Array batch;
      const auto count = std::min(waiting_.rows.size(), kBatchChunks);
      for (std::size_t i = 0; i < count; ++i) batch.push_back(std::move(waiting_.rows[i]));
      waiting_.rows.erase(waiting_.rows.begin(),
                          waiting_.rows.begin() + static_cast<std::ptrdiff_t>(count));
      if (waiting_.rows.empty()) waiting_.bytes = 0;
      MR_CO_TRY_VOID(co_await steadily(*job_.context, [&] {
        return job_.services.ingest->put_chunks(
            {.job = job_.id(), .token = job_.context->job().token}, generation_.id, batch);
      }));
      done_ += static_cast<int>(count);
    }
    co_return ok();
  }

  void tell(std::uint64_t read, std::uint64_t size) {
    generation_.chunks_done = done_;
    job_.context->progress(static_cast<int>(size == 0 ? 0 : 99 * read / size),
                           fmt::format("{} chunks", done_), to_json(generation_.progress()));
  }

  int total() const { return static_cast<int>(waiting_.total); }
  const store::Generation& generation() const { return generation_; }

 private:
  StageJob& job_;
  store::Generation generation_;
  Cut cut_;
  Waiting waiting_;
  int done_ = 0;
};

Task<void> cut_all(StageJob& job, Cutting& cutting, const chunk::ChunkOptions& options,
                   const chunk::TokenCounter& counter, const store::ContentRef& content) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(auto reader, co_await job.services.blobs.open(key, {}));
  const auto size = reader->info().size_bytes;
  MR_CO_TRY(auto chunker, chunk::Chunker::make(options, counter, cutting.sink()));
  std::vector<std::byte> piece(kPieceBytes);
  std::uint64_t read_bytes = 0;
  for (bool more = true; more;) {
    MR_CO_TRY(const auto read, co_await reader->read(piece));
    more = read > 0;
    read_bytes += read;
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), read);
    // A piece may take a second with a model's tokenizer; small steps keep what waits small.
    constexpr std::size_t kStep = 128 * 1024;
    for (std::size_t at = 0; at < bytes.size(); at += kStep) {
      MR_CO_TRY_VOID(co_await blob::on_disk(job.services.threads, [&chunker, bytes, at] {
        return chunker.feed(bytes.substr(at, kStep));
      }));
      MR_CO_TRY_VOID(co_await cutting.flush(false));
    }
    if (job.context->cancelled())
      co_return fail(ErrorKind::cancelled, job.context->cancel_reason());
    cutting.tell(read_bytes, size);
  }
  MR_CO_TRY_VOID(
      co_await blob::on_disk(job.services.threads, [&chunker] { return chunker.finish(); }));
  co_return co_await cutting.flush(true);
}

json::Object generation_of(const store::StageResult& normal,
                           const provider::EmbeddingModelInfo& model,
                           const chunk::Sha256Digest& params) {
  json::Object object;
  object["parsed_sha256"] = text_member(normal.meta, "parsed_sha256");
  object["params_sha256"] = chunk::to_hex(params);
  object["parse_id"] = text_member(normal.meta, "parse_id");
  object["parser_name"] = text_member(normal.meta, "parser");
  object["parser_version"] = text_member(normal.meta, "parser_version");
  object["chunker_name"] = chunk::kChunkerName;
  object["chunker_version"] = chunk::kChunkerVersion;
  object["embed_model"] = model.model;
  object["embed_version"] = model.version;
  if (model.dimension > 0) object["dimension"] = model.dimension;
  if (const auto language = text_member(normal.meta, "language"); !language.empty()) {
    object["language"] = language;
  }
  return object;
}

// The beginning of the text, for its language.
Task<json::Value> sample_of(blob::BlobStore& blobs, store::ContentRef content) {
  constexpr std::uint64_t kSampleBytes = 20'000;
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(auto reader, co_await blobs.open(key, {.offset = 0, .length = kSampleBytes}));
  std::string sample(reader->left_bytes(), '\0');
  auto rest = std::as_writable_bytes(std::span(sample));
  while (!rest.empty()) {
    MR_CO_TRY(const auto read, co_await reader->read(rest));
    if (read == 0) break;
    rest = rest.subspan(read);
  }
  sample.resize(sample.size() - rest.size());
  co_return json::Value(storable_text(sample, kSampleBytes));
}

Outcome settled_chunks(StageJob& job, int total) {
  json::Object summary;
  summary["chunks"] = total;
  json::Object item;
  item["summary"] = std::move(summary);
  return settled_stage(job, std::move(item));
}

}  // namespace

Task<Outcome> run_chunk(StageJob job) {
  MR_CO_TRY(const auto* normal, result_of(job, RunKind::validate));
  auto service = co_await embedding_of(job);
  if (!service) co_return std::move(service).error();
  const auto& provider = *service->provider;
  const auto counter = counter_of(provider);
  const auto options = chunk_options(*job.stage, provider);
  if (const auto sound = chunk::check_options(options, *counter); !sound) {
    co_return Outcome::permanent("chunk_options", sound.error().message);
  }
  const auto params = chunk::params_sha256(options, *counter);
  auto asked = generation_of(*normal, provider.info(), params);
  if (!asked.contains("language")) {
    MR_CO_TRY(asked["sample"], co_await steadily(*job.context, [&] {
                return sample_of(job.services.blobs, normal->content);
              }));
  }
  const store::Held held{.job = job.id(), .token = job.context->job().token};
  MR_CO_TRY(auto generation, co_await steadily(*job.context, [&] {
              return job.services.ingest->begin_generation(held, asked);
            }));
  // Equal text, cut and embedded in the same way before: it is there already.
  if (!generation.building()) {
    co_return settled_chunks(job, generation.chunks_total.value_or(0));
  }
  Cut cut{.document = job.work.file.id, .params = params};
  MR_CO_TRY(cut.parsed, digest_of(text_member(normal->meta, "parsed_sha256")));
  Cutting cutting(job, std::move(generation), cut);
  auto done = co_await cut_all(job, cutting, options, *counter, normal->content);
  if (!done) co_return fail(done.error());
  if (cutting.total() == 0) co_return Outcome::permanent("no_text", "the document has no text");
  job.context->in_settlement(
      {store::settle_chunks_statement(job.id(), cutting.generation().id, cutting.total())});
  co_return settled_chunks(job, cutting.total());
}

}  // namespace millrace::pipeline
