// From an answer that is not a success to the CallFailure that says so, for all HTTP services.
#pragma once

#include "base/json.h"
#include "http/message.h"
#include "provider/call.h"
#include "provider/classify.h"
#include "provider/scrub.h"

#include <span>
#include <string>
#include <string_view>

namespace millrace::provider {

// Whose answer it is and what must not be repeated from it.
struct CallContext {
  Service service = Service::openai;
  std::string_view name = {};  // In messages.
  ScrubOptions scrub = {};
};

// By the service's table, with a message for people.
CallFailure refused(const CallContext& context, const Refusal& refusal);

// A 200 that holds nothing usable. Whether it was charged only the service knows: taken as charged.
CallFailure bad_answer(const CallContext& context, std::string_view what, int status);

// A 200 without what was asked for. With a usage it was done, and is charged: another would be as
// dear, and is not asked for. Else as bad_answer.
CallFailure no_answer(const CallContext& context, std::string_view what, const Usage& usage);

// Of an error in a 200: the work may have been done before it failed. Limits and missing money are
// told before anything is done.
void note_status_200(int status, CallFailure& failure);

// A 200 that the model did not end as it should.
CallFailure unfinished(const CallContext& context, std::string_view error_type,
                       std::string_view what);

// The body as JSON, halves of surrogate pairs as U+FFFD; null when it is none, and then nothing in
// it counts as said.
json::Value body_json(const http::Response& response, std::size_t max_bytes);

// retry-after(-ms) and x-should-retry.
void read_retry_headers(const http::Response& response, Wall now, Refusal& refusal);

}  // namespace millrace::provider
