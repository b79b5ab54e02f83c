// Access: who may use an operation. There is no default: an operation without one does not compile.
//
// Flow: every entry of the operation table names one; the guard holds the caller against it before
// anything of the request is looked at, and the OpenAPI document says the same. Rows of other
// tenants and users are kept away below, by the scope of every database call: this table decides
// which operations are open at all.
#pragma once

#include "base/result.h"
#include "identity/caller.h"
#include "identity/role.h"

#include <optional>
#include <string_view>
#include <vector>

namespace millrace::api {

enum class Confinement {
  // The caller's tenant, and of people their own rows.
  tenant,
  // The installation's own things (queues, limits, workers): only for those who are confined to no
  // tenant, because what they do touches all of them.
  installation,
};

class Access {
 public:
  enum class Kind {
    open,      // Nobody is asked who they are.
    caller,    // Somebody with the capability.
    stream,    // The same, or a ticket for this very stream in the URL: EventSource has no headers.
    database,  // Any role of the database, anon too: its grants and row security decide.
    signature,  // The handler checks what the request is signed with (webhooks, signed URLs).
  };

  static Access open() { return Access(Kind::open, {}, false, Confinement::tenant); }
  static Access signature() { return Access(Kind::signature, {}, false, Confinement::tenant); }
  // People with a user's token too; they see and touch their own.
  static Access people(identity::Capability capability) {
    return Access(Kind::caller, capability, true, Confinement::tenant);
  }
  // Servers and staff, within their tenant if their credentials name one.
  static Access service(identity::Capability capability) {
    return Access(Kind::caller, capability, false, Confinement::tenant);
  }
  // Staff of the installation.
  static Access staff(identity::Capability capability) {
    return Access(Kind::caller, capability, false, Confinement::installation);
  }
  static Access stream(identity::Capability capability) {
    return Access(Kind::stream, capability, true, Confinement::tenant);
  }
  // Likewise for servers and staff only: what happens to all jobs of a queue or a batch.
  static Access service_stream(identity::Capability capability) {
    return Access(Kind::stream, capability, false, Confinement::tenant);
  }

  // The surface of PostgREST and Supabase Storage, where roles mean what they mean in the database.
  static Access database() { return Access(Kind::database, {}, true, Confinement::tenant); }

  // Another right that opens the same door: people cancel what is theirs, operators what is stuck.
  Access or_with(identity::Capability other) const {
    auto copy = *this;
    copy.other_ = other;
    return copy;
  }

  Kind kind() const { return kind_; }
  bool guarded() const { return kind_ != Kind::open && kind_ != Kind::signature; }
  identity::Capability capability() const { return capability_; }
  Confinement confinement() const { return confinement_; }

  // Whether a set of capabilities opens it.
  bool opened_by(identity::CapabilitySet capabilities) const;
  // Whether somebody of that role can be let in at all.
  bool admits(identity::Role role) const;
  std::vector<identity::Role> roles() const;

  // A refusal `forbidden` that says what is missing.
  Result<void> check(const identity::Caller& caller) const;

 private:
  Access(Kind kind, identity::Capability capability, bool people, Confinement confinement)
      : kind_(kind), capability_(capability), people_(people), confinement_(confinement) {}

  Kind kind_;
  identity::Capability capability_;
  std::optional<identity::Capability> other_;
  bool people_;
  Confinement confinement_;
};

std::string_view to_string(Access::Kind kind);

}  // namespace millrace::api
