#include "app/serve/work_parts.h"

#include "api/compute/contract_directory.h"
#include "api/routes/compute.h"
#include "api/routes/remote.h"
#include "api/work/claim_line.h"
#include "store/api/compute.h"
#include "store/api/remote_work.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace millrace::app {

struct WorkParts::Impl {
  explicit Impl(Needs wanted) : needs(std::move(wanted)) {}

  Needs needs;
  std::unique_ptr<store::ComputeStore> compute = store::make_compute_store(needs.session);
  std::unique_ptr<store::RemoteWorkStore> remote = store::make_remote_work_store(needs.session);
  std::unique_ptr<api::ContractDirectory> contracts;
  api::ClaimLine line{needs.wake.get(), needs.context.clock, needs.context.log,
                      needs.context.settings.duration("worker.poll_interval")};
};

WorkParts::WorkParts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WorkParts::~WorkParts() = default;

Result<std::unique_ptr<WorkParts>> WorkParts::make(Needs needs) {
  auto impl = std::make_unique<Impl>(std::move(needs));
  auto& context = impl->needs.context;
  auto contracts =
      api::ContractDirectory::open(context.settings.text("compute.contracts_dir"), context.log);
  if (!contracts) return fail_with_context("compute.contracts_dir", contracts.error());
  impl->contracts = *std::move(contracts);
  return std::unique_ptr<WorkParts>(new WorkParts(std::move(impl)));
}

std::vector<api::Operation> WorkParts::operations() {
  auto& context = impl_->needs.context;
  const auto& settings = context.settings;
  api::ComputeParts compute{.store = *impl_->compute,
                            .requests = impl_->needs.requests,
                            .contracts = *impl_->contracts,
                            .tickets = impl_->needs.tickets,
                            .clock = context.clock,
                            .log = context.log,
                            .blobs = impl_->needs.blobs,
                            .app_id = settings.text("compute.app_id"),
                            .public_url = settings.text("server.public_url")};
  if (const auto ttl = settings.optional_duration("compute.result_ttl")) {
    compute.result_ttl = std::chrono::duration_cast<std::chrono::seconds>(*ttl);
  }
  auto all = api::compute_operations(compute);
  auto remote = api::remote_operations({.store = *impl_->remote,
                                        .line = impl_->line,
                                        .clock = context.clock,
                                        .random = context.random,
                                        .log = context.log});
  std::ranges::move(remote, std::back_inserter(all));
  return all;
}

void WorkParts::start() { impl_->contracts->watch(); }

awaitable<void> WorkParts::run() { return impl_->line.run(); }

void WorkParts::stop() {
  impl_->contracts->stop();
  impl_->line.stop();
}

}  // namespace millrace::app
