#include "model/settlement.h"

#include <array>
#include <utility>

namespace millrace {
namespace {

constexpr std::array<std::pair<Answer, std::string_view>, 6> kAnswers{{
    {Answer::settled, "settled"},
    {Answer::already_settled, "already_settled"},
    {Answer::replaced, "replaced"},
    {Answer::lease_lost, "lease_lost"},
    {Answer::cancelled, "cancelled"},
    {Answer::not_found, "not_found"},
}};

constexpr std::size_t kFixedBytes = 160;  // Ids, names of members, punctuation.

}  // namespace

std::size_t Settlement::size_bytes() const {
  std::size_t size = kFixedBytes + outcome.result_json.size() + outcome.error_json.size() +
                     outcome.parts_json.size() + outcome.effects_json.size();
  for (const auto& line : logs) size += kFixedBytes + line.message.size();
  return size;
}

std::string_view to_string(Answer answer) {
  for (const auto& [value, label] : kAnswers) {
    if (value == answer) return label;
  }
  return "unknown";
}

Result<Answer> parse_answer(std::string_view text) {
  for (const auto& [value, label] : kAnswers) {
    if (label == text) return value;
  }
  return fail(ErrorKind::internal, "unknown answer '" + std::string(text) + "'");
}

bool is_durable(Answer answer) {
  return answer == Answer::settled || answer == Answer::already_settled ||
         answer == Answer::replaced;
}

}  // namespace millrace
