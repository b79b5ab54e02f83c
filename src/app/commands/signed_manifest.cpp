#include "app/commands/signed_manifest.h"

#include "app/commands/job_spec.h"
#include "app/database.h"
#include "app/new_file.h"
#include "app/serve/signing_secrets.h"
#include "base/file.h"
#include "base/json.h"
#include "blob/digest.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <span>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::size_t kManifestMaxBytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kSignatureMaxBytes = std::size_t{16} * 1024;

Result<SigningSecrets> lasting_secrets(Context& context) {
  // A secret that is configured needs no database to be found.
  const auto database = find_database(context.settings);
  MR_TRY(auto secrets,
         find_signing_secrets(context.settings, database ? *database : Database{}, context.random));
  if (secrets.ephemeral) secrets.all.clear();
  return secrets;
}

Result<output::Manifest> parsed(const std::string& text) {
  auto manifest = output::parse_manifest(text);
  if (!manifest) return fail_with_context(std::string(kManifestFile), manifest.error());
  return manifest;
}

}  // namespace

Result<std::optional<identity::ContentSigner>> find_content_signer(Context& context) {
  MR_TRY(const auto secrets, lasting_secrets(context));
  if (secrets.all.empty()) return std::nullopt;
  MR_TRY(auto signer, identity::ContentSigner::make(secrets.all.front()));
  return std::optional(std::move(signer));
}

Result<std::vector<std::string>> find_content_keys(Context& context) {
  MR_TRY(const auto secrets, lasting_secrets(context));
  std::vector<std::string> keys;
  for (const auto& secret : secrets.all) {
    MR_TRY(const auto signer, identity::ContentSigner::make(secret));
    keys.push_back(signer.public_key());
  }
  return keys;
}

Result<output::Manifest> read_manifest(const std::filesystem::path& folder) {
  MR_TRY(const auto text, read_file(folder / kManifestFile, kManifestMaxBytes));
  return parsed(text);
}

Result<SignedManifest> read_signed_manifest(const std::filesystem::path& folder,
                                            const std::vector<std::string>& public_keys) {
  MR_TRY(const auto text, read_file(folder / kManifestFile, kManifestMaxBytes));
  MR_TRY(const auto beside, read_file(folder / kSignatureFile, kSignatureMaxBytes));
  const auto signature = parse_json_object(beside, {.max_bytes = kSignatureMaxBytes});
  if (!signature) {
    return fail(ErrorKind::conflict, fmt::format("{}: it is no JSON object", kSignatureFile));
  }
  const auto fits = identity::check_signature(*signature, kManifestFile, text, public_keys);
  if (!fits) return fail_with_context(std::string(kSignatureFile), fits.error());
  MR_TRY(auto manifest, parsed(text));
  return SignedManifest{.manifest = std::move(manifest),
                        .key_id = identity::content_key_id(text_member(*signature, "public_key"))};
}

Result<void> sign_manifest(const std::filesystem::path& folder, std::string_view sha256,
                           const identity::ContentSigner& signer) {
  MR_TRY(const auto text, read_file(folder / kManifestFile, kManifestMaxBytes));
  if (blob::sha256(text).hex() != sha256) {
    return fail(ErrorKind::conflict, fmt::format("{} was changed meanwhile", kManifestFile));
  }
  MR_TRY(const auto signature, signer.sign(kManifestFile, text));
  MR_TRY(auto file, NewFile::create(folder / kSignatureFile));
  const auto beside = to_json(signature) + '\n';
  MR_TRY_VOID(file->write(std::as_bytes(std::span(beside))));
  return file->keep();
}

}  // namespace millrace::app
