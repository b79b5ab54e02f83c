-- millrace.reuse_keys: for every page of a document that is not given up, the key of what a stage would make of it: a hash of the stage, its version, and all it reads: the content of
-- the page ('content'), results of earlier stages, such a result of the page before ('previous:stage'; nothing where there is none), or of the whole
-- document ('document:stage'). Pages that lack what they need have none.
create or replace function millrace.reuse_keys(p_file_id uuid, p_stage text, p_version text, p_inputs text[]) returns table (page integer, reuse_key bytea)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select p.page, sha256(convert_to('stage', 'UTF8') || int4send(octet_length(p_stage)) || convert_to(p_stage, 'UTF8') || int4send(octet_length(p_version)) || convert_to(p_version, 'UTF8')
                        || i.inputs)
    from millrace.page p
    cross join lateral (
      select string_agg(case when u.input = 'content' then p.content_sha256 else coalesce(r.part_sha256, r.sha256, ''::bytea) end, '|'::bytea order by u.n) as inputs,
             bool_and(u.input = 'content' or u.input like 'previous:%' or r.sha256 is not null) as known
        from unnest(p_inputs) with ordinality u(input, n)
        left join millrace.page_result r on r.file_id = p.file_id and r.stage = regexp_replace(u.input, '^(previous|document):', '')
                                        and (case when u.input like 'document:%' then r.page = 0
                                                  else r.page > 0 and r.page = p.page - case when u.input like 'previous:%' then 1 else 0 end end)) i
   where p.file_id = p_file_id and p.state <> 'failed' and i.known;
end;
$$;
