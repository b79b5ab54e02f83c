// A picture of a page with what was found on it drawn in: made when somebody asks for it.
#include "blob/disk.h"
#include "layout/clinical/detection.h"
#include "output/boxes.h"
#include "pipeline/output_files.h"
#include "pipeline/pass_facts.h"
#include "pipeline/picture.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

struct Drawn {
  json::Array boxes;
  int turn_deg = 0;
};

// Words that were read with doubt, and over them what the passes found. A page that was not read
// is drawn as it is.
Task<Drawn> boxes_of(StageJob& job) {
  Drawn drawn;
  const auto spatial = result_of(job, RunKind::spatial);
  if (!spatial) co_return drawn;
  MR_CO_TRY(const auto share,
            co_await take_memory(job, 4 * result_bytes(job, RunKind::spatial) +
                                          10 * result_bytes(job, RunKind::detect)));
  MR_CO_TRY(auto page, co_await load_page(job.services, **spatial, kKeptPage));
  drawn.turn_deg = page.info.rotation_deg;
  drawn.boxes = output::boxes_for_words(page).boxes;
  const auto entities = result_of(job, RunKind::detect);
  if (!entities) co_return drawn;
  MR_CO_TRY(const auto text,
            co_await read_content(job.services.blobs, (*entities)->content, kPassBytesMax));
  MR_CO_TRY(const auto value, parse_json(text, {.max_bytes = kPassBytesMax, .max_depth = 32}));
  layout::SpatialMap map;
  map.pages.push_back(std::move(page));
  MR_CO_TRY(const auto detection,
            layout::clinical::detection_from_json(value, layout::clinical::Form::stored, map));
  for (auto& box : output::boxes_for_entities(map.pages.front(), detection).boxes) {
    drawn.boxes.push_back(std::move(box));
  }
  co_return drawn;
}

}  // namespace

std::optional<output::ManifestPictures> picture_recipe(const Pipeline& pipeline,
                                                       std::string generator) {
  if (stage_doing(pipeline, RunKind::ocr) == nullptr) return std::nullopt;
  output::ManifestPictures out{.name = "page-{page}.png",
                               .mime = "image/png",
                               .generator = std::move(generator),
                               .width_px_max = kPictureWidthMax};
  for (const auto kind : kPictureSources) {
    if (const auto* stage = stage_doing(pipeline, kind)) out.stages.push_back(stage->name);
  }
  return out;
}

Task<Outcome> run_image(StageJob job) {
  if (!job.work.page) co_return Outcome::permanent("no_page", "the document has no such page");
  if (auto stopped = stopped_by_quarantine(job)) co_return *std::move(stopped);
  MR_CO_TRY(auto drawn, co_await steadily(*job.context, [&] { return boxes_of(job); }));
  json::Object request;
  request["op"] = "image";
  request["kind"] = job.work.document->kind;
  request["page"] = job.page();
  request["width_px_max"] = kPictureWidthMax;
  request["format"] = kPictureFormat;
  request["turn_deg"] = drawn.turn_deg;
  request["boxes"] = std::move(drawn.boxes);
  auto opened = co_await steadily(
      *job.context, [&] { return job.services.contents.open(job.work.file.content); });
  if (!opened) co_return outcome_of(opened.error(), "the file cannot be fetched");
  std::string bytes;
  sandbox::TaskSpec task{.request = to_json(request)};
  task.files.push_back(*std::move(opened));
  task.limits.output_max_bytes = std::uint64_t{32} * 1024 * 1024;
  task.on_output = [&bytes](std::span<const std::byte> piece) -> Task<void> {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    co_return ok();
  };
  const auto done = co_await run_child(job, std::move(task));
  if (auto failed = failed_task(done, fmt::format("picture of page {}", job.page()))) {
    co_return *std::move(failed);
  }
  MR_CO_TRY(auto blob, co_await steadily(*job.context, [&] {
              return keep_content(job.services.blobs, bytes, "image/png");
            }));
  json::Object output;
  output["kind"] = "image";
  output["page"] = job.page();
  output["file_name"] = fmt::format("page-{}.png", job.page());
  output["blob"] = std::move(blob);
  job.context->in_settlement({store::settle_image_statement(job.id(), output)});
  co_return Outcome::ok();
}

}  // namespace millrace::pipeline
