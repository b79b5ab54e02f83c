-- millrace.term_weight: how much a word of a question says about what is asked, beside how rare it is: words that questions are made of (happen, allow, possible) are rare in documents and still say little.
create or replace function millrace.term_weight(p_config regconfig, p_term tsquery) returns double precision
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case when p_config = 'english'::regconfig and btrim(p_term::text, '''') in ('abl', 'allow', 'also', 'anyth', 'come', 'exact', 'find', 'get', 'give', 'go', 'happen', 'keep', 'kind', 'know', 'let', 'long', 'make',
    'mani', 'may', 'mean', 'much', 'must', 'need', 'often', 'pleas', 'possibl', 'put', 'somebodi', 'someon', 'someth', 'soon', 'still', 'take', 'tell', 'thing', 'tri', 'use', 'want', 'way') then 0.4 else 1 end;
