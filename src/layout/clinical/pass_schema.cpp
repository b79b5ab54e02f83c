#include "layout/clinical/pass_schema.h"

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/fact_type.h"
#include "layout/clinical/narrative.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace millrace::layout::clinical {
namespace {

json::Value type(std::string_view name) { return json::Object{{"type", name}}; }

json::Value nullable(std::string_view name) {
  json::Array types;
  types.emplace_back(name);
  types.emplace_back("null");
  return json::Object{{"type", std::move(types)}};
}

json::Value described(json::Value schema, std::string_view text) {
  schema.as_object()["description"] = text;
  return schema;
}

json::Value one_of(std::span<const std::string_view> words) {
  json::Array names;
  for (const auto word : words) names.emplace_back(word);
  return json::Object{{"type", "string"}, {"enum", std::move(names)}};
}

json::Value one_of(std::initializer_list<std::string_view> words) {
  return one_of(std::span(words.begin(), words.size()));
}

// In a strict mode null must be a word of the enumeration too.
json::Value one_of_or_null(std::span<const std::string_view> words) {
  json::Array names;
  for (const auto word : words) names.emplace_back(word);
  names.emplace_back(nullptr);
  json::Array types;
  types.emplace_back("string");
  types.emplace_back("null");
  return json::Object{{"type", std::move(types)}, {"enum", std::move(names)}};
}

json::Value list_of(json::Value items) {
  return json::Object{{"type", "array"}, {"items", std::move(items)}};
}

json::Value any_of(json::Array schemas) {
  json::Object out;
  out["anyOf"] = std::move(schemas);
  return out;
}

// An object whose members are all required.
class ObjectSchema {
 public:
  ObjectSchema&& with(std::string_view name, json::Value schema) && {
    properties_[name] = std::move(schema);
    required_.emplace_back(name);
    return std::move(*this);
  }
  void add(std::string_view name, json::Value schema) {
    properties_[name] = std::move(schema);
    required_.emplace_back(name);
  }
  json::Value done() && {
    return json::Object{{"type", "object"},
                        {"properties", std::move(properties_)},
                        {"required", std::move(required_)},
                        {"additionalProperties", false}};
  }

 private:
  json::Object properties_;
  json::Array required_;
};

json::Value words_schema() {
  return described(list_of(type("integer")), "indexes of the first and the last word");
}

json::Value conf_schema() { return described(type("number"), "from 0, a guess, to 1, certain"); }

json::Value schema_member(Pass pass) { return one_of({schema_id(pass)}); }

json::Value detect_schema(Form form) {
  auto section = ObjectSchema()
                     .with("id", type("string"))
                     .with("page", type("integer"))
                     .with("kind", one_of(section_kinds()))
                     .with("words", words_schema())
                     .with("conf", conf_schema())
                     .done();
  ObjectSchema entity;
  entity.add("id", type("string"));
  entity.add("category", one_of(category_names()));
  entity.add("text", described(type("string"), "exactly as it stands in the document"));
  entity.add("page", type("integer"));
  if (form == Form::stored) entity.add("char", list_of(type("integer")));
  entity.add("words", words_schema());
  entity.add("conf", conf_schema());
  if (form == Form::stored) entity.add("doubts", list_of(one_of(doubt_names())));
  auto illegible =
      ObjectSchema().with("page", type("integer")).with("bbox", list_of(type("number"))).done();
  auto document_type =
      ObjectSchema().with("value", one_of(document_types())).with("conf", conf_schema()).done();
  return ObjectSchema()
      .with("schema", schema_member(Pass::detect))
      .with("document_type", std::move(document_type))
      .with("language", nullable("string"))
      .with("segments", list_of(std::move(section)))
      .with("entities", list_of(std::move(entity).done()))
      .with("illegible", list_of(std::move(illegible)))
      .done();
}

json::Value or_null(json::Value schema) {
  json::Array schemas;
  schemas.push_back(std::move(schema));
  schemas.push_back(type("null"));
  return any_of(std::move(schemas));
}

json::Value field_schema(const FieldRule& rule) {
  switch (rule.kind) {
    case FieldKind::text:
      return rule.required ? type("string") : nullable("string");
    case FieldKind::date:
      return described(nullable("string"), "YYYY, YYYY-MM or YYYY-MM-DD");
    case FieldKind::choice:
      return one_of_or_null(rule.choices);
    case FieldKind::quantity:
      return or_null(ObjectSchema()
                         .with("value", type("number"))
                         .with("unit", described(nullable("string"), "UCUM"))
                         .done());
    case FieldKind::range:
      return or_null(
          ObjectSchema().with("low", nullable("number")).with("high", nullable("number")).done());
  }
  return {};
}

json::Value fact_schema(FactType fact_type, Form form) {
  ObjectSchema value;
  for (const auto& rule : fields_of(fact_type)) value.add(rule.name, field_schema(rule));
  auto assertion =
      ObjectSchema()
          .with("polarity", one_of({"affirmed", "negated"}))
          .with("certainty", one_of({"definite", "probable", "possible"}))
          .with("temporality", one_of({"current", "historical", "future", "hypothetical"}))
          .done();
  auto status = form == Form::stored ? one_of({"candidate", "confirmed"}) : one_of({"candidate"});
  auto code = ObjectSchema()
                  .with("system", one_of(code_systems()))
                  .with("code", type("string"))
                  .with("display", type("string"))
                  .with("status", std::move(status))
                  .done();
  return ObjectSchema()
      .with("id", type("string"))
      .with("type", one_of({to_string(fact_type)}))
      .with("subject", one_of({"patient", "family", "other"}))
      .with("evidence", described(list_of(type("string")), "ids of entities, at least one"))
      .with("assertion", std::move(assertion))
      .with("value", std::move(value).done())
      .with("codes", list_of(std::move(code)))
      .with("conf", conf_schema())
      .done();
}

json::Value extract_schema(Form form) {
  json::Array facts;
  for (const auto fact_type : fact_types()) facts.push_back(fact_schema(fact_type, form));
  auto relation = ObjectSchema()
                      .with("from", type("string"))
                      .with("to", type("string"))
                      .with("type", one_of(relation_types()))
                      .done();
  auto rejected =
      ObjectSchema().with("evidence", list_of(type("string"))).with("why", type("string")).done();
  return ObjectSchema()
      .with("schema", schema_member(Pass::extract))
      .with("facts", list_of(any_of(std::move(facts))))
      .with("relations", list_of(std::move(relation)))
      .with("rejected", list_of(std::move(rejected)))
      .done();
}

json::Value narrate_schema() {
  auto sentence = ObjectSchema()
                      .with("text", type("string"))
                      .with("facts", described(list_of(type("string")), "ids, at least one"))
                      .done();
  auto conflict = ObjectSchema()
                      .with("facts", described(list_of(type("string")), "ids, at least two"))
                      .with("note", type("string"))
                      .done();
  return ObjectSchema()
      .with("schema", schema_member(Pass::narrate))
      .with("audience", one_of(audiences()))
      .with("sentences", list_of(std::move(sentence)))
      .with("uncertain", list_of(type("string")))
      .with("conflicts", list_of(std::move(conflict)))
      .done();
}

}  // namespace

json::Value pass_schema(Pass pass, Form form) {
  switch (pass) {
    case Pass::detect:
      return detect_schema(form);
    case Pass::extract:
      return extract_schema(form);
    case Pass::narrate:
      return narrate_schema();
  }
  return {};
}

}  // namespace millrace::layout::clinical
