// LaneWorker: a worker that takes stretches of a lane, as the engine's own does.
#pragma once

#include "sql/engine.h"

#include <string>
#include <vector>

namespace millrace::test {

class LaneWorker : public Worker {
 public:
  explicit LaneWorker(Session& sql, std::string id = "w1", const std::string& info = kLongLived)
      : Worker(sql, std::move(id), info), sql_(&sql) {}

  std::vector<Delivery> claim_lanes(int limit, const std::string& queue = "default") {
    std::vector<Delivery> all;
    for (const auto row :
         sql_->rows("select d.token, d.job_id, l.line, l.n - 1 from millrace.claim_jobs($1, "
                    "$2::uuid, $3, $4::int, p_ranges => true) d left join lateral "
                    "string_to_table(d.jobs, E'\\n') with ordinality l(line, n) on true",
                    pg::params(id(), process(), queue, limit))) {
      Delivery delivery;
      delivery.token = row.text(0);
      if (row.is_null(1)) {
        delivery.id = row.text(2).substr(0, 36);
        delivery.token = fmt::format("{}{:04x}", delivery.token.substr(0, 32), row.i64(3));
      } else {
        delivery.id = row.text(1);
      }
      all.push_back(std::move(delivery));
    }
    return all;
  }
  // Of deliveries of one claim.
  std::string complete_claim(const std::vector<Delivery>& deliveries) {
    const auto& token = deliveries.front().token;
    std::string bits(std::stoul(token.substr(28, 4), nullptr, 16), '0');
    for (const auto& delivery : deliveries) {
      bits[std::stoul(delivery.token.substr(32), nullptr, 16)] = '1';
    }
    return complete_bits(token.substr(0, 32) + "0000", bits);
  }
  std::string complete_bits(const std::string& claim, const std::string& bits) {
    return sql_->value(
        "select millrace.complete_claims($1, array[$2::uuid], array[$3::bit varying])",
        pg::params(id(), claim, bits));
  }

 private:
  Session* sql_;
};

}  // namespace millrace::test
