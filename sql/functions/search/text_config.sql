-- millrace.text_config: how the words of a text in this language are counted: its text search configuration (endings, words without meaning), or 'simple', which takes words as they are.
-- p_language: a tag such as en or de-AT, a code of three letters, or an English name; null: not said, and then p_sample, some of the text, is looked at.
create or replace function millrace.text_config(p_language text, p_sample text default null) returns regconfig
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  with asked as (
    select coalesce(nullif(lower(split_part(replace(trim(p_language), '_', '-'), '-', 1)), ''), millrace.text_language(p_sample)) as language),
  known (config, languages) as (values
    ('english', '{en,eng,english}'::text[]), ('german', '{de,deu,ger,german}'), ('french', '{fr,fra,fre,french}'), ('spanish', '{es,spa,spanish}'), ('italian', '{it,ita,italian}'),
    ('portuguese', '{pt,por,portuguese}'), ('dutch', '{nl,nld,dut,dutch}'), ('danish', '{da,dan,danish}'), ('swedish', '{sv,swe,swedish}'),
    ('norwegian', '{no,nb,nn,nor,nob,nno,norwegian}'), ('finnish', '{fi,fin,finnish}'), ('hungarian', '{hu,hun,hungarian}'), ('romanian', '{ro,ron,rum,romanian}'), ('turkish', '{tr,tur,turkish}'),
    ('russian', '{ru,rus,russian}'), ('greek', '{el,ell,gre,greek}'), ('arabic', '{ar,ara,arabic}'), ('hindi', '{hi,hin,hindi}'), ('catalan', '{ca,cat,catalan}'),
    ('basque', '{eu,eus,baq,basque}'), ('irish', '{ga,gle,irish}'), ('indonesian', '{id,ind,indonesian}'), ('lithuanian', '{lt,lit,lithuanian}'), ('nepali', '{ne,nep,nepali}'),
    ('serbian', '{sr,srp,serbian}'), ('tamil', '{ta,tam,tamil}'), ('yiddish', '{yi,yid,yiddish}'), ('armenian', '{hy,hye,arm,armenian}'))
  -- A server may have fewer of them.
  select coalesce((select c.oid::regconfig from asked a join known k on a.language = any (k.languages)
                     join pg_ts_config c on c.cfgname = k.config and c.cfgnamespace = 'pg_catalog'::regnamespace), 'pg_catalog.simple'::regconfig);
$$;
