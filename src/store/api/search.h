// SearchStore: questions to the published chunks of a tenant.
//
// Users find passages of their own documents, services those of their tenant; which, the database
// decides by the role and the claims of the caller. Passages come as a JSON array, best first.
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

// Of the question; compared with vectors of the same model and version only.
struct SearchVector {
  std::vector<float> values;
  std::string model;
  std::string version;
};

struct SearchQuestion {
  std::string query;
  std::optional<SearchVector> vector = {};
  std::string mode = "hybrid";  // Or text, vector.
  // In these only: in none, where it is empty. Nothing: in all.
  std::optional<std::vector<Uuid>> documents = {};
  int limit = 10;  // 1 to 100.
  bool explain = false;
};

class SearchStore {
 public:
  virtual ~SearchStore() = default;
  // MR024 for a question that cannot be asked.
  virtual Task<std::string> search_chunks(CallContext caller, SearchQuestion question) = 0;
};

std::unique_ptr<SearchStore> make_search_store(ApiSession& session);

// As PostgreSQL reads a list of numbers: "{0.5,-1}".
std::string array_text(const std::vector<float>& values);

}  // namespace millrace::store
