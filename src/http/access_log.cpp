#include "http/access_log.h"

#include <string>

namespace millrace::http {

void log_access(const Logger& log, const AccessRecord& record) {
  const auto level = record.status >= 500 ? LogLevel::warn : LogLevel::info;
  if (!log.enabled(level)) return;
  std::vector<LogField> fields;
  fields.reserve(16);
  fields.push_back({"method", record.method});
  // Names that people gave are not for a log (T-08).
  if (!record.private_path) fields.push_back({"path", record.path});
  if (!record.route.empty()) fields.push_back({"route", record.route});
  fields.push_back({"status", record.status});
  fields.push_back({"ms", record.duration});
  fields.push_back({"received_bytes", record.received_bytes});
  fields.push_back({"sent_bytes", record.sent_bytes});
  fields.push_back({"cid", record.correlation_id});
  if (record.trace != nullptr) {
    const auto& id = record.trace->trace_id;
    fields.push_back({"trace_id", std::string(id.data(), id.size())});
  }
  if (record.peer != nullptr && !record.peer->host.empty()) {
    fields.push_back({"peer", record.peer->host});
  }
  if (record.cut) fields.push_back({"cut", true});
  if (!record.reason.empty()) fields.push_back({"reason", record.reason});
  if (record.fields != nullptr) {
    fields.insert(fields.end(), record.fields->begin(), record.fields->end());
  }
  log.log(level, "http_request", fields);
}

}  // namespace millrace::http
