#include "provider/scrub.h"

#include "model/outcome.h"

#include <algorithm>
#include <vector>

namespace millrace::provider {
namespace {

constexpr std::size_t kRunBytes = 12;
constexpr std::size_t kQuotedBytesMin = 2;
constexpr std::size_t kLookedAtMax = 2'000;
constexpr std::string_view kMark = "[...]";

// Bytes of a message that must not be shown.
class Hidden {
 public:
  explicit Hidden(std::string_view message) : message_(message), hidden_(message.size(), false) {}

  void every(std::string_view text) {
    if (text.empty()) return;
    for (auto at = message_.find(text); at != message_.npos; at = message_.find(text, at + 1)) {
      hide(at, text.size());
    }
  }

  void runs_of(std::string_view text) {
    for (std::size_t at = 0; at + kRunBytes <= message_.size(); ++at) {
      if (text.contains(message_.substr(at, kRunBytes))) hide(at, kRunBytes);
    }
  }

  void quoted_from(std::string_view text) {
    for (const char quote : {'\'', '"', '`'}) {
      auto open = message_.find(quote);
      while (open != message_.npos) {
        const auto close = message_.find(quote, open + 1);
        if (close == message_.npos) break;
        const auto inside = message_.substr(open + 1, close - open - 1);
        if (inside.size() >= kQuotedBytesMin && text.contains(inside)) {
          hide(open + 1, inside.size());
        }
        open = close;  // It may open the next.
      }
    }
  }

  std::string shown() const {
    std::string out;
    for (std::size_t i = 0; i < message_.size(); ++i) {
      if (!hidden_[i]) {
        const auto c = static_cast<unsigned char>(message_[i]);
        out += c < 0x20 || c == 0x7f ? ' ' : message_[i];
      } else if (i == 0 || !hidden_[i - 1]) {
        out += kMark;
      }
    }
    return out;
  }

 private:
  void hide(std::size_t at, std::size_t size) {
    std::fill_n(hidden_.begin() + static_cast<std::ptrdiff_t>(at), size, true);
  }

  std::string_view message_;
  std::vector<bool> hidden_;
};

}  // namespace

std::string scrub(std::string_view message, const ScrubOptions& options) {
  // Cut first, so that the work is bounded; a secret that is cut in half is still a run of it.
  Hidden hidden(message.substr(0, kLookedAtMax));
  for (const auto secret : options.secrets) {
    hidden.every(secret);
    if (secret.size() > kRunBytes) hidden.runs_of(secret);
  }
  if (!options.private_text.empty()) {
    hidden.runs_of(options.private_text);
    hidden.quoted_from(options.private_text);
  }
  return storable_text(hidden.shown(), options.bytes_max);
}

}  // namespace millrace::provider
