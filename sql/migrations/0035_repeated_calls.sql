-- A call whose beginning is said again, because the answer to it was lost, is answered as it stands: what it took at the limits of the provider is kept with it.
-- Lock cost: provider_call is locked for a change of the catalog. compat: rolling

-- Null: nothing was taken for this call alone, or an older program began it.
alter table millrace.provider_call add column capacity jsonb;
