#include "document/ocr/network/alphabet.h"

#include "document/ocr/network/model_file.h"

#include <algorithm>
#include <charconv>

namespace millrace::document {
namespace {

constexpr std::size_t kCharactersMax = 20'000;

std::string_view next_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  const auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::unexpected<Error> other_form(const char* what) {
  return fail(ErrorKind::invalid_argument,
              std::string("the model is not of the known form: ") + what);
}

}  // namespace

Result<Alphabet> Alphabet::parse(std::string_view characters, std::string_view codes,
                                 std::size_t code_count) {
  std::vector<std::string> names;
  const auto first = next_line(characters);
  std::size_t count = 0;
  std::from_chars(first.data(), first.data() + first.size(), count);
  if (count == 0 || count > kCharactersMax) return other_form("characters");
  while (names.size() < count && !characters.empty()) {
    const auto line = next_line(characters);
    const std::string name(line.substr(0, line.find(' ')));
    names.push_back(name == "NULL" ? " " : name);
  }
  ModelReader reader(codes);
  if (names.size() != count || reader.number<std::uint32_t>() != count) return other_form("codes");
  Alphabet out;
  out.by_code_.resize(code_count);
  for (std::size_t id = 0; id < count; ++id) {
    reader.number<std::uint8_t>();
    const auto length = reader.number<std::uint32_t>();
    const auto code = reader.number<std::uint32_t>();
    if (reader.failed() || length != 1 || code >= code_count) return other_form("codes");
    auto& character = out.by_code_[code];
    // Two of the first names are no characters ("Joined", "Broken"); they share the null's code.
    const bool special = names[id] == "Joined" || names[id].starts_with("|Broken");
    if (special || !character.text.empty()) continue;
    character = {.text = names[id], .id = static_cast<std::int32_t>(id)};
    out.ids_.emplace(character.text, character.id);
  }
  return out;
}

std::int32_t Alphabet::id_of(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace millrace::document
