#include "pipeline/output_files.h"

#include "base/assert.h"
#include "pipeline/content_files.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <span>
#include <utility>

namespace millrace::pipeline {
namespace {

constexpr std::string_view kPdfKind = "pdf";
constexpr std::string_view kPdfName = "document.pdf";
constexpr std::string_view kPdfMime = "application/pdf";

}  // namespace

json::Object source_output() {
  return {
      {"kind", kPdfKind}, {"file_name", kPdfName}, {"content_type", kPdfMime}, {"of_file", true}};
}

Task<void> OutputFiles::open(std::string kind, std::string file_name, std::string content_type) {
  MR_CO_TRY(auto writer, co_await blobs_.create({.content_type = content_type}));
  open_[std::move(kind)] = {.file_name = std::move(file_name),
                            .content_type = std::move(content_type),
                            .writer = std::move(writer)};
  co_return ok();
}

blob::BlobWriter& OutputFiles::writer(std::string_view kind) {
  const auto found = open_.find(kind);
  MR_ASSERT(found != open_.end());
  return *found->second.writer;
}

Task<void> OutputFiles::write(std::string_view kind, std::string text) {
  if (text.empty()) co_return ok();
  co_return co_await writer(kind).write(std::as_bytes(std::span(text)));
}

Task<void> OutputFiles::finish() {
  for (auto& [kind, file] : open_) {
    MR_CO_TRY(const auto info, co_await file.writer->finish());
    note(kind, file, info);
  }
  open_.clear();
  co_return ok();
}

Task<void> OutputFiles::add(std::string kind, std::string file_name, std::string content_type,
                            std::string text) {
  MR_CO_TRY_VOID(co_await open(kind, std::move(file_name), std::move(content_type)));
  MR_CO_TRY_VOID(co_await write(kind, std::move(text)));
  MR_CO_TRY(const auto info, co_await writer(kind).finish());
  note(kind, open_.find(kind)->second, info);
  open_.erase(kind);
  co_return ok();
}

void OutputFiles::add_source(const store::ContentRef& content) {
  outputs_.push_back(source_output());
  artifacts_.push_back({.name = std::string(kPdfName),
                        .kind = std::string(kPdfKind),
                        .mime = std::string(kPdfMime),
                        .sha256 = content.sha256,
                        .size_bytes = static_cast<std::uint64_t>(content.size_bytes)});
}

void OutputFiles::add_result(std::string_view stage, const store::ContentRef& content,
                             std::string kind, std::string file_name, std::string content_type) {
  outputs_.push_back(json::Object{{"kind", kind},
                                  {"file_name", file_name},
                                  {"content_type", content_type},
                                  {"of_stage", stage}});
  artifacts_.push_back({.name = std::move(file_name),
                        .kind = std::move(kind),
                        .mime = std::move(content_type),
                        .sha256 = content.sha256,
                        .size_bytes = static_cast<std::uint64_t>(content.size_bytes)});
}

void OutputFiles::note(std::string kind, const File& file, const blob::BlobInfo& info) {
  json::Object output;
  output["kind"] = kind;
  output["file_name"] = file.file_name;
  output["blob"] = describe_content(info, file.content_type);
  outputs_.push_back(std::move(output));
  artifacts_.push_back({.name = file.file_name,
                        .kind = std::move(kind),
                        .mime = file.content_type,
                        .sha256 = info.key.sha256.hex(),
                        .size_bytes = info.size_bytes});
}

}  // namespace millrace::pipeline
