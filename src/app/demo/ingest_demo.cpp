#include "app/demo/ingest_demo.h"

#include "app/commands/documents.h"
#include "app/commands/watch.h"
#include "app/demo/export_demo.h"
#include "app/exit_code.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kBarWidth = 24;
constexpr auto kLookEvery = 150ms;
constexpr std::size_t kPassageShown = 300;

struct Ingested {
  fs::path file;
  std::string id = {};
  json::Object document = {};
  Clock::Steady sent = {};
  std::optional<double> seconds = {};

  std::string name() const { return file.filename().string(); }
  std::string state() const { return text_member(document, "state"); }
  std::int64_t count(std::string_view what) const {
    const auto* progress = member(document, "progress");
    if (progress == nullptr || !progress->is_object()) return 0;
    return int_member(progress->get_object(), what);
  }
};

struct Question {
  std::string text;
  std::string document;  // The file that answers it,
  std::string says;      // and words of the passage that does.
  json::Object passage = {};
  double milliseconds = 0;

  bool right() const {
    return text_member(passage, "document_name") == document &&
           text_member(passage, "text").contains(says);
  }
};

// One line of a passage, as people read it.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\t' || c == ' ';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

class IngestPart {
 public:
  explicit IngestPart(const DemoHost& host)
      : host_(host), examples_(example_folder("ingest")), folder_(host.options.folder / "search") {}

  Result<DemoEnd> run() {
    host_.say(host_.paint(Style::bold, "\nQuestions: documents parsed, cut, embedded and asked"));
    if (examples_.empty()) {
      host_.say("  left out: examples/ingest is not here");
      return DemoEnd::good;
    }
    std::error_code error;
    fs::remove_all(folder_, error);
    fs::create_directories(folder_, error);
    if (error) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot create {}: {}", folder_.string(), error.message()));
    }
    MR_TRY_VOID(read_examples());
    MR_TRY_VOID(upload());
    MR_TRY(const bool finished, watch());
    host_.view.finish();
    if (!finished) return host_.late() ? DemoEnd::wrong : DemoEnd::interrupted;
    MR_TRY_VOID(ask());
    MR_TRY_VOID(report());
    const bool read = std::ranges::all_of(
        documents_, [](const Ingested& one) { return one.state() == "completed"; });
    return read && std::ranges::all_of(questions_, &Question::right) ? DemoEnd::good
                                                                     : DemoEnd::wrong;
  }

 private:
  Result<void> read_examples() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(examples_ / "documents", error)) {
      documents_.push_back({.file = entry.path()});
    }
    // What was exported before is a document like any other.
    const auto report = host_.options.folder / "exports" / "report.pdf";
    if (fs::exists(report, error)) documents_.push_back({.file = report});
    std::ranges::sort(documents_, {}, &Ingested::name);
    MR_TRY(const auto text, read_file(examples_ / "questions.json"));
    MR_TRY(const auto list, parse_json(text));
    for (const auto& value : list.as_array()) {
      const auto& one = value.as_object();
      questions_.push_back({.text = text_member(one, "question"),
                            .document = text_member(one, "document"),
                            .says = text_member(one, "says")});
    }
    return {};
  }

  Result<void> upload() {
    for (auto& one : documents_) {
      MR_TRY(auto bytes, read_file(one.file));
      const auto name = boost::urls::encode(one.name(), boost::urls::unreserved_chars);
      MR_TRY(const auto answer,
             host_.served.post("/api/v1/uploads?pipeline=ingest&file_name=" + name,
                               std::move(bytes), "application/octet-stream"));
      one.id = text_member(answer.as_object(), "id");
      one.sent = host_.context.clock.now();
    }
    host_.say(fmt::format("  {:5.1f} s  {} documents uploaded: {}", host_.elapsed(),
                          documents_.size(), kinds()));
    return {};
  }

  std::string kinds() const {
    std::string out;
    for (const auto& one : documents_) {
      const auto kind = one.file.extension().string();
      if (!out.contains(kind)) out += (out.empty() ? "" : ", ") + kind.substr(1);
    }
    return out;
  }

  // False when time was up, or somebody had enough.
  Result<bool> watch() {
    auto next_line = host_.context.clock.now();
    for (;;) {
      std::size_t ended = 0;
      for (auto& one : documents_) {
        if (!has_ended(one.document)) {
          MR_TRY(auto value, host_.served.get("/api/v1/documents/" + one.id));
          one.document = value.as_object();
          if (has_ended(one.document)) {
            one.seconds =
                std::chrono::duration<double>(host_.context.clock.now() - one.sent).count();
          }
        }
        ended += has_ended(one.document) ? 1 : 0;
      }
      if (host_.view.active()) {
        host_.view.draw(render());
      } else if (host_.context.clock.now() >= next_line) {
        next_line = host_.context.clock.now() + 1s;
        host_.say(progress_line(ended));
      }
      if (ended == documents_.size()) return true;
      if (!host_.served.running()) return fail(ErrorKind::unavailable, "millrace up has ended");
      if (host_.late() || host_.signals.wait(kLookEvery)) return false;
    }
  }

  std::string progress_line(std::size_t ended) const {
    std::int64_t chunks = 0;
    std::int64_t vectors = 0;
    for (const auto& one : documents_) {
      chunks += one.count("chunks_total");
      vectors += one.count("embeds_done");
    }
    return fmt::format("  {:5.1f} s  {} of {} documents ended, {} of {} chunks have vectors",
                       host_.elapsed(), ended, documents_.size(), vectors, chunks);
  }

  std::string render() const {
    const auto& terminal = host_.context.terminal;
    std::string out = "\n";
    for (const auto& one : documents_) {
      const auto total = one.count("chunks_total");
      const auto done = one.count("embeds_done");
      const auto share = total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total);
      const auto style = one.state() == "completed" ? Style::green
                         : has_ended(one.document)  ? Style::red
                                                    : Style::cyan;
      const auto stage = text_member(one.document, "stage");
      out += fmt::format("  {:<22} {} {:>3}/{:<3} chunks  {}\n", one.name(),
                         terminal.paint(style, bar(share, kBarWidth, terminal.unicode)), done,
                         total, terminal.paint(Style::dim, stage.empty() ? one.state() : stage));
    }
    return out;
  }

  Result<void> ask() {
    for (auto& one : questions_) {
      const auto query = boost::urls::encode(one.text, boost::urls::unreserved_chars);
      const auto before = host_.context.clock.now();
      MR_TRY(const auto answer, host_.served.get("/api/v1/search?limit=3&query=" + query));
      one.milliseconds =
          std::chrono::duration<double, std::milli>(host_.context.clock.now() - before).count();
      const auto& object = answer.as_object();
      model_ = text_member(object, "mode");
      if (const auto* model = member(object, "model"); model != nullptr && model->is_object()) {
        model_ += ", " + text_member(model->get_object(), "name");
      }
      const auto* passages = member(object, "passages");
      if (passages != nullptr && passages->is_array() && !passages->get_array().empty()) {
        one.passage = passages->get_array().front().as_object();
      }
    }
    return {};
  }

  // "lending-rules.html › Loans › Books and scores, page 3, bytes 140 to 331".
  static std::string citation(const json::Object& passage) {
    auto out = text_member(passage, "document_name");
    if (const auto* path = member(passage, "heading_path"); path != nullptr && path->is_array()) {
      for (const auto& heading : path->get_array()) {
        if (heading.is_string()) out += " › " + std::string(heading.get_string());
      }
    }
    if (const auto page = int_member(passage, "page_start"); page > 0) {
      out += fmt::format(", page {}", page);
    }
    const auto* shown = member(passage, "passage");
    const auto& place = shown != nullptr && shown->is_object() ? shown->get_object() : passage;
    return out + fmt::format(", bytes {} to {}", int_member(place, "start_byte"),
                             int_member(place, "end_byte"));
  }

  static std::string passage_text(const json::Object& passage) {
    const auto* shown = member(passage, "passage");
    auto text = shown != nullptr && shown->is_object() ? text_member(shown->get_object(), "text")
                                                       : text_member(passage, "text");
    text = one_line(text);
    return text.size() > kPassageShown ? text.substr(0, kPassageShown) : text;
  }

  Result<void> report() {
    std::string answers = "# Questions and the passages that answer them\n";
    for (const auto& one : questions_) {
      answers += fmt::format("\n## {}\n\n> {}\n\n{}\n", one.text, passage_text(one.passage),
                             one.passage.empty() ? "no passage" : citation(one.passage));
    }
    MR_TRY_VOID(write_file_atomically(folder_ / "answers.md", answers, 0644));
    if (host_.context.json()) {
      print_json();
      return {};
    }
    Table table({left("DOCUMENT"), left("STATE"), right("CHUNKS"), right("SECONDS")});
    for (const auto& one : documents_) {
      table.add({Cell(one.name()),
                 Cell(one.state(), one.state() == "completed" ? Style::green : Style::red),
                 Cell(one.count("chunks_total")),
                 Cell(fmt::format("{:.1f}", one.seconds.value_or(0)))});
    }
    host_.context.print(table.render(host_.context.terminal));
    for (const auto& one : questions_) {
      const auto mark =
          one.right() ? host_.paint(Style::green, "ok   ") : host_.paint(Style::red, "WRONG");
      host_.say(fmt::format("\n  {} {} ({:.0f} ms)", mark, host_.paint(Style::bold, one.text),
                            one.milliseconds));
      if (one.passage.empty()) {
        host_.say("        no passage");
        continue;
      }
      host_.say(fmt::format("        “{}”", printable(passage_text(one.passage))));
      host_.say("        " + host_.paint(Style::dim, printable(citation(one.passage))));
    }
    host_.say(fmt::format("\n  searched by {}; answers with their sources in {}", model_,
                          (folder_ / "answers.md").string()));
    return {};
  }

  void print_json() {
    json::Array documents;
    for (const auto& one : documents_) {
      documents.push_back(json::Object{{"file", one.name()},
                                       {"state", one.state()},
                                       {"chunks", one.count("chunks_total")},
                                       {"seconds", one.seconds.value_or(0)}});
    }
    json::Array answers;
    for (const auto& one : questions_) {
      answers.push_back(
          json::Object{{"question", one.text},
                       {"right", one.right()},
                       {"citation", one.passage.empty() ? std::string() : citation(one.passage)},
                       {"milliseconds", one.milliseconds}});
    }
    host_.context.print_json(json::Object{{"ingested", std::move(documents)},
                                          {"questions", std::move(answers)},
                                          {"searched_by", model_}});
  }

  const DemoHost& host_;
  fs::path examples_;
  fs::path folder_;
  std::vector<Ingested> documents_;
  std::vector<Question> questions_;
  std::string model_;
};

}  // namespace

Result<DemoEnd> run_ingest_part(const DemoHost& host) { return IngestPart(host).run(); }

Result<int> run_ingest_demo(Context& context, const DemoOptions& options) {
  SignalWaiter signals;  // Before anything that starts threads.
  LiveView view(context);
  const auto begun = context.clock.now();
  MR_TRY(auto served, start_demo_server(context, options));
  const DemoHost host{.context = context,
                      .options = options,
                      .signals = signals,
                      .view = view,
                      .served = *served,
                      .begun = begun};
  MR_TRY(auto end, run_export_part(host));
  if (end == DemoEnd::good) {
    MR_TRY(end, run_ingest_part(host));
  }
  served->stop();
  if (end == DemoEnd::interrupted) return kExitInterrupted;
  return end == DemoEnd::good ? kExitOk : kExitInternal;
}

}  // namespace millrace::app
