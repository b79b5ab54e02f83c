#include "support/sql_source.h"

#include "base/file.h"
#include "support/must.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::deque<std::string> texts;  // What the views of `files` look at: never moves.
  std::vector<sql::SqlFile> files;

  explicit Folder(const fs::path& root) {
    const auto keep = [&](std::string text) -> std::string_view {
      return texts.emplace_back(std::move(text));
    };
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".sql") continue;
      const auto path = keep(entry.path().lexically_relative(root).string());
      files.push_back({.path = path, .text = keep(must(read_file(entry.path())))});
    }
    std::ranges::sort(files, {}, &sql::SqlFile::path);
  }
};

}  // namespace

std::span<const sql::SqlFile> sql_files() {
  const char* folder = std::getenv("MILLRACE_TEST_SQL_DIR");
  if (folder == nullptr || *folder == '\0') return sql::embedded_sql();
  static const Folder read(folder);
  return read.files;
}

}  // namespace millrace::test
