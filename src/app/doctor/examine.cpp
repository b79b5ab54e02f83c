#include "app/doctor/examine.h"

#include "app/documents/document_worker.h"
#include "app/exit_code.h"
#include "app/exports/export_worker.h"
#include "app/schema.h"
#include "base/version.h"
#include "render/browser_process.h"
#include "template/template_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <unistd.h>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

Finding cannot(std::string name, const Error& error) {
  return {.name = std::move(name),
          .state = Finding::State::fail,
          .explanation = printable(error.message),
          .action = error.hint.empty() ? "see the server's log" : printable(error.hint)};
}

class Examination {
 public:
  explicit Examination(Context& context) : context_(context) {}

  std::vector<Finding> run() {
    auto database = find_database(context_.settings);
    if (!database) return refused("connection", database.error());
    auto connection = connect_plain(*database);
    if (!connection) return refused("connection", connection.error());
    found({.name = "connection", .explanation = database->origin});
    if (!look_at_schema(*connection)) return std::move(findings_);
    auto store = context_.connect_to(*database);
    if (!store) return refused("schema", store.error());
    look_at_server(*store);
    look_at_work(*store);
    look_at_documents();
    look_at_exports();
    return std::move(findings_);
  }

 private:
  std::vector<Finding> refused(std::string name, const Error& error) {
    found(cannot(std::move(name), error));
    return std::move(findings_);
  }

  void found(Finding finding) { findings_.push_back(std::move(finding)); }

  template <class T, class Judge>
  void judge(std::string name, Result<T> facts, Judge judgement) {
    if (!facts) {
      found(cannot(std::move(name), facts.error()));
      return;
    }
    found(judgement(*facts));
  }

  void look_at_documents() {
    DocumentFacts facts{.enabled = context_.settings.boolean("documents.enabled"),
                        .program = document_program(context_.settings).string()};
    facts.program_there = ::access(facts.program.c_str(), X_OK) == 0;
    if (facts.enabled && facts.program_there) facts.jail = sandbox::describe_jail();
    found(judge_documents(facts));
  }

  void look_at_exports() {
    ExportFacts facts{.enabled = context_.settings.boolean("export.enabled")};
    const auto browser = export_browser(context_.settings);
    if (browser) {
      facts.browser = *browser;
    } else {
      facts.missing = browser.error().message;
    }
    const auto templates = templates::TemplateStore::load(template_folders(context_.settings));
    if (!templates) {
      facts.template_problems.push_back(templates.error().message);
    } else {
      for (const auto& problem : templates->problems()) {
        facts.template_problems.push_back(problem.message);
      }
    }
    if (facts.enabled && browser) look_at_walls(facts);
    found(judge_exports(facts));
  }

  // As whoever runs this; in a folder that no worker uses.
  void look_at_walls(ExportFacts& facts) {
    facts.walls_required = context_.settings.boolean("export.require_confinement");
    facts.walls_hint = render::kWallsHint;
    std::error_code error;
    auto folder = (std::filesystem::temp_directory_path(error) / "millrace-XXXXXX").string();
    if (error || ::mkdtemp(folder.data()) == nullptr) return;
    const auto walls = render::Confinement::probe(folder, true);
    std::filesystem::remove_all(folder, error);
    facts.walls_missing = walls ? walls->missing_walls() : "any";
    facts.walls_reason = walls ? walls->missing : walls.error().message;
  }

  // False when there is no schema to look into.
  bool look_at_schema(pg::SyncConnection& connection) {
    auto status = migration_status(context_, connection);
    if (!status) {
      found(cannot("schema", status.error()));
      return true;
    }
    std::vector<MigrationFact> facts;
    bool any_applied = false;
    for (const auto& row : *status) {
      facts.push_back({row.version, row.name, std::string(to_string(row.state))});
      any_applied = any_applied || row.state != store::MigrationState::pending;
    }
    std::int64_t stale = 0;
    if (auto plan = migration_plan(context_, connection, {})) {
      stale = static_cast<std::int64_t>(plan->size());
    }
    auto finding = judge_migrations(facts, stale);
    if (!any_applied) {
      finding.explanation = "the database has no Millrace schema";
    }
    found(std::move(finding));
    return any_applied;
  }

  void look_at_server(store::AdminStore& store) {
    const auto asked = context_.clock.wall();
    auto facts = store.server_facts();
    const auto answered = context_.clock.wall();
    if (!facts) {
      found(cannot("server", facts.error()));
      return;
    }
    found(judge_server(*facts));
    judge("grants", store.missing_grants(), judge_grants);
    const auto middle = asked + (answered - asked) / 2;
    const auto ours = std::chrono::duration_cast<milliseconds>(middle.time_since_epoch());
    const milliseconds skew = milliseconds(int_member(*facts, "time_ms")) - ours;
    auto workers = store.list_workers();
    if (!workers) {
      found(cannot("versions", workers.error()));
      return;
    }
    json::Array alive;
    for (const auto& worker : *workers) {
      if (bool_member(worker.as_object(), "alive")) alive.push_back(worker);
    }
    any_worker_ = !alive.empty();
    found(judge_versions(alive, kVersion));
    found(judge_clocks(alive, skew));
  }

  void look_at_work(store::AdminStore& store) {
    auto stuck = store.stuck_work();
    judge("keeper", stuck, judge_keeper);
    if (stuck) found(judge_stuck(*stuck));
    judge("handlers", store.types_without_worker(),
          [this](const json::Array& types) { return judge_handlers(types, any_worker_); });
    judge("queues", store.list_queues(), judge_queues);
    judge("limits", store.list_limits(), judge_limits);
    judge("horizon", store.horizon(), judge_horizon);
    judge("bloat", store.hot_tables(), judge_bloat);
    judge("counters", store.counter_mismatches(), judge_counters);
  }

  Context& context_;
  std::vector<Finding> findings_;
  bool any_worker_ = false;
};

}  // namespace

std::vector<Finding> examine(Context& context) { return Examination(context).run(); }

}  // namespace millrace::app
