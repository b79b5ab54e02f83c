// The truth has to be true: what is listed stands in the text, and what stands in the text is
// listed.
#include "samples/data/terms.h"
#include "samples/samples_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace millrace::samples {
namespace {

const std::vector<Sample>& readable_samples() {
  static const auto samples = [] {
    std::vector<Sample> made;
    for (const std::string_view name :
         {"born", "two_column", "languages", "docx", "text", "multi"}) {
      for (int i = 0; i < 9; ++i) made.push_back(sample_of(name, i));
    }
    return made;
  }();
  return samples;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Whole words only.
int occurrences(const std::string& text, const std::string& term) {
  int count = 0;
  for (std::size_t at = text.find(term); at != std::string::npos; at = text.find(term, at + 1)) {
    const std::size_t end = at + term.size();
    const bool starts = at == 0 || !is_letter(text[at - 1]);
    const bool ends = end == text.size() || !is_letter(text[end]);
    if (starts && ends) ++count;
  }
  return count;
}

TEST(Facts, EveryFactStandsOnItsPage) {
  for (const Sample& sample : readable_samples()) {
    EXPECT_FALSE(sample.truth.facts.empty()) << sample.truth.file;
    for (const Fact& fact : sample.truth.facts) {
      ASSERT_GE(fact.page, 1U) << sample.truth.file;
      ASSERT_LE(fact.page, sample.truth.pages.size()) << sample.truth.file;
      const std::string text = normalised(sample.truth.pages[fact.page - 1].text);
      EXPECT_NE(text.find(normalised(fact.text)), std::string::npos)
          << sample.truth.file << ": " << fact.text;
      if (fact.type != FactType::vital) {
        EXPECT_NE(fact.text.find(fact.name), std::string::npos)
            << sample.truth.file << ": " << fact.text << " / " << fact.name;
      }
      EXPECT_NE(fact.text.find(fact.frequency_text), std::string::npos) << fact.text;
      EXPECT_NE(fact.text.find(fact.reaction), std::string::npos) << fact.text;
    }
  }
}

// Precision can only be judged when nothing is missing from the truth.
TEST(Facts, NoTermStandsInATextWithoutAFact) {
  for (const Sample& sample : readable_samples()) {
    std::string text;
    for (const TruthPage& page : sample.truth.pages) text += normalised(page.text) + " ";
    text = lower(text);
    std::vector<std::string> terms;
    const Language language = sample.truth.language;
    for (const Drug& drug : drugs()) terms.emplace_back(drug.name(language));
    for (const Term& term : conditions(language)) terms.emplace_back(term.text);
    for (const Term& term : symptoms(language)) terms.emplace_back(term.text);
    for (const Term& term : examinations(language)) terms.emplace_back(term.text);
    for (const Term& term : operations(language)) terms.emplace_back(term.text);
    for (const std::string& term : terms) {
      int stated = 0;
      for (const Fact& fact : sample.truth.facts) {
        stated += occurrences(lower(normalised(fact.text)), lower(term));
      }
      EXPECT_GE(stated, occurrences(text, lower(term))) << sample.truth.file << ": " << term;
    }
  }
}

TEST(Facts, AFifthOfTheNamesIsNovel) {
  std::map<FactType, std::pair<int, int>> counts;  // Novel, all.
  for (const Sample& sample : readable_samples()) {
    for (const Fact& fact : sample.truth.facts) {
      auto& [novel, all] = counts[fact.type];
      novel += fact.novel ? 1 : 0;
      ++all;
    }
  }
  for (const FactType type :
       {FactType::medication, FactType::lab, FactType::allergy, FactType::condition}) {
    const auto [novel, all] = counts[type];
    EXPECT_GE(all, 25) << to_string(type);
    EXPECT_GE(novel * 100, all * 18) << to_string(type) << ' ' << novel << " of " << all;
  }
  int novel = 0;
  int all = 0;
  for (const FactType type :
       {FactType::medication, FactType::lab, FactType::allergy, FactType::condition}) {
    novel += counts[type].first;
    all += counts[type].second;
  }
  EXPECT_GE(novel * 100, all * 20) << novel << " of " << all;
}

TEST(Facts, EveryWayOfMeaningOccurs) {
  int negated = 0;
  int family = 0;
  int historical = 0;
  int hypothetical = 0;
  for (const Sample& sample : readable_samples()) {
    for (const Fact& fact : sample.truth.facts) {
      negated += fact.assertion.negated ? 1 : 0;
      family += fact.assertion.family ? 1 : 0;
      historical += fact.assertion.historical ? 1 : 0;
      hypothetical += fact.assertion.hypothetical ? 1 : 0;
    }
  }
  for (const int count : {negated, family, historical, hypothetical}) EXPECT_GE(count, 20);
}

TEST(Facts, NumbersOfTheTruthAreThoseOfTheText) {
  for (const Sample& sample : readable_samples()) {
    for (const Fact& fact : sample.truth.facts) {
      if (fact.type == FactType::medication && fact.dose) {
        std::string text = fact.text;
        std::ranges::replace(text, ',', '.');
        std::ostringstream number;
        number << fact.dose->value;
        EXPECT_NE(text.find(number.str()), std::string::npos) << fact.text;
      }
      if (fact.type == FactType::lab && fact.low && fact.high) {
        EXPECT_LT(*fact.low, *fact.high) << fact.text;
        if (!fact.flag.empty()) {
          EXPECT_EQ(fact.flag == "high", *fact.value > *fact.high) << fact.text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace::samples
