#include "samples/sample_set.h"

#include "base/file.h"
#include "samples/page/paint.h"
#include "samples/page/typeset.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::samples {
namespace {

constexpr auto kClasses = std::to_array<std::string_view>({"born", "clean"});

struct Drawn {
  std::string kind;
  Document document;
  std::vector<SheetPage> pages;
};

Drawn draw_up(Chance chance, int index, Letters& letters) {
  Drawn drawn;
  if (index % 2 == 0) {
    drawn.kind = "letter";
    drawn.document = write_letter(chance, Language::en);
  } else {
    drawn.kind = "lab_report";
    drawn.document = write_lab_report(chance, Language::en);
  }
  drawn.pages = typeset(drawn.document, letters);
  return drawn;
}

TruthFile truth_file(const Drawn& drawn) {
  TruthFile truth;
  truth.kind = drawn.kind;
  truth.language = drawn.document.language;
  for (const SheetPage& page : drawn.pages) {
    truth.pages.push_back(truth_of(page));
    truth.facts.insert(truth.facts.end(), page.facts.begin(), page.facts.end());
  }
  return truth;
}

}  // namespace

std::vector<std::string_view> sample_classes() { return {kClasses.begin(), kClasses.end()}; }

Result<Sample> make_sample(std::string_view sample_class, std::uint64_t seed, int index) {
  if (std::ranges::find(kClasses, sample_class) == kClasses.end()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("no class of samples \"{}\"", sample_class));
  }
  Letters letters;
  const Chance chance = Chance(seed).fork(sample_class, static_cast<std::uint64_t>(index));
  const Drawn drawn = draw_up(chance, index, letters);
  Sample sample;
  sample.truth = truth_file(drawn);
  sample.truth.sample_class = sample_class;
  sample.truth.seed = seed;
  PdfPages pdf(drawn.document.title);
  for (std::size_t i = 0; i < drawn.pages.size(); ++i) {
    if (sample_class == "born") {
      pdf.add(drawn.pages[i], letters);
      sample.truth.pages[i].text_layer = true;
    } else {
      const Image image = paint_grey(drawn.pages[i], letters, 300);
      pdf.add(index % 4 < 2 ? pack_fax(image.get()) : pack_jpeg(image.get(), 75), 300);
    }
  }
  sample.bytes = pdf.finish();
  sample.truth.file = fmt::format("{}_{:02}_{}.pdf", sample_class, index + 1, drawn.kind);
  return sample;
}

Result<int> write_set(const SetOptions& options, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::unavailable, "cannot make " + folder.string());
  json::Array files;
  int count = 0;
  for (const std::string_view name : sample_classes()) {
    if (!options.classes.empty() &&
        std::ranges::find(options.classes, name) == options.classes.end()) {
      continue;
    }
    for (int i = 0; i < options.count; ++i) {
      MR_TRY(const Sample sample, make_sample(name, options.seed, i));
      MR_TRY_VOID(write_file_atomically(folder / sample.truth.file, sample.bytes));
      files.push_back(to_json(sample.truth));
      ++count;
    }
  }
  json::Object truth;
  truth["schema"] = "samples/1";
  truth["seed"] = options.seed;
  truth["files"] = std::move(files);
  MR_TRY_VOID(write_file_atomically(folder / "truth.json", millrace::to_json(truth) + "\n"));
  return count;
}

}  // namespace millrace::samples
