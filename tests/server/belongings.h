// Belongings: one of everything that a tenant and a person of it can have, each with a word in it
// that nobody else may read.
//
// They are made over HTTP, as clients make them; only what a worker would leave behind (a result,
// an artifact, a line of the export history) is put into the database by hand. The world must serve
// with options(): questions need contracts.
#pragma once

#include "api_world.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

class Belongings {
 public:
  static ApiWorld::Options options();

  // The world outlives it.
  Belongings(ApiWorld& world, TenantId tenant, identity::UserId owner, std::string marker);

  // The ids of all of it, which nobody else is told.
  const std::vector<std::string>& ids() const { return ids_; }
  // What others may know: tenant, owner, and names of things that have no id.
  const std::vector<std::string>& names() const { return names_; }
  // The parameters of a path, about these things.
  std::map<std::string, std::string> values_for(const ContractOperation& operation) const;
  // The request with these things in its body, wherever its body names such.
  Ask aimed(Ask ask) const;
  // Paths with a token in them, which open one thing each to whoever has them.
  const std::vector<std::string>& links() const { return links_; }
  // All of it as it lies in the database.
  std::string rows() const;

  // A job of the owner that waits.
  const std::string& job() const { return job_; }
  const std::string& object() const { return object_; }  // Its name in bucket exports.
  std::string key() const;  // An Idempotency-Key that was used for a job, a batch and a file.

 private:
  // A job in the hands of a worker.
  struct Held {
    std::string worker = {};
    std::string process = {};
    std::string job = {};
    std::string token = {};  // Of the delivery.
  };

  std::string keep(std::string id);
  Held take(const std::string& queue);  // The next one.
  void make_held_job();
  void make_jobs();
  void make_files();
  void make_document();
  void make_exports();
  void make_answers();
  void make_links();

  ApiWorld& world_;
  TenantId tenant_;
  identity::UserId owner_;
  std::string marker_;
  std::string service_;  // Tokens.
  std::string person_;

  std::string job_;
  Held held_;
  std::string profile_;
  std::string file_;
  std::string object_;
  std::string quarantined_;  // A digest.
  std::string question_;
  std::string artifact_;
  std::map<std::string, std::string> by_prefix_;  // What paths that begin so are about.
  std::vector<std::string> ids_;
  std::vector<std::string> names_;
  std::vector<std::string> links_;
};

}  // namespace millrace::test
