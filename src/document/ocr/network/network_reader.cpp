#include "document/ocr/line_reader.h"
#include "document/ocr/network/alphabet.h"
#include "document/ocr/network/line_decoder.h"
#include "document/ocr/network/line_network.h"
#include "document/ocr/network/model_file.h"
#include "document/ocr/network/word_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::document {
namespace {

constexpr int kWidthMax = 20'000;  // Of a line, once it has the network's height.

class NetworkReader final : public LineReader {
 public:
  NetworkReader(std::string language, LineNetwork network, LineDecoder decoder)
      : language_(std::move(language)),
        network_(std::move(network)),
        decoder_(std::move(decoder)) {}

  std::vector<LineWord> read(const Gray& line) override {
    const double scale = static_cast<double>(network_.height()) / line.height;
    const int width = static_cast<int>(std::lround(line.width * scale));
    if (width < LineNetwork::kStepWidth || width > kWidthMax) return {};
    const auto image =
        resized(line, {.width = width, .height = static_cast<int>(network_.height())});
    auto words = decoder_.decode(network_.run(image));
    const double pixels = LineNetwork::kStepWidth / scale;
    for (auto& word : words) {
      word.x0 *= pixels;
      word.x1 *= pixels;
      for (auto& centre : word.centres) centre *= pixels;
    }
    return words;
  }

  bool knows(std::string_view word) override { return decoder_.knows(word); }

  std::string name() const override { return fmt::format("millrace-ocr@1 fast {}", language_); }

 private:
  std::string language_;
  LineNetwork network_;
  LineDecoder decoder_;
};

}  // namespace

Result<std::unique_ptr<LineReader>> make_network_reader(const std::string& language) {
  MR_TRY(const auto file, ModelFile::open(language));
  MR_TRY(auto network, LineNetwork::parse(file.part(ModelPart::network)));
  MR_TRY(auto alphabet, Alphabet::parse(file.part(ModelPart::characters),
                                        file.part(ModelPart::codes), network.codes()));
  auto words = WordList::parse(file.part(ModelPart::words));
  LineDecoder decoder(std::move(alphabet), words.has_value() ? *std::move(words) : WordList(),
                      network.null_code());
  return std::make_unique<NetworkReader>(language, std::move(network), std::move(decoder));
}

}  // namespace millrace::document
