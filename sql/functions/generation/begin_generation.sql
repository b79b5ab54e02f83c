-- millrace.begin_generation: what a stage is about to build of the document of its job. Equal inputs find what they built before, published or not; another one that was being built is given up,
-- with all that was buffered for it. Fenced by the lease. p_generation: parsed_sha256, params_sha256 (hexadecimal), parse_id, parser_name, parser_version, chunker_name, chunker_version,
-- embed_model, embed_version, dimension (null: not known yet), language (null: not said, then that of sample, some of the text). Answers as millrace.generation_json.
create or replace function millrace.begin_generation(p_job_id uuid, p_token uuid, p_generation jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.hold_stage(p_job_id, p_token);
  v_row millrace.generation;
  v_dimension integer := (p_generation ->> 'dimension')::integer;
  v_known integer;
begin
  insert into millrace.embedding_model as m (embed_model, embed_version, dimension, registered_at)
  values (p_generation ->> 'embed_model', p_generation ->> 'embed_version', v_dimension, v_now)
  on conflict (embed_model, embed_version) do nothing;
  if v_dimension is not null then
    update millrace.embedding_model m set dimension = v_dimension
     where m.embed_model = p_generation ->> 'embed_model' and m.embed_version = p_generation ->> 'embed_version' and m.dimension is null;
    select m.dimension into v_known from millrace.embedding_model m
     where m.embed_model = p_generation ->> 'embed_model' and m.embed_version = p_generation ->> 'embed_version';
    if v_known <> v_dimension then
      raise exception 'model % % has % dimensions, not %', p_generation ->> 'embed_model', p_generation ->> 'embed_version', v_known, v_dimension
        using errcode = 'MR045', hint = 'another model must have another version';
    end if;
  end if;
  select g.* into v_row from millrace.generation g
   where g.file_id = v_document.file_id and g.state in ('building', 'published') and g.parsed_sha256 = decode(p_generation ->> 'parsed_sha256', 'hex')
     and g.params_sha256 = decode(p_generation ->> 'params_sha256', 'hex') and g.chunker_name = p_generation ->> 'chunker_name'
     and g.chunker_version = p_generation ->> 'chunker_version' and g.embed_model = p_generation ->> 'embed_model' and g.embed_version = p_generation ->> 'embed_version'
   order by (g.state = 'published') desc limit 1;
  -- Whatever else is being built is of another text, or in another way.
  delete from millrace.generation g where g.file_id = v_document.file_id and g.state = 'building' and g.generation_id is distinct from v_row.generation_id;
  if v_row.generation_id is null then
    insert into millrace.generation as g (generation_id, tenant_id, file_id, parsed_sha256, parse_id, parser_name, parser_version, chunker_name, chunker_version, params_sha256,
        embed_model, embed_version, language, created_at)
    values (millrace.new_id(), v_document.tenant_id, v_document.file_id, decode(p_generation ->> 'parsed_sha256', 'hex'), (p_generation ->> 'parse_id')::uuid,
            p_generation ->> 'parser_name', p_generation ->> 'parser_version', p_generation ->> 'chunker_name', p_generation ->> 'chunker_version',
            decode(p_generation ->> 'params_sha256', 'hex'), p_generation ->> 'embed_model', p_generation ->> 'embed_version', left(coalesce(nullif(p_generation ->> 'language', ''), millrace.text_language(p_generation ->> 'sample')), 35), v_now)
    returning g.* into v_row;
  end if;
  return millrace.generation_json(v_row);
end;
$$;
