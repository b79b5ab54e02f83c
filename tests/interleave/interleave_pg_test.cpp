// Every ordered pair of transitions at every statement boundary: A is brought to a boundary, B runs
// in full on another connection, A ends. What comes of it must break no rule, and must be an
// outcome that tests/interleave/allowed.txt names for the pair.
//
// MILLRACE_INTERLEAVE_COUNT=1 prints how many cases ran and what they came to.
#include "interleave/allowed.h"
#include "interleave/boundaries.h"
#include "interleave/lane.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

namespace millrace::test {
namespace {

// Half of a case is waiting for the other connection: two lanes keep two processors busy.
constexpr std::size_t kLanes = 2;

// --- What the whole run shares ---

class Run {
 public:
  static Run& get() {
    static Run run;
    return run;
  }
  Lane& lane(std::size_t i) {
    while (lanes_.size() <= i) {
      lanes_.push_back(std::make_unique<Lane>(Lane::Functions::with_boundaries));
    }
    return *lanes_[i];
  }
  const std::map<PairName, AllowedLine>& allowed() {
    if (allowed_.empty()) allowed_ = read_allowed(MILLRACE_INTERLEAVE_DIR "/allowed.txt");
    return allowed_;
  }
  // By number; 0 is the commit.
  const std::vector<std::string>& boundaries(std::string_view world, const Transition& a) {
    auto& names = boundaries_[{world, a.name}];
    if (names.empty()) {
      names = lane(0).boundaries(world, a);
      names.insert(names.begin(), "before commit");
    }
    return names;
  }
  // What one transition makes of a world.
  const Outcome& alone(std::string_view world, const Transition& transition) {
    const auto [at, is_new] = alone_.try_emplace({world, transition.name});
    if (is_new) at->second = lane(0).alone(world, transition);
    return at->second;
  }
  // Whether this state has not been run to its end yet.
  bool is_new(std::string_view world, const std::string& state) {
    const std::scoped_lock lock(mutex_);
    return drained_.insert(std::string(world) + ": " + state).second;
  }
  void count(const std::string& name, bool waited) {
    ++counts_[name];
    waited_ += waited ? 1 : 0;
  }
  void count_pair() { ++pairs_; }

  void finish() {
    if (std::getenv("MILLRACE_INTERLEAVE_COUNT") != nullptr) {
      std::size_t cases = 0;
      std::string named;
      for (const auto& [name, times] : counts_) {
        cases += times;
        named += fmt::format(", {} {}", name, times);
      }
      fmt::print("{} pairs, {} cases, B waited in {}; {} states run to their end{}\n", pairs_,
                 cases, waited_, drained_.size(), named);
    }
    lanes_.clear();
  }

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<PairName, AllowedLine> allowed_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>> boundaries_;
  std::map<std::pair<std::string_view, std::string_view>, Outcome> alone_;
  std::mutex mutex_;  // Guards drained_.
  std::set<std::string> drained_;
  std::map<std::string, std::size_t> counts_;
  std::size_t waited_ = 0;
  std::size_t pairs_ = 0;
};

class Leave : public ::testing::Environment {
  void TearDown() override { Run::get().finish(); }
};
const auto* const kLeave = ::testing::AddGlobalTestEnvironment(new Leave);

// --- A pair in one world ---

// Rules about the answers, beside those that the database is asked about.
std::string wrong_answers(const Outcome& outcome, std::string_view world) {
  const auto accepted = [](const std::string& answer) { return answer == "settled"; };
  std::string wrong;
  if (accepted(outcome.a) && accepted(outcome.b)) wrong = "one delivery was settled twice";
  if (!holds(world) && (accepted(outcome.a) || accepted(outcome.b) ||
                        outcome.a.starts_with("extended") || outcome.b.starts_with("extended"))) {
    wrong = "a stale token was accepted";
  }
  for (const auto& answer : {outcome.a, outcome.b}) {
    // MR023: the process is not registered any more, the one refusal that a worker must expect.
    if (answer.starts_with("error") && answer != "error MR023") wrong += "; " + answer;
  }
  return wrong;
}

class Meeting {
 public:
  Meeting(std::string_view world, const Transition& a, const Transition& b)
      : world_(world), a_(a), b_(b) {
    auto& run = Run::get();
    boundaries_ = run.boundaries(world, a);
    orders_ = {.ab = run.lane(0).in_turn(world, a, b, true),
               .ba = run.lane(0).in_turn(world, a, b, false),
               .only_a = run.alone(world, a),
               .only_b = run.alone(world, b)};
    for (const auto* outcome : {&orders_.ab, &orders_.ba}) {
      EXPECT_EQ(outcome->wrong + wrong_answers(*outcome, world), "")
          << world << ", one after the other: " << outcome->text();
    }
  }

  // The names of the outcomes; those that are not `allowed` and broken rules fail the test. What
  // both orders come to needs no permission.
  std::set<std::string> run(const std::set<std::string>& allowed) {
    std::vector<Outcome> outcomes(boundaries_.size());
    std::atomic<std::size_t> next = 0;
    Run::get().lane(kLanes - 1);
    together(kLanes, [&](int lane, const std::atomic<bool>& failed) {
      for (auto i = next++; i < outcomes.size() && !failed; i = next++) {
        outcomes[i] = one(Run::get().lane(static_cast<std::size_t>(lane)), i);
      }
    });
    std::set<std::string> names;
    std::set<std::string> told;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const auto name = name_of(outcomes[i], orders_, a_, b_);
      Run::get().count(name, outcomes[i].waited);
      const bool fine = outcomes[i].wrong.empty() && (name == "either" || allowed.contains(name));
      // The first of its kind; those behind it tell the same story.
      if (!fine && told.insert(name + outcomes[i].wrong).second) {
        ADD_FAILURE() << story(i, outcomes[i], name);
      }
      names.insert(name);
    }
    return names;
  }

 private:
  Outcome one(Lane& lane, std::size_t i) {
    auto outcome = lane.interleaved(world_, a_, b_, i);
    const auto add = [&](const std::string& what) {
      if (!what.empty()) outcome.wrong += (outcome.wrong.empty() ? "" : "; ") + what;
    };
    add(wrong_answers(outcome, world_));
    if (Run::get().is_new(world_, outcome.state)) {
      add(lane.drain());
      const auto repeated = lane.repeat(world_);
      if (repeated == "settled") add("the token was accepted after the end of the job");
    }
    return outcome;
  }

  std::string story(std::size_t i, const Outcome& outcome, const std::string& name) const {
    const auto where =
        i == 0 ? boundaries_[0]
               : fmt::format("{} (boundary {} of {}), after: {}", boundaries_[i], i,
                             boundaries_.size() - 1, Run::get().lane(0).explain(boundaries_[i]));
    return fmt::format(
        "world {}\n  A = {} stopped at {}\n  B = {} {}\n  A answered {}, B answered {}\n"
        "  came to:  {}\n  A then B: {}\n  B then A: {}\n  outcome {}{}{}",
        world_, a_.name, where, b_.name, outcome.waited ? "waited for A" : "ran to its end",
        outcome.a, outcome.b, outcome.text(), orders_.ab.text(), orders_.ba.text(), name,
        outcome.wrong.empty() ? "" : "\n  broken: ", outcome.wrong);
  }

  std::string_view world_;
  const Transition& a_;
  const Transition& b_;
  std::vector<std::string> boundaries_;
  Orders orders_;
};

// --- The pairs ---

using TwoTransitions = std::tuple<std::size_t, std::size_t>;

class EveryPair : public ::testing::TestWithParam<TwoTransitions> {};

TEST_P(EveryPair, comes_to_what_the_table_allows) {
  const auto& a = transitions()[std::get<0>(GetParam())];
  const auto& b = transitions()[std::get<1>(GetParam())];
  const auto line = Run::get().allowed().find({std::string(a.name), std::string(b.name)});
  ASSERT_NE(line, Run::get().allowed().end()) << "no line in allowed.txt";
  std::set<std::string> names;
  for (const auto world : worlds_of(a, b)) {
    names.merge(Meeting(world, a, b).run(line->second.outcomes));
  }
  Run::get().count_pair();
  if (names.size() > 1) names.erase("either");
  EXPECT_EQ(names, line->second.outcomes) << "the table names what happens, no more and no less";
}

std::string pair_name(const ::testing::TestParamInfo<TwoTransitions>& info) {
  return fmt::format("{}_then_{}", transitions()[std::get<0>(info.param)].name,
                     transitions()[std::get<1>(info.param)].name);
}

INSTANTIATE_TEST_SUITE_P(Interleaving, EveryPair,
                         ::testing::Combine(::testing::Range<std::size_t>(0, transitions().size()),
                                            ::testing::Range<std::size_t>(0, transitions().size())),
                         pair_name);

TEST(Allowed, has_a_line_for_every_pair_and_no_other) {
  std::set<PairName> pairs;
  for (const auto& a : transitions()) {
    for (const auto& b : transitions()) pairs.emplace(a.name, b.name);
  }
  for (const auto& [pair, line] : Run::get().allowed()) {
    EXPECT_EQ(pairs.erase(pair), 1U) << pair.first << ", " << pair.second;
    EXPECT_FALSE(line.outcomes.contains("other")) << "an outcome without a name";
  }
  EXPECT_TRUE(pairs.empty()) << pairs.begin()->first << ", " << pairs.begin()->second;
}

// The orders that outcomes are compared with come from the functions themselves: that the fence
// holds in them is a rule of its own.
TEST(Fence, a_stale_token_changes_nothing_in_any_world) {
  auto& lane = Run::get().lane(0);
  for (const auto world : kWorlds) {
    if (holds(world)) continue;
    const auto before = lane.untouched(world);
    for (const auto name : {"extend", "complete", "settle", "fail", "snooze", "handback"}) {
      const auto& transition = *std::ranges::find(transitions(), name, &Transition::name);
      const auto after = lane.alone(world, transition);
      EXPECT_EQ(after.state, before.state) << name << " in " << world;
      EXPECT_EQ(after.wrong + wrong_answers(after, world), "") << name << " in " << world;
    }
  }
}

// --- The instrument ---

constexpr const char* kSample = R"(CREATE OR REPLACE FUNCTION millrace.sample(p_id integer)
AS $function$
declare
  v_row millrace.ready;  -- A type, not a look; 'begin' in a comment; it's no string.
begin
  if p_id is null then
    raise exception 'no; id';
  end if;
  update millrace.ready r set flags = case when r.flags = 1 then 2 else 3 end where r.job_id = p_id;
  if not found then
    return;
  end if;
  v_row := null::millrace.ready;
  for v_row in select * from millrace.delayed loop
    perform millrace.inner_one(v_row);
  end loop;
  if exists (select from millrace.lease) then
    return;
  end if;
  perform millrace.inner_two();
  return;
end;
$function$)";

TEST(Boundaries, stand_after_every_statement_that_looks_at_the_database) {
  const auto bounded = with_boundaries(
      {{"sample", kSample},
       {"inner_one", "AS $function$\nbegin\n  delete from millrace.lease;\nend;\n$function$"},
       {"inner_two",
        "AS $function$\nbegin\n  return (select 1 from millrace.lease);\nend;\n"
        "$function$"}},
      {"ready", "delayed", "lease", "inner_one", "inner_two"});
  std::vector<std::string> before;
  for (const auto& [at, text] : bounded.before) {
    if (at.first == "sample") before.push_back(text.substr(0, 30));
  }
  EXPECT_EQ(before,
            (std::vector<std::string>{
                "update millrace.ready r set fl",   // A statement;
                "for v_row in select * from mil",   // inside a loop over a query,
                "for v_row in select * from mil",   // and behind it;
                "exists (select from millrace.l",   // where a condition looked: both ways;
                "exists (select from millrace.l",   // not after inner_one, which ends with one,
                "perform millrace.inner_two()"}));  // but after inner_two, which does not.
  EXPECT_EQ(bounded.functions[1].definition,
            "AS $function$\nbegin\n  delete from millrace.lease; if "
            "millrace_test.boundary('inner_one', 1) then end if; \nend;\n$function$");
}

TEST(Boundaries, are_refused_where_the_text_is_not_understood) {
  EXPECT_THROW(with_boundaries({{"f", "AS $function$ select 1 $function$"}}, {}),
               std::runtime_error);
  EXPECT_THROW(with_boundaries({{"f", "AS $function$ begin perform 'x; end; $function$"}}, {}),
               std::runtime_error);
}

// FOUND, row counts, answers and states are those of the functions as they are.
TEST(Boundaries, change_nothing_else) {
  Lane plain(Lane::Functions::as_they_are);
  auto& bounded = Run::get().lane(0);
  for (const auto world : kWorlds) {
    for (const auto& transition : transitions()) {
      const auto expected = plain.in_turn(world, transition, transition, true);
      const auto outcome = bounded.in_turn(world, transition, transition, true);
      EXPECT_EQ(outcome.text(), expected.text()) << transition.name << " twice in " << world;
      EXPECT_EQ(outcome.wrong, "") << transition.name << " twice in " << world;
      EXPECT_TRUE(plain.boundaries(world, transition).empty());
    }
  }
}

// What is not PL/pgSQL has no boundary inside, so it must be one statement.
TEST(Boundaries, are_not_missed_in_functions_of_other_languages) {
  const TestDatabase database;
  Session sql(database);
  for (const auto row :
       sql.rows("select p.proname, regexp_replace(regexp_replace(p.prosrc, '--[^\\n]*', '', 'g'), "
                "'''[^'']*''', '', 'g') from pg_proc p join pg_language l on l.oid = p.prolang "
                "where p.pronamespace = 'millrace'::regnamespace and l.lanname <> 'plpgsql'")) {
    std::string body(row.text(1));
    while (!body.empty() && (body.back() == ';' || std::isspace(body.back()) != 0)) {
      body.pop_back();
    }
    EXPECT_EQ(body.find(';'), std::string::npos) << row.text(0);
  }
}

}  // namespace
}  // namespace millrace::test
