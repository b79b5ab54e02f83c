#include "paid_texts.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace millrace::test {

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string out;
  for (const auto byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

void PaidTexts::note(std::uint64_t call, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  ++calls_;
  paid_ += texts.size();
  for (const auto& text : texts) calls_by_text_[sha256_hex(text)].push_back(call);
}

void PaidTexts::forget() {
  calls_by_text_.clear();
  calls_ = 0;
  paid_ = 0;
}

std::uint64_t PaidTexts::times(std::string_view text) const {
  const auto at = calls_by_text_.find(sha256_hex(text));
  return at == calls_by_text_.end() ? 0 : at->second.size();
}

json::Object PaidTexts::report() const {
  std::size_t most = 0;
  for (const auto& [sha256, calls] : calls_by_text_) most = std::max(most, calls.size());
  return {{"calls", calls_},
          {"texts_paid", paid_},
          {"texts", calls_by_text_.size()},
          {"times_max", most}};
}

json::Array PaidTexts::list(std::uint64_t over, std::size_t count_max) const {
  json::Array out;
  for (const auto& [sha256, calls] : calls_by_text_) {
    if (calls.size() <= over || out.size() >= count_max) continue;
    json::Array numbers;
    for (const auto call : calls) numbers.push_back(call);
    out.push_back(
        json::Object{{"sha256", sha256}, {"times", calls.size()}, {"calls", std::move(numbers)}});
  }
  return out;
}

}  // namespace millrace::test
