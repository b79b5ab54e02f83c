-- A call whose beginning is said again, because the answer to it was lost, is answered as it stands: what it took at the limits of the provider is kept with it. And vectors of equal texts are taken over for a part of the
-- chunks, so that it can be done before each batch.
-- Lock cost: provider_call is locked for a change of the catalog. compat: rolling

-- Null: nothing was taken for this call alone, or an older program began it.
alter table millrace.provider_call add column capacity jsonb;

-- It is told for which chunks; who says nothing of that means all of them.
drop function if exists millrace.reuse_vectors(uuid, uuid, uuid, integer);

-- millrace.failure_class takes its place: it judges a stage by what it does, not by its name.
drop function if exists millrace.error_class(text, text, jsonb);
