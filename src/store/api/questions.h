// QuestionStore: calls to a paid service that embed questions, outside of any job.
//
// Flow: whoever embeds a question begins it here (room at the provider's limits, a place in the
// tenant's budget, the intent on record), asks the service, and says what became of it. What is
// never ended stays reserved, and its slot is free again after slot_lease. Made by the server in
// the name of the caller: no client may. Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "base/uuid.h"
#include "store/api/session.h"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace millrace::store {

struct QuestionCall {
  std::string provider = {};  // "openai:text-embedding-3-small"
  std::string model = {};
  std::string request_sha256 = {};
  std::uint64_t estimated_tokens = 0;
  std::int64_t reserved_micros = 0;
};

struct QuestionPermit {
  enum class Answer { granted, no_room, over_budget };

  Answer answer = Answer::granted;
  Uuid call = {};                      // Of what was granted.
  std::chrono::milliseconds retry{0};  // Of no_room: not before.
};

class QuestionStore {
 public:
  virtual ~QuestionStore() = default;
  virtual Task<QuestionPermit> begin_question(CallContext caller, QuestionCall call) = 0;
  // `end` as millrace.end_question takes it.
  virtual Task<void> end_question(CallContext caller, Uuid call, json::Object end) = 0;
};

std::unique_ptr<QuestionStore> make_question_store(ApiSession& session);

}  // namespace millrace::store
