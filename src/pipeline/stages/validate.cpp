// What a parser handed over in its one form: normalised, hashed, stored by that hash. What lies
// under the hash is what is cut, whoever said what of it (B-07); equal texts of the tenant are one
// content. Bytes go by in pieces (B-25).
#include "base/json_members.h"
#include "blob/disk.h"
#include "chunk/normalise.h"
#include "pipeline/shown_text.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kPieceBytes = 1024 * 1024;

struct Normal {
  blob::BlobInfo info;
  bool has_text = false;
};

Task<Normal> normalised(StageJob& job, store::ContentRef content) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  MR_CO_TRY(auto reader, co_await job.services.blobs.open(key, {}));
  MR_CO_TRY(const auto writer,
            co_await job.services.blobs.create({.content_type = "text/markdown"}));
  Normal normal;
  chunk::Normaliser normaliser;
  ShownText shown;
  std::vector<std::byte> piece(kPieceBytes);
  for (bool more = true; more;) {
    MR_CO_TRY(const auto read, co_await reader->read(piece));
    more = read > 0;
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), read);
    const auto text = co_await blob::on_disk(job.services.threads, [&, bytes, more] {
      std::string out;
      if (more) {
        normaliser.feed(bytes, out);
        shown.feed(out);
      } else {
        normaliser.finish(out);
        shown.feed(out);
        shown.finish();
      }
      return out;
    });
    if (!text.empty()) MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(text))));
    if (job.context->cancelled())
      co_return fail(ErrorKind::cancelled, job.context->cancel_reason());
  }
  normal.has_text = shown.found();
  if (!normal.has_text) {
    MR_CO_TRY_VOID(co_await writer->abort());
    co_return normal;
  }
  MR_CO_TRY(normal.info, co_await writer->finish());
  co_return normal;
}

}  // namespace

Task<Outcome> run_validate(StageJob job) {
  MR_CO_TRY(const auto* parsed, result_of(job, RunKind::parse));
  MR_CO_TRY(auto normal,
            co_await steadily(*job.context, [&] { return normalised(job, parsed->content); }));
  if (!normal.has_text) co_return Outcome::permanent("no_text", "the document has no text");
  const auto language = text_member(parsed->meta, "language");
  json::Object meta;
  meta["parsed_sha256"] = normal.info.key.sha256.hex();
  meta["normal"] = chunk::kNormalVersion;
  meta["size_bytes"] = normal.info.size_bytes;
  if (!language.empty()) meta["language"] = language;
  for (const auto* name : {"parser", "parser_version", "parse_id"}) {
    meta[name] = text_member(parsed->meta, name);
  }
  json::Object summary;
  summary["parsed_sha256"] = meta.at("parsed_sha256");
  summary["text_bytes"] = meta.at("size_bytes");
  if (!language.empty()) summary["language"] = language;
  json::Object result;
  result["page"] = 0;
  result["stage"] = job.stage->name;
  result["reuse_key"] = sha256_hex("validate" + stage_version(*job.stage) + parsed->content.sha256);
  result["blob"] = describe_content(normal.info, "text/markdown; charset=utf-8");
  result["meta"] = std::move(meta);
  json::Object item;
  item["results"] = json::Array{std::move(result)};
  item["summary"] = std::move(summary);
  co_return settled_stage(job, std::move(item));
}

}  // namespace millrace::pipeline
