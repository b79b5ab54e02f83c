// What an EventSource is told while there can be no stream: to come again.
//
// A page's EventSource gives up for good at any status but 200, and nobody is there to open it
// anew: a restart of the database would end the streams of all pages. So those who ask for
// text/event-stream get a stream that says when to come again, and ends; they keep the id they
// have. Everybody else gets the problem.
#pragma once

#include "api/operation.h"
#include "api/reply.h"
#include "http/server_request.h"

#include <optional>

namespace millrace::api {

// Instead of an answer with `status`, which is what it would be; nothing: it is.
std::optional<Reply> come_again(const Operation& operation, const http::ServerRequest& request,
                                int status);

}  // namespace millrace::api
