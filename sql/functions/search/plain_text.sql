-- millrace.plain_text: a text in one spelling, of documents and of questions alike: letters composed (so that a question from one system finds what was typed on another), ligatures and wide forms as their letters, and
-- what is not seen (optional hyphens, joiners, marks of direction) left out. Signs that stand beside a word part it: footnote numbers, fractions, trademarks and accents by themselves would grow on to it as letters.
-- PostgreSQL composes letters in databases of UTF-8 only; elsewhere a text stays as it is.
create or replace function millrace.plain_text(p_text text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return case when getdatabaseencoding() <> 'UTF8' or octet_length(p_text) = length(p_text) then p_text
            else normalize(regexp_replace(regexp_replace(p_text, '[\u00AD\u034F\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFE00-\uFE0F\uFEFF]', '', 'g'),
                                          '[\u00A8\u00AF\u00B2-\u00B4\u00B8\u00B9\u00BC-\u00BE\u02D8-\u02DD\u2017\u2044\u2070-\u2079\u2120\u2122\u2150-\u215F\u2189\u2460-\u249B\u24EA]', ' ', 'g'), nfkc) end;
