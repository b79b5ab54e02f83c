#include "belongings.h"

#include "support/document_script.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace millrace::test {
namespace {

using identity::Role;

constexpr const char* kSchedule = "nightly-of-the-first";
constexpr const char* kKey = "key-of-the-first";
constexpr const char* kTable = "shell_files";

json::Value made(const Answered& answered) {
  if (answered.status >= 300) {
    throw std::runtime_error(fmt::format("was not made: {} {}", answered.status, answered.body));
  }
  return answered.json();
}

std::string text(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* member = object == nullptr ? nullptr : object->if_contains(name);
  if (member == nullptr || !member->is_string()) {
    throw std::runtime_error(fmt::format("there is no {} in {}", name, to_json(value)));
  }
  return std::string(member->get_string());
}

// What comes after scheme and host.
std::string path_of(const std::string& url) {
  const auto host = url.find("://");
  return host == url.npos ? url : url.substr(url.find('/', host + 3));
}

// Puts values where a body has a text, or a list of texts, of that name.
void aim(json::Value& value, std::string_view name,
         const std::map<std::string, std::string, std::less<>>& values) {
  if (auto* object = value.if_object()) {
    for (auto& member : *object) aim(member.value(), std::string(member.key()), values);
  } else if (auto* list = value.if_array()) {
    for (auto& item : *list) aim(item, name, values);
  } else if (const auto known = values.find(name); value.is_string() && known != values.end()) {
    value = json::Value(known->second);
  }
}

}  // namespace

ApiWorld::Options Belongings::options() {
  const auto contracts = std::filesystem::path(MILLRACE_SOURCE_DIR) / "examples" / "contracts";
  return {.env = {{"CONTRACTS_DIR", contracts.string()}}, .arguments = {}};
}

Belongings::Belongings(ApiWorld& world, TenantId tenant, identity::UserId owner, std::string marker)
    : world_(world),
      tenant_(tenant),
      owner_(owner),
      marker_(std::move(marker)),
      service_(world.jwt(Role::service_role, tenant)),
      person_(world.jwt(Role::authenticated, tenant, owner)) {
  make_held_job();  // First: nothing else waits that could be claimed.
  make_jobs();
  make_files();
  make_document();
  make_exports();
  make_answers();
  make_links();
  by_prefix_["/api/v1/tenants"] = tenant_.to_string();
  names_ = {tenant_.to_string(), owner_.to_string(), object_, held_.worker, kSchedule, kKey};
}

std::string Belongings::key() const { return kKey; }

std::string Belongings::keep(std::string id) {
  ids_.push_back(id);
  return id;
}

Belongings::Held Belongings::take(const std::string& queue) {
  const auto worker =
      made(world_.post("/api/v1/work/register", service_,
                       fmt::format(R"({{"queues":["{}"],"lease_seconds":3600}})", queue)));
  Held held{.worker = text(worker, "worker_id"), .process = text(worker, "process")};
  const auto claimed = made(world_.post(
      "/api/v1/work/claim", service_,
      fmt::format(
          R"({{"worker_id":"{}","process":"{}","queues":["{}"],"wait_seconds":0,"held":[]}})",
          held.worker, held.process, queue)));
  if (claimed.at("jobs").as_array().empty()) throw std::runtime_error("no job was handed out");
  held.job = text(claimed.at("jobs").at(0), "job_id");
  held.token = text(claimed.at("jobs").at(0), "token");
  return held;
}

void Belongings::make_held_job() {
  made(world_.post("/api/v1/jobs", service_,
                   fmt::format(R"({{"job_type":"noop","payload":{{"note":"{}"}}}})", marker_)));
  held_ = take("default");
  for (const auto& id : {held_.job, held_.token, held_.process}) keep(id);
}

void Belongings::make_jobs() {
  const auto job = fmt::format(
      R"({{"job_type":"noop","payload":{{"note":"{0}"}},"owner_id":"{1}","job_name":"{0}"}})",
      marker_, owner_);
  const std::vector<http::Header> key{{"Idempotency-Key", kKey}};
  job_ = keep(text(made(world_.post("/api/v1/jobs", service_, job, key)), "job_id"));
  by_prefix_["/api/v1/jobs"] = job_;
  by_prefix_["/api/v1/batches"] =
      keep(text(made(world_.post("/api/v1/batches", service_,
                                 fmt::format(R"({{"name":"{}","jobs":[{}]}})", marker_, job), key)),
                "batch_id"));
  profile_ = keep(text(made(world_.post("/api/v1/profiles", person_,
                                        fmt::format(R"({{"display_name":"{}"}})", marker_))),
                       "id"));
  by_prefix_["/api/v1/profiles"] = profile_;
  by_prefix_["/api/v1/tokens"] =
      keep(text(made(world_.post("/api/v1/tokens", world_.key(Role::admin, tenant_),
                                 fmt::format(R"({{"role":"reader","name":"{}"}})", marker_))),
                "token_id"));
  made(world_.ask({.method = "PUT",
                   .path = fmt::format("/api/v1/cron/{}", kSchedule),
                   .token = world_.key(Role::operator_, tenant_),
                   .body = fmt::format(R"({{"schedule":"0 2 * * *","job":{}}})", job)}));
}

void Belongings::make_files() {
  const auto content = "%PDF-1.7 " + marker_;
  file_ =
      keep(text(made(world_.ask({.method = "POST",
                                 .path = fmt::format("/api/v1/uploads?file_name={}.pdf", marker_),
                                 .token = person_,
                                 .body = content,
                                 .headers = {{"Idempotency-Key", kKey}},
                                 .content_type = "application/pdf"})),
                "id"));
  by_prefix_["/api/v1/files"] = file_;
  const http::Header tus{"Tus-Resumable", "1.0.0"};
  const auto begun = world_.ask({.method = "POST",
                                 .path = "/api/v1/tus",
                                 .token = person_,
                                 .headers = {tus, {"Upload-Length", "1000"}}});
  const auto upload = path_of(begun.header("location"));
  if (begun.status != 201) throw std::runtime_error("no upload was begun: " + begun.body);
  by_prefix_["/api/v1/tus"] = keep(upload.substr(upload.rfind('/') + 1));
  const auto piece = world_.ask({.method = "PATCH",
                                 .path = upload,
                                 .token = person_,
                                 .body = content,
                                 .headers = {tus, {"Upload-Offset", "0"}},
                                 .content_type = "application/offset+octet-stream"});
  if (piece.status != 204) throw std::runtime_error("no piece was taken: " + piece.body);
  object_ = fmt::format("{}/one.pdf", owner_);
  made(world_.ask({.method = "POST",
                   .path = "/storage/v1/object/exports/" + object_,
                   .token = person_,
                   .body = content,
                   .content_type = "application/pdf"}));
}

// The file, read: a page, a fact of it, its text (the bytes of the object), and content that nobody
// reads any more.
void Belongings::make_document() {
  by_prefix_["/api/v1/documents"] = file_;
  DocumentScript worker(world_.database(), file_);
  worker.begin();
  worker.scan(1);
  worker.page(1, DocumentScript::fact(marker_));
  worker.end({{"text", "text.txt", "text/plain; charset=utf-8", "%PDF-1.7 " + marker_}});
  auto sql = world_.sql();
  quarantined_ = must(sql.query("select encode(sha256(convert_to($1::text, 'UTF8')), 'hex')",
                                pg::params(tenant_.to_string())))[0]
                     .text(0);
  worker.quarantine(quarantined_);
}

void Belongings::make_exports() {
  const auto document =
      keep(text(made(world_.post("/api/v1/export/documents", person_,
                                 fmt::format(R"({{"title":"{}","data":{{"profile":)"
                                             R"({{"name":"{}"}}}}}})",
                                             marker_, marker_)))
                    .at("data"),
                "id"));
  by_prefix_["/api/v1/export/documents"] = document;
  const std::string more = R"("templateSlug":"modern")";
  by_prefix_["/api/v1/export/job"] =
      keep(text(made(world_.post("/api/v1/export/pdf", person_,
                                 fmt::format(R"({{"documentId":"{}",{}}})", document, more)))
                    .at("data"),
                "jobId"));
  by_prefix_["/api/v1/export/batch"] =
      keep(text(made(world_.post("/api/v1/export/batch", person_,
                                 fmt::format(R"({{"documentIds":["{}"],{}}})", document, more)))
                    .at("data"),
                "batchId"));
  auto sql = world_.sql();
  must(sql.query("select set_config('millrace.tenant_id', $1, false)",
                 pg::params(tenant_.to_string())));
  const auto line =
      must(sql.query("select id::text from millrace.create_export_history(jsonb_build_object("
                     "'user_id', $1::text, 'file_name', $2::text, 'file_path', $3::text, "
                     "'file_size', 18))",
                     pg::params(owner_.to_string(), marker_ + ".pdf", object_)));
  const auto history = keep(std::string(line[0].text(0)));
  by_prefix_["/api/v1/export/history"] = history;
  by_prefix_["/api/v1/export/download"] = history;
}

// A question that was answered, with a drawing: the bytes of the object.
void Belongings::make_answers() {
  const auto body = fmt::format(R"({{"app_id":"{}","definition":"beam","version":"1.0.0",)"
                                R"("inputs":{{"span_m":6,"load_kn":12}}}})",
                                marker_);
  question_ = keep(text(made(world_.post("/jobs/run", service_, body)), "job_id"));
  by_prefix_["/jobs/"] = question_;
  const auto held = take("compute");
  made(
      world_.post("/api/v1/work/settle", service_,
                  fmt::format(R"({{"worker_id":"{}","process":"{}","settlements":[{{"job_id":"{}",)"
                              R"("token":"{}","outcome":"ok","result":{{"note":"{}"}}}}]}})",
                              held.worker, held.process, held.job, held.token, marker_)));
  auto sql = world_.sql();
  must(
      sql.query("insert into millrace.result (id, job_id, tenant_id, outputs_json, created_at) "
                "values (gen_random_uuid(), $1::uuid, $2, jsonb_build_object('note', $3::text), "
                "now())",
                pg::params(question_, tenant_, marker_)));
  const auto row = must(sql.query(
      "insert into millrace.artifact (id, job_id, tenant_id, kind, file_name, sha256, size_bytes, "
      "content_type, created_at) select gen_random_uuid(), $1::uuid, o.tenant_id, 'drawing', "
      "$2::text, o.sha256, o.size_bytes, o.content_type, now() from millrace.storage_object o "
      "where o.tenant_id = $3 and o.name = $4 returning id::text",
      pg::params(question_, marker_ + ".svg", tenant_, object_)));
  artifact_ = keep(std::string(row[0].text(0)));
}

void Belongings::make_links() {
  links_.push_back(
      text(made(world_.post("/api/v1/stream-tokens", service_,
                            fmt::format(R"({{"path":"/api/v1/jobs/{}/events"}})", job_))),
           "url"));
  links_.push_back(path_of(text(made(world_.post(fmt::format("/api/v1/files/{}/link", file_),
                                                 person_, R"({"expires_in":3600})")),
                                "url")));
  links_.push_back(
      path_of(text(made(world_.post(fmt::format("/api/v1/documents/{}/outputs/text/link", file_),
                                    person_, R"({"expires_in":3600})")),
                   "url")));
  links_.push_back("/storage/v1" +
                   text(made(world_.post("/storage/v1/object/sign/exports/" + object_, person_,
                                         R"({"expiresIn":3600})")),
                        "signedURL"));
  const auto drawings = made(world_.get("/jobs/artifacts/" + question_, service_));
  if (drawings.at("items").as_array().empty()) throw std::runtime_error("there is no artifact");
  links_.push_back(path_of(text(drawings.at("items").at(0), "url")));
  const auto download =
      world_.get("/api/v1/export/download/" + by_prefix_.at("/api/v1/export/download"), person_);
  if (download.status != 302) throw std::runtime_error("nothing to download: " + download.body);
  links_.push_back(path_of(download.header("location")));
}

std::map<std::string, std::string> Belongings::values_for(
    const ContractOperation& operation) const {
  std::map<std::string, std::string> values{{"id", job_},
                                            {"queue", "default"},
                                            {"name", kSchedule},
                                            {"provider", "google"},
                                            {"endpoint", "vision-api"},
                                            {"bucket", "exports"},
                                            {"path", object_},
                                            {"artifact", artifact_},
                                            {"key", kKey},
                                            {"kind", "text"},
                                            {"page", "1"},
                                            {"sha256", quarantined_},
                                            {"slug", "minimal"},
                                            {"definition", "beam"},
                                            {"version", "1.0.0"},
                                            {"table", kTable},
                                            {"function", "complete_job"}};
  for (const auto& [prefix, id] : by_prefix_) {
    if (operation.path.starts_with(prefix)) values["id"] = id;
  }
  return values;
}

Ask Belongings::aimed(Ask ask) const {
  if (!ask.body) return ask;
  auto body = parse_json(*ask.body);
  if (!body) return ask;
  aim(*body, "",
      {{"worker_id", held_.worker},
       {"process", held_.process},
       {"token", held_.token},
       {"held", held_.token},
       {"job_id", held_.job},
       {"job_ids", job_},
       {"parent_id", job_},
       {"batch_id", by_prefix_.at("/api/v1/batches")},
       {"documentId", by_prefix_.at("/api/v1/export/documents")},
       {"documentIds", by_prefix_.at("/api/v1/export/documents")},
       {"owner_id", owner_.to_string()},
       {"user_id", owner_.to_string()},
       {"patient_id", profile_},
       {"tenant_id", tenant_.to_string()},
       {"prefix", owner_.to_string()},
       {"prefixes", object_},
       {"paths", object_},
       {"path", fmt::format("/api/v1/jobs/{}/events", job_)}});
  ask.body = to_json(*body);
  return ask;
}

std::string Belongings::rows() const {
  auto sql = world_.sql();
  pg::Params params;
  params.add_array(ids_).add(tenant_).add(object_).add(held_.worker).add(kSchedule).add(kKey);
  const auto found = must(sql.query(
      "with own as (select unnest($1::uuid[]) as id) select jsonb_build_array("
      " (select jsonb_agg(to_jsonb(j) order by j.job_id) from millrace.jobs j join own on own.id = "
      "j.job_id),"
      " (select jsonb_agg(to_jsonb(b) order by b.batch_id) from millrace.batch b join own on "
      "own.id = b.batch_id),"
      " (select jsonb_agg(to_jsonb(p) order by p.id) from millrace.user_profiles p join own on "
      "own.id = p.id),"
      " (select jsonb_agg(to_jsonb(t) - 'last_used_at' order by t.token_id) from "
      "millrace.api_token t"
      "   join own on own.id = t.token_id),"
      " (select jsonb_agg(to_jsonb(f) order by f.id) from millrace.shell_files f join own on "
      "own.id = f.id),"
      " (select jsonb_agg(to_jsonb(u) order by u.upload_id) from millrace.upload u join own on "
      "own.id = u.upload_id),"
      " (select jsonb_agg(to_jsonb(p) order by p.offset_bytes) from millrace.upload_part p"
      "   join own on own.id = p.upload_id),"
      " (select jsonb_agg(to_jsonb(o)) from millrace.storage_object o where o.tenant_id = $2 and "
      "o.name = $3),"
      " (select jsonb_agg(to_jsonb(h) order by h.id) from millrace.export_history h join own on "
      "own.id = h.id),"
      " (select jsonb_agg(to_jsonb(d)) from millrace.export_document d join own on own.id = "
      "d.document_id),"
      " (select jsonb_agg(to_jsonb(v) order by v.version) from millrace.export_document_version v "
      "join own on own.id = v.document_id),"
      " (select jsonb_agg(to_jsonb(c) order by c.job_id) from millrace.compute_job c join own on "
      "own.id = c.job_id),"
      " (select jsonb_agg(to_jsonb(r) order by r.id) from millrace.result r join own on own.id = "
      "r.job_id),"
      " (select jsonb_agg(to_jsonb(a) order by a.id) from millrace.artifact a join own on own.id = "
      "a.id),"
      " (select jsonb_agg(to_jsonb(c)) from millrace.cron c where c.tenant_id = $2 and c.name = "
      "$5),"
      " (select jsonb_agg(to_jsonb(d)) from millrace.document d join own on own.id = d.file_id),"
      " (select jsonb_agg(to_jsonb(p) order by p.page) from millrace.page p join own on own.id ="
      "   p.file_id),"
      " (select jsonb_agg(to_jsonb(c) order by c.id) from millrace.clinical_fact c join own on "
      "own.id = c.file_id),"
      " (select jsonb_agg(to_jsonb(o) order by o.kind, o.page) from millrace.document_output o "
      "join "
      "own on own.id = o.file_id),"
      " (select jsonb_agg(to_jsonb(q) order by q.sha256) from millrace.quarantine q where "
      "q.tenant_id = $2),"
      " (select jsonb_agg(to_jsonb(b) order by b.provider) from millrace.provider_budget b where "
      "b.tenant_id = $2),"
      " (select jsonb_agg(to_jsonb(w)) from millrace.worker w where w.worker_id = $4),"
      " (select to_jsonb(q) from millrace.http_request q where q.tenant_id = $2 and q.request_key "
      "= $6"
      "   order by q.created_at limit 1))::text",
      std::move(params)));
  return std::string(found[0].text(0));
}

}  // namespace millrace::test
