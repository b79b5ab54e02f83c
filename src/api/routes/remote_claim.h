// The claim of a remote worker: sign of life, what was lost on the way, and the long poll.
#pragma once

#include "api/call.h"
#include "api/routes/remote.h"

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace millrace::api {

using RemotePartsPtr = std::shared_ptr<const RemoteParts>;  // Shared by the handlers.

inline constexpr std::chrono::seconds kClaimTimeMax{90};  // 60 s of waiting, and some to work.

// What one answer holds at most, and one job in it: its payload, what an earlier delivery kept,
// names.
inline constexpr std::size_t kClaimMaxBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kClaimedJobMaxBytes = 528 * 1024;

struct ClaimedForRemote {
  std::vector<ClaimedJob> jobs;
  std::vector<store::CancelRequest> cancel;
};

Task<ClaimedForRemote> claim_for(Call& call, RemotePartsPtr parts);

// {"token": …, "idempotency_key": …, and the job}.
std::string claimed_json(const ClaimedJob& job);

// What the body says of the process, and the credentials that it came with.
store::RemoteWorker worker_of(const Call& call);
// The id of the token or key; made of what the credentials say where they have no id of that form.
Uuid credentials_id(const identity::Caller& caller);
// Nothing for a list that is not there.
std::vector<std::string> text_list(const json::Value* list);
std::unexpected<Error> not_registered(const store::RemoteWorker& worker);

}  // namespace millrace::api
