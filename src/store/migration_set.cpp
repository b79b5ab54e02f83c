#include "store/migration_set.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace millrace::store {

namespace {

constexpr std::string_view kMigrations = "migrations/";
constexpr std::size_t kDigits = 4;

Result<ScriptFile> parse_file(const sql::SqlFile& file) {
  auto statements = split_statements(file.text);
  if (!statements) {
    auto error = std::move(statements).error();
    error.message = fmt::format("sql/{}:{}", file.path, error.message);
    return fail(std::move(error));
  }
  return ScriptFile{.path = std::string(file.path),
                    .checksum = sha256_hex(file.text),
                    .statements = *std::move(statements)};
}

// "-- Lock cost: none. compat: rolling" somewhere in the comment at the top.
std::string parse_compat(std::string_view text) {
  constexpr std::string_view kMark = "compat:";
  while (text.starts_with("--")) {
    const auto line = text.substr(0, text.find('\n'));
    if (const auto at = line.find(kMark); at != std::string_view::npos) {
      auto word = line.substr(at + kMark.size());
      word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
      const auto end =
          std::ranges::find_if_not(word, [](unsigned char c) { return std::isalpha(c) != 0; });
      return std::string(word.begin(), end);
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

Result<Migration> parse_migration(const sql::SqlFile& file) {
  auto name = file.path.substr(kMigrations.size());
  const bool well_named = name.ends_with(".sql") && name.size() > kDigits + 5 &&
                          name[kDigits] == '_' &&
                          std::ranges::all_of(name.substr(0, kDigits),
                                              [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!well_named) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("sql/{} is not named like 0001_what_it_does.sql", file.path));
  }
  name.remove_suffix(4);
  MR_TRY(auto script, parse_file(file));
  return Migration{.version = std::stoi(std::string(name.substr(0, kDigits))),
                   .name = std::string(name),
                   .compat = parse_compat(file.text),
                   .file = std::move(script)};
}

Result<void> check_numbers(const std::vector<Migration>& migrations) {
  int expected = 1;
  for (const auto& migration : migrations) {
    if (migration.version < expected) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("two migrations have the number {:04}", migration.version));
    }
    if (migration.version > expected) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("migration {:04} is missing before {}", expected, migration.name));
    }
    ++expected;
  }
  return {};
}

}  // namespace

Result<MigrationSet> parse_migration_set(std::span<const sql::SqlFile> files) {
  MigrationSet set;
  for (const auto& file : files) {
    if (file.path.starts_with(kMigrations)) {
      MR_TRY(auto migration, parse_migration(file));
      set.migrations.push_back(std::move(migration));
      continue;
    }
    auto* kind = file.path == "roles.sql"              ? &set.roles
                 : file.path.starts_with("functions/") ? &set.functions
                 : file.path.starts_with("views/")     ? &set.views
                 : file.path.starts_with("testing/")   ? &set.testing
                 : file.path.starts_with("policies/")  ? &set.policies
                                                       : nullptr;
    if (!kind) continue;
    MR_TRY(auto script, parse_file(file));
    kind->push_back(std::move(script));
  }
  std::ranges::sort(set.migrations, {}, &Migration::version);
  for (auto* kind : {&set.functions, &set.views, &set.testing, &set.policies}) {
    std::ranges::sort(*kind, {}, &ScriptFile::path);
  }
  MR_TRY_VOID(check_numbers(set.migrations));
  return set;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const auto byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace millrace::store
