-- millrace.use_vector_type: vectors get the type `vector` where the server has one (the extension of that name), else they stay real[] (B-14). Called when the schema is migrated, and by an operator
-- who installs the extension later. All functions read and write the columns as real[], into and from which that type can be cast. Changes nothing the second time. Lock cost: rewrites two tables, once.
-- Answers the type.
create or replace function millrace.use_vector_type() returns text
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_type regtype;
  v_row record;
begin
  select t.oid::regtype into v_type from pg_catalog.pg_type t
   where t.typname = 'vector' and t.typtype in ('b', 'c')
     and exists (select from pg_catalog.pg_cast c where c.castsource = 'real[]'::regtype and c.casttarget = t.oid)
     and exists (select from pg_catalog.pg_cast c where c.castsource = t.oid and c.casttarget = 'real[]'::regtype)
   order by t.oid limit 1;
  if v_type is null then
    return 'real[]';
  end if;
  for v_row in
    select a.attrelid::regclass as name, a.attname from pg_catalog.pg_attribute a
     where ((a.attrelid = 'millrace.document_chunks'::regclass and a.attname = 'embedding') or (a.attrelid = 'millrace.document_vector_buffer'::regclass and a.attname = 'vector'))
       and a.atttypid = 'real[]'::regtype
  loop
    execute format('alter table %s alter column %I type %s using %I::%s', v_row.name, v_row.attname, v_type, v_row.attname, v_type);
  end loop;
  return v_type::text;
end;
$$;
