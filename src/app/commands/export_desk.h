// ExportDesk: what the commands about exports do, one after the other: ask the database, read the
// blob store of this installation.
//
// The same stores as the server's, run to their end on the command's own thread, as the role of the
// server. Threading: one thread. Lifetime: the context outlives it.
#pragma once

#include "app/context.h"
#include "app/serve/template_catalog.h"
#include "base/uuid.h"
#include "store/api/exports.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::app {

class ExportDesk {
 public:
  // Connected, with the schema in place.
  static Result<std::unique_ptr<ExportDesk>> open(Context& context);
  ~ExportDesk();
  ExportDesk(const ExportDesk&) = delete;
  ExportDesk& operator=(const ExportDesk&) = delete;

  const TemplateCatalog& templates() const;

  Result<json::Object> put(const store::ExportDocument& document);
  Result<json::Object> get(const Uuid& document, std::optional<int> version = {});
  Result<json::Array> list(const store::ExportDocumentList& list);
  Result<bool> remove(const Uuid& user, const Uuid& document);

  // {"jobId"}, or {"batchId", "jobs"}.
  Result<json::Object> order(const store::ExportOrder& order);
  Result<json::Object> job(JobId job);
  // What became of a job that was to be cancelled: "cancelled", "already_final" …
  Result<std::string> cancel(JobId job);

  Result<json::Array> history(int limit);
  Result<bool> forget(const Uuid& history);
  Result<int> clean();

  // What these jobs have made, as far as they have, in their order.
  Result<std::vector<store::ExportFile>> files(const std::vector<JobId>& jobs);
  using Take = std::function<Result<void>(std::span<const std::byte>)>;
  // The bytes of a file, from the first to the last.
  Result<void> read(const store::ExportFile& file, const Take& take);
  Result<std::int64_t> size_of(const store::ExportFile& file);

 private:
  struct Parts;
  explicit ExportDesk(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::app
