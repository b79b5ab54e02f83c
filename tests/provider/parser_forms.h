// What goes over the wire between parsers and those who ask them: forms in, messages out. Made and
// read here without the code that is tested against it.
#pragma once

#include "base/clock.h"
#include "base/json.h"
#include "http/message.h"
#include "wire_server.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::test {

struct FormPart {
  std::string file_name;
  std::string content;
};
// multipart/form-data by name; nothing: it is none.
std::optional<std::map<std::string, FormPart>> read_form(const WireRequest& request);

// Of a document, by its form feeds.
std::vector<std::string> split_pages(const std::string& text);

struct ContractMessage {
  std::string job_id;
  std::string webhook_url;
  std::string secret;
  std::string webhook_id;
  std::optional<std::string> content;  // Nothing: it failed.
  std::string error;
  bool wrong_signature = false;
  bool wrong_hash = false;
  Clock::Wall at;
};
// W-01, W-02, W-05.
http::Request contract_message(const ContractMessage& message);

struct ThinMessage {
  json::Object configuration;  // One of webhook_configurations.
  std::string parse_id;
  std::string event_id;
  std::string event_type;
  bool wrong_token = false;
  Clock::Wall at;
};
// Nothing: this event is not asked for.
std::optional<http::Request> thin_message(const ThinMessage& message);

}  // namespace millrace::test
