// A manifest in a folder, and the signature beside it.
#pragma once

#include "app/context.h"
#include "identity/content_signer.h"
#include "output/manifest.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kSignatureFile = "manifest.sig";

// With the secret that the server signs with; nothing where none lasts.
Result<std::optional<identity::ContentSigner>> find_content_signer(Context& context);
// Public keys of the secrets that are accepted here, the one before the present one included.
Result<std::vector<std::string>> find_content_keys(Context& context);

Result<output::Manifest> read_manifest(const std::filesystem::path& folder);

struct SignedManifest {
  output::Manifest manifest;
  std::string key_id;
};
// conflict where the signature does not fit it, or is by none of these keys; not_found where one of
// the two is not there.
Result<SignedManifest> read_signed_manifest(const std::filesystem::path& folder,
                                            const std::vector<std::string>& public_keys);

// Replaces what is there. `sha256` is of the bytes that are to be signed.
Result<void> sign_manifest(const std::filesystem::path& folder, std::string_view sha256,
                           const identity::ContentSigner& signer);

}  // namespace millrace::app
