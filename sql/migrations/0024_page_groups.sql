-- Pages that take milliseconds go in groups: one job and one content for several. A result may be a part of a content that holds the results of its group, and a document counts the pages of its stage itself.
-- Lock cost: two small tables for a moment; nothing is rewritten. compat: drain (older workers would do only the first page of a group)

alter table millrace.page_result
  -- Where the result begins in the content, and what it hashes to; null: it is all of it. size_bytes is of the result.
  add column part_offset bigint,
  add column part_sha256 bytea,
  add constraint page_result_part_check check ((part_offset is null) = (part_sha256 is null) and part_offset >= 0 and octet_length(part_sha256) = 32);

alter table millrace.document
  -- Pages of the stage under way, and how many of them have a result.
  add column stage_total integer,
  add column stage_done integer;

-- It answers one column more.
drop function if exists millrace.page_results(uuid, text[], integer, integer);
