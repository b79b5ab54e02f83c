#include "store/claims.h"

#include "store/answers.h"

#include <algorithm>

namespace millrace::store {
namespace {

constexpr std::size_t kSizeAt = 12;  // Two bytes: the number of jobs.
constexpr std::size_t kPositionAt = 14;

std::size_t read_two(const Uuid& uuid, std::size_t at) {
  return static_cast<std::size_t>(uuid.bytes[at]) << 8U | uuid.bytes[at + 1];
}

LeaseToken token_at(Uuid claim, std::size_t position) {
  claim.bytes[kPositionAt] = static_cast<std::uint8_t>(position >> 8U);
  claim.bytes[kPositionAt + 1] = static_cast<std::uint8_t>(position);
  return LeaseToken{claim};
}

// Columns of millrace.delivery, for the rows that there are many of.
constexpr std::size_t kJobId = 0;
constexpr std::size_t kToken = 1;
constexpr std::size_t kPayload = 4;
constexpr std::size_t kJobName = 12;
constexpr std::size_t kCorrelationId = 14;
constexpr std::size_t kTraceparent = 15;
constexpr std::size_t kPipeline = 16;
constexpr std::size_t kStage = 17;
constexpr std::size_t kParentId = 19;

std::string text_or_empty(const pg::Row& row, std::size_t column) {
  return row.is_null(column) ? std::string() : std::string(row.text(column));
}

}  // namespace

bool is_claim_token(const LeaseToken& token) { return token.value.bytes[6] >> 4U == 8; }

std::vector<ClaimedJob> read_claims(const pg::ResultSet& rows, const std::string& queue) {
  std::vector<ClaimedJob> jobs;
  jobs.reserve(rows.rows());
  ClaimedJob head;
  std::size_t position = 0;
  for (const auto row : rows) {
    if (row.is_null(kJobId)) {
      head = read_claimed(row, queue);
      position = 0;
      continue;
    }
    if (!row.is_null(kToken)) {
      jobs.push_back(read_claimed(row, queue));
      continue;
    }
    auto& job = jobs.emplace_back(head);
    head.mark.clear();  // One is enough.
    job.id = row.id<JobId>(kJobId);
    job.token = token_at(head.token.value, position++);
    job.payload_json = row.text(kPayload);
    job.job_name = text_or_empty(row, kJobName);
    job.correlation_id = text_or_empty(row, kCorrelationId);
    job.traceparent = text_or_empty(row, kTraceparent);
    job.pipeline = text_or_empty(row, kPipeline);
    job.stage = text_or_empty(row, kStage);
    job.parent = row.opt_uuid(kParentId);
  }
  return jobs;
}

bool ClaimBits::fits(const Settlement& settlement) {
  return is_claim_token(settlement.token) && settlement.outcome.plain() &&
         settlement.outcome.result_json.empty() && settlement.logs.empty();
}

void ClaimBits::add(const Settlement& settlement) {
  const auto position = read_two(settlement.token.value, kPositionAt);
  const auto id = token_at(settlement.token.value, 0).value;
  auto claim = std::ranges::find(claims_, id, &Claim::id);
  if (claim == claims_.end()) {
    claims_.push_back({.id = id, .bits = std::string(read_two(id, kSizeAt), '0')});
    claim = claims_.end() - 1;
  }
  if (!fits(settlement)) return;
  if (position < claim->bits.size()) claim->bits[position] = '1';
  claim->settlements.push_back(&settlement);
}

pg::Statement ClaimBits::statement(const std::string& worker_id) const {
  std::vector<Uuid> ids;
  std::vector<std::string> bits;
  for (const auto& claim : claims_) {
    ids.push_back(claim.id);
    bits.push_back(claim.bits);
  }
  pg::Params params;
  params.add(worker_id).add_uuid_array(ids).add_array(bits);
  return {.sql = "select millrace.complete_claims($1, $2, $3::bit varying[]) as accepted",
          .params = std::move(params),
          .name = "mr_complete_claims"};
}

std::vector<const Settlement*> ClaimBits::refused(const pg::ResultSet& answer) const {
  std::vector<const Settlement*> left;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    const auto accepted = i < answer.rows() && !answer[i].is_null("accepted")
                              ? answer[i].text("accepted")
                              : std::string_view();
    for (const auto* settlement : claims_[i].settlements) {
      const auto position = read_two(settlement->token.value, kPositionAt);
      if (position >= accepted.size() || accepted[position] != '1') left.push_back(settlement);
    }
  }
  return left;
}

}  // namespace millrace::store
