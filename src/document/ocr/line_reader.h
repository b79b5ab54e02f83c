// LineReader: the text of one line, from its image.
//
// An engine takes a while to load and is then used for many lines: the zygote loads those of the
// default languages before it forks, children use that memory as it is. One thread.
#pragma once

#include "base/result.h"
#include "document/ocr/gray.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct LineWord {
  std::string text;
  double conf = 0;  // 0 to 1.
  double x0 = 0;    // Pixels of the line's image.
  double x1 = 0;
  std::vector<double> centres = {};  // Of each character; as many as there are, or none.
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // Words from left to right. None for a line that shows nothing.
  virtual std::vector<LineWord> read(const Gray& line) = 0;
  // Whether the language has this word, as far as its data says; punctuation around it aside.
  virtual bool knows(std::string_view word) = 0;
  virtual std::string name() const = 0;  // "tesseract@5.3.0 eng"
};

// Our own arithmetic on the weights of Tesseract's fast models: several times faster, and it knows
// where each character stands. invalid_argument or not_found when the model is of another form.
Result<std::unique_ptr<LineReader>> make_network_reader(const std::string& language);

// `language` as Tesseract names its data: "eng", "deu", or several with "+". invalid_argument when
// there is no such data.
Result<std::unique_ptr<LineReader>> make_tesseract_reader(const std::string& language);

}  // namespace millrace::document
