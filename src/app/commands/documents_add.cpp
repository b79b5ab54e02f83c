// Files of this machine become documents, by the same way as uploads to the server.
#include "api/upload/request_content.h"
#include "app/commands/documents.h"
#include "app/commands/job_spec.h"
#include "app/commands/watch.h"
#include "app/exit_code.h"
#include "base/duration.h"
#include "blob/digest.h"
#include "cluster/unique_fd.h"
#include "http/server_utf8.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kShownFromBytes = 8LL << 20;  // Smaller files are done before anybody looks.
constexpr milliseconds kShownEvery{100};
constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr std::size_t kBarWidth = 24;

Error cannot_read(const std::string& path, int code) {
  return {.kind = code == ENOENT ? ErrorKind::not_found : ErrorKind::invalid_argument,
          .message = fmt::format("cannot read {}: {}", path, std::strerror(code))};
}

// How far a large file is, on the terminal's error output, in one line that goes away again.
class Progress {
 public:
  Progress(const Context& context, std::string what, std::int64_t total_bytes)
      : context_(context), what_(std::move(what)), total_(total_bytes) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void note(std::int64_t done_bytes) {
    if (context_.json() || !context_.terminal.err_tty || total_ < kShownFromBytes) return;
    const auto now = context_.clock.now();
    if (shown_ && now - *shown_ < kShownEvery) return;
    shown_ = now;
    const auto share = static_cast<double>(done_bytes) / static_cast<double>(total_);
    fmt::print(stderr, "\r\x1b[K{}  {} {:3.0f} % of {}", what_,
               bar(share, kBarWidth, context_.terminal.unicode), share * 100, format_size(total_));
    std::fflush(stderr);
  }

 private:
  const Context& context_;
  std::string what_;
  std::int64_t total_;
  std::optional<Clock::Steady> shown_;
};

// An open file, read from its beginning.
class FileContent final : public api::ContentSource {
 public:
  static Result<std::unique_ptr<FileContent>> open(const std::string& path) {
    cluster::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) return fail(cannot_read(path, errno));
    struct stat found{};
    if (::fstat(fd.get(), &found) != 0) return fail(cannot_read(path, errno));
    if (!S_ISREG(found.st_mode)) {
      return fail(ErrorKind::invalid_argument, fmt::format("{} is not a file", path));
    }
    auto content = std::make_unique<FileContent>();
    content->fd_ = std::move(fd);
    content->path_ = path;
    content->size_bytes_ = found.st_size;
    return content;
  }

  std::int64_t size_bytes() const { return size_bytes_; }
  void show(Progress* progress) { progress_ = progress; }
  Result<void> rewind() {
    if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return fail(cannot_read(path_, errno));
    done_ = 0;
    return {};
  }
  Result<std::size_t> take(std::span<std::byte> buffer) {
    for (;;) {
      const auto size = ::read(fd_.get(), buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return fail(cannot_read(path_, errno));
      done_ += size;
      if (progress_ != nullptr) progress_->note(done_);
      return static_cast<std::size_t>(size);
    }
  }
  // The disk may hold the thread up: nobody else waits for it here.
  Task<std::size_t> read(std::span<std::byte> buffer) override { co_return take(buffer); }

 private:
  cluster::UniqueFd fd_;
  std::string path_;
  std::int64_t size_bytes_ = 0;
  std::int64_t done_ = 0;
  Progress* progress_ = nullptr;
};

Result<blob::Digest> digest_of(FileContent& content) {
  blob::Sha256Stream sha256;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  for (;;) {
    MR_TRY(const auto size, content.take({buffer.get(), kPieceBytes}));
    if (size == 0) return sha256.finish();
    sha256.update({buffer.get(), size});
  }
}

struct AddArguments {
  std::vector<std::string> files;
  std::optional<std::string> patient;
  std::optional<std::string> name;
  std::optional<std::string> pipeline;
  std::optional<std::string> timeout;
  bool wait = false;
};

struct Added {
  Uuid id;
  json::Object row;
};

// The same content under the same name, for the same patient and pipeline, is the same document.
std::string key_of(const blob::Digest& content, const std::string& name,
                   const AddArguments& arguments) {
  return "cli-" +
         blob::sha256(fmt::format("{}\n{}\n{}\n{}", content.hex(), arguments.patient.value_or(""),
                                  arguments.pipeline.value_or(""), name))
             .hex();
}

Result<std::string> name_for(const AddArguments& arguments, const std::string& path) {
  auto name = api::clean_file_name(
      arguments.name.value_or(std::filesystem::path(path).filename().string()));
  if (name.empty() || !http::is_utf8(name)) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = fmt::format("{} has no name that can be kept", printable(path)),
                      .hint = "give one with --name"});
  }
  return name;
}

Result<Added> add_file(Context& context, DocumentDesk& desk, const AddArguments& arguments,
                       const std::string& path, const std::optional<Uuid>& patient) {
  MR_TRY(const auto name, name_for(arguments, path));
  MR_TRY(auto content, FileContent::open(path));
  std::optional<Progress> progress;
  progress.emplace(context, fmt::format("reading {}", printable(name)), content->size_bytes());
  content->show(&*progress);
  MR_TRY(const auto digest, digest_of(*content));
  MR_TRY_VOID(content->rewind());
  progress.emplace(context, fmt::format("adding {}", printable(name)), content->size_bytes());
  store::NewUpload upload{.size_bytes = content->size_bytes(),
                          .file_name = name,
                          .patient = patient,
                          .idempotency_key = key_of(digest, name, arguments),
                          .pipeline = arguments.pipeline.value_or(std::string())};
  if (!patient) upload.user = kNobody;
  MR_TRY(const auto answer, desk.upload(std::move(upload), *content, digest));
  progress.reset();
  MR_TRY(const auto file, parse_json_object(answer.json));
  MR_TRY(const auto id, Uuid::parse(text_member(file, "id")));
  return Added{.id = id,
               .row = {{"id", id.to_string()},
                       {"answer", answer.replayed ? "found" : "added"},
                       {"file_name", name},
                       {"size_bytes", content->size_bytes()},
                       {"sha256", digest.hex()},
                       {"job_id", text_member(file, "job_id")}}};
}

void print_added(const Context& context, const json::Object& row) {
  const bool found = text_member(row, "answer") == "found";
  context.print(fmt::format("{}  {}  {}  {}\n", text_member(row, "id"),
                            printable(text_member(row, "file_name")),
                            format_size(int_member(row, "size_bytes")),
                            context.terminal.paint(found ? Style::dim : Style::green,
                                                   found ? "was there already" : "added")));
}

Result<int> run_add(Context& context, const AddArguments& arguments) {
  if (arguments.name && arguments.files.size() != 1) {
    return fail(ErrorKind::invalid_argument, "--name: give it with one file");
  }
  DocumentWatchOptions watch;
  if (arguments.timeout) {
    auto timeout = parse_duration(*arguments.timeout);
    if (!timeout) return fail_with_context("--timeout", timeout.error());
    watch.timeout = *timeout;
  }
  std::optional<Uuid> patient;
  if (arguments.patient) {
    MR_TRY(patient, parse_id<Uuid>("--patient", *arguments.patient));
  }
  MR_TRY(auto desk, DocumentDesk::open(context));
  json::Array rows;
  std::vector<Uuid> ids;
  for (const auto& path : arguments.files) {
    auto added = add_file(context, *desk, arguments, path, patient);
    if (!added) return fail_with_context(printable(path), added.error());
    if (!context.json()) print_added(context, added->row);
    ids.push_back(added->id);
    rows.emplace_back(std::move(added->row));
  }
  if (arguments.wait) return watch_documents(context, *desk, ids, watch);
  if (context.json()) context.print_json(json::Value(rows));
  return kExitOk;
}

}  // namespace

void add_documents_add(Command& documents) {
  auto arguments = std::make_shared<AddArguments>();
  auto& command = documents.add("add", "Take files in as documents; adding one twice finds it");
  command.argument("FILE", arguments->files, "Files").files();
  command.option("--patient", "ID", arguments->patient,
                 "Profile whose documents they are (default: nobody's in particular)");
  command.option("--name", "NAME", arguments->name,
                 "What it is called, instead of its file's name");
  command.option("--pipeline", "NAME", arguments->pipeline,
                 "What happens to it (default: guardian)");
  command.flag("--wait", arguments->wait, "Follow them until all have ended");
  command.option("--timeout", "TIME", arguments->timeout, "With --wait: give up after this time");
  command.footer(
      "Example:\n"
      "  millrace documents add letter.pdf scan-*.jpg --wait");
  command.action([arguments](Context& context) { return run_add(context, *arguments); });
}

}  // namespace millrace::app
