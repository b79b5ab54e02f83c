#include "samples/sample_set.h"

#include "base/file.h"
#include "samples/classes.h"
#include "samples/files/hostile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::samples {
namespace {

// Writes each sample as it comes; truth.json at the end.
class SetWriter {
 public:
  SetWriter(std::filesystem::path folder, std::uint64_t seed)
      : folder_(std::move(folder)), seed_(seed) {}

  Result<void> begin() {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot make the folder {}: {}", folder_.string(), error.message()));
    }
    return ok();
  }

  Result<void> add(const Sample& sample) {
    MR_TRY_VOID(write_file_atomically(folder_ / sample.truth.file, sample.bytes));
    files_.push_back(to_json(sample.truth));
    return ok();
  }

  Result<int> finish() {
    const int count = static_cast<int>(files_.size());
    json::Object truth;
    truth["schema"] = "samples/1";
    truth["seed"] = seed_;
    truth["files"] = std::move(files_);
    MR_TRY_VOID(write_file_atomically(folder_ / "truth.json", millrace::to_json(truth) + "\n"));
    return count;
  }

 private:
  std::filesystem::path folder_;
  std::uint64_t seed_;
  json::Array files_ = {};
};

constexpr auto kDemo = std::to_array<std::pair<std::string_view, int>>({
    {"born", 0},       {"born", 1},  {"clean", 0}, {"clean", 3},     {"rotated", 0},
    {"skewed", 1},     {"noisy", 2}, {"noisy", 5}, {"photo", 0},     {"photo", 1},
    {"two_column", 0}, {"table", 1}, {"table", 0}, {"languages", 0}, {"languages", 1},
    {"languages", 2},  {"multi", 0}, {"docx", 0},  {"text", 0},      {"long", 0},
});

}  // namespace

Result<int> write_set(const SetOptions& options, const std::filesystem::path& folder) {
  std::vector<std::string> names = options.classes;
  if (names.empty()) names = default_classes();
  SetWriter writer(folder, options.seed);
  MR_TRY_VOID(writer.begin());
  for (const std::string& name : names) {
    if (name == "hostile") {
      for (const Sample& sample : hostile_samples(options.seed)) MR_TRY_VOID(writer.add(sample));
      continue;
    }
    for (int i = 0; i < options.count; ++i) {
      MR_TRY(const Sample sample, make_sample(name, options.seed, i));
      MR_TRY_VOID(writer.add(sample));
    }
  }
  return writer.finish();
}

Result<int> write_demo(std::uint64_t seed, const std::filesystem::path& folder) {
  SetWriter writer(folder, seed);
  MR_TRY_VOID(writer.begin());
  for (const auto& [name, index] : kDemo) {
    MR_TRY(const Sample sample, make_sample(name, seed, index));
    MR_TRY_VOID(writer.add(sample));
  }
  for (const Sample& sample : hostile_samples(seed)) MR_TRY_VOID(writer.add(sample));
  return writer.finish();
}

Result<int> write_long(LongForm form, int pages, std::uint64_t seed,
                       const std::filesystem::path& file) {
  Sample sample = make_long(form == LongForm::scanned, pages, seed);
  sample.truth.file = file.filename();
  MR_TRY_VOID(write_file_atomically(file, sample.bytes));
  json::Object truth;
  truth["schema"] = "samples/1";
  truth["seed"] = seed;
  truth["files"] = json::Array{to_json(sample.truth)};
  std::filesystem::path beside = file;
  beside += ".truth.json";
  MR_TRY_VOID(write_file_atomically(beside, millrace::to_json(truth) + "\n"));
  return 1;
}

}  // namespace millrace::samples
