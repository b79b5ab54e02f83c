-- millrace.term_weight: how much a word of a question says about what is asked, beside how rare it is: words that questions are made of (happen, allow, possible) are rare in documents and still say little.
-- They are English words: said in English, they say as little where chunks are counted in another configuration (an English question over lists in simple), as far as English knows their form there.
drop function if exists millrace.term_weight(regconfig, tsquery);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.term_weight(p_config regconfig, p_term tsquery, p_language regconfig default null) returns double precision
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case when 'english'::regconfig in (p_config, p_language)
             and case when p_config = 'english'::regconfig then btrim(p_term::text, '''') else (ts_lexize('english_stem', btrim(p_term::text, '''')))[1] end
                 in ('abl', 'allow', 'also', 'anyth', 'come', 'exact', 'find', 'get', 'give', 'go', 'happen', 'keep', 'kind', 'know', 'let', 'long', 'make',
    'mani', 'may', 'mean', 'much', 'must', 'need', 'often', 'pleas', 'possibl', 'put', 'somebodi', 'someon', 'someth', 'soon', 'still', 'take', 'tell', 'thing', 'tri', 'use', 'want', 'way') then 0.4 else 1 end;
