// Whether a folder that was exported is what an installation has handed out. Needs no database:
// whoever was given the folder and knows the key can do it.
#include "app/commands/documents.h"
#include "app/commands/signed_manifest.h"
#include "app/exit_code.h"
#include "blob/digest.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20;

struct VerifyArguments {
  std::string folder;
  std::vector<std::string> keys;
  std::optional<std::string> original;
};

Result<output::ContentDigest> digest_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorKind::not_found, fmt::format("{} cannot be read", path.string()));
  }
  blob::Sha256Stream sha256;
  std::uint64_t size = 0;
  std::vector<char> piece(kPiece);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    sha256.update(std::as_bytes(std::span(piece).first(got)));
    size += got;
  }
  if (file.bad()) {
    return fail(ErrorKind::unavailable, fmt::format("{} cannot be read", path.string()));
  }
  return output::ContentDigest{.sha256 = sha256.finish().hex(), .size_bytes = size};
}

Result<output::RecomputedDigests> digests_of(const VerifyArguments& arguments,
                                             const output::Manifest& manifest) {
  output::RecomputedDigests out;
  for (const auto& artifact : manifest.artifacts) {
    if (fs::path(artifact.name).filename() != artifact.name) {
      return fail(ErrorKind::conflict, fmt::format("{}: it names {}, which is in another folder",
                                                   kManifestFile, artifact.name));
    }
    MR_TRY(out.artifacts[artifact.name], digest_of(fs::path(arguments.folder) / artifact.name));
  }
  for (const auto& input : manifest.inputs) {
    auto& digest = out.inputs[input.file_name];
    digest = {.sha256 = input.sha256, .size_bytes = input.size_bytes};
    if (arguments.original) {
      MR_TRY(digest, digest_of(*arguments.original));
    }
  }
  return out;
}

Result<std::vector<std::string>> trusted_keys(Context& context, const VerifyArguments& arguments) {
  if (!arguments.keys.empty()) return arguments.keys;
  MR_TRY(auto keys, find_content_keys(context));
  if (!keys.empty()) return keys;
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = "there is no key to check the signature with",
                    .hint = "give the public key of whoever has signed with --key, or set "
                            "auth.jwt_secret"});
}

Result<int> run_verify(Context& context, const VerifyArguments& arguments) {
  MR_TRY(const auto keys, trusted_keys(context, arguments));
  MR_TRY(const auto found, read_signed_manifest(arguments.folder, keys));
  MR_TRY(const auto digests, digests_of(arguments, found.manifest));
  const auto fits = output::verify_manifest(found.manifest, digests);
  if (!fits) return fail_with_context(std::string(kManifestFile), fits.error());
  const auto files = digests.artifacts.size();
  if (context.json()) {
    context.print_json(json::Object{{"document_id", found.manifest.document_id},
                                    {"key_id", found.key_id},
                                    {"files", files},
                                    {"original", arguments.original.has_value()},
                                    {"verified", true}});
  } else {
    context.print(fmt::format("signed by {}; {} {} as handed out{}\n", found.key_id, files,
                              files == 1 ? "file is" : "files are",
                              arguments.original ? ", made of this original" : ""));
  }
  return kExitOk;
}

}  // namespace

void add_documents_verify(Command& documents) {
  auto arguments = std::make_shared<VerifyArguments>();
  auto& command =
      documents.add("verify", "Whether an exported folder is, to the byte, what was handed out");
  command.argument("DIR", arguments->folder, "Folder that 'documents export' has written");
  command.option("--key", "KEY", arguments->keys,
                 "Public key to trust, repeatable (default: those of this installation)");
  command.option("--original", "FILE", arguments->original, "Also hold the document against it")
      .files();
  command.action([arguments](Context& context) { return run_verify(context, *arguments); });
}

}  // namespace millrace::app
