// Claims: jobs of a lane are held together, so that neither the claim nor plain success costs the
// database anything per job. Above the store each job has a token as if it had a lease of its own:
// the claim's id with the job's position in its last two bytes, behind the number of jobs.
#pragma once

#include "base/uuid.h"
#include "model/job.h"
#include "model/settlement.h"
#include "pg/result_set.h"
#include "pg/session.h"

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::store {

bool is_claim_token(const LeaseToken& token);

// The claims among the rows of millrace.claim_jobs whose jobs have to be asked for.
std::vector<Uuid> bare_claims(const pg::ResultSet& rows);
// The rows of millrace.claim_jobs: jobs with a lease of their own, and without job_id claims.
// `lines` are the jobs of the bare ones, in their order.
std::vector<ClaimedJob> read_claims(const pg::ResultSet& rows,
                                    const std::vector<std::string>& lines,
                                    const std::string& queue);

// Plain successes under claims: a bit per job.
class ClaimBits {
 public:
  // False when it has to be settled by itself.
  static bool fits(const Settlement& settlement);

  // The claim is locked with the others, in order, whether or not the settlement fits.
  void add(const Settlement& settlement);
  bool empty() const { return claims_.empty(); }
  pg::Statement statement(const std::string& worker_id) const;
  // Those that the answer did not accept: no longer held under their claims.
  std::vector<const Settlement*> refused(const pg::ResultSet& answer) const;

 private:
  struct Claim {
    Uuid id;
    std::string bits;
    std::vector<const Settlement*> settlements;
  };

  std::vector<Claim> claims_;  // Few: what a process holds at a time.
};

}  // namespace millrace::store
