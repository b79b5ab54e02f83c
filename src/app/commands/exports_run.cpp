// Documents exported, followed to their end and fetched: each as a PDF, or all in one ZIP file.
#include "api/file_name.h"
#include "api/zip_writer.h"
#include "app/commands/documents.h"
#include "app/commands/exports.h"
#include "app/commands/job_spec.h"
#include "app/commands/watch.h"
#include "app/exit_code.h"
#include "app/live_view.h"
#include "app/new_file.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDocumentsMax = 10;
constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kTitleWidth = 28;
constexpr std::chrono::milliseconds kLookEvery{150};

struct RunArguments {
  std::vector<std::string> ids;
  std::optional<std::string> slug;
  std::optional<std::string> page_size;
  std::optional<std::string> quality;
  std::optional<std::string> margins;
  std::optional<std::string> language;
  bool grayscale = false;
  bool preview = false;
  std::optional<std::string> folder;
  std::optional<std::string> zip;
  std::optional<std::string> timeout;
  bool no_wait = false;
};

struct Exported {
  Uuid document;
  std::string title;
  JobId job = {};
  json::Object state = {};
  std::string line = {};  // Last one printed.
  fs::path file = {};
  std::string stays = {};  // The name it would have, were it not another file's.
  std::int64_t size_bytes = 0;

  std::string status() const { return text_member(state, "status"); }
  bool ended() const {
    const auto now = status();
    return now == "completed" || now == "failed" || now == "cancelled";
  }
};

std::string describe(const Context& context, const Exported& one) {
  const auto& terminal = context.terminal;
  const auto status = one.status();
  auto title = printable(one.title);
  if (terminal.out_tty) {
    title = cut_to_width(title, kTitleWidth, terminal.unicode);
    title.append(kTitleWidth - std::min(kTitleWidth, display_width(title)), ' ');
  }
  const auto cell = show_status(json::Value(status), one.state);
  const auto percent = status == "completed" ? 100 : int_member(one.state, "progress");
  auto out = fmt::format("{}  {} {:>3} %  {}", title,
                         terminal.paint(cell.style, bar(static_cast<double>(percent) / 100,
                                                        kBarWidth, terminal.unicode)),
                         percent, terminal.paint(cell.style, status));
  if (status == "processing") {
    const auto message = text_member(one.state, "progress_message");
    if (!message.empty()) out += "  " + printable(message);
  } else if (status == "failed" || status == "retrying") {
    const auto* error = member(one.state, "error");
    if (error != nullptr && !error->is_null()) {
      out += "  " + printable(show_error(*error, one.state).text);
    }
  }
  return fmt::format("{}  {}", out, one.job);
}

class Run {
 public:
  Run(Context& context, ExportDesk& desk, const RunArguments& arguments,
      std::optional<std::chrono::milliseconds> timeout)
      : context_(context), desk_(desk), arguments_(arguments), timeout_(timeout) {}

  Result<int> run(const std::vector<Uuid>& ids) {
    MR_TRY_VOID(look_up(ids));
    // What cannot be written is known before anything is ordered, which counts.
    if (!arguments_.no_wait) MR_TRY_VOID(open_place());
    MR_TRY_VOID(order());
    if (arguments_.no_wait) return finish(kExitOk);
    MR_TRY(const bool all, follow());
    if (!all) return kExitInterrupted;
    MR_TRY_VOID(fetch());
    const bool good =
        std::ranges::all_of(all_, [](const Exported& one) { return !one.file.empty(); });
    return finish(good ? kExitOk : kExitJobFailed);
  }

 private:
  Result<void> look_up(const std::vector<Uuid>& ids);
  Result<void> open_place();
  Result<json::Object> options() const;
  Result<void> order();
  Result<bool> follow();
  Result<void> fetch();
  Result<void> write_files(const std::vector<store::ExportFile>& files);
  Result<void> write_zip(const std::vector<store::ExportFile>& files);
  Result<int> finish(int code) const;
  Exported& of_job(JobId job) { return *std::ranges::find(all_, job, &Exported::job); }

  Context& context_;
  ExportDesk& desk_;
  const RunArguments& arguments_;
  std::optional<std::chrono::milliseconds> timeout_;
  std::vector<Exported> all_;
  Uuid user_;
  std::string batch_;
  fs::path folder_;                   // For the files, or
  std::unique_ptr<NewFile> archive_;  // for all of them.
};

Result<void> Run::look_up(const std::vector<Uuid>& ids) {
  for (const auto& id : ids) {
    auto document = desk_.get(id);
    if (!document) {
      auto error = without_document(document.error());
      error.message = fmt::format("{}: {}", id, error.message);
      return fail(std::move(error));
    }
    MR_TRY(const auto user, Uuid::parse(text_member(*document, "userId")));
    if (!all_.empty() && user != user_) {
      return fail(ErrorKind::invalid_argument,
                  "these documents are of several users: export those of one at a time");
    }
    user_ = user;
    all_.push_back({.document = id, .title = text_member(*document, "title")});
    if (!arguments_.slug || *arguments_.slug == text_member(*document, "templateSlug")) continue;
    if (desk_.templates().find(*arguments_.slug) == nullptr) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("--template: there is none of the name '{}'", printable(*arguments_.slug)));
    }
    const auto problems = desk_.templates().check(*arguments_.slug, document->at("data"));
    if (!problems.empty()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--template: {} does not fit {}: {}", id, *arguments_.slug,
                              problems.front().message));
    }
  }
  return {};
}

Result<void> Run::open_place() {
  if (arguments_.zip) {
    MR_TRY(archive_, NewFile::create(*arguments_.zip));
    return {};
  }
  folder_ = arguments_.folder.value_or(".");
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return fail(cannot_write(folder_, error.value()));
  // A folder that is there may take no files all the same.
  MR_TRY_VOID(NewFile::create(folder_ / "export"));
  return {};
}

Result<json::Object> Run::options() const {
  json::Object options;
  if (arguments_.page_size) options["pageSize"] = *arguments_.page_size;
  if (arguments_.quality) options["quality"] = *arguments_.quality;
  if (arguments_.language) options["language"] = *arguments_.language;
  if (arguments_.slug) options["templateSlug"] = *arguments_.slug;
  if (arguments_.grayscale) options["colorMode"] = "grayscale";
  if (arguments_.preview) options["preview"] = true;
  if (arguments_.margins) {
    const auto read = parse_json(*arguments_.margins);
    const auto width = read ? *read : json::Value();
    const bool good =
        width.is_number() && width.to_number<double>() >= 0 && width.to_number<double>() <= 2;
    if (!good) {
      return fail(ErrorKind::invalid_argument, "--margins must be a number of inches from 0 to 2");
    }
    options["margins"] =
        json::Object{{"top", width}, {"right", width}, {"bottom", width}, {"left", width}};
  }
  return options;
}

Result<void> Run::order() {
  store::ExportOrder order{.user = user_};
  for (const auto& one : all_) order.documents.push_back(one.document);
  order.batch = all_.size() > 1;
  MR_TRY(const auto chosen, options());
  order.options_json = to_json(chosen);
  auto made = desk_.order(order);
  if (!made) return fail(without_document(made.error()));
  if (!order.batch) {
    MR_TRY(all_.front().job, JobId::parse(text_member(*made, "jobId")));
    return {};
  }
  batch_ = text_member(*made, "batchId");
  for (const auto& value : made->at("jobs").as_array()) {
    const auto& job = value.as_object();
    for (auto& one : all_) {
      if (one.document.to_string() != text_member(job, "documentId")) continue;
      MR_TRY(one.job, JobId::parse(text_member(job, "jobId")));
    }
  }
  return {};
}

// False when somebody has had enough; the exports go on.
Result<bool> Run::follow() {
  Interrupt interrupt;
  LiveView view(context_);
  const auto started = context_.clock.now();
  for (;;) {
    bool open = false;
    std::string block;
    for (auto& one : all_) {
      if (!one.ended()) {
        MR_TRY(one.state, desk_.job(one.job));
      }
      open = open || !one.ended();
      auto line = describe(context_, one);
      if (line != one.line && !view.active() && !context_.json()) context_.print(line + "\n");
      one.line = std::move(line);
      block += one.line + "\n";
    }
    view.draw(block);
    if (!open) return true;
    if (timeout_ && context_.clock.now() - started > *timeout_) {
      return fail(
          Error{.kind = ErrorKind::unavailable,
                .message = fmt::format("still not finished after {}", format_duration(*timeout_)),
                .hint = "exports go on; is a worker running?"});
    }
    if (Interrupt::wait(kLookEvery)) return false;
  }
}

Result<void> Run::fetch() {
  std::vector<JobId> done;
  for (const auto& one : all_) {
    if (one.status() == "completed") done.push_back(one.job);
  }
  if (done.empty()) return {};
  MR_TRY(auto files, desk_.files(done));
  if (files.empty()) return {};
  for (auto& file : files) {
    if (file.name.empty()) file.name = file.path.substr(file.path.rfind('/') + 1);
  }
  return arguments_.zip ? write_zip(files) : write_files(files);
}

Result<void> Run::write_files(const std::vector<store::ExportFile>& files) {
  api::FileNames names;
  for (const auto& file : files) {
    const auto wanted = names.add(file.name);
    MR_TRY(auto written, NewFile::create(folder_ / wanted));
    MR_TRY_VOID(
        desk_.read(file, [&](std::span<const std::byte> bytes) { return written->write(bytes); }));
    auto chosen = wanted;
    for (;;) {
      MR_TRY(const bool kept, written->keep_as(folder_ / chosen));
      if (kept) break;
      chosen = names.add(file.name);  // Of an earlier export, or somebody's own: it stays.
    }
    auto& one = of_job(file.job);
    one.file = folder_ / chosen;
    if (chosen != wanted) one.stays = wanted;
    one.size_bytes = written->size_bytes();
  }
  return {};
}

Result<void> Run::write_zip(const std::vector<store::ExportFile>& files) {
  const auto write = [&](std::string_view bytes) {
    return archive_->write(std::as_bytes(std::span(bytes)));
  };
  api::ZipWriter zip;
  for (const auto& file : files) {
    auto& one = of_job(file.job);
    MR_TRY(one.size_bytes, desk_.size_of(file));
    MR_TRY_VOID(write(zip.begin(file.name, static_cast<std::uint64_t>(one.size_bytes))));
    MR_TRY_VOID(desk_.read(file, [&](std::span<const std::byte> bytes) -> Result<void> {
      MR_TRY(const auto packed,
             zip.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      return write(packed);
    }));
    MR_TRY(const auto end, zip.end());
    MR_TRY_VOID(write(end));
    one.file = *arguments_.zip;
  }
  MR_TRY_VOID(write(zip.finish()));
  return archive_->keep();
}

Result<int> Run::finish(int code) const {
  if (context_.json()) {
    json::Array jobs;
    for (const auto& one : all_) {
      json::Object row{{"jobId", one.job.to_string()}, {"documentId", one.document.to_string()}};
      if (!one.state.empty()) {
        row["status"] = one.status();
        row["error"] = one.state.contains("error") ? one.state.at("error") : json::Value();
        row["result"] = one.state.contains("result") ? one.state.at("result") : json::Value();
      }
      if (!one.file.empty()) {
        row["file"] = one.file.string();
        row["sizeBytes"] = one.size_bytes;
      }
      jobs.push_back(std::move(row));
    }
    json::Object out{{"batchId", nullptr}, {"jobs", std::move(jobs)}};
    if (!batch_.empty()) out["batchId"] = batch_;
    context_.print_json(out);
    return code;
  }
  for (const auto& one : all_) {
    if (arguments_.no_wait) context_.print(fmt::format("{}  {}\n", one.job, printable(one.title)));
    if (one.status() == "completed" && one.file.empty()) {
      context_.note(fmt::format("{}: its file is gone, deleted or expired", printable(one.title)));
    }
    if (one.file.empty() || arguments_.zip) continue;
    context_.print(fmt::format(
        "{}  {}{}\n", one.file.string(), format_size(one.size_bytes),
        one.stays.empty() ? std::string() : fmt::format("  ({} was there)", one.stays)));
  }
  const bool zipped = arguments_.zip && std::ranges::any_of(all_, [](const Exported& one) {
                        return !one.file.empty();
                      });
  if (zipped) {
    std::error_code ignored;
    context_.print(fmt::format(
        "{}  {}\n", *arguments_.zip,
        format_size(static_cast<std::int64_t>(fs::file_size(*arguments_.zip, ignored)))));
  }
  return code;
}

Result<int> run_exports(Context& context, const RunArguments& arguments) {
  MR_TRY(const auto ids, parse_export_ids(arguments.ids));
  if (ids.size() > kDocumentsMax) {
    return fail(ErrorKind::invalid_argument, "Maximum 10 documents per batch");
  }
  if (arguments.zip && arguments.folder) {
    return fail(ErrorKind::invalid_argument, "--zip and --out exclude each other");
  }
  if (arguments.no_wait && (arguments.zip || arguments.folder)) {
    return fail(ErrorKind::invalid_argument,
                "--no-wait fetches nothing: leave out --out and --zip");
  }
  std::optional<std::chrono::milliseconds> timeout;
  if (arguments.timeout) {
    auto parsed = parse_duration(*arguments.timeout);
    if (!parsed) return fail_with_context("--timeout", parsed.error());
    timeout = *parsed;
  }
  MR_TRY(auto desk, ExportDesk::open(context));
  return Run(context, *desk, arguments, timeout).run(ids);
}

}  // namespace

void add_export_run(Command& exports) {
  auto arguments = std::make_shared<RunArguments>();
  auto& command = exports.add("run", "Export documents, follow them and fetch the PDFs");
  command.argument("ID", arguments->ids, "Documents, ten at most");
  command.option("--template", "TEMPLATE", arguments->slug,
                 "Another one than the document's, which its data fits");
  command.option("--page-size", "SIZE", arguments->page_size, "Paper (default: Letter)")
      .choices({"A4", "Letter", "Legal"});
  command.option("--margins", "INCHES", arguments->margins, "On all sides, 0 to 2 (default: 1)");
  command.option("--quality", "QUALITY", arguments->quality, "Of pictures (default: normal)")
      .choices({"draft", "normal", "high"});
  command.flag("--grayscale", arguments->grayscale, "Without colours");
  command.flag("--preview", arguments->preview,
               "Also a picture of the first page, which the API hands out");
  command.option("--language", "TAG", arguments->language,
                 "Of labels, dates and numbers, such as en or de");
  command
      .option("--out", "DIR", arguments->folder,
              "Where the PDFs go (default: here); no file is replaced")
      .files();
  command.option("--zip", "FILE", arguments->zip, "All of them into one ZIP file").files();
  command.option("--timeout", "TIME", arguments->timeout, "Give up waiting after this time");
  command.flag("--no-wait", arguments->no_wait, "Order them and print their jobs");
  command.footer(
      "Example:\n"
      "  millrace export run ID --page-size A4 --quality high --out letters/\n"
      "  millrace export run ID ID ID --zip all.zip");
  command.action([arguments](Context& context) { return run_exports(context, *arguments); });
}

}  // namespace millrace::app
