// Search: passages of published documents for a question.
//
// Flow: the question is embedded (QueryEmbedder), then the database ranks by words and by vector.
// Where it cannot be embedded, hybrid goes on by words and the answer says so; mode vector is
// refused. Questions are private: they are in no log, no trace and no metric.
#pragma once

#include "api/operation.h"
#include "api/query_embedder.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "store/api/search.h"

#include <vector>

namespace millrace::api {

struct SearchMetrics {
  explicit SearchMetrics(MetricRegistry& registry);

  MetricFamily& searches;   // millrace_searches_total{mode}, by what was done
  MetricFamily& durations;  // millrace_search_duration_seconds{part}: embed, rank
  Counter& without_vector;  // millrace_searches_without_vector_total
};

struct SearchServices {
  store::SearchStore& search;
  QueryEmbedder& embedder;
  SearchMetrics& metrics;
  const Clock& clock;
};

struct SearchFound {
  std::string mode;       // What was done.
  std::string text = {};  // {"mode", "notice", "model", "passages"}
};

// For the server, and for whoever asks beside it. invalid_argument names what is wrong with the
// question; conflict: mode vector, and there is no vector.
Task<SearchFound> answer_search(SearchServices services, store::CallContext caller,
                                store::SearchQuestion question);

// The services outlive the operations.
std::vector<Operation> search_operations(SearchServices services);

}  // namespace millrace::api
