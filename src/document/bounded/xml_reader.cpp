#include "document/bounded/xml_reader.h"

#include "base/assert.h"
#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <expat.h>
#include <optional>

namespace millrace::document {

namespace {

std::string_view local_name(std::string_view name) {
  const auto colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

}  // namespace

std::string_view XmlAttributes::get(std::string_view name) const {
  for (auto** item = list_; item[0] != nullptr; item += 2) {
    if (local_name(item[0]) == name) return item[1];
  }
  return {};
}

struct XmlReader::State {
  XmlHandler& handler;
  const Limits& limits;
  XML_Parser parser = nullptr;
  std::uint32_t depth = 0;
  std::uint64_t elements = 0;
  std::uint64_t unheard_bytes = 0;  // Fed since something came of it.
  std::optional<Error> error = {};

  ~State() { XML_ParserFree(parser); }

  void stop(Error reason) {
    if (!error.has_value()) error = std::move(reason);
    XML_StopParser(parser, XML_FALSE);
  }

  static State& of(void* data) { return *static_cast<State*>(data); }

  static void on_start(void* data, const XML_Char* name, const XML_Char** attributes) {
    auto& self = of(data);
    self.unheard_bytes = 0;
    if (self.error.has_value()) return;
    if (++self.depth > self.limits.xml_depth_max) {
      return self.stop(
          refuse("xml_depth", fmt::format("XML deeper than {} elements", self.limits.xml_depth_max))
              .error());
    }
    if (++self.elements > self.limits.xml_elements_max) {
      return self.stop(refuse("xml_elements", fmt::format("more than {} XML elements",
                                                          self.limits.xml_elements_max))
                           .error());
    }
    self.handler.start(local_name(name), XmlAttributes(attributes));
  }

  static void on_end(void* data, const XML_Char* name) {
    auto& self = of(data);
    self.unheard_bytes = 0;
    if (self.error.has_value()) return;
    --self.depth;
    self.handler.end(local_name(name));
  }

  static void on_text(void* data, const XML_Char* text, int size) {
    auto& self = of(data);
    self.unheard_bytes = 0;
    if (self.error.has_value()) return;
    self.handler.text({text, static_cast<std::size_t>(size)});
  }

  static void on_doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    of(data).stop(refuse("xml_dtd", "XML with a document type").error());
  }
};

XmlReader::XmlReader(XmlHandler& handler, const Limits& limits)
    : state_(std::make_unique<State>(handler, limits)) {
  state_->parser = XML_ParserCreate(nullptr);
  if (state_->parser == nullptr) throw std::bad_alloc();
  XML_SetUserData(state_->parser, state_.get());
  XML_SetElementHandler(state_->parser, State::on_start, State::on_end);
  XML_SetCharacterDataHandler(state_->parser, State::on_text);
  XML_SetStartDoctypeDeclHandler(state_->parser, State::on_doctype);
  XML_SetParamEntityParsing(state_->parser, XML_PARAM_ENTITY_PARSING_NEVER);
}

XmlReader::~XmlReader() = default;

Result<void> XmlReader::feed(std::string_view piece) {
  // In small steps: a token that is not finished is read again from its start with every step, so
  // the time until the limit below must be bounded too.
  constexpr std::size_t kStep = std::size_t{64} * 1024;
  while (!piece.empty()) {
    MR_TRY_VOID(parse(piece.substr(0, kStep), false));
    piece.remove_prefix(std::min(kStep, piece.size()));
  }
  return ok();
}

Result<void> XmlReader::finish() { return parse({}, true); }

Result<void> XmlReader::parse(std::string_view piece, bool last) {
  state_->unheard_bytes += piece.size();
  const auto status = XML_Parse(state_->parser, piece.data(), static_cast<int>(piece.size()),
                                last ? XML_TRUE : XML_FALSE);
  if (state_->error.has_value()) return fail(*state_->error);
  if (status != XML_STATUS_OK) {
    const auto code = XML_GetErrorCode(state_->parser);
    if (code == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
    return refuse("xml_syntax", fmt::format("XML that is none: {}", XML_ErrorString(code)));
  }
  if (state_->unheard_bytes > state_->limits.xml_token_bytes_max) {
    return refuse("xml_token", fmt::format("a tag of XML has more than {} bytes",
                                           state_->limits.xml_token_bytes_max));
  }
  return state_->handler.state();
}

}  // namespace millrace::document
