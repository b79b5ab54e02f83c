-- millrace.check_export_options: the options of an order (X-02) with the default of what is not given; MR024 names the option and the rule. Numbers are written in
-- one way, so that equal wishes are equal. templateSlug has no default here: the document has one.
create or replace function millrace.check_export_options(p_options jsonb) returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_margins jsonb := '{"top": 1, "bottom": 1, "left": 1, "right": 1}';
  v_given jsonb := coalesce(p_options, '{}');
  v_item record;
begin
  if jsonb_typeof(v_given) <> 'object' then
    raise exception 'options must be a JSON object' using errcode = 'MR024';
  end if;
  for v_item in select e.key, e.value, e.value #>> '{}' as text, jsonb_typeof(e.value) as type from jsonb_each(v_given) e loop
    case v_item.key
      when 'pageSize' then
        if v_item.text is null or v_item.text not in ('A4', 'Letter', 'Legal') then
          raise exception 'options.pageSize must be A4, Letter or Legal' using errcode = 'MR024';
        end if;
      when 'quality' then
        if v_item.text is null or v_item.text not in ('draft', 'normal', 'high') then
          raise exception 'options.quality must be draft, normal or high' using errcode = 'MR024';
        end if;
      when 'colorMode' then
        if v_item.text is null or v_item.text not in ('color', 'grayscale') then
          raise exception 'options.colorMode must be color or grayscale' using errcode = 'MR024';
        end if;
      when 'templateSlug' then
        if v_item.type <> 'string' or v_item.text !~ '^[a-z][a-z0-9-]{0,62}$' then
          raise exception 'options.templateSlug must begin with a small letter and have up to 63 small letters, digits and -' using errcode = 'MR024';
        end if;
      when 'language' then
        if v_item.type <> 'string' or v_item.text !~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$' then
          raise exception 'options.language must be a language tag such as en or pt-BR' using errcode = 'MR024';
        end if;
      when 'preview' then
        if v_item.type <> 'boolean' then
          raise exception 'options.preview must be true or false' using errcode = 'MR024';
        end if;
      when 'margins' then
        if v_item.type <> 'object' then
          raise exception 'options.margins must be an object of top, bottom, left and right' using errcode = 'MR024';
        end if;
      else
        raise exception '% is no option of an export: there are pageSize, margins, quality, colorMode, templateSlug, language and preview', quote_literal(left(v_item.key, 64)) using errcode = 'MR024';
    end case;
  end loop;
  for v_item in select e.key, e.value, jsonb_typeof(e.value) as type from jsonb_each(coalesce(v_given -> 'margins', '{}')) e loop
    if not v_margins ? v_item.key then
      raise exception '% is no margin: there are top, bottom, left and right', quote_literal(left(v_item.key, 64)) using errcode = 'MR024';
    end if;
    if v_item.type <> 'number' or v_item.value::numeric not between 0 and 2 then
      raise exception 'options.margins.% must be a number of inches from 0 to 2', v_item.key using errcode = 'MR024';
    end if;
    v_margins := jsonb_set(v_margins, array[v_item.key], to_jsonb(trim_scale(round(v_item.value::numeric, 4))));
  end loop;
  return '{"pageSize": "Letter", "quality": "normal", "colorMode": "color"}'
         || case when v_given -> 'preview' = 'false' then v_given - 'preview' else v_given end || jsonb_build_object('margins', v_margins);
end;
$$;
