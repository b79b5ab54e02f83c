#include "document/ocr/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <tesseract/baseapi.h>
#include <tesseract/resultiterator.h>
#include <utility>

namespace millrace::document {
namespace {

class TesseractReader final : public LineReader {
 public:
  explicit TesseractReader(std::string language) : language_(std::move(language)) {}

  bool load() {
    if (api_.Init(nullptr, language_.c_str(), tesseract::OEM_LSTM_ONLY) != 0) return false;
    api_.SetPageSegMode(tesseract::PSM_RAW_LINE);
    api_.SetVariable("tessedit_do_invert", "0");  // Lines come dark on bright.
    api_.SetVariable("debug_file", "/dev/null");
    return true;
  }

  std::vector<LineWord> read(const Gray& line) override {
    std::vector<LineWord> words;
    api_.SetImage(line.pixels.data(), line.width, line.height, 1, line.width);
    api_.SetSourceResolution(300);
    if (api_.Recognize(nullptr) != 0) return words;
    const std::unique_ptr<tesseract::ResultIterator> at(api_.GetIterator());
    if (at == nullptr) return words;
    do {
      const std::unique_ptr<char[]> text(at->GetUTF8Text(tesseract::RIL_WORD));
      int left = 0;
      int top = 0;
      int right = 0;
      int bottom = 0;
      const bool boxed = at->BoundingBox(tesseract::RIL_WORD, &left, &top, &right, &bottom);
      if (text == nullptr || !boxed) continue;
      words.push_back({.text = text.get(),
                       .conf = std::clamp(at->Confidence(tesseract::RIL_WORD) / 100.0, 0.0, 1.0),
                       .x0 = static_cast<double>(left),
                       .x1 = static_cast<double>(right),
                       .centres = centres_of(*at)});
    } while (at->Next(tesseract::RIL_WORD));
    return words;
  }

  bool knows(std::string_view word) override {
    return api_.IsValidWord(std::string(word).c_str()) > 0;
  }

  std::string name() const override {
    return fmt::format("tesseract@{} {}", tesseract::TessBaseAPI::Version(), language_);
  }

 private:
  static std::vector<double> centres_of(const tesseract::ResultIterator& word) {
    std::vector<double> out;
    tesseract::ResultIterator at(word);
    do {
      int left = 0;
      int top = 0;
      int right = 0;
      int bottom = 0;
      if (!at.BoundingBox(tesseract::RIL_SYMBOL, &left, &top, &right, &bottom)) return {};
      out.push_back((left + right) / 2.0);
    } while (!at.IsAtFinalElement(tesseract::RIL_WORD, tesseract::RIL_SYMBOL) &&
             at.Next(tesseract::RIL_SYMBOL));
    return out;
  }

  std::string language_;
  tesseract::TessBaseAPI api_;
};

}  // namespace

Result<std::unique_ptr<LineReader>> make_tesseract_reader(const std::string& language) {
  auto reader = std::make_unique<TesseractReader>(language);
  if (!reader->load()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("languages: there is no data for {}", language));
  }
  return reader;
}

}  // namespace millrace::document
