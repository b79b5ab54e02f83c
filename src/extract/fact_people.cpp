// The patient and the practitioners of a document, from everywhere they are named.
#include "extract/facts.h"
#include "extract/terms.h"

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::extract {

using layout::clinical::Category;
using layout::clinical::Fact;
using layout::clinical::FactType;

namespace {

enum class Person { unknown, patient, practitioner };

constexpr Kinds kPersonKeys = bit(Is::title) | bit(Is::courtesy) | bit(Is::patient_key) |
                              bit(Is::practitioner_key) | bit(Is::birth_key) | bit(Is::sex_key) |
                              bit(Is::id_key) | bit(Is::given_key) | bit(Is::family_key);

Person role_of(const Group& group, const Placed& placed) {
  const auto key = key_before(*group.page, placed.tokens.first);
  if ((key & bit(Is::title)) != 0) {
    return Person::practitioner;
  }
  if ((key & bit(Is::practitioner_key)) != 0) return Person::practitioner;
  if ((key &
       (bit(Is::patient_key) | bit(Is::courtesy) | bit(Is::given_key) | bit(Is::family_key))) != 0)
    return Person::patient;
  const auto& tokens = group.page->tokens;
  auto next = placed.tokens.end;
  if (next < tokens.size() && tokens[next].is(",")) ++next;
  const bool credential = next < tokens.size() && tokens[next].caps &&
                          Terms::get().has(tokens[next].key, Is::credential);
  return credential ? Person::practitioner : Person::unknown;
}

// What a practitioner is, as it stands behind or before the name.
std::string role_text(const Group& group, const Placed& placed) {
  const auto& tokens = group.page->tokens;
  auto next = placed.tokens.end;
  for (std::size_t n = 0; n < 3 && next < tokens.size(); ++n, ++next) {
    const auto role = Terms::get().longest(tokens, next, bit(Is::role));
    if (role.tokens > 0 && tokens[next].line <= tokens[placed.tokens.first].line + 1)
      return std::string(group.page->text_of({.first = next, .end = next + role.tokens}));
    if (tokens[next].is_word() && !tokens[next].caps) break;
  }
  return {};
}

struct Named {
  std::vector<const Placed*> places = {};
  std::string role = {};
  Person person = Person::unknown;
};

// Everybody who is named, and what is said of the patient.
class People {
 public:
  // `born`: what a date would be as one of birth.
  void add(const Group& group, const Placed& placed, const std::string& born) {
    const auto key = key_before(*group.page, placed.tokens.first);
    switch (placed.category()) {
      case Category::person:
        add_name(group, placed);
        break;
      case Category::date:
        if (birth.empty() && !born.empty() && (key & bit(Is::birth_key)) != 0 &&
            !is_of_another(group, placed)) {
          birth = born;
          about.push_back(&placed);
        }
        break;
      case Category::identifier:
        if (identifier.empty() && (key & bit(Is::id_key)) != 0) {
          identifier = placed.entity->text;
          about.push_back(&placed);
        }
        break;
      default:
        break;
    }
  }

  void read_sex(const PageReading& page) {
    const auto& tokens = page.tokens;
    for (std::size_t at = 0; at + 1 < tokens.size() && sex.empty(); ++at) {
      const auto key = Terms::get().longest(tokens, at, bit(Is::sex_key));
      auto next = at + key.tokens;
      while (key.tokens > 0 && next < tokens.size() && next < at + 4 &&
             tokens[next].kind == TokenKind::punct)
        ++next;
      if (key.tokens == 0 || next >= tokens.size()) continue;
      if (Terms::get().has(tokens[next].key, Is::female)) sex = "female";
      if (Terms::get().has(tokens[next].key, Is::male)) sex = "male";
    }
  }

  // A surname alone is the person whose name ends so.
  void join_surnames() {
    std::map<std::string, std::string> whole;
    for (const auto& key : order) {
      if (key.find(' ') != std::string::npos)
        whole.try_emplace(key.substr(key.rfind(' ') + 1), key);
    }
    for (const auto& key : order) {
      if (key.find(' ') != std::string::npos || !whole.contains(key)) continue;
      auto& full = named[whole.at(key)];
      auto& part = named[key];
      if (part.person != Person::unknown && full.person != Person::unknown &&
          part.person != full.person)
        continue;
      if (full.person == Person::unknown) full.person = part.person;
      full.places.insert(full.places.end(), part.places.begin(), part.places.end());
      part.places.clear();
    }
  }

  std::map<std::string, Named> named;
  std::vector<std::string> order;    // Keys of `named`, as they come.
  std::vector<const Placed*> about;  // What else the patient's fact rests on.
  std::string birth;
  std::string identifier;
  std::string_view sex;

 private:
  // "Her daughter was born on …", "the baby was born on …": told in a sentence, and of somebody
  // else. A field of a form is the patient's, whoever else it names.
  static bool is_of_another(const Group& group, const Placed& date) {
    if (group.passage == nullptr) return false;
    const auto& tokens = group.page->tokens;
    const auto first = group.passage->tokens.first;
    bool told = false;
    bool another = false;
    for (auto at = first; at < date.tokens.first; ++at) {
      const auto& token = tokens[at];
      told |= one_of(token.fold, {"born", "geboren", "ne", "nee", "nacido", "nacida", "nacio"});
      another |=
          Terms::get().has(token.key, Is::family_before) ||
          one_of(token.fold,
                 {"baby", "newborn",      "infant", "neonate",  "child",   "children", "twins",
                  "twin", "neugeborenes", "kind",   "saugling", "bebe",    "enfant",   "nouveau-ne",
                  "nino", "nina",         "wife",   "husband",  "ehefrau", "ehemann",  "bebe"});
    }
    return told && another;
  }

  void add_name(const Group& group, const Placed& placed) {
    const auto key = phrase_of(placed.entity->text);
    const auto [at, fresh] = named.try_emplace(key);
    if (fresh) order.push_back(key);
    at->second.places.push_back(&placed);
    if (at->second.person == Person::unknown) at->second.person = role_of(group, placed);
    if (at->second.role.empty()) at->second.role = role_text(group, placed);
  }
};

}  // namespace

Kinds key_before(const PageReading& page, std::size_t token) {
  auto end = token;
  while (end > 0 && token - end < 3 && page.tokens[end - 1].kind == TokenKind::punct) --end;
  Kinds found = 0;
  for (std::size_t n = 1; n <= kPhraseTokensMax && n <= end; ++n) {
    const auto first = end - n;
    if (page.tokens[first].line != page.tokens[token].line && n > 1) break;
    const auto key = phrase_of(std::span<const Token>(page.tokens).subspan(first, n));
    const auto kinds = Terms::get().kinds_of(key) & kPersonKeys;
    if (kinds != 0) found = kinds;  // The longest decides.
  }
  return found;
}

void FactWriter::write_people(std::span<const Group> groups) {
  People people;
  const PageReading* page = nullptr;
  for (const auto& group : groups) {
    if (group.page != page) people.read_sex(*group.page);
    page = group.page;
    for (const auto& placed : group.entities) {
      const auto born = placed.category() == Category::date
                            ? birth_date(placed.entity->text, manner_.order, written_)
                            : std::nullopt;
      people.add(group, placed, born ? born->iso() : std::string());
    }
  }
  people.join_surnames();
  bool patient_written = false;
  const Group nowhere;
  for (const auto& key : people.order) {
    const auto& named = people.named[key];
    if (named.places.empty() || named.person == Person::unknown) continue;
    const bool patient = named.person == Person::patient;
    auto fact = fact_of(patient ? FactType::Patient : FactType::Practitioner, nowhere,
                        *named.places.front());
    for (const auto* placed : named.places) {
      if (fact.evidence.size() + people.about.size() < limits_.references_max)
        rest_on(fact, *placed);
    }
    if (patient && !patient_written) {
      patient_written = true;
      if (!people.birth.empty()) fact.value["birth_date"] = people.birth;
      if (!people.identifier.empty()) fact.value["identifier"] = people.identifier;
      if (!people.sex.empty()) fact.value["sex"] = people.sex;
      for (const auto* placed : people.about) rest_on(fact, *placed);
    }
    if (!patient && !named.role.empty()) fact.value["role"] = name_text(named.role);
    add(std::move(fact));
  }
}

}  // namespace millrace::extract
