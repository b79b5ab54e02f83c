// The transitions that meet each other, and the worlds they meet in.
//
// Every transition is one call of the protocol that concerns job J, its delivery with token T, or
// the worker process w that it was given to; its answer is one short text. Every transition is
// defined in every world: where J is not held, T is the token of an earlier delivery, so the fence
// is tried everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct Transition {
  std::string_view name;
  // @J job, @T token, @P process, @Q queue.
  std::string_view sql;
  // The worlds in which it changes something.
  std::vector<std::string_view> homes;
};

// J has the dedupe key `k`. In all but the last eight worlds it also stands first in the serial key
// `s` with N behind it, belongs to a batch, and D waits for its end; its type has a provider and
// its queue one slot.
inline constexpr std::array<std::string_view, 17> kWorlds = {
    "ready",    // J is ready after w handed it back; w lives.
    "fading",   // The same, but w has not beaten for longer than its lease.
    "held",     // J is leased to w, which lives.
    "reheld",   // J went back and is leased to w again: T is the token of the delivery before.
    "lost",     // J is leased to w, which has not beaten for longer than its lease.
    "last",     // The same, and this attempt is the last that J may have.
    "overdue",  // J is leased to w, which lives, but J's own deadline has passed.
    "waiting",  // J failed once; the time of its retry has come.
    "dead",     // J has failed for good. N and D are ready.
    // J and X have a concurrency key with room for one, the queue has two slots; X, Y and Z are
    // ready.
    "shared",        // J is leased to w, which lives.
    "shared_ready",  // J is ready after w handed it back.
    // J and K are plain, alone in their queue.
    "lane",      // Both wait in their lane.
    "claimed",   // w, which lives, holds both under a claim.
    "forsaken",  // The same, but w has not beaten for longer than its lease.
    // The same three, and their type has a provider with two slots.
    "limited_lane",
    "limited_claimed",
    "limited_forsaken",
};

// Whether w holds J there when the case begins.
inline bool holds(std::string_view world) {
  return world == "held" || world == "lost" || world == "last" || world == "overdue" ||
         world == "shared" || world.ends_with("claimed") || world.ends_with("forsaken");
}

#define MILLRACE_SETTLE(more)                                                                    \
  "select answer from millrace.settle_jobs('w', jsonb_build_array(jsonb_build_object('job_id', " \
  "'@J', 'token', '@T') || '" more "'))"

inline const std::vector<Transition>& transitions() {
  static const std::vector<Transition> all = {
      {"claim",
       "select coalesce(string_agg(millrace_test.name(job_id) || ' d' || delivery_count, ' '), "
       "'none') from millrace.claim_jobs('w', '@P', '@Q', 10)",
       {"ready", "fading", "dead", "shared", "shared_ready", "lane", "limited_lane"}},
      // The next of a lane together, as the engine's workers claim.
      {"claim_lane",
       "select coalesce(string_agg(millrace_test.name(coalesce(d.job_id, left(l, 36)::uuid)) || "
       "' d' || d.delivery_count, ' '), 'none') from millrace.claim_jobs('w', '@P', '@Q', 10, "
       "p_ranges => true) d left join lateral string_to_table(d.jobs, E'\\n') l on true",
       {"lane", "ready", "limited_lane"}},
      {"heartbeat",
       "select case when (b ->> 'alive')::boolean then 'alive' else 'dead' end || case when "
       "jsonb_array_length(b -> 'cancel') > 0 then ', told to cancel' else '' end "
       "from millrace.beat_worker('w', '@P') b",
       {"held", "lost", "fading", "forsaken"}},
      {"extend",
       "select answer || case when cancel_requested then ', told to cancel' else '' end "
       "from millrace.extend_leases('w', array['@J'::uuid], array['@T'::uuid], 600000)",
       {"held", "reheld", "overdue", "claimed", "limited_claimed"}},
      {"complete",
       "select answer from millrace.complete_jobs('w', array['@J'::uuid], array['@T'::uuid])",
       {"held", "reheld", "lost", "overdue", "shared", "claimed", "limited_claimed"}},
      // All jobs of the claim at once.
      {"complete_claim",
       "select coalesce((select 'settled' from millrace.complete_claims('w', "
       "array[millrace.claim_of('@T')], array[B'11']) c where get_bit(c, 0) = 1), 'lease_lost')",
       {"claimed", "forsaken", "limited_claimed", "limited_forsaken"}},
      // Success with effects: a follow-up job.
      {"settle",
       MILLRACE_SETTLE(R"({"outcome": "ok", "result": {"follow_up": true}, "effects": {"jobs": )"
                       R"([{"job_type": "work", "payload": {"n": 1}, "job_name": "E"}]}})"),
       {"held", "lost", "overdue", "claimed", "limited_claimed"}},
      {"fail",
       MILLRACE_SETTLE(R"({"outcome": "retry", "error": {"error_type": "test"}})"),
       {"held", "reheld", "lost", "overdue", "last", "shared", "claimed", "forsaken",
        "limited_claimed", "limited_forsaken"}},
      {"snooze",
       MILLRACE_SETTLE(R"({"outcome": "throttled", "retry_after_seconds": 0})"),
       {"held", "lost", "overdue"}},
      {"cancel",
       "select answer from millrace.cancel_jobs(array['@J'::uuid], 'test')",
       {"ready", "held", "reheld", "lost", "waiting", "shared", "shared_ready", "lane", "claimed",
        "limited_lane", "limited_claimed"}},
      {"sweep",
       "select millrace.reclaim(100)",
       {"lost", "last", "overdue", "fading", "forsaken", "limited_forsaken"}},
      {"redrive",
       "select coalesce((select answer from millrace.redrive_jobs("
       "jsonb_build_object('job_ids', jsonb_build_array('@J')))), 'none')",
       {"dead", "last"}},
      {"promote", "select millrace.promote_due(100)", {"waiting"}},
      {"handback",
       MILLRACE_SETTLE(R"({"outcome": "handback"})"),
       {"held", "reheld", "lost", "overdue", "claimed", "limited_claimed"}},
      {"hand_back_process",
       "select millrace.hand_back_process('s', 'w')",
       {"held", "reheld", "last", "fading", "shared", "claimed"}},
      {"retire",
       "select millrace.retire_worker('w', '@P')",
       {"held", "lost", "shared", "lane", "claimed", "forsaken", "limited_lane", "limited_claimed",
        "limited_forsaken"}},
      // Another job with J's dedupe key.
      {"enqueue",
       R"(select answer from millrace.enqueue_jobs('{"job_type": "work", "payload": {"n": 1}, )"
       R"("job_name": "F", "dedupe_key": "k"}'))",
       {"held", "dead", "ready", "last"}},
  };
  return all;
}

#undef MILLRACE_SETTLE

inline bool at_home(const Transition& transition, std::string_view world) {
  return std::ranges::find(transition.homes, world) != transition.homes.end();
}

// Where a pair meets: the worlds where both have something to do. Where they share none but those
// with a queue of their own, also the first of each: one acts, the other finds what that leaves.
inline std::vector<std::string_view> worlds_of(const Transition& a, const Transition& b) {
  std::vector<std::string_view> worlds;
  bool both = false;
  for (const auto world : kWorlds) {
    if (!at_home(a, world) || !at_home(b, world)) continue;
    worlds.push_back(world);
    both = both || std::ranges::find(kWorlds, world) < std::ranges::find(kWorlds, "shared");
  }
  if (!both) worlds.insert(worlds.begin(), {a.homes.front(), b.homes.front()});
  return worlds;
}

}  // namespace millrace::test
