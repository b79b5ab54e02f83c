#include "api/routes/documents.h"

#include "api/call.h"
#include "api/page.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

using Verb = Task<Reply> (*)(Call& call, DocumentServices services);

constexpr JsonLimits kDocumentLimits{.max_bytes = 16 * 1024 * 1024, .max_depth = 64};
constexpr int kPagesUsual = 100;
constexpr int kPageLast = 5000;

OperationHandler verb_of(Verb verb, DocumentServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

Uuid id_of(const Call& call) { return call.parameters.id<TenantId>("id").value; }

Task<Reply> list(Call& call, DocumentServices services) {
  MR_CO_TRY(const auto page, read_page(call, "documents"));
  MR_CO_TRY(const auto before, uuid_key(page));
  std::optional<Uuid> patient;
  if (const auto text = call.parameters.text("patient_id")) {
    MR_CO_TRY(patient, Uuid::parse(*text));
  }
  MR_CO_TRY(const auto rows, co_await services.documents.list_documents(
                                 call.context(), {.before = before,
                                                  .state = call.parameters.text("state"),
                                                  .patient = patient,
                                                  .limit = page.limit + 1}));
  co_return cut_page("documents", rows, page.limit, "id");
}

Task<Reply> get(Call& call, DocumentServices services) {
  MR_CO_TRY(auto text, co_await services.documents.get_document(call.context(), id_of(call)));
  co_return Reply::json_text(std::move(text));
}

Task<Reply> pages(Call& call, DocumentServices services) {
  MR_CO_TRY(const auto page, read_page(call, "pages", kPagesUsual));
  int after = 0;
  if (page.after) {
    const auto& key = *page.after;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), after);
    if (error != std::errc() || end != key.data() + key.size() || after < 1) {
      co_return fail(ErrorKind::invalid_argument,
                     "cursor must be the next_cursor of a page of this list");
    }
  }
  MR_CO_TRY(const auto rows, co_await services.documents.list_pages(call.context(), id_of(call),
                                                                    after, page.limit + 1));
  co_return cut_page("pages", rows, page.limit, "page");
}

Task<Reply> facts(Call& call, DocumentServices services) {
  MR_CO_TRY(const auto page, read_page(call, "facts", kPagesUsual));
  MR_CO_TRY(const auto after, uuid_key(page));
  MR_CO_TRY(const auto rows, co_await services.documents.list_facts(call.context(), id_of(call),
                                                                    after, page.limit + 1));
  co_return cut_page("facts", rows, page.limit, "id");
}

Task<Reply> ask_image(Call& call, DocumentServices services) {
  const auto page = call.parameters.integer("page").value_or(0);
  MR_CO_TRY(const auto document, co_await find_document(call, services));
  if (is_drawn(document, page)) {
    co_return Reply::json(json::Object{{"job_id", nullptr}, {"page", page}});
  }
  MR_CO_TRY(const auto job, co_await services.documents.ask_image(call.context(), id_of(call),
                                                                  static_cast<int>(page)));
  call.note("job_id", job);
  co_return Reply::json(json::Object{{"job_id", job.to_string()}, {"page", page}}, 202);
}

Task<Reply> retry(Call& call, DocumentServices services) {
  MR_CO_TRY(auto answer, co_await services.documents.retry_document(call.context(), id_of(call)));
  co_return Reply::json_text(std::move(answer), 202);
}

Operation reading(std::string id, std::string path, std::string summary) {
  return {.id = std::move(id),
          .method = "GET",
          .path = std::move(path),
          .tag = "Documents",
          .summary = std::move(summary),
          .access = Access::people(Capability::read),
          .answers = {},
          .handler = {}};
}

Operation list_operation(DocumentServices services) {
  auto out = reading("documents.list", "/api/v1/documents", "Documents, newest first");
  out.parameters = {
      limit_parameter(),
      cursor_parameter(),
      {.name = "state",
       .description = "In this state only.",
       .schema =
           R"({"type":"string","enum":["uploaded","processing","completed","partial","failed","rejected"]})"},
      {.name = "patient_id",
       .description = "Of this profile only.",
       .schema = R"({"type":"string","format":"uuid"})"}};
  out.answers = {{.status = 200, .description = "A page.", .schema = "DocumentPage"}};
  out.handler = verb_of(list, services);
  return out;
}

Operation image_operation(DocumentServices services) {
  return {.id = "documents.ask_image",
          .method = "POST",
          .path = "/api/v1/documents/{id}/pages/{page}/image",
          .tag = "Documents",
          .summary = "Ask for a picture of a page, with what was found drawn in",
          .description =
              "When its job has completed, the picture is the output `image` of that "
              "page. Asked again while it is drawn, the answer names the same job.",
          .access = Access::people(Capability::write).or_with(Capability::operate),
          .parameters = {id_parameter("The document."),
                         {.in = In::path,
                          .name = "page",
                          .description = "Which, from 1.",
                          .schema = fmt::format(R"({{"type":"integer","minimum":1,"maximum":{}}})",
                                                kPageLast),
                          .required = true}},
          .answers = {{.status = 200, .description = "It is there.", .schema = "AskedImage"},
                      {.status = 202, .description = "It is drawn.", .schema = "AskedImage"}},
          .errors = {404},
          .handler = verb_of(ask_image, services)};
}

Operation retry_operation(DocumentServices services) {
  return {.id = "documents.retry",
          .method = "POST",
          .path = "/api/v1/documents/{id}/retry",
          .tag = "Documents",
          .summary = "Begin a document anew that has ended; pages that were done stay done",
          .access = Access::people(Capability::write).or_with(Capability::operate),
          .parameters = {id_parameter("The document.")},
          .answers = {{.status = 202, .description = "It is begun.", .schema = "RetriedDocument"}},
          .errors = {404, 409},
          .handler = verb_of(retry, services)};
}

void append(std::vector<Operation>& all, std::vector<Operation> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

Task<json::Object> find_document(Call& call, DocumentServices services) {
  MR_CO_TRY(const auto text, co_await services.documents.get_document(call.context(), id_of(call)));
  co_return parse_json_object(text, kDocumentLimits);
}

bool is_under_way(const json::Object& document) {
  const auto* state = document.if_contains("state");
  return state != nullptr && (*state == "processing" || *state == "uploaded");
}

// PostgreSQL writes both times in the zone of one session, so that their texts compare as they do.
bool is_drawn(const json::Object& document, std::int64_t page) {
  if (is_under_way(document)) return false;
  const auto* ended = document.if_contains("finished_at");
  const auto* outputs = document.if_contains("outputs");
  if (ended == nullptr || !ended->is_string() || outputs == nullptr) return false;
  for (const auto& value : outputs->as_array()) {
    const auto& output = value.as_object();
    if (output.at("kind") != "image" || output.at("page") != page) continue;
    return output.at("created_at").as_string() > ended->get_string();
  }
  return false;
}

std::vector<Operation> document_operations(DocumentServices services,
                                           DocumentRouteOptions options) {
  std::vector<Operation> out;
  out.push_back(list_operation(services));
  auto one = reading("documents.get", "/api/v1/documents/{id}",
                     "A document: state, stage, findings, summary, errors, outputs");
  one.parameters = {id_parameter("The document: the id of its file.")};
  one.answers = {{.status = 200, .description = "The document.", .schema = "Document"}};
  one.conditional = true;
  one.handler = verb_of(get, services);
  out.push_back(std::move(one));
  auto all_pages = reading("documents.pages", "/api/v1/documents/{id}/pages",
                           "The pages of a document and what the stages made of each");
  all_pages.parameters = {id_parameter("The document."), limit_parameter(200, kPagesUsual),
                          cursor_parameter()};
  all_pages.answers = {{.status = 200, .description = "A page of them.", .schema = "PagePage"}};
  all_pages.errors = {404};
  all_pages.handler = verb_of(pages, services);
  out.push_back(std::move(all_pages));
  auto all_facts = reading("documents.facts", "/api/v1/documents/{id}/facts",
                           "What a document says of its patient, each with its evidence");
  all_facts.parameters = {id_parameter("The document."), limit_parameter(200, kPagesUsual),
                          cursor_parameter()};
  all_facts.answers = {{.status = 200, .description = "A page of them.", .schema = "FactPage"}};
  all_facts.errors = {404, 409};
  all_facts.handler = verb_of(facts, services);
  out.push_back(std::move(all_facts));
  out.push_back(image_operation(services));
  out.push_back(retry_operation(services));
  append(out, document_output_operations(services, options));
  append(out, document_staff_operations(services));
  return out;
}

}  // namespace millrace::api
