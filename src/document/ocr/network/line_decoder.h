// LineDecoder: probabilities of characters, step by step → words with their places.
#pragma once

#include "document/ocr/line_reader.h"
#include "document/ocr/network/alphabet.h"
#include "document/ocr/network/line_network.h"

#include <cstddef>
#include <vector>

namespace millrace::document {

// Positions are in steps of the network.
std::vector<LineWord> decode_line(const CodeProbabilities& probabilities, std::size_t null_code,
                                  const Alphabet& alphabet);

}  // namespace millrace::document
