#include "identity/refusal.h"

#include <array>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::array kAll{
    Refusal::missing,        Refusal::malformed,  Refusal::unsupported,    Refusal::unknown_key,
    Refusal::bad_signature,  Refusal::expired,    Refusal::not_yet_valid,  Refusal::wrong_issuer,
    Refusal::wrong_audience, Refusal::bad_claims, Refusal::wrong_resource, Refusal::revoked,
    Refusal::misplaced,      Refusal::forbidden,
};

}  // namespace

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::missing:
      return "missing";
    case Refusal::malformed:
      return "malformed";
    case Refusal::unsupported:
      return "unsupported";
    case Refusal::unknown_key:
      return "unknown_key";
    case Refusal::bad_signature:
      return "bad_signature";
    case Refusal::expired:
      return "expired";
    case Refusal::not_yet_valid:
      return "not_yet_valid";
    case Refusal::wrong_issuer:
      return "wrong_issuer";
    case Refusal::wrong_audience:
      return "wrong_audience";
    case Refusal::bad_claims:
      return "bad_claims";
    case Refusal::wrong_resource:
      return "wrong_resource";
    case Refusal::revoked:
      return "revoked";
    case Refusal::misplaced:
      return "misplaced";
    case Refusal::forbidden:
      return "forbidden";
  }
  std::unreachable();
}

std::unexpected<Error> refuse(Refusal refusal, std::string message) {
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = std::move(message),
                    .detail = std::string(to_string(refusal))});
}

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

std::optional<Refusal> refusal_of(const Error& error) {
  if (error.kind != ErrorKind::invalid_argument || !error.sqlstate.empty()) return std::nullopt;
  for (const auto refusal : kAll) {
    if (error.detail == to_string(refusal)) return refusal;
  }
  return std::nullopt;
}

}  // namespace millrace::identity
