// millrace-document: everything that looks into documents, in a program of its own.
//
//   millrace-document [--languages eng+deu+fra+spa]
//
// Flow: the worker starts it and it serves tasks (sandbox/task_server.h): engines and fonts are
// loaded once, and every task runs in a confined child.
//
// For tests and benchmarks there are two more ways to call it. They are not confined: for files
// that one trusts only.
//   millrace-document --run '{"op":"read",...}' file [file2]   output to 1, the result to 2
//   millrace-document --run '{"op":"parse"}' file > out.md     Markdown of a document
//   millrace-document --compare truth.txt reading.txt          error rates
#include "base/file.h"
#include "base/json.h"
#include "document/markdown/charset.h"
#include "document/op.h"
#include "document/read/read.h"
#include "document/write/page_drawing.h"
#include "layout/compare.h"
#include "sandbox/task_server.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace millrace::document {
namespace {

struct NamedOperation {
  std::string_view name;
  Operation run;
};
constexpr std::array<NamedOperation, 5> kOperations = {{{"inspect", &inspect},
                                                        {"read", &read},
                                                        {"image", &image},
                                                        {"assemble", &assemble},
                                                        {"parse", &parse}}};

Result<std::string> run_operation(std::string_view request, const OpFiles& files, OpSink& sink) {
  MR_TRY(const auto object, parse_json_object(request));
  const auto* op = object.if_contains("op");
  if (op != nullptr && op->is_string()) {
    for (const auto& operation : kOperations) {
      if (std::string_view(op->get_string()) != operation.name) continue;
      MR_TRY(const auto result, operation.run(object, files, sink));
      return to_json(result);
    }
  }
  return fail(ErrorKind::invalid_argument, "op must be inspect, read, image, assemble or parse");
}

class ChannelSink final : public OpSink {
 public:
  explicit ChannelSink(sandbox::TaskChannel& channel) : channel_(channel) {}
  Result<void> write(std::span<const std::byte> bytes) override { return channel_.output(bytes); }
  void progress(int done, int total) override { channel_.progress(done, total); }

 private:
  sandbox::TaskChannel& channel_;
};

std::vector<std::string> split_languages(std::string_view rest) {
  std::vector<std::string> out;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('+'), rest.size());
    if (end > 0) out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// `languages` are loaded before the first task; others take 50 ms each when they are asked for.
int serve(const std::vector<std::string>& languages) {
  sandbox::TaskServer server;
  server.warm_up = [&languages]() -> Result<void> {
    MR_TRY_VOID(warm_up_reading(languages));
    warm_up_drawing();
    warm_up_charsets();
    return ok();
  };
  server.run = [](sandbox::TaskChannel& channel) -> Result<std::string> {
    OpFiles files;
    for (std::size_t i = 0; i < channel.file_count(); ++i) files.fds.push_back(channel.file(i));
    ChannelSink sink(channel);
    return run_operation(channel.request(), files, sink);
  };
  server.read_paths = {"/usr/share/tesseract-ocr", "/usr/share/fonts",    "/usr/share/fontconfig",
                       "/usr/share/poppler",       "/etc/fonts",          "/var/cache/fontconfig",
                       "/usr/local/share/fonts",   "/usr/share/X11/fonts"};
  return sandbox::serve_tasks(server);
}

class FileSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
      return fail(ErrorKind::unavailable, "the output cannot be written");
    }
    return ok();
  }
  void progress(int, int) override {}
};

int run_unconfined(std::string_view request, const std::vector<const char*>& names) {
  OpFiles files;
  for (const auto* name : names) {
    files.fds.push_back(open(name, O_RDONLY | O_CLOEXEC));
    if (files.fds.back() < 0) {
      fmt::print(stderr, "cannot open {}\n", name);
      return 2;
    }
  }
  FileSink sink;
  const auto result = run_operation(request, files, sink);
  std::fflush(stdout);
  if (!result.has_value()) {
    fmt::print(stderr, "{}: {}\n", to_string(result.error().kind), result.error().describe());
    return 1;
  }
  fmt::print(stderr, "{}\n", *result);
  return 0;
}

int compare(const char* truth_name, const char* reading_name) {
  const auto truth = read_file(truth_name);
  const auto reading = read_file(reading_name);
  if (!truth.has_value() || !reading.has_value()) {
    fmt::print(stderr, "cannot read both files\n");
    return 2;
  }
  const auto characters = layout::character_errors(*truth, *reading);
  const auto words = layout::compare_words(*truth, *reading);
  fmt::print("{{\"characters\":{},\"errors\":{},\"cer\":{:.6f},\"word_recall\":{:.6f}}}\n",
             characters.expected, characters.errors, characters.rate(), words.recall());
  return 0;
}

int run_main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--run" && argc > 3) return run_unconfined(argv[2], {argv + 3, argv + argc});
  if (mode == "--compare" && argc == 4) return compare(argv[2], argv[3]);
  if (mode == "--languages" && argc == 3) return serve(split_languages(argv[2]));
  if (!mode.empty()) {
    fmt::print(stderr, "usage: millrace-document [--languages eng+deu], started by millrace\n");
    return 2;
  }
  return serve({"eng", "deu", "fra", "spa"});
}

}  // namespace
}  // namespace millrace::document

int main(int argc, char** argv) {
  try {
    return millrace::document::run_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "millrace-document: {}\n", error.what());
    return 70;
  }
}
