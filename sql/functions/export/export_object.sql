-- millrace.export_object: the name in bucket exports of what a worker says that it stored: a name, with or without the bucket, or a URL of one, as the
-- source's worker keeps it. Null for anything else.
create or replace function millrace.export_object(p_text text) returns text
  language sql immutable parallel safe
  return nullif(case when p_text ~ '^https?://'
                     then substring(p_text from '(?:/object/(?:sign|authenticated|public)/exports|/api/v1/export/file)/([^?#%]+)(?:[?#]|$)')
                     else regexp_replace(p_text, '^/?(exports/)?', '') end, '');
