// Schemas of documents, quarantine and spending.
#include "api/schemas.h"

namespace millrace::api {
namespace {

void add_documents(SchemaMap& schemas) {
  schemas["Sha256"] = R"({"type":"string","pattern":"^[0-9a-f]{64}$"})";
  schemas["DocumentState"] = R"({
    "enum": ["uploaded", "processing", "completed", "partial", "failed", "rejected"]
  })";
  schemas["Finding"] = R"({
    "type": "object",
    "description": "A rule that the file broke; never what is in it.",
    "required": ["rule", "severity"],
    "properties": {
      "rule": {"type": "string"},
      "severity": {"type": "string", "description": "flag, or refuse."},
      "detail": {"type": "string"}
    }
  })";
  // Shared by the document itself and by lists, which have no outputs.
  schemas["DocumentSummary"] = R"({
    "type": "object",
    "required": ["id", "tenant_id", "owner_id", "patient_id", "file_name", "size_bytes", "sha256",
                 "state", "stage", "stage_done", "stage_total", "kind", "mime", "page_count",
                 "run", "findings", "summary", "pages_failed", "progress", "job_id", "processing_error",
                 "pipeline", "created_at", "started_at", "finished_at"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "owner_id": {"$ref": "#/components/schemas/NullableUuid"},
      "patient_id": {"$ref": "#/components/schemas/NullableUuid"},
      "file_name": {"$ref": "#/components/schemas/NullableText"},
      "size_bytes": {"type": ["integer", "null"]},
      "sha256": {"$ref": "#/components/schemas/NullableText"},
      "state": {"$ref": "#/components/schemas/DocumentState"},
      "stage": {"$ref": "#/components/schemas/NullableText",
                "description": "What is under way."},
      "stage_done": {"type": ["integer", "null"],
                     "description": "Of a stage for each page: how many have ended."},
      "stage_total": {"type": ["integer", "null"]},
      "kind": {"$ref": "#/components/schemas/NullableText",
               "description": "By the content: pdf, image, docx …; null before the scan."},
      "mime": {"$ref": "#/components/schemas/NullableText"},
      "page_count": {"type": ["integer", "null"]},
      "run": {"type": ["integer", "null"], "description": "How often it was begun."},
      "findings": {"type": "array", "items": {"$ref": "#/components/schemas/Finding"}},
      "summary": {"type": "object",
                  "description": "What the passes say of all of it: type, language, counts."},
      "pages_failed": {"type": "integer"},
      "progress": {
        "type": ["object", "null"],
        "description": "Of one that is ingested: chunks that were cut and that have vectors.",
        "required": ["chunks_total", "chunks_done", "embeds_done", "chunks_in_buffer",
                     "vectors_in_buffer"],
        "properties": {
          "chunks_total": {"type": ["integer", "null"],
                           "description": "null until all are cut."},
          "chunks_done": {"type": ["integer", "null"]},
          "embeds_done": {"type": ["integer", "null"]},
          "chunks_in_buffer": {"type": "integer", "description": "Not yet where they are read."},
          "vectors_in_buffer": {"type": "integer"}
        }
      },
      "job_id": {"$ref": "#/components/schemas/NullableUuid",
                 "description": "What it waits for."},
      "processing_error": {
        "type": ["object", "null"],
        "description": "The last failure (`current_error`), those before, and their counts."
      },
      "pipeline": {
        "type": ["object", "null"],
        "description": "That it began with.",
        "required": ["name", "version", "hash"],
        "properties": {
          "name": {"type": "string"},
          "version": {"type": "string"},
          "hash": {"$ref": "#/components/schemas/Sha256"}
        }
      },
      "created_at": {"$ref": "#/components/schemas/Time"},
      "started_at": {"$ref": "#/components/schemas/NullableTime"},
      "finished_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
  schemas["DocumentOutput"] = R"({
    "type": "object",
    "required": ["kind", "page", "file_name", "content_type", "size_bytes", "sha256",
                 "created_at"],
    "properties": {
      "kind": {"type": "string"},
      "page": {"type": ["integer", "null"], "description": "null: of the whole document."},
      "file_name": {"type": "string"},
      "content_type": {"type": "string"},
      "size_bytes": {"type": "integer"},
      "sha256": {"$ref": "#/components/schemas/Sha256"},
      "created_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Document"] = R"({
    "allOf": [{"$ref": "#/components/schemas/DocumentSummary"}],
    "type": "object",
    "required": ["waiting", "review", "outputs"],
    "properties": {
      "waiting": {
        "type": ["object", "null"],
        "description": "Why it does not go on: what its jobs could not be done for.",
        "required": ["reason", "until", "stage", "jobs"],
        "properties": {
          "reason": {"type": "string"},
          "until": {"$ref": "#/components/schemas/NullableTime",
                    "description": "When it is tried again; null: when its turn comes."},
          "stage": {"type": "string"},
          "jobs": {"type": "integer", "description": "How many wait."}
        }
      },
      "review": {
        "type": "array",
        "description": "What a model answered about all of it and could not be used: the document is partial without that. Of single pages: with the page.",
        "items": {"$ref": "#/components/schemas/RefusedAnswer"}
      },
      "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/DocumentOutput"}}
    }
  })";
  schemas["RefusedAnswer"] = R"({
    "type": "object",
    "description": "An answer that was paid for and cannot be used, for a person to look at. It is asked for anew when the document is begun anew.",
    "required": ["stage", "error_type", "reason", "model", "call_id", "response_id", "answer",
                 "answer_sha256", "at"],
    "properties": {
      "stage": {"type": "string"},
      "error_type": {"type": "string",
                     "description": "invalid_answer, refusal, truncated, content_filter, no_text …"},
      "reason": {"type": "string"},
      "model": {"type": "string", "description": "That answered."},
      "call_id": {"$ref": "#/components/schemas/Uuid"},
      "response_id": {"type": "string", "description": "The service's own."},
      "answer": {"type": "string", "description": "How it begins: 4000 characters at most."},
      "answer_sha256": {"$ref": "#/components/schemas/Sha256"},
      "at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["DocumentPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/DocumentSummary"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["AskedImage"] = R"({
    "type": "object",
    "required": ["job_id", "page"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/NullableUuid",
                 "description": "That draws it; null where it is there."},
      "page": {"type": "integer"}
    }
  })";
  schemas["RetriedDocument"] = R"({
    "type": "object",
    "required": ["id", "job_id", "run"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "run": {"type": "integer"}
    }
  })";
}

void add_pages(SchemaMap& schemas) {
  schemas["PageStage"] = R"({
    "type": "object",
    "description": "What a stage made of the page, with what the stage says of it: of OCR source, confidence, words.",
    "required": ["sha256", "reused", "run", "at"],
    "properties": {
      "sha256": {"$ref": "#/components/schemas/Sha256"},
      "reused": {"type": "boolean", "description": "Taken over from an equal page."},
      "run": {"type": "integer"},
      "at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["DocumentPageState"] = R"({
    "type": "object",
    "required": ["page", "state", "failed_stage", "failed_reason", "review", "width_pt",
                 "height_pt", "content_sha256", "stages"],
    "properties": {
      "page": {"type": "integer"},
      "state": {"enum": ["pending", "completed", "failed"]},
      "failed_stage": {"$ref": "#/components/schemas/NullableText"},
      "failed_reason": {"$ref": "#/components/schemas/NullableText"},
      "review": {
        "description": "Of a page that was given up because of an answer that cannot be used.",
        "anyOf": [{"$ref": "#/components/schemas/RefusedAnswer"}, {"type": "null"}]
      },
      "width_pt": {"type": ["number", "null"]},
      "height_pt": {"type": ["number", "null"]},
      "content_sha256": {"$ref": "#/components/schemas/Sha256"},
      "stages": {
        "type": "object",
        "additionalProperties": {"$ref": "#/components/schemas/PageStage"}
      }
    }
  })";
  schemas["PagePage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/DocumentPageState"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["Fact"] = R"({
    "type": "object",
    "required": ["id", "page", "fact_id", "type", "name", "subject", "assertion", "value", "codes",
                 "evidence", "conf", "route", "dated"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "page": {"type": "integer"},
      "fact_id": {"type": "string"},
      "type": {"type": "string"},
      "name": {"type": "string"},
      "subject": {"type": "string"},
      "assertion": {
        "type": "object",
        "required": ["polarity", "certainty", "temporality"],
        "properties": {
          "polarity": {"type": "string"},
          "certainty": {"type": "string"},
          "temporality": {"type": "string"}
        }
      },
      "value": true,
      "codes": {"type": "array"},
      "evidence": true,
      "conf": {"type": "number"},
      "route": {"enum": ["accepted", "review"]},
      "dated": {"$ref": "#/components/schemas/NullableText"}
    }
  })";
  schemas["FactPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Fact"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
}

void add_staff(SchemaMap& schemas) {
  schemas["QuarantinedContent"] = R"({
    "type": "object",
    "required": ["sha256", "tenant_id", "what", "stage", "reason", "file_id", "page",
                 "quarantined_at"],
    "properties": {
      "sha256": {"$ref": "#/components/schemas/Sha256"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "what": {"enum": ["file", "page"]},
      "stage": {"type": "string"},
      "reason": {"type": "string"},
      "file_id": {"$ref": "#/components/schemas/NullableUuid"},
      "page": {"type": ["integer", "null"]},
      "quarantined_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Quarantine"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/QuarantinedContent"}}
    }
  })";
  schemas["Released"] = R"({
    "type": "object",
    "required": ["sha256", "tenants"],
    "properties": {
      "sha256": {"$ref": "#/components/schemas/Sha256"},
      "tenants": {"type": "integer", "description": "How many had it."}
    }
  })";
  schemas["DaySpend"] = R"({
    "type": "object",
    "description": "Amounts are millionths of the currency of prices.",
    "required": ["tenant_id", "provider", "day", "calls", "spent_micros", "reserved_micros",
                 "budget_micros"],
    "properties": {
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "provider": {"type": "string"},
      "day": {"type": "string", "format": "date"},
      "calls": {"type": "integer"},
      "spent_micros": {"type": "integer"},
      "reserved_micros": {"type": "integer",
                          "description": "Of calls that are under way, or were never answered."},
      "budget_micros": {"type": ["integer", "null"], "description": "null: no limit."}
    }
  })";
  schemas["Spend"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/DaySpend"}}
    }
  })";
  schemas["NewBudget"] = R"({
    "type": "object",
    "additionalProperties": false,
    "required": ["per_day"],
    "properties": {
      "per_day": {
        "type": ["string", "null"],
        "pattern": "^[0-9]{1,9}([.][0-9]{1,6})?$",
        "description": "In the currency of prices, such as 5.00; null: the general budget again."
      }
    }
  })";
}

}  // namespace

void add_document_schemas(SchemaMap& schemas) {
  add_documents(schemas);
  add_pages(schemas);
  add_staff(schemas);
}

}  // namespace millrace::api
