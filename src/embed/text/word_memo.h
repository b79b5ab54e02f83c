// WordMemo: what was found out about words a moment ago, by their bytes.
//
// Each word has one place, and takes it from whichever word was there: finding, forgetting and
// memory are of constant cost. Words come again in every text, and a text that is cut has each of
// its parts counted several times over. Long words are not remembered. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace millrace::embed {

class WordMemo {
 public:
  static constexpr std::size_t kBytesMax = 47;

  struct Found {
    double sum = 0;  // Of the scores of its tokens, where the tokenizer has any.
    std::uint16_t tokens = 0;
    bool ends_unknown = false;  // Its last token stands for what no piece is like.
  };

  WordMemo() : slots_(kSlots) {}

  // What put() was told of the word, or nullptr; valid until the next put().
  const Found* find(std::string_view word) const {
    if (word.size() > kBytesMax) return nullptr;
    const auto& slot = slots_[slot_of(word)];
    const bool same =
        slot.size == word.size() && std::memcmp(slot.bytes.data(), word.data(), word.size()) == 0;
    return same ? &slot.found : nullptr;
  }

  void put(std::string_view word, const Found& found) {
    if (word.empty() || word.size() > kBytesMax) return;
    auto& slot = slots_[slot_of(word)];
    slot.found = found;
    slot.size = static_cast<std::uint8_t>(word.size());
    std::memcpy(slot.bytes.data(), word.data(), word.size());
  }

 private:
  static constexpr std::size_t kSlotBits = 12;  // 256 KiB: they stay in a processor's cache.
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  struct Slot {
    Found found;
    std::uint8_t size = 0;  // 0: free.
    std::array<char, kBytesMax> bytes{};
  };
  static_assert(sizeof(Slot) == 64);

  template <class Number>
  static std::uint64_t load(const char* at) {
    Number number = 0;
    std::memcpy(&number, at, sizeof(number));
    return number;
  }
  static std::size_t slot_of(std::string_view word) {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
    const auto size = word.size();
    const auto* at = word.data();
    std::uint64_t mixed = size;
    if (size >= 8) {
      for (std::size_t i = 0; i + 8 <= size; i += 8) {
        mixed = (mixed ^ load<std::uint64_t>(at + i)) * kFactor;
        mixed ^= mixed >> 29U;
      }
      mixed ^= load<std::uint64_t>(at + size - 8);  // The rest, and some of it twice.
    } else if (size >= 4) {
      mixed ^= load<std::uint32_t>(at) << 32U ^ load<std::uint32_t>(at + size - 4) << 3U;
    } else if (size > 0) {
      const auto byte = [&](std::size_t i) {
        return std::uint64_t{static_cast<unsigned char>(at[i])};
      };
      mixed ^= byte(0) << 8U ^ byte(size / 2) << 16U ^ byte(size - 1) << 24U;
    }
    mixed *= kFactor;
    return static_cast<std::size_t>((mixed ^ mixed >> 32U) * kFactor >> (64U - kSlotBits));
  }

  std::vector<Slot> slots_;
};

}  // namespace millrace::embed
