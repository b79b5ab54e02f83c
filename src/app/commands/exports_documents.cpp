// Documents for exports: kept, listed, shown.
#include "app/commands/document_desk.h"
#include "app/commands/exports.h"
#include "app/commands/job_spec.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace millrace::app {
namespace {

constexpr std::size_t kDataMaxBytes = std::size_t{8} * 1024 * 1024;
constexpr std::size_t kProblemsShown = 10;

struct AddArguments {
  std::string file;
  std::optional<std::string> slug;
  std::optional<std::string> title;
  std::optional<std::string> user;
  std::optional<std::string> replace;
};

// What it is called when nobody says: what its data says, else the file's name.
std::string title_of(const AddArguments& arguments, const json::Object& data) {
  if (arguments.title) return *arguments.title;
  if (const auto* profile = member(data, "profile"); profile != nullptr && profile->is_object()) {
    if (auto name = text_member(profile->get_object(), "name"); !name.empty()) return name;
  }
  for (const char* key : {"title", "subject", "number"}) {
    if (auto text = text_member(data, key); !text.empty()) return text;
  }
  const auto stem = std::filesystem::path(arguments.file).stem().string();
  return arguments.file == "-" || stem.empty() ? std::string("Document") : stem;
}

// Every place that breaks a rule, not only the first: whoever writes data wants to see them all.
Result<void> check_data(const ExportDesk& desk, const std::string& file, const std::string& slug,
                        const json::Value& data) {
  const auto& templates = desk.templates();
  if (templates.find(slug) == nullptr) {
    std::string names;
    for (const auto& entry : templates.list()) names += (names.empty() ? "" : ", ") + entry.slug;
    return fail(
        Error{.kind = ErrorKind::invalid_argument,
              .message = fmt::format("--template: there is none of the name '{}'", printable(slug)),
              .hint = "there are: " + names});
  }
  const auto problems = templates.check(slug, data);
  if (problems.empty()) return {};
  std::string list;
  for (std::size_t i = 0; i < problems.size() && i < kProblemsShown; ++i) {
    list += (i == 0 ? "" : "; ") + problems[i].message + " (" + problems[i].keyword + ")";
  }
  if (problems.size() > kProblemsShown) {
    list += fmt::format("; and {} more", problems.size() - kProblemsShown);
  }
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = fmt::format("{} does not fit the template {}: {}", file, slug, list),
                    .hint = fmt::format("see 'millrace export templates {} --schema'", slug)});
}

void print_document(const Context& context, const json::Object& document, std::string_view what) {
  if (context.json()) {
    context.print_json(document);
    return;
  }
  context.print(fmt::format("{}  {}  {}, version {}, {}\n", text_member(document, "id"),
                            printable(text_member(document, "title")),
                            text_member(document, "templateSlug"), int_member(document, "version"),
                            what));
}

Result<json::Value> read_data(const AddArguments& arguments, std::string& text) {
  auto read = read_text_argument(arguments.file, kDataMaxBytes);
  if (!read) {
    auto error = read.error();
    error.kind = ErrorKind::invalid_argument;
    return fail(std::move(error));
  }
  text = *std::move(read);
  auto value = parse_json(text, {.max_bytes = kDataMaxBytes});
  if (!value) return fail_with_context(arguments.file, value.error());
  if (!value->is_object()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} must be a JSON object", arguments.file));
  }
  return *std::move(value);
}

Result<int> run_add(Context& context, const AddArguments& arguments) {
  store::ExportDocument document{.user = kNobody};
  if (arguments.user) {
    MR_TRY(document.user, parse_id<Uuid>("--user", *arguments.user));
  }
  std::string text;
  MR_TRY(const auto value, read_data(arguments, text));
  MR_TRY(auto desk, ExportDesk::open(context));
  std::int64_t before = 0;
  auto slug = arguments.slug.value_or("minimal");
  auto title = title_of(arguments, value.get_object());
  if (arguments.replace) {
    MR_TRY(document.document, parse_id<Uuid>("--replace", *arguments.replace));
    auto old = desk->get(*document.document);
    if (!old) return fail(without_document(old.error()));
    MR_TRY(document.user, Uuid::parse(text_member(*old, "userId")));
    before = int_member(*old, "version");
    // New data is no wish for another look or another name.
    if (!arguments.slug) slug = text_member(*old, "templateSlug");
    if (!arguments.title) title = text_member(*old, "title");
  }
  MR_TRY_VOID(check_data(*desk, arguments.file, slug, value));
  // The data as it was written: numbers may have more digits than a double.
  document.document_json =
      fmt::format(R"({{"title":{},"templateSlug":{},"data":{}}})", to_json(json::Value(title)),
                  to_json(json::Value(slug)), text);
  auto kept = desk->put(document);
  if (!kept) return fail(without_document(kept.error()));
  const auto version = int_member(*kept, "version");
  print_document(context, *kept,
                 version == before ? "as it was"
                 : version == 1    ? "added"
                                   : "written");
  return kExitOk;
}

struct ListArguments {
  std::optional<std::string> user;
  std::int64_t limit = 50;
};

Result<int> run_list(Context& context, const ListArguments& arguments) {
  if (arguments.limit < 1 || arguments.limit > 1000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 1000", arguments.limit));
  }
  store::ExportDocumentList list{.limit = static_cast<int>(arguments.limit)};
  if (arguments.user) {
    MR_TRY(list.user, parse_id<Uuid>("--user", *arguments.user));
  }
  MR_TRY(auto desk, ExportDesk::open(context));
  MR_TRY(const auto rows, desk->list(list));
  print_rows(context, rows,
             {{"DOCUMENT", "id"},
              {"TITLE", "title"},
              {"TEMPLATE", "templateSlug"},
              {"VERSION", "version", true},
              {"USER", "userId"},
              {"WRITTEN", "updatedAt", false, show_age}},
             "no documents for exports");
  return kExitOk;
}

struct ShowArguments {
  std::string id;
  std::optional<std::int64_t> version;
};

Result<int> run_show(Context& context, const ShowArguments& arguments) {
  MR_TRY(const auto id, parse_id<Uuid>("document id", arguments.id));
  std::optional<int> version;
  if (arguments.version) {
    if (*arguments.version < 1 || *arguments.version > 2147483647) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--version: {} is no version", *arguments.version));
    }
    version = static_cast<int>(*arguments.version);
  }
  MR_TRY(auto desk, ExportDesk::open(context));
  auto document = desk->get(id, version);
  if (!document) return fail(without_document(document.error()));
  if (context.json()) {
    context.print_json(*document);
    return kExitOk;
  }
  for (const auto& [title, key] :
       std::initializer_list<std::pair<const char*, const char*>>{{"title", "title"},
                                                                  {"template", "templateSlug"},
                                                                  {"user", "userId"},
                                                                  {"content", "contentSha256"},
                                                                  {"created", "createdAt"},
                                                                  {"written", "updatedAt"}}) {
    context.print(fmt::format("{:<9} {}\n", title, printable(text_member(*document, key))));
  }
  context.print(fmt::format("{:<9} {}\n", "version", int_member(*document, "version")));
  context.print_json(document->at("data"));
  return kExitOk;
}

void add_add(Command& exports) {
  auto arguments = std::make_shared<AddArguments>();
  auto& command = exports.add("add", "Keep data as a document for exports");
  command.argument("FILE", arguments->file, "JSON, or - for standard input").files();
  command.option(
      "--template", "TEMPLATE", arguments->slug,
      "How it is shown (default: minimal, or that of --replace); see 'export templates'");
  command.option("--title", "TITLE", arguments->title,
                 "Of the PDF and its file (default: what the data says, or that of --replace)");
  command.option("--user", "ID", arguments->user,
                 "Whose document it is (default: nobody's in particular)");
  command.option("--replace", "DOCUMENT", arguments->replace,
                 "Write the next version of this one instead");
  command.footer(
      "Example:\n"
      "  millrace export templates letter > letter.json\n"
      "  millrace export add letter.json --template letter --title 'To the bank'");
  command.action([arguments](Context& context) { return run_add(context, *arguments); });
}

}  // namespace

void add_export_documents(Command& exports) {
  add_add(exports);
  {
    auto arguments = std::make_shared<ListArguments>();
    auto& command = exports.add("list", "Documents for exports, newest first");
    command.option("--user", "ID", arguments->user, "Of this user (default: of all)");
    command.option("--limit", "N", arguments->limit, "At most so many (default 50)");
    command.action([arguments](Context& context) { return run_list(context, *arguments); });
  }
  auto arguments = std::make_shared<ShowArguments>();
  auto& command = exports.add("show", "A document for exports with its data");
  command.argument("ID", arguments->id, "Document");
  command.option("--version", "N", arguments->version,
                 "An earlier one, as long as an export names it");
  command.action([arguments](Context& context) { return run_show(context, *arguments); });
}

}  // namespace millrace::app
