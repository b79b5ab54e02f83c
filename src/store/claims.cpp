#include "store/claims.h"

#include "base/json.h"
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

std::string_view next_field(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto field = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return field;
}

// What few jobs have besides id and payload.
void read_rest(std::string_view text, ClaimedJob& job) {
  const auto rest = parse_json_object(text);
  if (!rest) throw pg::RowError("a job of a claim: " + rest.error().message);
  const auto member = [&](const char* name) {
    const auto* value = rest->if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                  : std::string();
  };
  job.job_name = member("job_name");
  job.correlation_id = member("correlation_id");
  job.traceparent = member("traceparent");
  job.pipeline = member("pipeline");
  job.stage = member("stage");
  if (const auto parent = Uuid::parse(member("parent_id"))) job.parent = *parent;
}

// "id\tpayload" or "id\tpayload\trest", a line each.
void read_lines(std::string_view lines, const ClaimedJob& head, std::vector<ClaimedJob>& jobs) {
  const auto count = read_two(head.token.value, kSizeAt);
  for (std::size_t position = 0; position < count; ++position) {
    auto line = next_field(lines, '\n');
    const auto id = JobId::parse(next_field(line, '\t'));
    if (!id) throw pg::RowError("a claim lacks the line of a job");
    auto& job = jobs.emplace_back(head);
    job.id = *id;
    job.token = token_at(head.token.value, position);
    job.payload_json = next_field(line, '\t');
    if (!line.empty()) read_rest(line, job);
    if (position > 0) job.mark.clear();  // One is enough.
  }
}

}  // namespace

bool is_claim_token(const LeaseToken& token) { return token.value.bytes[6] >> 4U == 8; }

std::vector<Uuid> bare_claims(const pg::ResultSet& rows) {
  std::vector<Uuid> claims;
  for (const auto row : rows) {
    if (row.is_null("job_id") && row.is_null("jobs")) claims.push_back(row.uuid("token"));
  }
  return claims;
}

std::vector<ClaimedJob> read_claims(const pg::ResultSet& rows,
                                    const std::vector<std::string>& lines,
                                    const std::string& queue) {
  std::vector<ClaimedJob> jobs;
  auto next = lines.begin();
  for (const auto row : rows) {
    auto job = read_claimed(row, queue);
    if (job.id.is_nil()) {
      jobs.reserve(jobs.size() + read_two(job.token.value, kSizeAt));
      const bool bare = row.is_null("jobs");
      if (bare && next == lines.end()) throw pg::RowError("a claim lacks its lines");
      read_lines(bare ? std::string_view(*next++) : row.text("jobs"), job, jobs);
    } else {
      jobs.push_back(std::move(job));
    }
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
