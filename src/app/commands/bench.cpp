#include "app/bench/bench.h"

#include "app/bench/http.h"
#include "app/bench/report.h"
#include "app/bench/streams.h"
#include "app/commands/commands.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace millrace::app {
namespace {

struct Options {
  std::int64_t repeats = 3;
  std::optional<std::int64_t> jobs;
  std::int64_t payload_bytes = 110;
  std::vector<std::string> clients;
  std::int64_t batch = 1000;
  std::vector<std::string> processes;
  std::int64_t slots = 64;
  std::optional<std::int64_t> prefetch;
  std::int64_t seconds = 0;
  std::int64_t rate = 20'000;
  std::int64_t connections = 64;
  std::int64_t upload_megabytes = 1;
  std::int64_t large_megabytes = 2000;
  std::vector<std::string> depths;
  std::vector<std::string> set;
  std::string folder = "build/bench";
  bool force = false;
  bool served = false;
  bool held_first = false;
};

Result<int> in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return static_cast<int>(value);
  return fail(ErrorKind::invalid_argument,
              fmt::format("{}: {} is not between {} and {}", name, value, low, high));
}

// The values of an option that may be repeated.
Result<std::vector<std::int64_t>> numbers(const char* name, const std::vector<std::string>& texts,
                                          std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> values;
  for (const auto& text : texts) {
    std::int64_t value = -1;
    const auto* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, value).ptr != end) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{}: '{}' is not a whole number", name, text));
    }
    MR_TRY(const auto checked, in_range(name, value, low, high));
    values.push_back(checked);
  }
  return values;
}

Result<std::vector<std::pair<std::string, std::string>>> pairs(
    const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return fail(ErrorKind::invalid_argument, fmt::format("--set: '{}' is not KEY=VALUE", text));
    }
    all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

Result<int> run(Context& context, std::vector<std::string> what, const Options& options) {
  BenchOptions bench;
  bench.what = std::move(what);
  MR_TRY(bench.repeats, in_range("--repeats", options.repeats, 1, 100));
  MR_TRY(bench.payload_bytes, in_range("--payload-bytes", options.payload_bytes, 30, 200'000));
  MR_TRY(bench.clients, numbers("--clients", options.clients, 1, 512));
  MR_TRY(bench.batch, in_range("--batch", options.batch, 1, 10'000));
  MR_TRY(bench.processes, numbers("--processes", options.processes, 1, 256));
  MR_TRY(bench.slots, in_range("--slots", options.slots, 1, 4096));
  if (options.prefetch) {
    MR_TRY(bench.prefetch, in_range("--prefetch", *options.prefetch, 0, 10'000));
  }
  MR_TRY(bench.seconds, in_range("--seconds", options.seconds, 0, 86'400));
  MR_TRY(bench.rate, in_range("--rate", options.rate, 1, 1'000'000));
  MR_TRY(bench.connections, in_range("--connections", options.connections, 1, 10'000));
  if (options.jobs) {
    MR_TRY(bench.jobs, in_range("--jobs", *options.jobs, 1, 100'000'000));
  }
  if (!options.depths.empty()) {
    MR_TRY(bench.depths, numbers("--depth", options.depths, 0, 100'000'000));
  }
  MR_TRY(bench.upload_megabytes, in_range("--megabytes", options.upload_megabytes, 1, 5000));
  MR_TRY(bench.large_megabytes, in_range("--large-megabytes", options.large_megabytes, 0, 5000));
  MR_TRY(bench.configuration, pairs(options.set));
  bench.folder = options.folder;
  bench.force = options.force;
  bench.served = options.served;
  bench.held_first = options.held_first;
  return run_bench(context, bench);
}

bool one_of_names(const std::string& what, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (what == name) return true;
  }
  return false;
}

// Where the cluster of a bench lies, and whose it may be.
void declare_place(Command& command, Options& options) {
  command.option("--folder", "DIR", options.folder, "Throw-away cluster (default build/bench)")
      .files();
  command.flag("--force", options.force, "Also in a --database-url that holds other jobs");
  command.flag("--served", options.served, "").hide_last();
}

// The row that is a load generator, too, for a server that runs already.
void declare_http(Command& bench, const BenchRow& row) {
  struct Http {
    Options options;
    HttpCommand command;
    std::string requests = "status";
    std::string ids;
  };
  auto http = std::make_shared<Http>();
  auto& options = http->options;
  auto& command = bench.add(row.name, row.about);
  command.option("--repeats", "N", options.repeats, "Repeats of each case (default 3)");
  command.option("--jobs", "N", options.jobs, "Jobs whose status is asked for (default 10000)");
  command.option("--payload-bytes", "N", options.payload_bytes, "Size (default 110)");
  command.option("--connections", "N", options.connections, "Kept open at once (default 64)");
  command.option("--seconds", "N", options.seconds, "How long a measurement lasts (default 3)");
  command.option("--url", "URL", http->command.load.url,
                 "A server that runs already, http://127.0.0.1:PORT; only it is measured");
  command.option("--requests", "KIND", http->requests, "With --url: status or enqueue")
      .choices({"status", "enqueue"});
  command.option("--ids", "FILE", http->ids, "With --url: ids of jobs, one on a line").files();
  command.option("--token", "TOKEN", http->command.load.token, "With --url: its credentials");
  declare_place(command, options);
  command.action([http, what = row.name](Context& context) -> Result<int> {
    auto& load = http->command.load;
    if (load.url.empty()) return run(context, {what}, http->options);
    MR_TRY(load.requests, parse_http_requests(http->requests));
    MR_TRY(load.connections, in_range("--connections", http->options.connections, 1, 10'000));
    const auto seconds = http->options.seconds;
    MR_TRY(load.seconds, in_range("--seconds", seconds == 0 ? 3 : seconds, 1, 3600));
    MR_TRY(load.payload_bytes,
           in_range("--payload-bytes", http->options.payload_bytes, 30, 200'000));
    http->command.ids = http->ids;
    return run_http_command(context, http->command);
  });
}

// Likewise: with --url only the clients are here.
void declare_streams(Command& bench, const BenchRow& row) {
  struct Streams {
    Options options;
    StreamsCommand command;
  };
  auto streams = std::make_shared<Streams>();
  auto& options = streams->options;
  options.connections = 10'000;
  auto& command = bench.add(row.name, row.about);
  command.option("--repeats", "N", options.repeats, "Repeats (default 3)");
  command.option("--jobs", "N", options.jobs, "Events of each repeat (default 100)");
  command.option("--payload-bytes", "N", options.payload_bytes, "Size (default 110)");
  command.option("--connections", "N", options.connections, "Open streams (default 10000)");
  command.option("--url", "URL", streams->command.load.url,
                 "A server that runs already, http://127.0.0.1:PORT; only it is measured");
  command.option("--token", "TOKEN", streams->command.load.token, "With --url: its credentials");
  declare_place(command, options);
  command.action([streams, what = row.name](Context& context) -> Result<int> {
    auto& load = streams->command.load;
    if (load.url.empty()) return run(context, {what}, streams->options);
    MR_TRY(load.streams, in_range("--connections", streams->options.connections, 1, 10'000));
    MR_TRY(load.payload_bytes,
           in_range("--payload-bytes", streams->options.payload_bytes, 30, 200'000));
    MR_TRY(streams->command.events,
           in_range("--jobs", streams->options.jobs.value_or(100), 1, 1'000'000));
    return run_streams_command(context, streams->command);
  });
}

void declare_uploads(Command& bench, const BenchRow& row) {
  auto options = std::make_shared<Options>();
  options->repeats = 1;
  options->connections = 1000;
  auto& command = bench.add(row.name, row.about);
  command.option("--repeats", "N", options->repeats, "Repeats (default 1)");
  command.option("--connections", "N", options->connections, "Uploads at once (default 1000)");
  command.option("--megabytes", "N", options->upload_megabytes, "Of each of them (default 1)");
  command.option("--large-megabytes", "N", options->large_megabytes,
                 "Of the one that follows (default 2000; 0: none)");
  declare_place(command, *options);
  command.action(
      [options, what = row.name](Context& context) { return run(context, {what}, *options); });
}

void declare_row(Command& bench, const BenchRow& row) {
  auto options = std::make_shared<Options>();
  auto& command = bench.add(row.name, row.about);
  const auto& what = row.name;
  command.option("--repeats", "N", options->repeats, "Repeats of each case (default 3)");
  command.option("--jobs", "N", options->jobs, "Jobs per repeat");
  command.option("--payload-bytes", "N", options->payload_bytes, "Size (default 110)");
  if (one_of_names(what, {"enqueue", "coalesced"})) {
    command.option("--clients", "N", options->clients, "Connections at once; repeatable");
  } else {
    command.option(
        "--processes", "N", options->processes,
        what == "drain" ? "Worker processes; repeatable (default 1, 2 and 4)" : "Worker processes");
    command.option("--slots", "N", options->slots, "Of each process (default 64)");
    command.option("--prefetch", "N", options->prefetch,
                   "Of each process (default: worker.prefetch)");
  }
  if (one_of_names(what, {"enqueue", "sustained", "held"})) {
    command.option("--batch", "N", options->batch, "Jobs per call (default 1000)");
  }
  if (one_of_names(what,
                   {"enqueue", "coalesced", "sustained", "held", "handlers", "idle", "soak"})) {
    command.option("--seconds", "N", options->seconds, "How long a measurement lasts");
  }
  if (what == "depth") {
    command.option("--depth", "N", options->depths,
                   "Backlog; repeatable (default 1000 and 100000)");
  }
  if (what == "held") command.flag("--held-first", options->held_first, "").hide_last();
  if (what == "soak") {
    command.option("--rate", "N", options->rate, "Jobs a second (default 20000)");
    command.option("--set", "KEY=VALUE", options->set,
                   "Setting in the database; repeatable (partitions, retention)");
  }
  declare_place(command, *options);
  command.action([options, what](Context& context) { return run(context, {what}, *options); });
}

// What the whole benchmark is made of besides its rows.
void declare_parts(Command& bench) {
  auto folder = std::make_shared<std::string>("build/bench");
  auto& serve = bench.add("serve", "Run the bench's cluster for other programs").hide();
  serve.option("--folder", "DIR", *folder, "Throw-away cluster (default build/bench)").files();
  serve.action([folder](Context& context) { return serve_bench(context, *folder); });

  auto times = std::make_shared<std::string>();
  auto ready = std::make_shared<std::string>();
  auto& clock = bench.add("clock-worker", "A worker that notes when handlers start").hide();
  clock.option("--times", "FILE", *times, "Where it notes them").files();
  clock.option("--ready-file", "PATH", *ready, "Written once ready").files();
  clock.action(
      [times, ready](Context& context) { return run_clock_worker(context, *times, *ready); });

  struct Loop {
    LoopOptions options;
    std::int64_t clients = 1;
    std::int64_t seconds = 3;
  };
  auto loop = std::make_shared<Loop>();
  auto& calls = bench.add("loop", "Call one statement as fast as it answers").hide();
  calls.option("--url", "URL", loop->options.url, "Of the database");
  calls.option("--statement", "SQL", loop->options.statement, "With $1, $2, ...");
  calls.option("--param", "TEXT", loop->options.params, "Value of $1, $2, ...; repeatable");
  calls.option("--clients", "N", loop->clients, "Connections at once");
  calls.option("--seconds", "N", loop->seconds, "How long");
  calls.action([loop](Context& context) -> Result<int> {
    MR_TRY(loop->options.clients, in_range("--clients", loop->clients, 1, 512));
    MR_TRY(loop->options.seconds, in_range("--seconds", loop->seconds, 1, 3600));
    return run_loop(context, loop->options);
  });
}

void declare_report(Command& bench) {
  struct Report {
    std::string results = "build/bench/results.json";
    std::string out = "build/bench/report.html";
  };
  auto options = std::make_shared<Report>();
  auto& command = bench.add("report", "Draw the plots of 'make bench'");
  command.option("--results", "FILE", options->results, "Default build/bench/results.json").files();
  command.option("--out", "FILE", options->out, "Default build/bench/report.html").files();
  command.footer("Each plot is also written as an SVG file of its own beside the page.");
  command.without_config();
  command.action([options](Context& context) {
    return write_bench_report(context, options->results, options->out);
  });
}

}  // namespace

void add_bench_commands(Command& root) {
  auto& bench = root.add("bench", "Measure this machine").group("Help");
  bench.action([](Context& context) {
    std::vector<std::string> usual;
    for (const auto& row : bench_rows()) {
      if (row.usual) usual.push_back(row.name);
    }
    return run(context, usual, Options());
  });
  for (const auto& row : bench_rows()) {
    if (row.name == "http") {
      declare_http(bench, row);
    } else if (row.name == "streams") {
      declare_streams(bench, row);
    } else if (row.name == "uploads") {
      declare_uploads(bench, row);
    } else {
      declare_row(bench, row);
    }
  }
  declare_report(bench);
  declare_parts(bench);
}

}  // namespace millrace::app
