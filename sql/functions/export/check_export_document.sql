-- millrace.check_export_document: what somebody wants to keep as an export document, checked: MR024 names the member and the rule. Absent templateSlug: minimal.
create or replace function millrace.check_export_document(p_document jsonb, out title text, out template_slug text, out data jsonb)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad text;
  v_max bigint := millrace.config_bigint('export.data_max_bytes', 1048576);
begin
  if jsonb_typeof(p_document) is distinct from 'object' then
    raise exception 'an export document must be a JSON object' using errcode = 'MR024';
  end if;
  select k into v_bad from jsonb_object_keys(p_document) k where k not in ('title', 'templateSlug', 'data') limit 1;
  if v_bad is not null then
    raise exception '% is no member of an export document: it has title, templateSlug and data', quote_literal(left(v_bad, 64)) using errcode = 'MR024';
  end if;
  title := case when jsonb_typeof(p_document -> 'title') = 'string' then btrim(p_document ->> 'title') end;
  if coalesce(octet_length(title), 0) not between 1 and 512 or title ~ '[[:cntrl:]]' then
    raise exception 'title must be a text of 1 to 512 bytes without control characters' using errcode = 'MR024';
  end if;
  template_slug := case when not p_document ? 'templateSlug' then 'minimal' when jsonb_typeof(p_document -> 'templateSlug') = 'string' then p_document ->> 'templateSlug' end;
  if template_slug is null or template_slug !~ '^[a-z][a-z0-9-]{0,62}$' then
    raise exception 'templateSlug must begin with a small letter and have up to 63 small letters, digits and -' using errcode = 'MR024';
  end if;
  data := p_document -> 'data';
  if jsonb_typeof(data) is distinct from 'object' then
    raise exception 'data must be a JSON object' using errcode = 'MR024';
  end if;
  if octet_length(data::text) > v_max then
    raise exception 'data must have at most % bytes, not %', v_max, octet_length(data::text) using errcode = 'MR024';
  end if;
end;
$$;
