#include "api/webhook/parser_message.h"

#include "base/json_outside.h"
#include "identity/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::size_t kReasonMaxBytes = 400;
constexpr auto kFailures =
    std::to_array<std::string_view>({"failed", "failure", "error", "cancelled", "canceled"});

const json::Value* member(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> text(const json::Value& value, std::string_view name) {
  const auto* found = member(value, name);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return std::string(found->get_string());
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// It is shown to people and kept in rows.
std::string one_line(std::string text) {
  text.resize(std::min(text.size(), kReasonMaxBytes));
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return text;
}

std::optional<ParserFailure> failure_of(const json::Value& body) {
  const auto status = lower(text(body, "status").value_or(""));
  const auto* error = member(body, "error");
  if (error != nullptr && says_nothing(*error)) error = nullptr;
  const bool failed = error != nullptr || std::ranges::find(kFailures, status) != kFailures.end();
  if (!failed) return std::nullopt;
  auto reason = text(body, "error");
  if (!reason && error != nullptr) reason = text(*error, "message");
  if (!reason || reason->empty()) reason = text(body, "error_message");
  return ParserFailure{.reason = one_line(reason && !reason->empty()
                                              ? *std::move(reason)
                                              : std::string("the parser gave no reason"))};
}

Result<void> check_artifact(const json::Value& artifact, std::string_view content,
                            std::size_t index) {
  const auto wrong = [&](std::string_view field, std::string_view rule) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("artifacts[{}].{} {}", index, field, rule));
  };
  if (const auto* bytes = member(artifact, "bytes")) {
    const bool fits = bytes->is_int64() && bytes->get_int64() >= 0 &&
                      static_cast<std::uint64_t>(bytes->get_int64()) == content.size();
    if (!fits) return wrong("bytes", "is not the length of the content");
  }
  if (const auto* sha256 = member(artifact, "sha256")) {
    const auto expected = identity::to_hex(identity::sha256(content));
    if (!sha256->is_string() || lower(sha256->get_string()) != expected) {
      return wrong("sha256", "is not the hash of the content");
    }
  }
  return ok();
}

}  // namespace

std::optional<JobId> job_of_message(const json::Value& body) {
  const auto id = text(body, "job_id");
  if (!id) return std::nullopt;
  const auto parsed = JobId::parse(*id);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::vector<JobId> jobs_named_in(std::string_view raw) {
  constexpr std::string_view kName = "\"job_id\"";
  constexpr std::string_view kBlank = " \t\r\n";
  constexpr std::size_t kIdBytes = 36;
  constexpr std::size_t kJobsMax = 4;  // A message has one; others may be in what it quotes.
  std::vector<JobId> jobs;
  for (auto at = raw.find(kName); at != raw.npos && jobs.size() < kJobsMax;
       at = raw.find(kName, at + 1)) {
    auto rest = raw.substr(at + kName.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    if (!rest.starts_with('"')) continue;
    const auto job = JobId::parse(rest.substr(1, kIdBytes));
    if (job && std::ranges::find(jobs, *job) == jobs.end()) jobs.push_back(*job);
  }
  return jobs;
}

Result<ParserMessage> read_parser_message(const json::Value& body) {
  const auto job = job_of_message(body);
  if (!job) return fail(ErrorKind::invalid_argument, "job_id must be a uuid");
  ParserMessage message{.job = *job, .result = NoArtifact{}};
  const auto* artifacts = member(body, "artifacts");
  const auto* list = artifacts == nullptr ? nullptr : artifacts->if_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto& artifact = (*list)[i];
    if (text(artifact, "type") != "markdown") continue;
    auto content = text(artifact, "content");
    if (!content || content->empty()) continue;
    MR_TRY_VOID(check_artifact(artifact, *content, i));
    message.result = ParserArtifact{.content = *std::move(content)};
    return message;
  }
  if (auto failed = failure_of(body)) message.result = *std::move(failed);
  return message;
}

}  // namespace millrace::api
