// Uploads, files, objects and content: every ordered pair of transitions at every statement
// boundary of the server's functions. Whatever happens in between, answers and what is there are
// those of one order or of the other, and no rule is broken: no file without its object, content
// and job, no content removed under somebody or referred to while it is removed, no byte beyond the
// quota, no deadlock.
//
// Sweeps pass over what others hold; so they are all run once more before a case is judged, and
// what they answered is not compared.
#include "interleave/stage.h"
#include "sql/server_world.h"

#include <cstdlib>
#include <map>
#include <set>

namespace millrace::test {
namespace {

struct Transition {
  std::string name;
  std::string sql;  // @P and others stand for things of the world.
  bool sweeps = false;
};

std::string finish(const std::string& upload, const std::string& blob) {
  return fmt::format(
      "select 'file ' || (f ->> 'size_bytes') from millrace.finish_upload('{}', '{}') f", upload,
      blob);
}

const std::vector<Transition>& transitions() {
  static const std::vector<Transition> all{
      // There is room for one such, and not for what the others may grow to.
      {"begin",
       "select 'begun' from millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', "
       "'@A', 'patient_id', '@P', 'size_bytes', 45))"},
      {"finish", finish("@1", "@D")},
      // Another upload with the same key: of the same content, and of other content.
      {"finish_twin", finish("@2", "@D")},
      {"finish_other", finish("@2", "@E")},
      // Larger than reserved; content that was condemned, and content that is about to be.
      {"finish_condemned", finish("@3", "@C")},
      {"finish_noted", finish("@5", "@G")},
      {"abort", "select millrace.abort_upload('@1')"},
      {"take", "select 'taken' from millrace.take_upload('@3', null, '@X')"},
      {"advance", "select millrace.advance_upload('@3', '@W', 0, 7, 'h3')"},
      {"delete_profile", "select 'deleted' from millrace.delete_profile('@P')"},
      {"put_file",
       "select 'file' from millrace.put_shell_files(jsonb_build_array(jsonb_build_object("
       "'patient_id', '@P', 'storage_path', '@A/plain', 'idempotency_key', 'k')), 'merge')"},
      {"remove",
       "select millrace_test.as_user('@A', 'select count(*) from millrace.remove_objects("
       "''medical-docs'', array[''@A/plain''])')"},
      {"delete_file", "select count(*) from millrace.delete_shell_files(array['@F'::uuid])"},
      {"expire", "select count(*) from millrace.expire_uploads(10)", true},
      {"sweep", "select millrace.sweep_objects(10)", true},
      {"condemn", "select count(*) from millrace.condemn_blobs(10)", true},
      {"forget", "select millrace.forget_blobs(array['@T'::uuid], array[sha256('cccccccccc')])",
       true},
      {"mark",
       "select count(*) from millrace.mark_blobs(array['sha256/' || encode(sha256('cccccccccc'), "
       "'hex')])",
       true},
      {"fold", "select millrace.fold_usages(10)", true},
  };
  return all;
}

// Those of the server; what jobs do at each of their own boundaries is tried elsewhere.
const std::set<std::string>& bounded_functions() {
  static const std::set<std::string> all{
      "begin_upload",   "finish_upload",  "finish_file",     "abort_upload",       "take_upload",
      "advance_upload", "expire_uploads", "find_upload",     "upload_owner",       "ensure_profile",
      "reserve_quota",  "fold_usage",     "fold_usages",     "take_blob",          "put_object",
      "start_file",     "put_shell_file", "put_shell_files", "delete_shell_files", "drop_files",
      "delete_profile", "remove_objects", "sweep_objects",   "condemn_blobs",      "forget_blobs",
      "check_removal",  "mark_blobs"};
  return all;
}

class World {
 public:
  World() {
    auto& sql = stage_.director();
    stop_clock(sql);
    sql.run("select millrace.create_tenant('clinic', $1, '{\"quota_bytes\": 100}')",
            pg::params(kTenant));
    for (Session* session : {&sql, &stage_.a(), &stage_.b()}) {
      as_tenant(*session, std::string(kTenant));
    }
    things_["@T"] = kTenant;
    things_["@A"] = kAda;
    things_["@P"] = sql.value("select millrace.create_profile('p', $1)", pg::params(kAda));
    make_content(sql);
    make_uploads(sql);
    stage_.keep("world");
  }

  const std::vector<std::string>& boundaries(const Transition& a) {
    auto& names = boundaries_[a.name];
    if (names.empty()) {
      names = stage_.boundaries("world", fill(a));
      names.insert(names.begin(), "before commit");
    }
    return names;
  }
  std::string in_turn(const Transition& a, const Transition& b, bool a_first) {
    return judged(a, b, stage_.in_turn("world", fill(a), fill(b), a_first));
  }
  std::string interleaved(const Transition& a, const Transition& b, std::size_t boundary) {
    const auto met = stage_.interleaved("world", fill(a), fill(b), boundary);
    waited_ += met.waited ? 1 : 0;
    ++cases_;
    return judged(a, b, met);
  }
  std::string explain(const std::string& boundary) const { return stage_.explain(boundary); }

  ~World() {
    if (std::getenv("MILLRACE_INTERLEAVE_COUNT") == nullptr) return;
    fmt::print("{} cases, B waited in {}\n", cases_, waited_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

 private:
  static std::string ten(char letter) { return std::string(10, letter); }

  void drop(Session& sql, char letter) {
    const auto name = fmt::format("{}/{}", kAda, letter);
    put_object(sql, kAda, name, ten(letter));
    sql.run("select millrace.remove_objects('medical-docs', array[$1])", pg::params(name));
  }
  void make_content(Session& sql) {
    drop(sql, 'c');
    pass(sql, "25 hours");
    sql.run("select millrace.condemn_blobs(10)");
    drop(sql, 'g');
    put_object(sql, kAda, fmt::format("{}/plain", kAda), ten('b'));
    const auto file =
        put_file(sql, kAda, ten('a'),
                 fmt::format(R"({{"patient_id": "{}", "idempotency_key": "f"}})", things_["@P"]));
    things_["@F"] = member(sql, file, "id");
    // One that will have expired, with a piece.
    const auto old = member(sql, begin_file(sql, kAda, "9", patient()), "upload_id");
    sql.run("select millrace.take_upload($1, null, $2)", pg::params(old, kBob));
    sql.run("select millrace.advance_upload($1, $2, 0, 4, 'h4')", pg::params(old, kBob));
    pass(sql, "25 hours");
  }
  void make_uploads(Session& sql) {
    const auto keyed =
        fmt::format(R"({{"patient_id": "{}", "idempotency_key": "k"}})", things_["@P"]);
    things_["@1"] = member(sql, begin_file(sql, kAda, "10", keyed), "upload_id");
    things_["@2"] = member(sql, begin_file(sql, kAda, "10", keyed), "upload_id");
    for (const auto* name : {"@3", "@5"}) {
      things_[name] = sql.value(
          "select millrace.begin_upload(jsonb_build_object('kind', 'file', 'user_id', $1::text, "
          "'patient_id', $2::text, 'reserve_bytes', 5)) ->> 'upload_id'",
          pg::params(kAda, things_["@P"]));
    }
    things_["@W"] = "00000000-0000-4000-8000-0000000000f1";
    things_["@X"] = "00000000-0000-4000-8000-0000000000f2";
    sql.run("select millrace.take_upload($1, null, $2, '60 s')",
            pg::params(things_["@3"], things_["@W"]));
    pass(sql, "61 seconds");
    for (const char letter : {'c', 'd', 'e', 'g'}) {
      things_[fmt::format("@{}", static_cast<char>(letter - 'a' + 'A'))] = stored(sql, ten(letter));
    }
  }
  std::string patient() { return fmt::format(R"({{"patient_id": "{}"}})", things_["@P"]); }

  std::string fill(const Transition& transition) const {
    auto sql = transition.sql;
    for (const auto& [name, value] : things_) {
      for (auto at = sql.find(name); at != std::string::npos;
           at = sql.find(name, at + value.size())) {
        sql.replace(at, name.size(), value);
      }
    }
    return sql;
  }

  // Rules that are broken come first: no order has them.
  // What was judged before is not swept again.
  std::string judged(const Transition& a, const Transition& b, const Met& met) {
    const auto key = fmt::format(
        "{} {} {} {} {}", a.name, met.a, b.name, met.b,
        stage_.director().value("select concat(millrace_test.wrong_uploads(), ' ', "
                                "millrace_test.uploads(), ' ', millrace_test.to_sweep())"));
    auto& known = judged_[key];
    if (known.empty()) known = judge(a, b, met);
    return known;
  }
  std::string judge(const Transition& a, const Transition& b, const Met& met) {
    auto& sql = stage_.director();
    const auto shown = [](const Transition& transition, const std::string& answer) {
      return transition.sweeps && !answer.starts_with("error") ? std::string("swept") : answer;
    };
    std::string wrong = sql.value("select coalesce(millrace_test.wrong_uploads(), '')");
    for (const auto& answer : {met.a, met.b}) {
      if (answer.starts_with("error") && !expected().contains(answer.substr(6))) {
        wrong += "; " + answer;
      }
    }
    sql.run("select millrace_test.sweep()");
    const auto later = sql.value("select coalesce(millrace_test.wrong_uploads(), '')");
    if (!later.empty()) wrong += "; after all sweeps: " + later;
    return fmt::format("{}A {} | B {} | {}", wrong.empty() ? "" : "BROKEN " + wrong + " | ",
                       shown(a, met.a), shown(b, met.b),
                       sql.value("select millrace_test.uploads()"));
  }
  // Refusals that a client must expect.
  static const std::set<std::string>& expected() {
    static const std::set<std::string> all{"MR011", "MR027", "MR028", "MR029",
                                           "MR036", "MR037", "23505", "42501"};
    return all;
  }

  Stage stage_{Stage::Functions::with_boundaries, {"uploads.sql"}, bounded_functions()};
  std::map<std::string, std::string> things_;
  std::map<std::string, std::vector<std::string>> boundaries_;
  std::map<std::string, std::string> judged_;
  std::size_t cases_ = 0;
  std::size_t waited_ = 0;
};

class Interleaving : public ::testing::TestWithParam<std::size_t> {
 public:
  static void SetUpTestSuite() { world = new World; }
  static void TearDownTestSuite() {
    delete world;
    world = nullptr;
  }
  static World* world;
};
World* Interleaving::world = nullptr;

TEST_P(Interleaving, with_anything_comes_to_one_order_or_the_other) {
  const auto& a = transitions()[GetParam()];
  const auto& places = world->boundaries(a);
  EXPECT_GT(places.size(), 1U) << a.name;
  for (const auto& b : transitions()) {
    const auto ab = world->in_turn(a, b, true);
    const auto ba = world->in_turn(a, b, false);
    EXPECT_FALSE(ab.starts_with("BROKEN")) << a.name << ", then " << b.name << ": " << ab;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto outcome = world->interleaved(a, b, i);
      if (outcome == ab || outcome == ba) continue;
      ADD_FAILURE() << fmt::format(
          "A = {} stopped at {}, after: {}\n  B = {}\n  came to:  {}\n  A then B: {}\n"
          "  B then A: {}",
          a.name, places[i], i == 0 ? "" : world->explain(places[i]), b.name, outcome, ab, ba);
      break;  // Those behind it tell the same story.
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Uploads, Interleaving,
                         ::testing::Range<std::size_t>(0, transitions().size()),
                         [](const ::testing::TestParamInfo<std::size_t>& info) {
                           return transitions()[info.param].name;
                         });

}  // namespace
}  // namespace millrace::test
