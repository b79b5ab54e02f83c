-- millrace.list_facts: clinical facts of a document of the caller, in the order of its pages, behind p_after. MR042 where p_after was replaced meanwhile: whoever goes on from there would
-- leave facts out.
create or replace function millrace.list_facts(p_file_id uuid, p_after uuid default null, p_limit integer default 100) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
  v_last millrace.clinical_fact;
begin
  if p_after is not null then
    select c.* into v_last from millrace.clinical_fact c where c.id = p_after and c.file_id = v_file.id;
    if not found then
      raise exception 'the facts of document % were written anew since', p_file_id using errcode = 'MR042', hint = 'read them from the beginning';
    end if;
  end if;
  return query
  select jsonb_build_object('id', c.id, 'page', c.page, 'fact_id', c.fact_id, 'type', c.type, 'name', c.name, 'subject', c.subject, 'assertion', jsonb_build_object(
           'polarity', c.polarity, 'certainty', c.certainty, 'temporality', c.temporality), 'value', c.value, 'codes', c.codes, 'evidence', c.evidence, 'conf', c.conf,
           'route', c.route, 'dated', c.dated)
    from millrace.clinical_fact c
   where c.file_id = v_file.id and (p_after is null or (c.page, length(c.fact_id), c.fact_id) > (v_last.page, length(v_last.fact_id), v_last.fact_id))
   order by c.page, length(c.fact_id), c.fact_id limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
