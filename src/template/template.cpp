#include "template/template.h"

#include "template/template_parts.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::templates {
namespace {

constexpr std::size_t kFilesMax = 64;
constexpr std::size_t kFolderMaxBytes = std::size_t{16} * 1024 * 1024;

// Part of every hash: raised when the same files render differently.
constexpr std::string_view kEngineVersion = "millrace-template-1";

std::string hash_of(const TemplateFiles& files) {
  std::string bytes(kEngineVersion);
  for (const auto& [name, text] : files) {
    bytes += fmt::format("\n{} {}\n", name, text.size());
    bytes += text;
  }
  std::array<unsigned char, 32> digest = {};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string out;
  for (const auto byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

// "invalid JSON at byte 17: …" with line and column.
std::unexpected<Error> fail_json(std::string_view file, std::string_view text, const Error& error) {
  constexpr std::string_view kAt = "at byte ";
  std::size_t offset = 0;
  if (const auto found = error.message.find(kAt); found != std::string::npos) {
    const auto* digits = error.message.data() + found + kAt.size();
    std::from_chars(digits, error.message.data() + error.message.size(), offset);
  }
  return fail_at(file, place_of(text, offset), error.message);
}

class Loader {
 public:
  Loader(std::string_view name, const TemplateFiles& files) : name_(name), files_(files) {}

  Result<std::shared_ptr<const Template::Parts>> load() {
    MR_TRY_VOID(check_size());
    MR_TRY(const auto* text, need("template.toml"));
    MR_TRY(auto manifest, read_manifest(name_, *text));
    manifest.info.content_hash = hash_of(files_);
    MR_TRY(auto document, read_json("schema.json"));
    MR_TRY(auto schema, read_schema(document));
    auto parts =
        std::make_shared<Template::Parts>(Template::Parts{.info = std::move(manifest.info),
                                                          .schema = std::move(schema),
                                                          .schema_json = std::move(document)});
    MR_TRY(parts->page, parse("page.html", Markup::html));
    MR_TRY(parts->style, parse("style.css", Markup::css));
    MR_TRY(parts->title, plain("metadata.title", manifest.title));
    MR_TRY(parts->author, plain("metadata.author", manifest.author));
    MR_TRY(parts->subject, plain("metadata.subject", manifest.subject));
    for (const auto& keyword : manifest.keywords) {
      MR_TRY(parts->keywords.emplace_back(), plain("metadata.keywords", keyword));
    }
    parts->labels = std::move(manifest.labels);
    MR_TRY(parts->sample, read_json("sample.json"));
    MR_TRY_VOID(all_used());
    return std::shared_ptr<const Template::Parts>(std::move(parts));
  }

 private:
  Result<void> check_size() const {
    std::size_t bytes = 0;
    for (const auto& [name, text] : files_) bytes += text.size();
    if (files_.size() > kFilesMax || bytes > kFolderMaxBytes) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("a template has at most {} files and {} bytes", kFilesMax, kFolderMaxBytes));
    }
    return {};
  }

  Result<const std::string*> need(std::string_view file) const {
    const auto found = files_.find(file);
    if (found == files_.end()) {
      return fail(ErrorKind::invalid_argument, fmt::format("{} is missing", file));
    }
    return &found->second;
  }

  Result<json::Value> read_json(std::string_view file) const {
    MR_TRY(const auto* text, need(file));
    auto value = parse_json(*text);
    if (!value) return fail_json(file, *text, value.error());
    return *value;
  }

  static Result<schema::Schema> read_schema(const json::Value& document) {
    auto schema = schema::Schema::compile(document);
    if (!schema) return fail_with_context("schema.json", schema.error());
    if (const auto bad = schema->check_defaults(); !bad.empty()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("schema.json: a default is refused by its own schema: {}",
                              bad.front().message));
    }
    return *schema;
  }

  Result<Parsed> parse(std::string_view file, Markup markup) {
    MR_TRY(const auto* text, need(file));
    return parse_template({.file = std::string(file),
                           .text = *text,
                           .markup = markup,
                           .files = &files_,
                           .partials = &partials_});
  }

  static Result<Parsed> plain(std::string_view what, std::string_view text) {
    return parse_template(
        {.file = fmt::format("template.toml {}", what), .text = text, .markup = Markup::plain});
  }

  // A partial nobody includes is parsed all the same: it would be wrong on the day it is used.
  Result<void> all_used() {
    for (const auto& [file, text] : files_) {
      if (!file.starts_with('_') || !file.ends_with(".html") || partials_.contains(file)) continue;
      MR_TRY_VOID(parse(file, Markup::html));
    }
    return {};
  }

  std::string_view name_;
  const TemplateFiles& files_;
  Partials partials_;
};

}  // namespace

Result<Template> Template::load(std::string_view name, TemplateFiles files) {
  auto parts = Loader(name, files).load();
  if (!parts) {
    auto error = parts.error();
    error.message = fmt::format("{}/{}", name, error.message);
    return fail(std::move(error));
  }
  Template loaded(std::move(*parts));
  if (const auto bad = loaded.check(loaded.sample()); !bad.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}/sample.json: {}", name, bad.front().message));
  }
  if (auto html = render(loaded, loaded.sample()); !html) {
    return fail_with_context(fmt::format("{}/sample.json", name), html.error());
  }
  return loaded;
}

const TemplateInfo& Template::info() const { return parts_->info; }
const schema::Schema& Template::schema() const { return parts_->schema; }
const json::Value& Template::schema_json() const { return parts_->schema_json; }
const json::Value& Template::sample() const { return parts_->sample; }

std::vector<schema::Violation> Template::check(const json::Value& data) const {
  const auto filled = parts_->schema.with_defaults(data);
  return parts_->schema.validate(filled ? *filled : data);
}

}  // namespace millrace::templates
