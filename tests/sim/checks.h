// Checks: what must be true of every world, whatever goes wrong in it.
//
// Flow: the model says what happened in the database (ModelWatch), Link what a process asked and
// was told, the handlers what they did; each is compared with what the others said before. The
// records here are kept apart from the model's own state and from the worker's. The first violation
// ends the world; its report names the property and shows what happened to the job concerned.
#pragma once

#include "base/cancel.h"
#include "sim/coverage.h"
#include "sim/model.h"
#include "sim/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::sim {

struct Violation {
  std::string property;
  std::string detail;
  std::optional<std::size_t> job;
};

// One thing that happened. Printed only when a world fails or is traced.
struct Note {
  Time at{0};
  const char* what = "";
  int process = -1;
  int job = -1;
  std::uint64_t token = 0;
  std::string more;
};

// One delivery, from the lease on; its place in the list is the number of its token.
struct DeliveryRecord {
  std::size_t job = 0;
  int generation = 1;
  int process = -1;  // Number of the simulated process.
  bool alone = false;
  bool lives = true;  // Its lease.
  Time leased_at{0};

  bool received = false;  // The process knows of it.
  bool dropped = false;   // The process was told that it is gone.
  Time received_at{0};
  std::string worker_id;

  bool started = false;
  bool returned = false;
  Time started_at{0};
  Time ends_at{0};  // By its script.
  CancelToken cancel;
  bool told_at_return = false;  // It had been told to stop before it returned.
  Outcome::Kind outcome = Outcome::Kind::ok;

  bool sent = false;  // A settlement was sent.
  bool answered = false;
  Outcome::Kind sent_kind = Outcome::Kind::ok;
};

// What Checks must know about a simulated process.
struct ProcessRecord {
  std::string name;
  bool keeper = false;
  bool gone = false;
  bool killed = false;  // It did not leave in good order.
  bool paused = false;
  Time paused_at{-1};    // When it last could not go on.
  Time troubled_at{-1};  // Likewise, or a call of it went wrong.
  Time drained_at{-1};
  bool hurried = false;  // It was told to leave at once.
  bool was_paused = false;
  bool was_frozen = false;
  int registrations = 0;
  Time registered_at{-1};  // The last time.
  bool told_dead = false;
  Time told_dead_at{-1};
  bool retired = false;
  std::vector<std::uint64_t> deliveries;  // Tokens of what it may still hold.
};

class Checks final : public ModelWatch {
 public:
  Checks(const WorldPlan& plan, const Loop& loop, Coverage& coverage, bool trace);

  const std::optional<Violation>& violation() const { return violation_; }
  void violate(std::string_view property, std::string detail, std::optional<std::size_t> job = {});
  std::string report() const;  // Of the violation.
  const std::vector<Note>& notes() const { return notes_; }
  std::string print(const Note& note) const;
  std::uint64_t digest() const { return digest_; }
  void note(const char* what, int process = -1, int job = -1, std::uint64_t token = 0,
            std::string_view more = {});
  void heard(int process, std::string_view line);  // A line of its log, which changes nothing.
  void reach(Path path) { coverage_.reach(path); }

  // Processes.
  int add_process(std::string name, bool keeper);
  ProcessRecord& process(int number) { return processes_[static_cast<std::size_t>(number)]; }
  void paused(int number, bool frozen);
  void resumed(int number);
  void trouble(int number);  // A call of it goes wrong or is slow.
  void trouble_all();
  bool calm_since(const ProcessRecord& process, Time time) const;
  void process_gone(int number, bool killed);

  // The database (ModelWatch). `set_model` before anything else.
  void set_model(const Model& model) { model_ = &model; }
  void enqueued(const Job& job) override;
  void leased(const Job& job) override;
  void unleased(const Job& job, LeaseToken token, std::string_view outcome) override;
  void ended(const Job& job, const Ending& ending) override;
  void redriven(const Job& job) override;
  void granted(int provider) override;
  void notified() override {
    if (on_hint) on_hint();
  }
  std::function<void()> on_hint;  // A notification goes out.
  void cancel_wanted(std::size_t job) { jobs_[job].cancel_wanted = true; }
  void statement_ran(JobId id, LeaseToken token);
  void next_lease_goes_to(int process) { claimer_ = process; }

  // What a process asks and is told.
  void claiming(int process, const store::ClaimRequest& request);
  void claim_answered(int process, const store::ClaimRequest& request,
                      const std::vector<ClaimedJob>& jobs);
  void settling(int process, const Settlement& settlement, bool with_statements);
  void settle_answered(int process, const Settlement& settlement, Answer answer);
  void found_unheld(int process, const store::HeldLease& lease);
  void extend_answered(int process, const store::HeldLease& lease, bool extended);
  void registered(int process);
  void declared_dead(int process);
  void claim_done(const store::ClaimRequest& request,
                  const Result<std::vector<ClaimedJob>>& claimed);
  void duty(int process);                  // A keeper does one.
  std::function<bool(int process)> leads;  // A keeper, by its own view.

  // Handlers.
  void handler_started(int process, const ClaimedJob& job, CancelToken cancel, Time ends_at);
  void handler_returned(int process, const ClaimedJob& job, Outcome::Kind outcome);

  std::size_t unfinished() const { return unfinished_; }
  void at_the_end();  // Everything has ended and every process has left.
  DeliveryRecord* delivery(LeaseToken token);

 private:
  struct JobRecord {
    bool exists = false;
    bool ended = false;
    bool cancel_wanted = false;
    int generation = 1;
    int statements = 0;  // Of this generation.
    int lost_alone = 0;
    std::uint64_t last_token = 0;
  };

  static bool open(const DeliveryRecord& delivery);       // Its handler runs.
  static bool unsettled(const DeliveryRecord& delivery);  // Its result waits to be durable.
  bool knew_its_death(const ProcessRecord& process) const;
  bool excused(const DeliveryRecord& delivery) const;
  void check_alone(int process, const DeliveryRecord& started, const ClaimedJob& job);
  void check_holders(const DeliveryRecord& started, std::uint64_t token);
  void check_slots(int process, std::size_t job);
  void check_keys(const Job& job);
  void check_ending(const Job& job, const Ending& ending);
  std::string why_undeserved(const DeliveryRecord& delivery, const Settlement& sent) const;
  const Script& script(std::size_t job) const { return plan_.jobs[job].script; }

  const WorldPlan& plan_;
  const Loop& loop_;
  Coverage& coverage_;
  const bool trace_;
  const Model* model_ = nullptr;
  std::optional<Violation> violation_;
  std::vector<Note> notes_;
  std::uint64_t digest_ = 0xcbf29ce484222325ULL;
  std::vector<ProcessRecord> processes_;
  std::vector<JobRecord> jobs_;
  std::vector<DeliveryRecord> deliveries_;
  std::vector<std::vector<Time>> grants_;  // By provider.
  std::size_t unfinished_ = 0;
  int claimer_ = -1;
  int last_keeper_ = -1;
};

}  // namespace millrace::sim
