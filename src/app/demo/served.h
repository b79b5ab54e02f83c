// Served: a `millrace up` of its own, started by the demo, and its public API.
//
// The demo is a client like any other: what it shows went through HTTP. Threading: one caller; the
// program is watched by a thread of its own. Lifetime: the destructor ends the program.
#pragma once

#include "app/context.h"
#include "base/json.h"
#include "base/result.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

class Served {
 public:
  // Blocks until it is ready: unavailable, with its last words, when it does not get so.
  static Result<std::unique_ptr<Served>> start(Context& context,
                                               const std::filesystem::path& data_dir, int slots);
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  const std::string& url() const;
  const std::string& token() const;
  bool running() const;
  void stop();  // Waits for its end.

  // Anything but a 2xx is an error with the problem's words.
  Result<json::Value> get(std::string_view path);
  Result<json::Value> post(std::string_view path, std::string body, std::string_view content_type);
  Result<std::string> download(std::string_view path);

 private:
  struct Parts;
  explicit Served(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Runs a program of this installation to its end: its standard output, or its last words as error.
Result<std::string> run_program(std::vector<std::string> argv, std::chrono::milliseconds timeout);
// One that lies beside this one.
std::filesystem::path beside_this_program(std::string_view name);

}  // namespace millrace::app
