#include "output/fhir/timing.h"

#include "layout/clinical/ucum.h"
#include "layout/code_points.h"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace millrace::output::fhir {
namespace {

using Tokens = std::vector<std::string>;
using Phrase = std::vector<std::string_view>;

constexpr double kNumberMax = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Small words: points and commas dropped, "3x/day" as "3", "x", "per", "day".
Tokens tokens_of(std::string_view text) {
  Tokens out;
  std::string token;
  const auto end_token = [&] {
    if (!token.empty()) out.push_back(std::move(token));
    token.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    const bool in_number =
        i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (c == ' ' || c == '\n' || c == '\t' || c == ',') {
      end_token();
    } else if (c == '/') {
      end_token();
      out.emplace_back("per");
    } else if (c == '.' && !in_number) {
      continue;  // "b.i.d."
    } else if (!token.empty() && is_digit(token.front()) && !is_digit(c) && c != '.' && c != '-') {
      end_token();
      token += c;
    } else {
      token += c;
    }
  }
  end_token();
  return out;
}

// Takes the phrase out wherever it stands.
bool take(Tokens& tokens, const Phrase& phrase) {
  const auto at = std::ranges::search(tokens, phrase);
  if (at.empty()) return false;
  tokens.erase(at.begin(), at.end());
  return true;
}

bool take_any(Tokens& tokens, const std::vector<Phrase>& phrases) {
  return std::ranges::any_of(phrases, [&](const Phrase& phrase) { return take(tokens, phrase); });
}

double number_of(std::string_view token) {
  static constexpr auto kWords =
      std::to_array<std::pair<std::string_view, double>>({{"one", 1},
                                                          {"two", 2},
                                                          {"three", 3},
                                                          {"four", 4},
                                                          {"five", 5},
                                                          {"six", 6},
                                                          {"eight", 8},
                                                          {"twelve", 12},
                                                          {"seven", 7},
                                                          {"ten", 10},
                                                          {"fourteen", 14}});
  const auto at = std::ranges::find(kWords, token, &std::pair<std::string_view, double>::first);
  if (at != kWords.end()) return at->second;
  double value = 0;
  const auto read =
      std::from_chars(token.data(), token.data() + token.size(), value, std::chars_format::fixed);
  const bool whole = read.ec == std::errc() && read.ptr == token.data() + token.size();
  return whole && value > 0 && value <= kNumberMax ? value : 0;
}

std::string_view unit_of(std::string_view token) {
  static constexpr auto kUnits = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"h", "h"},       {"hr", "h"},       {"hrs", "h"},    {"hour", "h"},    {"hours", "h"},
       {"hourly", "h"},  {"d", "d"},        {"day", "d"},    {"days", "d"},    {"daily", "d"},
       {"wk", "wk"},     {"week", "wk"},    {"weeks", "wk"}, {"weekly", "wk"}, {"month", "mo"},
       {"months", "mo"}, {"monthly", "mo"}, {"year", "a"},   {"years", "a"},   {"yearly", "a"}});
  const auto at =
      std::ranges::find(kUnits, token, &std::pair<std::string_view, std::string_view>::first);
  return at == kUnits.end() ? std::string_view() : at->second;
}

// One word that says it all.
std::optional<Timing> from_code(std::string_view token) {
  static constexpr auto kDaily = std::to_array<std::pair<std::string_view, int>>({{"qd", 1},
                                                                                  {"od", 1},
                                                                                  {"daily", 1},
                                                                                  {"bid", 2},
                                                                                  {"bd", 2},
                                                                                  {"tid", 3},
                                                                                  {"tds", 3},
                                                                                  {"qid", 4},
                                                                                  {"qds", 4}});
  const auto at = std::ranges::find(kDaily, token, &std::pair<std::string_view, int>::first);
  if (at != kDaily.end()) return Timing{.frequency = at->second, .period = 1, .unit = "d"};
  if (token == "qod") return Timing{.frequency = 1, .period = 2, .unit = "d"};
  if (token == "weekly") return Timing{.frequency = 1, .period = 1, .unit = "wk"};
  if (token == "monthly") return Timing{.frequency = 1, .period = 1, .unit = "mo"};
  return std::nullopt;
}

// "8", "4-6": the period and, where there are two, the longest.
bool read_period(std::string_view token, Timing& timing) {
  const auto dash = token.find('-');
  timing.period = number_of(token.substr(0, dash));
  if (dash == std::string_view::npos) return timing.period > 0;
  timing.period_max = number_of(token.substr(dash + 1));
  return timing.period > 0 && timing.period_max > timing.period;
}

// "q8h", "q4-6h"
std::optional<Timing> from_interval(std::string_view token) {
  if (token.size() < 3 || token.front() != 'q' || token.back() != 'h') return std::nullopt;
  Timing out{.frequency = 1, .unit = "h"};
  if (!read_period(token.substr(1, token.size() - 2), out)) return std::nullopt;
  return out;
}

// "every 8 hours", "every other day", "every week"
std::optional<Timing> from_every(const Tokens& tokens) {
  if (tokens.size() < 2 || tokens.size() > 3 || (tokens[0] != "every" && tokens[0] != "each")) {
    return std::nullopt;
  }
  Timing out{.frequency = 1, .period = 1, .unit = unit_of(tokens.back())};
  if (tokens.size() == 3) {
    if (tokens[1] == "other") {
      out.period = 2;
    } else if (!read_period(tokens[1], out)) {
      return std::nullopt;
    }
  }
  if (out.unit.empty() || out.unit == "a") return std::nullopt;
  return out;
}

// "twice daily", "3 times a day", "once per week"
std::optional<Timing> from_count(const Tokens& tokens) {
  std::size_t at = 0;
  const auto is = [&](std::initializer_list<std::string_view> words) {
    return at < tokens.size() && std::ranges::find(words, tokens[at]) != words.end();
  };
  Timing out{.period = 1};
  if (is({"once"})) {
    out.frequency = 1;
  } else if (is({"twice"})) {
    out.frequency = 2;
  } else if (is({"thrice"})) {
    out.frequency = 3;
  } else if (!tokens.empty()) {
    const auto count = number_of(tokens[0]);
    out.frequency = static_cast<int>(count);
    if (count != out.frequency) return std::nullopt;  // Half a time is no frequency.
    ++at;
    if (!is({"times", "time", "x"})) return std::nullopt;
  }
  ++at;
  if (is({"a", "per", "each", "every", "in"})) ++at;
  if (is({"a"})) ++at;
  if (out.frequency == 0 || at + 1 != tokens.size()) return std::nullopt;
  out.unit = unit_of(tokens[at]);
  if (out.unit.empty() || out.unit == "h" || out.unit == "a") return std::nullopt;
  return out;
}

void take_when(Tokens& tokens, Timing& timing) {
  static const std::vector<std::pair<std::string_view, std::vector<Phrase>>> kWhen = {
      {"HS",
       {{"at", "bedtime"},
        {"before", "bedtime"},
        {"bedtime"},
        {"qhs"},
        {"hs"},
        {"at", "night"},
        {"every", "night"},
        {"each", "night"},
        {"nightly"},
        {"nocte"}}},
      {"MORN",
       {{"in", "the", "morning"}, {"every", "morning"}, {"each", "morning"}, {"qam"}, {"mane"}}},
      {"EVE", {{"in", "the", "evening"}, {"every", "evening"}, {"each", "evening"}, {"qpm"}}},
      {"C", {{"with", "meals"}}},
      {"AC", {{"before", "meals"}, {"ac"}}},
      {"PC", {{"after", "meals"}, {"pc"}}},
  };
  for (const auto& [code, phrases] : kWhen) {
    if (take_any(tokens, phrases)) timing.when.emplace_back(code);
  }
}

bool is_time_of_day(const Timing& timing) {
  return timing.when.size() == 1 &&
         (timing.when[0] == "HS" || timing.when[0] == "MORN" || timing.when[0] == "EVE");
}

}  // namespace

std::optional<Timing> parse_timing(std::string_view text) {
  auto tokens = tokens_of(text);
  Timing around;
  around.as_needed = take_any(
      tokens,
      {{"as", "needed"}, {"as", "required"}, {"if", "needed"}, {"when", "needed"}, {"prn"}});
  take_when(tokens, around);
  std::optional<Timing> core;
  if (tokens.empty()) {
    if (is_time_of_day(around)) core = Timing{.frequency = 1, .period = 1, .unit = "d"};
    if (!core && around.when.size() <= 1 && (around.as_needed || !around.when.empty())) {
      core = Timing{};
    }
  } else if (tokens.size() == 1) {
    core = from_code(tokens[0]);
    if (!core) core = from_interval(tokens[0]);
  } else {
    core = from_every(tokens);
    if (!core) core = from_count(tokens);
  }
  if (!core) return std::nullopt;
  core->when = std::move(around.when);
  core->as_needed = around.as_needed;
  return core;
}

std::optional<TimeSpan> parse_time_span(std::string_view text) {
  auto tokens = tokens_of(text);
  if (!tokens.empty() && (tokens[0] == "for" || tokens[0] == "x")) tokens.erase(tokens.begin());
  if (tokens.size() != 2) return std::nullopt;
  const TimeSpan out{.value = number_of(tokens[0]), .unit = unit_of(tokens[1])};
  if (out.value == 0 || out.unit.empty()) return std::nullopt;
  return out;
}

json::Object repeat_of(const std::optional<Timing>& timing, const std::optional<TimeSpan>& span) {
  json::Object out;
  if (span) {
    out["boundsDuration"] = json::Object{{"value", span->value},
                                         {"unit", span->unit},
                                         {"system", layout::clinical::kUcumSystem},
                                         {"code", span->unit}};
  }
  if (!timing) return out;
  if (timing->frequency > 0) {
    out["frequency"] = timing->frequency;
    out["period"] = timing->period;
    if (timing->period_max > 0) out["periodMax"] = timing->period_max;
    out["periodUnit"] = timing->unit;
  }
  if (!timing->when.empty()) {
    json::Array when;
    for (const auto& code : timing->when) when.emplace_back(code);
    out["when"] = std::move(when);
  }
  return out;
}

}  // namespace millrace::output::fhir
