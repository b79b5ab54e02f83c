// Which model embeds the chunks of a document, and how they are cut for it: the stages `chunk` and
// `embed` ask the same question and must get the same answer.
#pragma once

#include "chunk/chunk.h"
#include "chunk/token_counter.h"
#include "pipeline/stage_job.h"

#include <expected>
#include <memory>

namespace millrace::pipeline {

// Of the stage `embed` of the job's pipeline; a pipeline that cuts and does not embed is cut by
// bytes. blocked when it is not here.
awaitable<std::expected<EmbeddingService, Outcome>> embedding_of(StageJob& job);

// In the tokens of the model, its own limit as the most.
std::unique_ptr<chunk::TokenCounter> counter_of(const provider::EmbeddingProvider& provider);
chunk::ChunkOptions chunk_options(const Stage& stage, const provider::EmbeddingProvider& provider);

}  // namespace millrace::pipeline
