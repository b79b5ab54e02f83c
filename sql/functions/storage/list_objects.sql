-- millrace.list_objects: what lies directly below a prefix ("a/b" means the folder a/b/): objects, and folders without an id. By name it jumps
-- from one to the next along the index, so the cost is what was asked for, not what a folder holds; other orders (p_sort: created_at,
-- updated_at; descending) look at ten thousand entries at most. p_search: names that begin so. A user sees the own folder alone.
create or replace function millrace.list_objects(p_bucket text, p_prefix text, p_limit integer default 100, p_offset integer default 0,
    p_sort text default 'name', p_descending boolean default false, p_search text default '')
  returns table (name text, id uuid, created_at timestamptz, updated_at timestamptz, size_bytes bigint, content_type text, cache_control text, sha256 bytea)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_folder text := coalesce(nullif(btrim(coalesce(p_prefix, ''), '/'), '') || '/', '');
  v_from text := v_folder || coalesce(p_search, '');
  -- Behind all names that begin so: no name has this letter.
  v_below text := v_from || chr(1114111);
  v_sorted boolean := coalesce(p_sort, 'name') <> 'name' or coalesce(p_descending, false);
  v_most integer;
  v_object millrace.storage_object;
  v_rest text;
  v_entries jsonb[] := '{}';
begin
  if coalesce(p_limit, 100) not between 1 and 1000 or coalesce(p_offset, 0) not between 0 and 10000 then
    raise exception 'limit must be between 1 and 1000, offset between 0 and 10000' using errcode = 'MR024';
  end if;
  if coalesce(p_sort, 'name') not in ('name', 'created_at', 'updated_at') then
    raise exception 'sort must be name, created_at or updated_at' using errcode = 'MR024';
  end if;
  v_most := case when v_sorted then 10000 else coalesce(p_offset, 0) + coalesce(p_limit, 100) end;
  while cardinality(v_entries) < v_most loop
    v_object := millrace.next_object(v_scope, v_user, p_bucket, v_from, v_below);
    exit when v_object.object_id is null;
    v_rest := substr(v_object.name, length(v_folder) + 1);
    if position('/' in v_rest) > 0 then
      v_entries := v_entries || jsonb_build_object('name', split_part(v_rest, '/', 1));
      -- '0' is the letter behind '/'.
      v_from := v_folder || split_part(v_rest, '/', 1) || '0';
    else
      v_entries := v_entries || jsonb_build_object('name', v_rest, 'id', v_object.object_id, 'created_at', v_object.created_at, 'updated_at', v_object.updated_at,
        'size_bytes', v_object.size_bytes, 'content_type', v_object.content_type, 'cache_control', v_object.cache_control, 'sha256', v_object.sha256);
      v_from := v_object.name || chr(1);
    end if;
  end loop;
  return query
  select e.name, e.id, e.created_at, e.updated_at, e.size_bytes, e.content_type, e.cache_control, e.sha256
    from unnest(v_entries) with ordinality u(entry, n)
    cross join lateral jsonb_to_record(u.entry) e(name text, id uuid, created_at timestamptz, updated_at timestamptz, size_bytes bigint, content_type text,
                                                  cache_control text, sha256 bytea)
   order by case when p_sort = 'created_at' and not p_descending then e.created_at end,
            case when p_sort = 'created_at' and p_descending then e.created_at end desc nulls last,
            case when p_sort = 'updated_at' and not p_descending then e.updated_at end,
            case when p_sort = 'updated_at' and p_descending then e.updated_at end desc nulls last,
            case when p_descending then -u.n else u.n end
   limit coalesce(p_limit, 100) offset coalesce(p_offset, 0);
end;
$$;
