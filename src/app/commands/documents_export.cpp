// Outputs of a document into a folder.
//
// Every file is written beside its name, compared with the digest that the database has of it,
// synced and then renamed: what is there is whole.
#include "api/routes/documents.h"
#include "api/upload/request_content.h"
#include "app/commands/documents.h"
#include "app/commands/job_spec.h"
#include "app/commands/signed_manifest.h"
#include "app/commands/watch.h"
#include "app/exit_code.h"
#include "app/new_file.h"
#include "base/duration.h"
#include "blob/digest.h"
#include "output/manifest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

constexpr int kPicturesAtOnce = 32;
constexpr std::chrono::milliseconds kLookEvery{100};

struct ExportArguments {
  std::string id;
  std::vector<std::string> formats;
  std::string folder;
  std::optional<std::string> timeout;
};

class Export {
 public:
  Export(Context& context, DocumentDesk& desk, Uuid id, fs::path folder,
         std::optional<std::chrono::milliseconds> timeout)
      : context_(context), desk_(desk), id_(id), folder_(std::move(folder)), timeout_(timeout) {}

  Result<int> run(const std::vector<std::string>& formats);

 private:
  Result<void> look();
  Result<void> write_all();
  Result<void> write_kind(const std::string& kind);
  Result<void> write_output(const json::Object& output);
  Result<void> sign(const json::Object& manifest);
  Result<void> write_images();
  Result<bool> draw(const std::vector<int>& pages);
  Result<void> write_image(int page);
  Result<void> verify();
  Error missing(const std::string& kind) const;
  json::Array outputs() const;

  Context& context_;
  DocumentDesk& desk_;
  Uuid id_;
  fs::path folder_;
  std::optional<std::chrono::milliseconds> timeout_;
  json::Object document_;
  json::Array written_;
  std::optional<identity::ContentSigner> signer_;  // Of the manifest, once it is signed.
  bool verified_ = false;
  bool interrupted_ = false;
  std::vector<std::string> failures_;  // Pages without a picture.
};

Result<void> Export::look() {
  MR_TRY(document_, desk_.get(id_));
  return {};
}

json::Array Export::outputs() const {
  const auto* found = member(document_, "outputs");
  return found != nullptr && found->is_array() ? found->get_array() : json::Array();
}

Error Export::missing(const std::string& kind) const {
  if (!has_ended(document_)) {
    return {.kind = ErrorKind::conflict,
            .message = fmt::format("document {} is still being processed", id_),
            .sqlstate = "MR042",
            .hint = fmt::format("follow it with 'millrace documents watch {}'", id_)};
  }
  std::set<std::string> kinds;
  for (const auto& output : outputs()) kinds.insert(text_member(output.as_object(), "kind"));
  std::string others;
  for (const auto& other : kinds) others += (others.empty() ? "" : ", ") + other;
  return {.kind = ErrorKind::not_found,
          .message =
              fmt::format("document {} ({}) has no output{}", id_, text_member(document_, "state"),
                          kind.empty() ? std::string() : " " + kind),
          .hint = others.empty() ? std::string() : "it has " + others};
}

Result<void> Export::write_output(const json::Object& output) {
  const auto kind = text_member(output, "kind");
  const auto page = static_cast<int>(int_member(output, "page"));
  const auto name = api::clean_file_name(text_member(output, "file_name"));
  if (name.empty() || name.starts_with('.')) {
    return fail(ErrorKind::internal, fmt::format("output {} has no name", kind));
  }
  MR_TRY(auto file, NewFile::create(folder_ / name));
  MR_TRY_VOID(desk_.read_output(
      id_, kind, page, [&file](std::span<const std::byte> bytes) { return file->write(bytes); }));
  const auto sha256 = file->finish_digest();
  if (sha256 != text_member(output, "sha256")) {
    return fail(Error{.kind = ErrorKind::conflict,
                      .message = fmt::format("{} was made anew meanwhile", name),
                      .hint = "export it again"});
  }
  MR_TRY_VOID(file->keep());
  if (!context_.json()) {
    context_.print(
        fmt::format("{}  {}\n", (folder_ / name).string(), format_size(file->size_bytes())));
  }
  written_.push_back(json::Object{{"kind", kind},
                                  {"page", page == 0 ? json::Value(nullptr) : json::Value(page)},
                                  {"file_name", name},
                                  {"size_bytes", file->size_bytes()},
                                  {"sha256", sha256}});
  if (name == kManifestFile) return sign(written_.back().as_object());
  return {};
}

// What was signed before is gone: it may be of another manifest.
Result<void> Export::sign(const json::Object& manifest) {
  std::error_code error;
  fs::remove(folder_ / kSignatureFile, error);
  if (error) return fail(cannot_write(folder_ / kSignatureFile, error.value()));
  auto signer = find_content_signer(context_);
  if (!signer.has_value() || !*signer) {
    context_.note(
        fmt::format("{} is not signed: {}", kManifestFile,
                    signer.has_value() ? "auth.jwt_secret is not set" : signer.error().message));
    return {};
  }
  MR_TRY_VOID(sign_manifest(folder_, text_member(manifest, "sha256"), **signer));
  signer_ = **std::move(signer);
  return {};
}

Result<void> Export::write_kind(const std::string& kind) {
  for (const auto& value : outputs()) {
    if (text_member(value.as_object(), "kind") == kind) return write_output(value.as_object());
  }
  return fail(missing(kind));
}

Result<void> Export::write_all() {
  const auto all = outputs();
  if (all.empty()) return fail(missing({}));
  for (const auto& output : all) MR_TRY_VOID(write_output(output.as_object()));
  return verify();
}

// Whoever gets the folder can do the same: the manifest has the digest of everything in it.
Result<void> Export::verify() {
  output::RecomputedDigests digests;
  bool is_there = false;
  for (const auto& value : written_) {
    const auto& file = value.as_object();
    const auto kind = text_member(file, "kind");
    is_there = is_there || kind == "manifest";
    if (kind == "manifest" || kind == "image") continue;  // Pictures are made when asked for.
    digests.artifacts[text_member(file, "file_name")] = {
        .sha256 = text_member(file, "sha256"),
        .size_bytes = static_cast<std::uint64_t>(int_member(file, "size_bytes"))};
  }
  if (!is_there) return {};
  blob::Sha256Stream original;
  std::uint64_t size = 0;
  MR_TRY_VOID(desk_.read_original(id_, [&](std::span<const std::byte> bytes) -> Result<void> {
    original.update(bytes);
    size += bytes.size();
    return {};
  }));
  digests.inputs[text_member(document_, "file_name")] = {.sha256 = original.finish().hex(),
                                                         .size_bytes = size};
  MR_TRY(const auto manifest, read_manifest(folder_));
  if (signer_) MR_TRY_VOID(read_signed_manifest(folder_, {signer_->public_key()}));
  const auto fits = output::verify_manifest(manifest, digests);
  if (!fits) return fail_with_context(std::string(kManifestFile), fits.error());
  verified_ = true;
  return {};
}

// Until the jobs of these pages have ended; false when somebody has had enough.
Result<bool> Export::draw(const std::vector<int>& pages) {
  std::vector<std::pair<int, JobId>> open;
  for (const auto page : pages) {
    MR_TRY(const auto job, desk_.ask_image(id_, page));
    open.emplace_back(page, job);
  }
  const auto started = context_.clock.now();
  for (;;) {
    std::vector<std::pair<int, JobId>> left;
    for (const auto& [page, job] : open) {
      MR_TRY(const auto state, desk_.admin().get_job(job));
      const auto status = text_member(state, "status");
      if (status == "completed") continue;
      if (status == "failed" || status == "cancelled") {
        const auto* error = member(state, "error");
        failures_.push_back(fmt::format(
            "page {}: {}", page,
            error == nullptr || error->is_null() ? status : show_error(*error, state).text));
      } else {
        left.emplace_back(page, job);
      }
    }
    if (left.empty()) return true;
    open = std::move(left);
    if (timeout_ && context_.clock.now() - started > *timeout_) {
      return fail(Error{.kind = ErrorKind::unavailable,
                        .message = fmt::format("{} pictures are still not drawn after {}",
                                               open.size(), format_duration(*timeout_)),
                        .hint = "is a worker running?"});
    }
    if (Interrupt::wait(kLookEvery)) return false;
  }
}

Result<void> Export::write_image(int page) {
  for (const auto& value : outputs()) {
    const auto& output = value.as_object();
    if (text_member(output, "kind") == "image" && int_member(output, "page") == page) {
      return write_output(output);
    }
  }
  return {};  // Its job failed, which was noted.
}

Result<void> Export::write_images() {
  const auto pages = static_cast<int>(int_member(document_, "page_count"));
  if (pages == 0) return fail(missing("images"));
  Interrupt interrupt;
  for (int first = 1; first <= pages; first += kPicturesAtOnce) {
    const auto last = std::min(pages, first + kPicturesAtOnce - 1);
    std::vector<int> wanted;
    for (int page = first; page <= last; ++page) {
      if (!api::is_drawn(document_, page)) wanted.push_back(page);
    }
    if (!wanted.empty()) {
      MR_TRY(const bool drawn, draw(wanted));
      if (!drawn) {
        interrupted_ = true;
        return {};
      }
      MR_TRY_VOID(look());
    }
    for (int page = first; page <= last; ++page) MR_TRY_VOID(write_image(page));
  }
  return {};
}

Result<int> Export::run(const std::vector<std::string>& formats) {
  MR_TRY_VOID(look());
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return fail(cannot_write(folder_, error.value()));
  for (const auto& format : formats) {
    if (format == "all") {
      MR_TRY_VOID(write_all());
    } else if (format == "images") {
      MR_TRY_VOID(write_images());
    } else {
      MR_TRY_VOID(write_kind(format));
    }
    if (interrupted_) return kExitInterrupted;
  }
  if (context_.json()) {
    context_.print_json(
        json::Object{{"id", id_.to_string()},
                     {"folder", folder_.string()},
                     {"files", written_},
                     {"verified", verified_},
                     {"public_key", signer_ ? json::Value(signer_->public_key()) : nullptr},
                     {"failures", json::Array(failures_.begin(), failures_.end())}});
  }
  if (verified_) context_.note("manifest.json fits the files and the original");
  if (signer_) {
    context_.note(fmt::format("manifest.sig is by the key {}",
                              identity::content_key_id(signer_->public_key())));
  }
  for (const auto& failure : failures_) context_.note("no picture of " + printable(failure));
  return failures_.empty() ? kExitOk : kExitJobFailed;
}

Result<int> run_export(Context& context, const ExportArguments& arguments) {
  MR_TRY(const auto id, parse_id<Uuid>("document id", arguments.id));
  if (arguments.folder.empty()) return fail(ErrorKind::invalid_argument, "--out is required");
  std::optional<std::chrono::milliseconds> timeout;
  if (arguments.timeout) {
    auto parsed = parse_duration(*arguments.timeout);
    if (!parsed) return fail_with_context("--timeout", parsed.error());
    timeout = *parsed;
  }
  auto formats = arguments.formats;
  if (formats.empty()) formats.emplace_back("all");
  MR_TRY(auto desk, DocumentDesk::open(context));
  return Export(context, *desk, id, arguments.folder, timeout).run(formats);
}

}  // namespace

void add_documents_export(Command& documents) {
  auto arguments = std::make_shared<ExportArguments>();
  auto& command = documents.add("export", "Write what a document is handed out as");
  command.argument("ID", arguments->id, "Document");
  command
      .option("--format", "FORMAT", arguments->formats,
              "Which output, repeatable (default: all that there are)")
      .choices({"text", "words", "hocr", "alto", "facts", "facts_csv", "fhir", "narrative",
                "results", "pdf", "images", "manifest", "all"});
  command.option("--out", "DIR", arguments->folder, "Folder, made where there is none").files();
  command.option("--timeout", "TIME", arguments->timeout,
                 "Of images: how long to wait for a few of them");
  command.footer(
      "Example:\n"
      "  millrace documents export ID --out letter/\n"
      "  millrace documents export ID --format text --format images --out letter/");
  command.action([arguments](Context& context) { return run_export(context, *arguments); });
}

}  // namespace millrace::app
