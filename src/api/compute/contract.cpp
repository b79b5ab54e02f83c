#include "api/compute/contract.h"

#include "api/compute/inputs_hash.h"
#include "base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInputsFile = "inputs.schema.json";
constexpr std::string_view kOutputsFile = "outputs.schema.json";
constexpr std::string_view kSchemaEnding = ".schema.json";
// Nothing is fetched from there: a base that relative references are resolved against.
constexpr std::string_view kBase = "https://contracts.invalid/";

bool is_name(std::string_view text, std::string_view marks, std::size_t size_max) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (text.empty() || text.size() > size_max || !plain(text.front())) return false;
  return std::ranges::all_of(text, [&](char c) { return plain(c) || marks.find(c) != marks.npos; });
}

std::unexpected<Error> broken(const fs::path& file, std::string_view what) {
  return fail(ErrorKind::invalid_argument, fmt::format("contract {}: {}", file.string(), what));
}

struct Document {
  fs::path file;
  std::string uri;
  json::Value value;
};

Result<json::Value> read_document(const fs::path& file) {
  auto text = read_file(file, kContractFileMaxBytes);
  if (!text) return broken(file, text.error().message);
  auto value = parse_json(*text, {.max_bytes = kContractFileMaxBytes, .max_depth = 128});
  if (!value) return broken(file, value.error().message);
  // A default that Python would write in more digits than we hold would change the hash.
  if (auto exact = check_whole_numbers(*text); !exact) return broken(file, exact.error().message);
  return value;
}

// All schemas of one folder.
Result<std::vector<Document>> read_documents(const fs::path& folder, const std::string& base) {
  std::vector<Document> out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (!name.ends_with(kSchemaEnding) || name.starts_with('.')) continue;
    MR_TRY(auto value, read_document(entry->path()));
    out.push_back({.file = entry->path(), .uri = base + name, .value = std::move(value)});
  }
  if (error) return broken(folder, error.message());
  return out;
}

Result<schema::Schema> compile(const std::vector<Document>& documents, const Document& root) {
  schema::SchemaOptions options;
  options.base_uri = root.uri;
  for (const auto& document : documents) {
    if (document.uri != root.uri) options.documents[document.uri] = document.value;
  }
  auto compiled = schema::Schema::compile(root.value, std::move(options));
  if (!compiled) return broken(root.file, compiled.error().message);
  return compiled;
}

const Document* find_document(const std::vector<Document>& documents, std::string_view name) {
  const auto found = std::ranges::find_if(
      documents, [&](const Document& document) { return document.file.filename() == name; });
  return found == documents.end() ? nullptr : &*found;
}

// Folders of `folder` whose names say something; hidden ones do not.
Result<std::vector<fs::path>> subfolders(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with('.')) continue;
    if (entry->is_directory(error)) out.push_back(entry->path());
    if (error) break;
  }
  if (error) return broken(folder, error.message());
  std::ranges::sort(out);
  return out;
}

bool is_contract(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kInputsFile, ignored);
}

}  // namespace

std::string ContractName::text() const {
  return fmt::format("{}{}{}@{}", app_id, app_id.empty() ? "" : "/", definition, version);
}

bool is_app_id(std::string_view text) { return is_name(text, "_.:-", 127); }
bool is_definition(std::string_view text) { return is_name(text, "_.-", 127); }
bool is_version(std::string_view text) { return is_name(text, ".+-", 63); }

Result<CheckedInputs> Contract::check_inputs(json::Value inputs_value) const {
  MR_TRY(auto filled, inputs.with_defaults(std::move(inputs_value)));
  auto violations = inputs.validate(filled);
  return CheckedInputs{.value = std::move(filled), .violations = std::move(violations)};
}

std::vector<schema::Violation> Contract::check_outputs(const json::Value& outputs_value) const {
  return outputs ? outputs->validate(outputs_value) : std::vector<schema::Violation>();
}

Result<ContractSet> ContractSet::load(const fs::path& folder) {
  ContractSet set;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return broken(folder, "is not a folder");
  if (is_contract(folder)) {
    // One contract alone, as an app server is given it: …/<definition>/<version>.
    const auto whole = fs::weakly_canonical(folder, error);
    MR_TRY_VOID(set.add({.app_id = {},
                         .definition = whole.parent_path().filename().string(),
                         .version = whole.filename().string()},
                        folder));
    return set;
  }
  MR_TRY(const auto outer, subfolders(folder));
  for (const auto& first : outer) {
    MR_TRY(const auto middle, subfolders(first));
    for (const auto& second : middle) {
      const auto name_of = [](const fs::path& path) { return path.filename().string(); };
      if (is_contract(second)) {
        MR_TRY_VOID(set.add(
            {.app_id = {}, .definition = name_of(first), .version = name_of(second)}, second));
        continue;
      }
      MR_TRY(const auto inner, subfolders(second));
      for (const auto& third : inner) {
        if (!is_contract(third)) return broken(third, fmt::format("has no {}", kInputsFile));
        MR_TRY_VOID(set.add(
            {.app_id = name_of(first), .definition = name_of(second), .version = name_of(third)},
            third));
      }
    }
  }
  return set;
}

Result<void> ContractSet::add(ContractName name, const fs::path& folder) {
  if (!is_definition(name.definition) || !is_version(name.version) ||
      (!name.app_id.empty() && !is_app_id(name.app_id))) {
    return broken(folder, "app, definition and version must be names of letters, digits and . _ -");
  }
  if (contracts_.size() >= kContractsMax) {
    return broken(folder, fmt::format("there are more than {} contracts", kContractsMax));
  }
  const auto base = fmt::format("{}{}/{}/{}/", kBase, name.app_id.empty() ? "all" : name.app_id,
                                name.definition, name.version);
  MR_TRY(const auto documents, read_documents(folder, base));
  const auto* inputs = find_document(documents, kInputsFile);
  if (inputs == nullptr) return broken(folder, fmt::format("has no {}", kInputsFile));
  MR_TRY(auto compiled, compile(documents, *inputs));
  if (const auto bad = compiled.check_defaults(); !bad.empty()) {
    return broken(inputs->file, fmt::format("a default breaks its own rule: {} ({})",
                                            bad.front().message, bad.front().schema_path));
  }
  auto contract =
      std::make_shared<Contract>(Contract{.name = std::move(name), .inputs = std::move(compiled)});
  if (const auto* outputs = find_document(documents, kOutputsFile)) {
    MR_TRY(contract->outputs, compile(documents, *outputs));
  }
  auto key = contract->name;
  contracts_.emplace(std::move(key), std::move(contract));
  return {};
}

std::shared_ptr<const Contract> ContractSet::find(const ContractName& name) const {
  auto found = contracts_.find(name);
  if (found == contracts_.end() && !name.app_id.empty()) {
    found = contracts_.find({.app_id = {}, .definition = name.definition, .version = name.version});
  }
  return found == contracts_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const Contract>> ContractSet::all() const {
  std::vector<std::shared_ptr<const Contract>> out;
  for (const auto& [name, contract] : contracts_) out.push_back(contract);
  return out;
}

}  // namespace millrace::api
