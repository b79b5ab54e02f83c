// TokenCounter: how long a text is for the model that will read it.
//
// The chunker asks it for pieces (lines, up to 4 KiB) to estimate, and for the whole embedding text
// of a chunk (at most max_bytes and a prefix) before it hands the chunk out; so a tokenizer needs
// no state between calls and never sees more than that. A tokenizer of a higher layer is plugged in
// by deriving from TokenCounter, or with FunctionTokenCounter.
// Threading: const calls from the chunker's thread. Same text, same count, always.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace millrace::chunk {

class TokenCounter {
 public:
  virtual ~TokenCounter() = default;
  // Goes into every chunk and into the hash of the parameters: model and version of its vocabulary.
  virtual std::string_view name() const = 0;
  // Tokens of `text` alone, without what overhead() counts.
  virtual std::size_t count(std::string_view text) const = 0;
  // What every text costs besides: marks of its begin and end, a prompt the model wants.
  virtual std::size_t overhead() const { return 0; }
  // Whether count(a + b) == count(a) + count(b) wherever a text is cut. Then nothing is counted
  // twice.
  virtual bool additive() const { return false; }
};

// An upper bound for every byte-level BPE vocabulary, which has a token for every byte: a text has
// no more tokens than UTF-8 bytes.
class ByteBound final : public TokenCounter {
 public:
  std::string_view name() const override { return "bytes"; }
  std::size_t count(std::string_view text) const override { return text.size(); }
  bool additive() const override { return true; }
};

// A tokenizer that is a function.
class FunctionTokenCounter final : public TokenCounter {
 public:
  using Count = std::function<std::size_t(std::string_view)>;
  FunctionTokenCounter(std::string name, Count count, std::size_t overhead = 0)
      : name_(std::move(name)), count_(std::move(count)), overhead_(overhead) {}
  std::string_view name() const override { return name_; }
  std::size_t count(std::string_view text) const override { return count_(text); }
  std::size_t overhead() const override { return overhead_; }

 private:
  std::string name_;
  Count count_;
  std::size_t overhead_;
};

}  // namespace millrace::chunk
