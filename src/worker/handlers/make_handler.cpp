#include "worker/handlers/make_handler.h"

#include "worker/handlers/builtin.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace::worker {

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      if (++i == text.size()) return fail(ErrorKind::invalid_argument, "a \\ ends the command");
      word += text[i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return fail(ErrorKind::invalid_argument, "a quote in the command is not closed");
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<std::unique_ptr<Handler>> make_handler(std::string_view run, HandlerSettings settings,
                                              http::Client& client) {
  if (run == "noop") return std::make_unique<NoopHandler>();
  if (run == "sleep") return std::make_unique<SleepHandler>(settings.allow_test_outcomes);
  if (run.starts_with("http://") || run.starts_with("https://")) {
    settings.http.url = run;
    return std::make_unique<HttpHandler>(client, std::move(settings.http));
  }
  if (run.starts_with("exec:")) {
    MR_TRY(settings.exec.argv, split_words(run.substr(5)));
    if (settings.exec.argv.empty()) {
      return fail(ErrorKind::invalid_argument, "exec: needs a program, as in exec:./handler.py");
    }
    return std::make_unique<ExecHandler>(std::move(settings.exec));
  }
  return fail(ErrorKind::invalid_argument,
              "run must be exec:PROGRAM, an http:// or https:// URL, noop or sleep, not '" +
                  std::string(run) + "'");
}

}  // namespace millrace::worker
