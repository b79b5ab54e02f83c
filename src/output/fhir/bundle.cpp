#include "output/fhir/bundle.h"

#include "output/fhir/elements.h"
#include "output/fhir/resources.h"
#include "output/routes.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace millrace::output {
namespace {

namespace clinical = layout::clinical;
using clinical::Fact;

// The namespace of our ids; any other would do, as long as it never changes.
constexpr boost::uuids::uuid kNamespace = {{0x6d, 0x69, 0x6c, 0x6c, 0x72, 0x61, 0x53, 0x65, 0x9f,
                                            0x68, 0x69, 0x72, 0x64, 0x6f, 0x63, 0x31}};

// What makes a fact itself; its number and confidence may change from run to run.
std::string identity_of(const Fact& fact, const EvidenceTable& evidence) {
  json::Array places;
  for (const auto* located : evidence.of(fact)) {
    places.push_back(json::Array{located->page, located->char_begin, located->char_end});
  }
  return canonical_json(json::Object{
      {"type", to_string(fact.type)},
      {"subject", to_string(fact.subject)},
      {"assertion",
       json::Array{to_string(fact.assertion.polarity), to_string(fact.assertion.certainty),
                   to_string(fact.assertion.temporality)}},
      {"value", fact.value},
      {"places", std::move(places)},
  });
}

class Builder {
 public:
  explicit Builder(const FhirInput& input) : input_(input), routes_(input.routed) {
    links_ = {.patient = url_of("Patient"), .document = url_of("DocumentReference")};
    for (const auto& relation : input.extraction.relations) {
      if (relation.type != "treats") continue;
      related_.insert(relation.from);
      related_.insert(relation.to);
    }
  }

  FhirBundle build() {
    add(links_.patient, patient());
    add(links_.document, document());
    for (const auto& fact : input_.extraction.facts) add_fact(fact);
    add_reasons();
    add(url_of("Provenance"), provenance());
    // Members in the order that canonical JSON wants.
    auto& out = out_.bundle;
    out = "{\"entry\":[";
    for (auto& [url, value, text] : resources_) {
      if (!out.ends_with('[')) out += ',';
      out += "{\"fullUrl\":" + json_quote(url) + ",\"resource\":";
      out += value ? canonical_json(*value) : text;
      out += '}';
      text = {};
      value.reset();
    }
    out += "],\"id\":" + json_quote(id_of(url_of("Bundle")));
    out += ",\"resourceType\":\"Bundle\",\"timestamp\":";
    out += json_quote(to_text(*input_.info.processed_at)) + ",\"type\":\"collection\"}";
    return std::move(out_);
  }

 private:
  // Each name once; the same name again gets another id.
  std::string url_of(const std::string& name) {
    const auto count = ++names_[name];
    boost::uuids::name_generator_sha1 generate(kNamespace);
    const auto uuid = generate(input_.info.document_id + '\n' + input_.info.source.sha256 + '\n' +
                               name + '\n' + std::to_string(count));
    return "urn:uuid:" + boost::uuids::to_string(uuid);
  }

  static std::string id_of(std::string_view url) {
    return std::string(url.substr(std::string_view("urn:uuid:").size()));
  }

  // A resource as a value takes several times the room of its text, and there may be thousands:
  // only those that relations may still change stay as they are.
  struct Entry {
    std::string url;
    std::optional<json::Object> value;
    std::string text;
  };

  void add(const std::string& url, json::Object resource, json::Array extensions = {},
           bool stays = false) {
    json::Object out{{"resourceType", resource["resourceType"]}, {"id", id_of(url)}};
    if (!extensions.empty()) out["extension"] = std::move(extensions);
    for (auto& member : resource) {
      if (member.key() != "resourceType") out[member.key()] = std::move(member.value());
    }
    if (stays) {
      resources_.push_back({.url = url, .value = std::move(out), .text = {}});
    } else {
      resources_.push_back({.url = url, .value = std::nullopt, .text = canonical_json(out)});
    }
  }

  bool is_of_patient(const Fact& fact) const {
    return fact.type == clinical::FactType::Patient && fact.subject == clinical::Subject::patient &&
           fact.assertion.polarity == clinical::Polarity::affirmed &&
           fact.assertion.temporality != clinical::Temporality::hypothetical &&
           routes_.name(fact.id) != "reject";
  }

  json::Object patient() const {
    std::vector<const Fact*> facts;
    json::Array extensions;
    for (const auto& fact : input_.extraction.facts) {
      if (!is_of_patient(fact)) continue;
      facts.push_back(&fact);
      for (auto& item : fhir::extensions_of(fact, routes_.name(fact.id), input_.evidence)) {
        extensions.push_back(std::move(item));
      }
    }
    auto out = fhir::patient_resource(facts, input_.info.patient_id);
    if (!extensions.empty()) out["extension"] = std::move(extensions);
    return out;
  }

  json::Object document() const {
    const auto& source = input_.info.source;
    // Attachment.hash is SHA-1 by definition: ours goes beside it.
    json::Object attachment{
        {"extension",
         json::Array{fhir::text_extension(fhir::kSha256Extension, "valueString", source.sha256)}}};
    if (!source.mime.empty()) attachment["contentType"] = source.mime;
    if (is_language_tag(input_.info.language)) attachment["language"] = input_.info.language;
    // An unsignedInt has 31 bits.
    if (source.size_bytes <= 0x7fff'ffff) attachment["size"] = source.size_bytes;
    if (const auto title = fhir::clean(input_.info.shown_title()); !title.empty()) {
      attachment["title"] = title;
    }
    json::Object out{{"resourceType", "DocumentReference"}};
    if (!input_.info.document_id.empty()) {
      out["identifier"] = json::Array{
          json::Object{{"system", "urn:millrace:document"}, {"value", input_.info.document_id}}};
    }
    out["status"] = "current";
    if (!input_.document_type.empty()) out["type"] = fhir::text_concept(input_.document_type);
    out["subject"] = fhir::reference(links_.patient);
    out["date"] = to_text(*input_.info.processed_at);
    out["content"] = json::Array{json::Object{{"attachment", std::move(attachment)}}};
    return out;
  }

  void add_fact(const Fact& fact) {
    const auto route = routes_.name(fact.id);
    if (route == "reject") {
      out_.omitted.push_back({.fact = fact.id, .why = "rejected by routing"});
      return;
    }
    if (fact.type == clinical::FactType::Patient) {
      if (!is_of_patient(fact)) {
        out_.omitted.push_back({.fact = fact.id, .why = "not about the patient, or negated"});
      }
      return;
    }
    auto projection = fhir::project(fact, links_, input_.evidence);
    if (!projection.resource) {
      out_.omitted.push_back({.fact = fact.id, .why = std::string(projection.omitted)});
      return;
    }
    const auto url = url_of(identity_of(fact, input_.evidence));
    places_[fact.id] = resources_.size();
    targets_.push_back(fhir::reference(url));
    add(url, std::move(*projection.resource), fhir::extensions_of(fact, route, input_.evidence),
        related_.contains(fact.id));
    if (fact.type != clinical::FactType::Practitioner) return;
    if (auto role = fhir::practitioner_role(fact, url)) {
      const auto role_url = url_of("PractitionerRole " + url);
      targets_.push_back(fhir::reference(role_url));
      add(role_url, std::move(*role));
    }
  }

  json::Object* resource_of(const std::string& fact) {
    const auto at = places_.find(fact);
    return at == places_.end() ? nullptr : &*resources_[at->second].value;
  }

  // "treats" between what is given or done and a condition that the patient is said to have.
  void add_reasons() {
    for (const auto& relation : input_.extraction.relations) {
      if (relation.type != "treats") continue;
      auto* from = resource_of(relation.from);
      const auto* to = resource_of(relation.to);
      if (from == nullptr || to == nullptr) continue;
      const auto& kind = (*from)["resourceType"].as_string();
      const bool can = kind == "MedicationStatement" || kind == "Procedure";
      // Only what is affirmed has a clinical status.
      if (!can || to->at("resourceType") != "Condition" || !to->contains("clinicalStatus")) {
        continue;
      }
      auto& reasons = (*from)["reasonReference"];
      if (!reasons.is_array()) reasons = json::Array();
      reasons.as_array().push_back(fhir::reference(resources_[places_[relation.to]].url));
    }
  }

  json::Object provenance() const {
    json::Array agents;
    for (const auto& agent : input_.agents) {
      const auto name = fhir::clean(agent);
      agents.push_back(json::Object{
          {"type", fhir::coded("http://terminology.hl7.org/CodeSystem/provenance-participant-type",
                               "assembler", "Assembler")},
          {"who", json::Object{{"type", "Device"},
                               {"identifier",
                                json::Object{{"system", "urn:millrace:engine"}, {"value", name}}},
                               {"display", name}}}});
    }
    auto targets = targets_;
    if (targets.empty()) targets.push_back(fhir::reference(links_.patient));
    return {{"resourceType", "Provenance"},
            {"target", std::move(targets)},
            {"recorded", to_text(*input_.info.processed_at)},
            {"agent", std::move(agents)},
            {"entity", json::Array{json::Object{{"role", "source"},
                                                {"what", fhir::reference(links_.document)}}}}};
  }

  const FhirInput& input_;
  Routes routes_;
  fhir::Links links_;
  std::map<std::string, int> names_;
  std::vector<Entry> resources_;
  std::set<std::string, std::less<>> related_;  // Facts that something treats, or that do.
  std::map<std::string, std::size_t> places_;   // Of facts among the resources.
  json::Array targets_;
  FhirBundle out_;
};

}  // namespace

Result<FhirBundle> fhir_bundle(const FhirInput& input) {
  if (!input.info.processed_at) {
    return fail(ErrorKind::invalid_argument, "info.processed_at is needed for provenance");
  }
  if (!is_sha256(input.info.source.sha256)) {
    return fail(ErrorKind::invalid_argument,
                "info.source.sha256 must be a SHA-256 in small hexadecimal");
  }
  const bool named = std::ranges::all_of(
      input.agents, [](const std::string& agent) { return !fhir::clean(agent).empty(); });
  if (input.agents.empty() || !named) {
    return fail(ErrorKind::invalid_argument, "agents must name an engine at least");
  }
  return Builder(input).build();
}

}  // namespace millrace::output
