#include "app/documents/parser_parts.h"

#include "api/webhook/callback.h"
#include "api/webhook/parser_signature.h"
#include "app/serve/signing_secrets.h"
#include "app/serve/webhook_parts.h"
#include "provider/price.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::chrono::seconds kLinkTtl{3600};  // T-13, B-05
constexpr std::string_view kParserPath = "/webhooks/llamaparse";

bool has_llamaparse(const Settings& settings) {
  return !settings.text("llamaparse.api_key").empty();
}
bool has_parser(const Settings& settings) { return !settings.text("parser.url").empty(); }

Result<std::int64_t> price_of(const Settings& settings, std::string_view name) {
  auto price = provider::parse_money(settings.text(name));
  if (!price) return fail_with_context(name, price.error());
  return price;
}

// The secrets that the server opens links with; none where only the server can know them.
Result<std::vector<Secret<std::string>>> link_secrets(const Settings& settings) {
  std::vector<Secret<std::string>> secrets;
  if (settings.is_set("auth.jwt_secret")) {
    secrets.emplace_back(settings.text("auth.jwt_secret"));
    return secrets;
  }
  const auto path = std::filesystem::path(settings.text("database.data_dir")) / "jwt_secret";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return secrets;
  SystemRandom random;
  MR_TRY(auto secret, secret_in_file(path, random));
  secrets.push_back(std::move(secret));
  return secrets;
}

}  // namespace

std::vector<std::string> known_parsers(const Settings& settings) {
  std::vector<std::string> known;
  if (has_llamaparse(settings)) known.emplace_back("llamaparse");
  if (has_parser(settings)) known.emplace_back("webhook");
  return known;
}

std::string limited_parser(std::string_view provider) {
  if (provider == "llamaparse") return "llamaparse:v2";
  if (provider == "webhook") return "webhook:parse";
  return {};
}

ParserParts::ParserParts(Needs needs)
    : needs_(needs),
      public_url_(needs.settings.text("server.public_url")),
      store_(store::make_parse_store(needs.pool)) {
  while (public_url_.ends_with('/')) public_url_.pop_back();
  parsers_.emplace(pipeline::RemoteParsers{.store = *store_});
}

Result<std::unique_ptr<ParserParts>> ParserParts::make(Needs needs) {
  const auto& settings = needs.settings;
  if (!has_llamaparse(settings) && !has_parser(settings)) return nullptr;
  std::unique_ptr<ParserParts> made(new ParserParts(needs));
  auto& parsers = *made->parsers_;
  parsers.deadline = settings.duration("parse.deadline");
  MR_TRY(auto masters, webhook_masters(settings));
  if (!settings.text("webhook.secret").empty()) made->master_ = masters.front();
  MR_TRY_VOID(made->add_links());
  if (has_llamaparse(settings)) MR_TRY_VOID(made->add_llamaparse());
  if (has_parser(settings)) MR_TRY_VOID(made->add_parser());
  parsers.make_capability = [parts = made.get()] { return parts->new_capability(); };
  return made;
}

Result<void> ParserParts::add_links() {
  MR_TRY(const auto secrets, link_secrets(needs_.settings));
  if (!secrets.empty() && !public_url_.empty()) {
    MR_TRY(tickets_, identity::TicketMaker::make(secrets, needs_.clock));
  }
  const bool own_links = needs_.blobs.name() != "filesystem";
  if (tickets_ || own_links) {
    parsers_->source_link = [this](const store::DocumentWork& work) { return link_to(work); };
  }
  return ok();
}

Result<void> ParserParts::add_llamaparse() {
  const auto& settings = needs_.settings;
  provider::LlamaParseOptions options{
      .base_url = settings.text("llamaparse.base_url"),
      .api_key = Secret<std::string>(settings.text("llamaparse.api_key")),
      .tier = settings.text("llamaparse.tier"),
      .version = settings.text("llamaparse.version"),
      .upload_max_bytes =
          static_cast<std::uint64_t>(settings.integer("llamaparse.upload_max_bytes")),
      .allow_http = settings.boolean("llamaparse.allow_http")};
  MR_TRY_VOID(provider::check_options(options));
  parsers_->llamaparse_by_url = settings.text("llamaparse.source") == "url";
  if (parsers_->llamaparse_by_url && !parsers_->source_link) {
    return fail(ErrorKind::invalid_argument,
                "llamaparse.source = \"url\" needs links that others can follow: "
                "server.public_url with auth.jwt_secret, or a storage that makes its own");
  }
  MR_TRY(parsers_->llamaparse_page_micros, price_of(settings, "llamaparse.price_page"));
  llamaparse_ = std::make_unique<provider::LlamaParse>(needs_.client, needs_.clock, needs_.random,
                                                       std::move(options));
  parsers_->llamaparse = llamaparse_.get();
  return ok();
}

Result<void> ParserParts::add_parser() {
  const auto& settings = needs_.settings;
  provider::WebhookParserOptions options{
      .url = settings.text("parser.url"),
      .token = Secret<std::string>(settings.text("parser.token")),
      .version = settings.text("parser.version"),
      .allow_http = settings.boolean("parser.allow_http")};
  MR_TRY_VOID(provider::check_options(options));
  if (!master_) {
    return fail(ErrorKind::invalid_argument,
                "parser.url needs webhook.secret, of which the secrets of jobs are made");
  }
  if (public_url_.empty()) {
    return fail(ErrorKind::invalid_argument,
                "parser.url needs server.public_url, where the parser delivers");
  }
  if (!parsers_->source_link) {
    return fail(ErrorKind::invalid_argument,
                "parser.url needs links that the parser can follow: auth.jwt_secret, or a storage "
                "that makes its own");
  }
  MR_TRY(parsers_->parser_document_micros, price_of(settings, "parser.price_document"));
  parsers_->webhook_url = public_url_ + std::string(kParserPath);
  parsers_->job_secret = [master = *master_](JobId job) {
    return Secret<std::string>(api::job_secret(master, job));
  };
  parser_ =
      std::make_unique<provider::WebhookParser>(needs_.client, needs_.clock, std::move(options));
  parsers_->parser = parser_.get();
  return ok();
}

pipeline::ParseCapability ParserParts::new_capability() const {
  const auto capability = api::new_capability(needs_.random);
  pipeline::ParseCapability out{.sha256 = api::capability_sha256(capability)};
  if (master_ && !public_url_.empty()) {
    out.callback = {
        .url = public_url_ + std::string(api::kCallbackPath) + capability,
        .header = {std::string(api::kCallbackHeader), api::callback_token(*master_, capability)}};
  }
  return out;
}

Task<Secret<std::string>> ParserParts::link_to(const store::DocumentWork& work) const {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(work.file.content.store_key));
  MR_CO_TRY(auto direct,
            co_await needs_.blobs.signed_url(key, {.ttl = kLinkTtl, .file_name = work.file.name}));
  if (direct) co_return std::move(direct->url);
  if (!tickets_) {
    co_return fail(ErrorKind::invalid_argument, "there are no links to documents here");
  }
  const auto resource = fmt::format("files/{}", work.file.id);
  MR_CO_TRY(const auto ticket,
            tickets_->make_ticket(identity::UrlTicket{
                .resource = resource,
                .holder = {.role = identity::Role::service_role, .tenant = work.file.tenant},
                .expires_at = identity::instant_of(needs_.clock.wall()) + kLinkTtl}));
  co_return Secret<std::string>(fmt::format("{}/api/v1/files/{}/download?token={}", public_url_,
                                            work.file.id, ticket.reveal()));
}

}  // namespace millrace::app
