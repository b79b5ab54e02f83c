#include "app/serve/signing_secrets.h"

#include "base/file.h"
#include "identity/base64url.h"
#include "identity/verify_key.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace millrace::app {
namespace {

constexpr std::size_t kSecretBytes = 48;

Secret<std::string> make_secret(Random& random) {
  std::string bytes;
  while (bytes.size() < kSecretBytes) {
    const auto word = random.next();
    std::array<char, sizeof word> part;
    std::memcpy(part.data(), &word, part.size());
    bytes.append(part.data(), part.size());
  }
  return Secret<std::string>(identity::base64url_encode(bytes));
}

}  // namespace

Result<Secret<std::string>> secret_in_file(const std::filesystem::path& path, Random& random) {
  auto text = read_file(path, identity::kSecretMaxBytes);
  if (!text && text.error().kind == ErrorKind::not_found) {
    // Whole before it has its name, and a name that is taken stays as it is.
    auto draft = path;
    draft += fmt::format(".{}", ::getpid());
    MR_TRY_VOID(write_file_atomically(draft, make_secret(random).reveal(), 0600));
    const bool linked = ::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST;
    const int code = errno;
    ::unlink(draft.c_str());
    if (!linked) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot create {}: {}", path.string(), std::strerror(code)));
    }
    text = read_file(path, identity::kSecretMaxBytes);
  }
  if (!text) return fail(std::move(text).error());
  Secret<std::string> secret(*std::move(text));
  auto good = identity::check_secret(secret);
  if (!good) return fail_with_context(path.string(), good.error());
  return secret;
}

Result<SigningSecrets> find_signing_secrets(const Settings& settings, const Database& database,
                                            Random& random) {
  SigningSecrets secrets;
  for (const char* name : {"auth.jwt_secret", "auth.previous_jwt_secret"}) {
    if (!settings.is_set(name)) continue;
    Secret<std::string> secret(settings.text(name));
    auto good = identity::check_secret(secret);
    if (!good) return fail_with_context(name, good.error());
    secrets.all.push_back(std::move(secret));
  }
  if (settings.is_set("auth.previous_jwt_secret") && !settings.is_set("auth.jwt_secret")) {
    return fail(ErrorKind::invalid_argument,
                "auth.previous_jwt_secret is set, but not auth.jwt_secret");
  }
  if (!secrets.all.empty()) return secrets;
  if (database.is_private) {
    const std::filesystem::path data_dir(settings.text("database.data_dir"));
    MR_TRY(auto secret, secret_in_file(data_dir / "jwt_secret", random));
    secrets.all.push_back(std::move(secret));
    return secrets;
  }
  secrets.all.push_back(make_secret(random));
  secrets.ephemeral = true;
  return secrets;
}

}  // namespace millrace::app
