// Contract: the schemas of inputs and outputs that a definition in one version keeps to.
//
// Flow: a folder <definition>/<version>/ (or <app>/<definition>/<version>/, which counts for that
// app only) holds inputs.schema.json and, mostly, outputs.schema.json; every other *.schema.json in
// it may be referred to by its name. ContractSet::load reads and compiles all of them; one that is
// broken makes the whole set fail with its place, so that nothing runs with half a contract.
// Threading: immutable once made. Loading blocks.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "schema/schema.h"

#include <compare>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

inline constexpr std::size_t kContractFileMaxBytes = 1024 * 1024;
inline constexpr std::size_t kContractsMax = 10'000;

struct ContractName {
  std::string app_id;  // Empty: for every app.
  std::string definition;
  std::string version;

  std::string text() const;  // "beam@1.0.0", "app/beam@1.0.0"
  friend auto operator<=>(const ContractName&, const ContractName&) = default;
};

// As they may stand in the path of the app server's URL, and as the database takes them (I13).
bool is_app_id(std::string_view text);
bool is_definition(std::string_view text);
bool is_version(std::string_view text);

struct CheckedInputs {
  json::Value value;  // With defaults; what is stored, hashed and computed.
  std::vector<schema::Violation> violations;
};

struct Contract {
  ContractName name;
  schema::Schema inputs;
  std::optional<schema::Schema> outputs = {};  // Nothing: any outputs will do.

  // Defaults are filled in first, then everything is held against the schema (J-01).
  // invalid_argument when the limits of the schema are reached.
  Result<CheckedInputs> check_inputs(json::Value inputs_value) const;
  std::vector<schema::Violation> check_outputs(const json::Value& outputs_value) const;
};

class ContractSet {
 public:
  ContractSet() = default;
  // `folder` holds contracts, or is the folder of a single one. invalid_argument names the file.
  static Result<ContractSet> load(const std::filesystem::path& folder);

  // The app's own contract, else the one for every app; null when there is none.
  std::shared_ptr<const Contract> find(const ContractName& name) const;
  std::vector<std::shared_ptr<const Contract>> all() const;
  std::size_t size() const { return contracts_.size(); }

 private:
  Result<void> add(ContractName name, const std::filesystem::path& folder);

  // Shared with whoever uses one while the set is replaced.
  std::map<ContractName, std::shared_ptr<const Contract>> contracts_;
};

}  // namespace millrace::api
