// ComputeHandler: has compute jobs done by the app server and keeps what it answers.
//
// Flow: the job's inputs are POSTed to the app server (J-06); outputs that keep to their contract
// become the job's result, with their artifacts, in the transaction that settles it (J-07). The
// same Idempotency-Key comes with every delivery. The app server is told the job's run timeout and
// is waited for a grace longer (J-09). What its answers mean is the table of compute_outcome.h. The
// log has a line `call_appserver` and, for outputs, `persist`, each with its time (O-02).
// Threading: the worker's executor. Lifetime: client and log outlive it.
#pragma once

#include "api/compute/contract_directory.h"
#include "app/compute/compute_outcome.h"
#include "app/compute/worker_blobs.h"
#include "app/config/settings.h"
#include "base/log.h"
#include "base/secret.h"
#include "http/client.h"
#include "worker/handler.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::app {

struct Context;

inline constexpr std::string_view kComputeJobType = "compute_solve";
inline constexpr std::string_view kComputeQueue = "compute";

struct ComputeOptions {
  std::string url;            // With {def} and {ver}.
  Secret<std::string> token;  // Empty: none is sent.
};

class ComputeHandler final : public worker::Handler {
 public:
  struct Parts {
    http::Client& client;
    std::unique_ptr<api::ContractDirectory> contracts;
    const Logger& log;
    std::unique_ptr<WorkerBlobs> blobs = {};  // Nothing: answers with artifacts fail their jobs.
  };

  ComputeHandler(Parts parts, ComputeOptions options)
      : parts_(std::move(parts)), options_(std::move(options)) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override;
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const override;

 private:
  // Files first, then the outcome whose settlement writes the rows. The context outlives it.
  awaitable<Outcome> persist(ComputeOutputs outputs, api::ContractName name,
                             worker::JobContext& context);

  Parts parts_;
  ComputeOptions options_;
};

// "http://host/gh/{def}:{ver}/solve" with the names put in. They are checked names, so nothing of
// them can lead elsewhere (I13).
std::string app_server_url(std::string_view form, std::string_view definition,
                           std::string_view version);

// Whether this process takes compute jobs, and then that it can: invalid_argument names the
// setting.
bool takes_compute_jobs(const Settings& settings);
Result<void> check_compute(const Settings& settings);
// invalid_argument for contracts that cannot be loaded. Where the blob store cannot be opened the
// log says so, and only answers with artifacts fail. Context and client outlive the handler.
Result<std::unique_ptr<worker::Handler>> make_compute_handler(Context& context,
                                                              http::Client& client);

}  // namespace millrace::app
