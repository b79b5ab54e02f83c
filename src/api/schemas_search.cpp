// Schemas of search.
#include "api/schemas.h"

namespace millrace::api {

void add_search_schemas(SchemaMap& schemas) {
  schemas["SearchMode"] = R"({"enum": ["hybrid", "text", "vector"]})";
  schemas["SearchRequest"] = R"({
    "type": "object",
    "additionalProperties": false,
    "required": ["query"],
    "properties": {
      "query": {"type": "string", "minLength": 1, "maxLength": 8192,
                "description": "The question, or words."},
      "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
      "documents": {"type": "array", "maxItems": 1000,
                    "items": {"$ref": "#/components/schemas/Uuid"},
                    "description": "In these documents only; empty: in none."},
      "mode": {"$ref": "#/components/schemas/SearchMode", "default": "hybrid"},
      "explain": {"type": "boolean", "default": false,
                  "description": "With the measures behind each score."}
    }
  })";
  schemas["SearchPassage"] = R"({
    "type": "object",
    "description": "The part of a chunk to show, in bytes of the parsed text.",
    "required": ["text", "start_byte", "end_byte", "highlights"],
    "properties": {
      "text": {"type": "string"},
      "start_byte": {"type": "integer", "minimum": 0},
      "end_byte": {"type": "integer", "minimum": 0},
      "highlights": {
        "type": "array",
        "description": "Where words of the question stand: from, to.",
        "items": {"type": "array", "minItems": 2, "maxItems": 2,
                  "items": {"type": "integer", "minimum": 0}}
      }
    }
  })";
  schemas["SearchHit"] = R"({
    "type": "object",
    "required": ["rank", "score", "document_id", "document_name", "chunk_id", "content_id",
                 "generation_id", "chunk_ord", "heading_path", "page_start", "page_end",
                 "start_byte", "end_byte", "text", "passage"],
    "properties": {
      "rank": {"type": "integer", "minimum": 1},
      "score": {"type": "number", "minimum": 0, "description": "0 to 1, higher is better."},
      "document_id": {"$ref": "#/components/schemas/Uuid"},
      "document_name": {"$ref": "#/components/schemas/NullableText"},
      "chunk_id": {"$ref": "#/components/schemas/Uuid"},
      "content_id": {"$ref": "#/components/schemas/Uuid"},
      "generation_id": {"$ref": "#/components/schemas/Uuid"},
      "chunk_ord": {"type": "integer", "minimum": 0},
      "heading_path": {"type": "array", "items": {"type": "string"},
                       "description": "The headings that all of the chunk stands under."},
      "page_start": {"type": ["integer", "null"]},
      "page_end": {"type": ["integer", "null"]},
      "start_byte": {"type": "integer", "minimum": 0,
                     "description": "Of the chunk in the parsed text."},
      "end_byte": {"type": "integer", "minimum": 0},
      "text": {"type": "string", "description": "Of the chunk, byte for byte."},
      "passage": {"$ref": "#/components/schemas/SearchPassage"},
      "explain": {
        "type": "object",
        "required": ["share", "cosine", "config"],
        "properties": {
          "share": {"type": "number", "description": "How much of the question its words are."},
          "cosine": {"type": ["number", "null"], "description": "Of its vector and the question's."},
          "config": {"type": "string", "description": "In which language its words are counted."}
        }
      }
    }
  })";
  schemas["SearchAnswer"] = R"({
    "type": "object",
    "required": ["mode", "notice", "model", "passages"],
    "properties": {
      "mode": {"$ref": "#/components/schemas/SearchMode", "description": "What was done."},
      "notice": {"$ref": "#/components/schemas/NullableText",
                 "description": "Why it was not what was asked for."},
      "model": {
        "type": ["object", "null"],
        "description": "That embedded the question.",
        "required": ["name", "version"],
        "properties": {"name": {"type": "string"}, "version": {"type": "string"}}
      },
      "passages": {"type": "array", "items": {"$ref": "#/components/schemas/SearchHit"}}
    }
  })";
}

}  // namespace millrace::api
