#include "app/demo/document_demo.h"

#include "app/demo/export_demo.h"
#include "app/demo/ingest_demo.h"
#include "app/demo/result_index.h"
#include "app/demo/sample_truth.h"
#include "app/demo/served.h"
#include "app/exit_code.h"
#include "app/live_view.h"
#include "app/signals.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;
namespace fs = std::filesystem;

// What is left in <folder>/results/<file>/, by the name of the output.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kOutputs = {{
    {"pdf", "document.pdf"},
    {"text", "text.txt"},
    {"words", "words.jsonl"},
    {"hocr", "document.hocr.html"},
    {"alto", "document.alto.xml"},
    {"facts", "facts.json"},
    {"facts_csv", "facts.csv"},
    {"fhir", "fhir.json"},
    {"narrative", "narrative.md"},
    {"manifest", "manifest.json"},
}};

constexpr std::size_t kComparedBytesMax = std::size_t{64} * 1024;

std::string rules_of(const json::Object& document) {
  std::string rules;
  const auto* findings = document.if_contains("findings");
  if (findings == nullptr || !findings->is_array()) return rules;
  for (const auto& one : findings->get_array()) {
    if (!one.is_object()) continue;
    if (!rules.empty()) rules += ", ";
    rules += text_member(one.get_object(), "rule");
  }
  return rules;
}

struct Row {
  Sample sample;
  std::string id;
  json::Object document = {};
  Clock::Steady sent;
  std::optional<double> seconds = {};  // Until it had ended.
  std::optional<double> wrong_characters = {};
  std::optional<Found> facts = {};
  bool lacks_outputs = false;  // One of those that every document has that was read.

  std::string state() const { return id.empty() ? "waiting" : text_member(document, "state"); }
  bool ended() const {
    const auto now = state();
    return now == "completed" || now == "partial" || now == "failed" || now == "rejected";
  }
  bool right() const {
    return ended() && state() == sample.expected_state && !lacks_outputs &&
           (sample.expected_rule.empty() || rules_of(document).contains(sample.expected_rule));
  }
};

class DocumentDemo {
 public:
  DocumentDemo(Context& context, const DemoOptions& options)
      : context_(context), options_(options), view_(context), begun_(context.clock.now()) {}

  Result<int> run() {
    MR_TRY_VOID(set_up());
    MR_TRY_VOID(upload());
    MR_TRY_VOID(watch());
    view_.finish();
    if (interrupted_) return kExitInterrupted;
    MR_TRY_VOID(fetch());
    report();
    MR_TRY(const auto exported, run_export_part(host()));
    if (exported == DemoEnd::interrupted) return kExitInterrupted;
    MR_TRY(const auto asked, run_ingest_part(host()));
    if (asked == DemoEnd::interrupted) return kExitInterrupted;
    const bool good = std::ranges::all_of(rows_, &Row::right) && exported == DemoEnd::good &&
                      asked == DemoEnd::good;
    if (good && options_.keep) keep_running();
    served_->stop();
    if (!options_.keep) next_steps();
    return good ? kExitOk : kExitInternal;
  }

 private:
  void say(const std::string& line) {
    if (!context_.json()) view_.print_above(line);
  }
  std::string paint(Style style, const std::string& text) const {
    return context_.terminal.paint(style, text);
  }
  double elapsed() const { return Seconds(context_.clock.now() - begun_).count(); }
  DemoHost host() {
    return {.context = context_,
            .options = options_,
            .signals = signals_,
            .view = view_,
            .served = *served_,
            .begun = begun_};
  }
  fs::path samples() const { return options_.folder / "samples"; }
  fs::path results() const { return options_.folder / "results"; }
  fs::path index_file() const { return results() / "index.html"; }
  fs::path data_dir() const { return options_.folder / ".documents"; }

  Result<void> set_up() {
    say(paint(Style::bold, "Millrace demo: documents in, facts with their evidence out"));
    std::error_code error;
    for (const auto& old : {samples(), results(), data_dir()}) fs::remove_all(old, error);
    fs::create_directories(results(), error);
    if (error) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot create {}: {}", results().string(), error.message()));
    }
    say(fmt::format(
        "  {:5.1f} s  drawing sample documents: letters, lab reports, scans, photographs, "
        "and some that mean harm",
        elapsed()));
    MR_TRY_VOID(run_program(
        {beside_this_program("millrace-samples").string(), "demo", "--out", samples().string()},
        120s));
    MR_TRY(auto known, read_samples(samples() / "truth.json"));
    for (auto& sample : known) rows_.push_back({.sample = std::move(sample)});
    say(fmt::format("  {:5.1f} s  {} samples in {}; starting PostgreSQL, server and worker",
                    elapsed(), rows_.size(), samples().string()));
    MR_TRY(served_, Served::start(context_, data_dir(), 4));
    say(fmt::format("  {:5.1f} s  ready at {}", elapsed(), served_->url()));
    return {};
  }

  Result<void> upload() {
    for (auto& row : rows_) {
      MR_TRY(auto bytes, read_file(samples() / row.sample.file));
      const auto name = boost::urls::encode(row.sample.file, boost::urls::unreserved_chars);
      MR_TRY(const auto answer, served_->post("/api/v1/uploads?file_name=" + name, std::move(bytes),
                                              "application/octet-stream"));
      row.id = text_member(answer.as_object(), "id");
      row.document["state"] = "uploaded";
      row.sent = context_.clock.now();
      draw();
    }
    say(fmt::format("  {:5.1f} s  all of them uploaded", elapsed()));
    return {};
  }

  Result<void> refresh() {
    MR_TRY(const auto page, served_->get("/api/v1/documents?limit=200"));
    for (const auto& one : page.as_object().at("items").as_array()) {
      const auto& document = one.as_object();
      const auto row = std::ranges::find(rows_, text_member(document, "id"), &Row::id);
      if (row == rows_.end() || row->ended()) continue;
      row->document = document;
      if (row->ended()) row->seconds = Seconds(context_.clock.now() - row->sent).count();
    }
    return {};
  }

  Result<void> watch() {
    auto next_line = context_.clock.now();
    for (;;) {
      MR_TRY_VOID(refresh());
      draw();
      const auto ended = std::ranges::count_if(rows_, &Row::ended);
      if (!view_.active() && context_.clock.now() >= next_line) {
        next_line = context_.clock.now() + 1s;
        say(fmt::format("  {:5.1f} s  {} of {} documents have ended", elapsed(), ended,
                        rows_.size()));
      }
      if (std::cmp_equal(ended, rows_.size())) return {};
      if (!served_->running()) return fail(ErrorKind::unavailable, "millrace up has ended");
      if (context_.clock.now() - begun_ > options_.timeout) return {};
      if (signals_.wait(200ms)) {
        interrupted_ = true;
        return {};
      }
    }
  }

  void draw() {
    if (!view_.active()) return;
    std::string out = "\n";
    for (const auto& row : rows_) out += line_of(row);
    view_.draw(out);
  }

  std::string line_of(const Row& row) const {
    const auto state = row.state();
    const auto total = int_member(row.document, "stage_total");
    const auto done = int_member(row.document, "stage_done");
    std::string about;
    Style style = Style::dim;
    if (row.ended()) {
      style = row.right() ? Style::green : Style::red;
      about = state == "rejected" ? "refused: " + rules_of(row.document)
                                  : fmt::format("{} in {:.1f} s", state, row.seconds.value_or(0));
    } else if (state == "processing") {
      style = Style::cyan;
      about = text_member(row.document, "stage");
      if (total > 1) about += fmt::format(" {}/{}", done, total);
    } else {
      about = state;
    }
    return fmt::format("  {:<34} {}\n", row.sample.file, paint(style, about));
  }

  Result<void> fetch() {
    say(fmt::format("  {:5.1f} s  fetching what they came to", elapsed()));
    for (auto& row : rows_) {
      if (row.state() != "completed" && row.state() != "partial") continue;
      const auto folder = results() / row.sample.file;
      std::error_code ignored;
      fs::create_directories(folder, ignored);
      for (const auto& [kind, name] : kOutputs) {
        auto bytes =
            served_->download(fmt::format("/api/v1/documents/{}/outputs/{}", row.id, kind));
        if (!bytes) {
          say(paint(Style::red,
                    fmt::format("  {}: no {}: {}", row.sample.file, kind, bytes.error().message)));
          row.lacks_outputs = true;
          continue;
        }
        MR_TRY_VOID(write_file_atomically(folder / name, *bytes, 0644));
        // Comparing takes the square of the length: hundreds of pages are judged by their facts.
        const bool short_enough = row.sample.text.size() <= kComparedBytesMax;
        if (kind == "text" && !row.sample.text.empty() && short_enough) {
          row.wrong_characters = character_error_rate(row.sample, *bytes);
        }
        if (kind == "facts") {
          const auto facts = parse_json(*bytes, {.max_bytes = std::size_t{64} * 1024 * 1024});
          if (facts) row.facts = find_facts(row.sample, *facts);
        }
      }
    }
    return fetch_pictures();
  }

  // Of first pages: what was found, drawn over the page.
  Result<void> fetch_pictures() {
    std::vector<Row*> waiting;
    for (auto& row : rows_) {
      if (row.state() != "completed") continue;
      auto asked = served_->post(fmt::format("/api/v1/documents/{}/pages/1/image", row.id), "", "");
      if (asked) waiting.push_back(&row);
    }
    const auto deadline = context_.clock.now() + 60s;
    while (!waiting.empty() && context_.clock.now() < deadline) {
      std::erase_if(waiting, [this](Row* row) {
        auto picture =
            served_->download(fmt::format("/api/v1/documents/{}/outputs/image?page=1", row->id));
        if (!picture) return false;
        const auto file = results() / row->sample.file / "page-1.png";
        return write_file_atomically(file, *picture, 0644).has_value();
      });
      if (signals_.wait(200ms)) break;
    }
    for (auto* row : waiting) {
      say(paint(Style::red, fmt::format("  {}: no picture of page 1", row->sample.file)));
      row->lacks_outputs = true;
    }
    return write_index();
  }

  // A page to open: every document, what became of it, and links to its outputs.
  Result<void> write_index() {
    std::vector<IndexEntry> entries;
    for (const auto& row : rows_) {
      IndexEntry entry{
          .file = row.sample.file, .state = row.state(), .rules = rules_of(row.document)};
      std::error_code ignored;
      const auto add = [&](std::string_view kind, std::string_view name) {
        if (fs::exists(results() / row.sample.file / name, ignored)) {
          entry.outputs.emplace_back(kind, name);
        }
      };
      for (const auto& [kind, name] : kOutputs) add(kind, name);
      add("picture", "page-1.png");
      entries.push_back(std::move(entry));
    }
    return write_file_atomically(index_file(), result_index(entries), 0644);
  }

  void report() {
    if (context_.json()) return print_json();
    say(paint(Style::bold, fmt::format("\nWhat became of {} documents", rows_.size())));
    Table table({left("FILE"), left("STATE"), left(""), right("PAGES"), right("SECONDS"),
                 right("WRONG CHARS"), right("FACTS"), right("OF THE EXPECTED"), left("FOUND")});
    for (const auto& row : rows_) {
      const auto* summary = row.document.if_contains("summary");
      const auto facts = summary != nullptr && summary->is_object()
                             ? int_member(summary->get_object(), "facts")
                             : 0;
      table.add({Cell(row.sample.file), Cell(row.state()),
                 row.right() ? Cell("ok", Style::green)
                             : Cell("WRONG, not " + row.sample.expected_state, Style::red),
                 Cell(int_member(row.document, "page_count")),
                 Cell(fmt::format("{:.1f}", row.seconds.value_or(0))),
                 row.wrong_characters ? Cell(fmt::format("{:.1f} %", 100 * *row.wrong_characters))
                                      : Cell("-", Style::dim),
                 row.facts ? Cell(facts) : Cell("-", Style::dim),
                 row.facts && row.facts->expected > 0
                     ? Cell(fmt::format("{}/{}", row.facts->found, row.facts->expected))
                     : Cell("-", Style::dim),
                 Cell(rules_of(row.document))});
    }
    context_.print(table.render(context_.terminal));
    show_one();
  }

  // One of them in words.
  void show_one() {
    const auto row = std::ranges::find_if(rows_, [](const Row& one) {
      return one.state() == "completed" && one.sample.file.contains("letter") &&
             one.wrong_characters;
    });
    if (row == rows_.end()) return;
    const auto file = results() / row->sample.file / "narrative.md";
    const auto text = read_file(file);
    if (!text) return;
    say(paint(Style::bold, fmt::format("\nWhat {} says ({})", row->sample.file, file.string())));
    std::size_t shown = 0;
    for (std::size_t at = 0; at < text->size() && shown < 12;) {
      const auto end = std::min(text->find('\n', at), text->size());
      const auto line = text->substr(at, end - at);
      if (!line.empty() && line.front() != '#') {
        say("  " + printable(line));
        ++shown;
      }
      at = end + 1;
    }
  }

  void print_json() {
    json::Array documents;
    for (const auto& row : rows_) {
      json::Object one;
      one["file"] = row.sample.file;
      one["state"] = row.state();
      one["expected_state"] = row.sample.expected_state;
      one["right"] = row.right();
      one["rules"] = rules_of(row.document);
      one["seconds"] = row.seconds.value_or(0);
      if (row.wrong_characters) one["wrong_characters"] = *row.wrong_characters;
      if (row.facts) {
        one["facts_expected"] = row.facts->expected;
        one["facts_found"] = row.facts->found;
      }
      documents.push_back(std::move(one));
    }
    context_.print_json(json::Object{{"documents", std::move(documents)}, {"seconds", elapsed()}});
  }

  void keep_running() {
    say(
        fmt::format("\nStill running (KEEP=1) at {}, its API at {}/docs. In another terminal:\n"
                    "  build/release/millrace --data-dir {} documents list\n"
                    "  {}\n"
                    "  export TOKEN={}\n"
                    "Ctrl-C stops it.",
                    served_->url(), served_->url(), data_dir().string(),
                    "xdg-open " + index_file().string(), served_->token()));
    while (!signals_.wait(500ms) && served_->running()) {
    }
  }

  void next_steps() {
    const auto line = [this](const std::string& command, const char* about) {
      say(fmt::format("  {:<66} {}", command, paint(Style::dim, about)));
    };
    say(fmt::format("\nEverything is stopped after {:.1f} s. To open:", elapsed()));
    std::error_code ignored;
    line("file://" + fs::absolute(index_file(), ignored).lexically_normal().string(),
         "all of them, with their outputs");
    line((results() / "*" / "document.pdf").string(), "searchable PDFs");
    line((results() / "*" / "page-1.png").string(), "pages with what was found on them");
    line((results() / "*" / "narrative.md").string(), "the facts told, with their sources");
    line((options_.folder / "exports" / "*.pdf").string(), "what the templates look like");
    line((options_.folder / "search" / "answers.md").string(), "questions, answered with sources");
    say("Again, and more:");
    line("build/release/millrace --data-dir " + data_dir().string() + " up",
         "serves these documents again");
    line("make demo KEEP=1", "the demo, and stay up");
  }

  Context& context_;
  const DemoOptions& options_;
  SignalWaiter signals_;  // Before anything that starts threads.
  LiveView view_;
  Clock::Steady begun_;
  bool interrupted_ = false;
  std::vector<Row> rows_;
  std::unique_ptr<Served> served_;
};

}  // namespace

Result<int> run_document_demo(Context& context, const DemoOptions& options) {
  return DocumentDemo(context, options).run();
}

}  // namespace millrace::app
