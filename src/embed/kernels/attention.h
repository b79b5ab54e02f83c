// attend: what every token of a text takes from the others, head by head.
#pragma once

#include "embed/kernels/floats.h"

#include <cstddef>

namespace millrace::embed {

struct Attention {
  const float* qkv =
      nullptr;           // A row for every token: queries, keys, values, each `width` numbers.
  float* out = nullptr;  // A row of `width` numbers for every token.
  std::size_t width = 0;
  std::size_t heads = 0;  // width / heads is a multiple of kPanel.
  float factor = 1;       // Of query · key, before the softmax.
};

// Room that attend() needs, kept from call to call.
class AttentionRoom {
 public:
  // For texts of up to `tokens` tokens.
  AttentionRoom(std::size_t tokens, std::size_t head_width);

 private:
  friend void attend(const Attention& task, std::size_t tokens, AttentionRoom& room);
  Floats keys_;
  Floats values_;
  Floats scores_;
};

// One text of `tokens` tokens.
void attend(const Attention& task, std::size_t tokens, AttentionRoom& room);

}  // namespace millrace::embed
