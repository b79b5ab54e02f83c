#include "store/api/questions.h"

#include "base/json_members.h"

#include <utility>

namespace millrace::store {
namespace {

class PgQuestionStore final : public QuestionStore {
 public:
  explicit PgQuestionStore(ApiSession& session) : session_(session) {}

  Task<QuestionPermit> begin_question(CallContext caller, QuestionCall call) override {
    json::Object question;
    question["provider"] = call.provider;
    question["model"] = call.model;
    question["request_sha256"] = call.request_sha256;
    question["estimated_tokens"] = call.estimated_tokens;
    question["reserved_micros"] = call.reserved_micros;
    pg::Params params;
    params.add_json(question);
    MR_CO_TRY(
        const auto text,
        co_await session_.text_as(caller.by_server(), MR_POINT("api_begin_question"), Access::write,
                                  {.sql = "select millrace.begin_question($1)::text",
                                   .params = std::move(params),
                                   .name = "mr_api_begin_question"}));
    MR_CO_TRY(const auto answer, parse_json_object(text));
    QuestionPermit permit;
    const auto refused = text_member(answer, "refused");
    if (refused.empty()) {
      MR_CO_TRY(permit.call, Uuid::parse(text_member(answer, "call_id")));
      co_return permit;
    }
    permit.answer =
        refused == "budget" ? QuestionPermit::Answer::over_budget : QuestionPermit::Answer::no_room;
    permit.retry = std::chrono::milliseconds(int_member(answer, "retry_ms"));
    co_return permit;
  }

  Task<void> end_question(CallContext caller, Uuid call, json::Object end) override {
    pg::Params params;
    params.add(call).add_json(end);
    MR_CO_TRY_VOID(co_await session_.as(caller.by_server(), MR_POINT("api_end_question"),
                                        Access::write,
                                        {.sql = "select millrace.end_question($1, $2)",
                                         .params = std::move(params),
                                         .name = "mr_api_end_question"}));
    co_return ok();
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<QuestionStore> make_question_store(ApiSession& session) {
  return std::make_unique<PgQuestionStore>(session);
}

}  // namespace millrace::store
