// Questions are embedded by what embeds documents: the stage `embed` of the pipeline `ingest`, as
// this installation's files and settings say.
//
// Flow: the server and `millrace search` make one; a model is opened at the first question and
// stays. Local models compute on the threads of the embedder, services are asked over HTTP: within
// the provider's limits and the budget of the caller's tenant, on record before and settled after,
// as calls of stages are. At most a few dozen questions wait for a vector at once, the others go on
// by words. Threading: any. Lifetime: context, client and questions outlive it.
#pragma once

#include "api/query_embedder.h"
#include "app/context.h"
#include "http/client.h"
#include "store/api/questions.h"

#include <memory>

namespace millrace::app {

// invalid_argument for settings that cannot be used. Where no pipeline embeds, or its model is not
// installed, questions are told so.
Result<std::unique_ptr<api::QueryEmbedder>> make_query_embedder(Context& context,
                                                                http::Client& client,
                                                                store::QuestionStore& questions);

}  // namespace millrace::app
