#include "app/exports/export_worker.h"

#include "app/bench/proc.h"
#include "app/compute/worker_blobs.h"
#include "app/context.h"
#include "app/documents/pipelines.h"
#include "pipeline/document_handler.h"
#include "pipeline/export/export_handler.h"
#include "sandbox/executable.h"

#include <boost/asio/thread_pool.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPipeline = "export";
constexpr std::chrono::minutes kWarnInterval{1};
constexpr std::size_t kBrowsersMax = 3;  // As many as run at once: C-18.

// The one stage of the pipeline that takes orders.
Result<pipeline::Stage> export_stage(const Settings& settings) {
  MR_TRY(const auto loaded, load_pipelines(settings));
  const auto* found = loaded.set.find(kPipeline);
  if (found == nullptr || found->stages.empty()) {
    return fail(ErrorKind::internal, "there is no pipeline for exports");
  }
  return found->stages.front();
}

pipeline::ExportLimits limits_of(const pipeline::Stage& stage) {
  pipeline::ExportLimits limits;
  if (stage.limits.wall) limits.render_timeout = *stage.limits.wall;
  const auto* width = stage.options.if_contains("preview_width");
  if (width != nullptr && width->is_int64()) {
    limits.preview_width_px = static_cast<unsigned>(width->get_int64());
  }
  return limits;
}

Result<render::RendererSpec> renderer_spec(const Context& context, const pipeline::Stage& stage) {
  const auto& settings = context.settings;
  render::RendererSpec spec;
  MR_TRY(spec.program, export_browser(settings));
  spec.scratch_root = settings.text("export.scratch_dir");
  if (spec.scratch_root.empty()) {
    spec.scratch_root = fs::path(settings.text("database.data_dir")) / "scratch" / "browsers";
  }
  spec.size = export_browsers(settings);
  spec.documents_max = static_cast<std::uint64_t>(settings.integer("export.documents_per_browser"));
  if (stage.limits.memory_bytes) spec.memory_max_bytes = *stage.limits.memory_bytes;
  spec.memory_pool_bytes = static_cast<std::uint64_t>(settings.integer("export.memory_max_mb"))
                           << 20U;
  spec.require_confinement = settings.boolean("export.require_confinement");
  // Of `chromium` with all its windows: its warm size is above that of the shell.
  if (!spec.program.ends_with("headless-shell")) {
    spec.memory_recycle_bytes = std::max(spec.memory_recycle_bytes, spec.memory_max_bytes * 3 / 4);
  }
  if (stage.limits.output_bytes) spec.limits.pdf_max_bytes = *stage.limits.output_bytes;
  spec.log = context.log;
  return spec;
}

// of the worker and its browsers together, the most since the last line about it.
class MemoryWatch {
 public:
  explicit MemoryWatch(Context& context)
      : context_(context),
        memory_(context.metrics
                    .family({.name = "millrace_browser_bytes",
                             .help = "Memory of the browsers that print exports, together.",
                             .kind = MetricKind::gauge})
                    .gauge()) {}

  void look_at(std::uint64_t browsers) {
    memory_.set(static_cast<double>(browsers));
    const auto most = static_cast<std::uint64_t>(context_.settings.integer("log.memory_max_mb"))
                      << 20U;
    if (most == 0) return;
    peak_ = std::max(peak_, browsers + static_cast<std::uint64_t>(resident_bytes(::getpid())));
    const auto now = context_.clock.now();
    if (peak_ <= most || now < warn_at_) return;
    warn_at_ = now + kWarnInterval;
    context_.log.warn("memory_with_browsers",
                      {{"bytes", std::exchange(peak_, 0)}, {"limit_bytes", most}});
  }

 private:
  Context& context_;  // Of the process: outlives all that runs in it.
  Gauge& memory_;
  std::uint64_t peak_ = 0;
  Clock::Steady warn_at_{};
};

// Everything that the handler works with.
class ExportWorker {
 public:
  static Result<std::unique_ptr<ExportWorker>> make(Context& context, const HandlerParts& parts);
  ~ExportWorker() {
    threads_.stop();
    threads_.join();
  }

  pipeline::ExportServices& services() { return *services_; }

 private:
  ExportWorker(Context& context, const HandlerParts& parts)
      : context_(context),
        executor_(parts.executor),
        memory_(std::make_shared<MemoryWatch>(context)) {}

  // On the worker's thread, with which the browsers end.
  Result<render::Renderer*> browsers() {
    if (renderer_) return renderer_.get();
    auto spec = spec_;
    spec.on_memory = [watch = memory_](std::uint64_t bytes) { watch->look_at(bytes); };
    MR_TRY(renderer_, render::Renderer::start(executor_, context_.clock, std::move(spec)));
    context_.log.info("browsers_started", {{"program", spec_.program}, {"count", spec_.size}});
    return renderer_.get();
  }

  Context& context_;
  Executor executor_;
  std::shared_ptr<MemoryWatch> memory_;  // The last browsers may end after this worker has gone.
  boost::asio::thread_pool threads_{1};
  std::optional<templates::TemplateStore> templates_;
  std::unique_ptr<store::ExportWorkStore> store_;
  std::unique_ptr<WorkerBlobs> blobs_;
  render::RendererSpec spec_;
  std::unique_ptr<render::Renderer> renderer_;
  std::optional<pipeline::ExportServices> services_;
};

Result<std::unique_ptr<ExportWorker>> ExportWorker::make(Context& context,
                                                         const HandlerParts& parts) {
  const auto& settings = context.settings;
  std::unique_ptr<ExportWorker> made(new ExportWorker(context, parts));
  MR_TRY(const auto stage, export_stage(settings));
  auto loaded = templates::TemplateStore::load(template_folders(settings));
  if (!loaded) return fail_with_context("export.template_dirs", loaded.error());
  for (const auto& problem : loaded->problems()) {
    context.log.warn("template", {{"name", problem.name}, {"problem", problem.message}});
  }
  made->templates_.emplace(*std::move(loaded));
  made->store_ = store::make_export_work_store(parts.pool);
  MR_TRY(made->blobs_,
         WorkerBlobs::open(
             settings, {.client = parts.client, .clock = context.clock, .random = context.random}));
  MR_TRY(made->spec_, renderer_spec(context, stage));
  made->services_.emplace(
      pipeline::ExportServices{.store = *made->store_,
                               .blobs = made->blobs_->store(),
                               .templates = *made->templates_,
                               .browsers = [worker = made.get()] { return worker->browsers(); },
                               .threads = made->threads_.get_executor(),
                               .limits = limits_of(stage)});
  return made;
}

// Keeps what it needs alive.
class OwningHandler final : public worker::Handler {
 public:
  explicit OwningHandler(std::unique_ptr<ExportWorker> owner)
      : owner_(std::move(owner)), handler_(owner_->services()) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override {
    return handler_.run(std::move(context));
  }

 private:
  std::unique_ptr<ExportWorker> owner_;
  pipeline::ExportHandler handler_;
};

}  // namespace

Result<std::string> export_browser(const Settings& settings) {
  const auto& chosen = settings.text("export.program");
  if (chosen.empty()) return render::find_browser();
  auto found = sandbox::find_executable({.program = chosen, .cwd = {}});
  if (!found) return fail_with_context("export.program", found.error());
  return found;
}

bool takes_exports(const Settings& settings) {
  return settings.boolean("export.enabled") && export_browser(settings).has_value();
}

std::vector<fs::path> template_folders(const Settings& settings) {
  std::vector<fs::path> folders;
  for (const auto& folder : settings.list("export.template_dirs")) {
    folders.push_back(fs::absolute(folder).lexically_normal());
  }
  return folders;
}

std::size_t export_browsers(const Settings& settings) {
  const auto chosen = static_cast<std::size_t>(settings.integer("export.browsers"));
  if (chosen > 0) return chosen;
  // More than processors would only wait for each other.
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kBrowsersMax);
}

std::string export_queue(const Settings& settings) {
  const auto stage = export_stage(settings);
  return stage ? stage->queue : std::string(kPipeline);  // add_export_handler says what is wrong.
}

Result<json::Array> export_registration(const Settings& settings) {
  MR_TRY(const auto loaded, load_pipelines(settings));
  return pipeline::registration_of(loaded.set, pipeline::Takes::order, {});
}

Result<void> add_export_handler(Context& context, const HandlerParts& parts,
                                worker::HandlerRegistry& registry) {
  const std::string type(kExportJobType);
  if (registry.find(type) != nullptr) return {};  // The settings say otherwise.
  MR_TRY(auto owner, ExportWorker::make(context, parts));
  return registry.add(type, std::make_unique<OwningHandler>(std::move(owner)),
                      {.queue = export_queue(context.settings)});
}

}  // namespace millrace::app
