// What the stand-in's "model" says: an answer in the asked form, made of nothing but the question.
//
// The three passes of documents are known by the ids of their schemas: entities are words of the
// lines that were sent, with their indexes; facts rest on the entities that were listed; sentences
// tell the facts that were given. Any other schema gets its smallest valid value, no schema a short
// text. The same question always gets the same answer.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace millrace::test {

struct PassQuestion {
  std::string_view system = {};
  std::string_view user = {};
  const json::Value* schema = nullptr;  // Nothing: it may be in `system`, in words.
  bool invented = false;  // Adds what is not in the question: an entity, a fact, a number.
};

std::string pass_answer(const PassQuestion& question);

}  // namespace millrace::test
