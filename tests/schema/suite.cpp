// Runs the official JSON Schema test suite: schema_suite FOLDER draft7|draft2020-12 [--optional]
//
// FOLDER has `tests/` and `remotes/`. Every required test must pass; what does not is printed, and
// so are passed and total. With --optional the tests that implementations may differ about are
// counted too, one line per file, and decide nothing.
#include "base/json.h"
#include "schema/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace millrace::schema {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

struct Count {
  int passed = 0;
  int total = 0;
};

json::Value read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto value = parse_json(text, {.max_bytes = 4UZ << 20U, .max_depth = 100});
  if (value) return std::move(*value);
  std::fprintf(stderr, "%s: %s\n", path.c_str(), value.error().message.c_str());
  std::exit(2);
}

std::vector<fs::path> json_files(const fs::path& folder, bool below) {
  std::vector<fs::path> files;
  const auto take = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  };
  if (below) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) take(entry);
  } else {
    for (const auto& entry : fs::directory_iterator(folder)) take(entry);
  }
  std::ranges::sort(files);
  return files;
}

std::map<std::string, json::Value> remotes(const fs::path& folder) {
  std::map<std::string, json::Value> documents;
  for (const auto& file : json_files(folder, true)) {
    documents.emplace("http://localhost:1234/" + fs::relative(file, folder).generic_string(),
                      read(file));
  }
  return documents;
}

void tell(const fs::path& file, const json::Object& group, const json::Object* test,
          const std::string& what) {
  std::printf("FAILED %s: %s%s%s: %s\n", file.filename().c_str(),
              group.at("description").as_string().c_str(), test == nullptr ? "" : ": ",
              test == nullptr ? "" : test->at("description").as_string().c_str(), what.c_str());
}

Count run_group(const fs::path& file, const json::Object& group, const SchemaOptions& options) {
  const auto& tests = group.at("tests").as_array();
  Count count{.total = static_cast<int>(tests.size())};
  const auto schema = Schema::compile(group.at("schema"), options);
  if (!schema) {
    tell(file, group, nullptr, schema.error().message);
    return count;
  }
  for (const auto& value : tests) {
    const auto& test = value.as_object();
    const auto violations = schema->validate(test.at("data"));
    if (violations.empty() == test.at("valid").as_bool()) {
      ++count.passed;
    } else {
      tell(file, group, &test,
           violations.empty() ? "accepted, but not valid"
                              : "refused, but valid: " + violations.front().message);
    }
  }
  return count;
}

Count run_files(const std::vector<fs::path>& files, const SchemaOptions& options, bool each) {
  Count sum;
  for (const auto& file : files) {
    Count count;
    const auto groups = read(file);
    for (const auto& group : groups.as_array()) {
      const auto part = run_group(file, group.as_object(), options);
      count.passed += part.passed;
      count.total += part.total;
    }
    if (each) std::printf("  %-28s %4d of %4d\n", file.stem().c_str(), count.passed, count.total);
    sum.passed += count.passed;
    sum.total += count.total;
  }
  return sum;
}

int run(const fs::path& folder, const std::string& draft, bool optional) {
  const auto tests = folder / "tests" / draft;
  if (!fs::is_directory(tests)) {
    std::printf("skipped: the test suite is not there; tools/json_schema_suite fetches it\n");
    return kSkipped;
  }
  SchemaOptions options;
  options.draft = draft == "draft7" ? Draft::draft7 : Draft::draft2020_12;
  options.documents = remotes(folder / "remotes");
  const auto required = run_files(json_files(tests, false), options, false);
  std::printf("%s: %d of %d required tests passed\n", draft.c_str(), required.passed,
              required.total);
  if (optional) {
    const auto without_format = run_files(json_files(tests / "optional", false), options, true);
    options.assert_formats = true;
    const auto formats = run_files(json_files(tests / "optional/format", false), options, true);
    std::printf("%s: %d of %d optional tests passed, %d of %d of formats\n", draft.c_str(),
                without_format.passed, without_format.total, formats.passed, formats.total);
  }
  // A suite that lost its files must not count as passed.
  return required.passed == required.total && required.total >= 800 ? 0 : 1;
}

}  // namespace
}  // namespace millrace::schema

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: schema_suite FOLDER draft7|draft2020-12 [--optional]\n");
    return 2;
  }
  return millrace::schema::run(argv[1], argv[2], argc > 3);
}
