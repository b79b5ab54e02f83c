// ParseStore: parses that somebody else does, as a worker asks for them and waits. One call per SQL
// function (sql/functions/parse); every one is fenced by the lease of the delivery: lease_lost
// (MR001) for one that is stale. Threading: any. Lifetime: the pool outlives it.
#pragma once

#include "base/task.h"
#include "base/uuid.h"
#include "model/outcome.h"
#include "store/document_store.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace millrace::pg {
class Pool;
}

namespace millrace::store {

struct ParseState {
  std::string state;      // asked, waiting, arrived, failed, withdrawn.
  bool ask = false;       // Nobody has asked yet, or nobody knows what came of it.
  std::string remote_id;  // Empty: not answered yet.
  std::string reason;     // Of one that failed.
  int asks = 1;
  std::optional<Uuid> call = {};           // On the account until it has ended.
  std::optional<Uuid> previous_call = {};  // Of an ask whose end nobody knows.
  std::chrono::milliseconds waited{0};
  std::chrono::milliseconds left{0};  // Until its deadline; may be below zero.
  std::optional<ContentRef> content = {};
};

// What a parse must have been asked for to be taken over from a run before.
struct ParseWanted {
  std::string parser;
  std::string request_sha256;  // Hexadecimal, as its call is put on record.
};

struct NewParse {
  std::string parser;
  std::string capability_sha256;  // Hexadecimal.
  std::chrono::milliseconds deadline{0};
  std::optional<Uuid> call = {};
};

// Which delivery asks.
struct HeldJob {
  JobId job;
  LeaseToken token;
};

class ParseStore {
 public:
  virtual ~ParseStore() = default;

  // Nothing: none was asked for in this run of the document, and none that is wanted arrived for a
  // run before.
  virtual Task<std::optional<ParseState>> find_parse(HeldJob held, ParseWanted wanted) = 0;
  virtual Task<ParseState> ask_parse(HeldJob held, NewParse parse) = 0;
  virtual Task<ParseState> note_asked(HeldJob held, std::string remote_id) = 0;
  virtual Task<ParseState> note_failed(HeldJob held, std::string reason) = 0;
  // It was certainly not asked for.
  virtual Task<void> withdraw(HeldJob held) = 0;
};

std::unique_ptr<ParseStore> make_parse_store(pg::Pool& pool);

// For the settlement of the job that has what it waited for. Before the statement that writes the
// result: the request is locked before the content, here as by whoever brings it.
SqlStatement end_parse_statement(JobId job);

}  // namespace millrace::store
