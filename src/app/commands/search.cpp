// Passages of documents for a question, on the terminal.
#include "api/routes/search.h"

#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/exit_code.h"
#include "app/search/query_embedder.h"
#include "app/search/show_passage.h"
#include "base/run.h"
#include "pg/pool.h"
#include "store/api/session.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>
#include <utility>

namespace millrace::app {
namespace {

constexpr JsonLimits kAnswerLimits{.max_bytes = 256 * 1024 * 1024, .max_depth = 64};

struct Arguments {
  std::vector<std::string> question;
  std::int64_t limit = 5;
  std::vector<std::string> documents;
  std::string mode = "hybrid";
  bool explain = false;
};

Result<store::SearchQuestion> read_question(const Arguments& arguments) {
  if (arguments.limit < 1 || arguments.limit > 100) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 100", arguments.limit));
  }
  store::SearchQuestion question{.mode = arguments.mode,
                                 .limit = static_cast<int>(arguments.limit),
                                 .explain = arguments.explain};
  for (const auto& word : arguments.question) {
    question.query += (question.query.empty() ? "" : " ") + word;
  }
  if (!arguments.documents.empty()) question.documents.emplace();
  for (const auto& text : arguments.documents) {
    MR_TRY(const auto id, parse_id<Uuid>("--document", text));
    question.documents->push_back(id);
  }
  return question;
}

Result<int> run_search(Context& context, const Arguments& arguments) {
  MR_TRY(auto question, read_question(arguments));
  MR_TRY(const auto database, find_database(context.settings));
  {
    MR_TRY(const auto store, context.connect_to(database));  // With our schema.
  }
  boost::asio::io_context io{1};
  http::Client client(io.get_executor(), {});
  pg::Pool pool(io.get_executor(), connect_as(database, "millrace_api", "millrace-cli"),
                {.connections_max = 1}, context.random);
  store::ApiSession session{pool};
  const auto search = store::make_search_store(session);
  const auto questions = store::make_question_store(session);
  MR_TRY(const auto embedder, make_query_embedder(context, client, *questions));
  api::SearchMetrics metrics(context.metrics);
  store::CallContext caller{.role = "millrace_api", .actor = "cli"};
  if (context.global.tenant) {
    MR_TRY(caller.tenant, TenantId::parse(*context.global.tenant));
  }
  auto found = run_blocking(
      io,
      api::answer_search(
          {.search = *search, .embedder = *embedder, .metrics = metrics, .clock = context.clock},
          std::move(caller), std::move(question)));
  pool.close();
  if (!found) return fail(found.error());
  MR_TRY(const auto answer, parse_json_object(found->text, kAnswerLimits));
  if (context.json()) {
    context.print_json(answer);
    return kExitOk;
  }
  if (const auto notice = text_member(answer, "notice"); !notice.empty()) context.note(notice);
  const auto& passages = answer.at("passages").as_array();
  if (passages.empty()) context.note("no passage");
  for (const auto& passage : passages) {
    context.print(show_passage(context.terminal, passage.as_object()));
  }
  return kExitOk;
}

}  // namespace

void add_search_command(Command& root) {
  auto arguments = std::make_shared<Arguments>();
  auto& command = root.add("search", "Passages of documents for a question").group("Jobs");
  command.argument("QUESTION", arguments->question, "A question, or words");
  command.option("--limit", "N", arguments->limit, "How many passages, up to 100; default 5");
  command.option("--document", "ID", arguments->documents, "In this document only; repeatable");
  command
      .option("--mode", "MODE", arguments->mode, "By words and meaning, words alone, meaning alone")
      .choices({"hybrid", "text", "vector"});
  command.flag("--explain", arguments->explain, "With the measures behind each score");
  command.footer(
      "Searches what was published by the pipeline ingest (documents add --pipeline ingest).\n"
      "Words in \"quotation marks\" must stand together; a word with - before it must be absent.");
  command.action([arguments](Context& context) { return run_search(context, *arguments); });
}

}  // namespace millrace::app
