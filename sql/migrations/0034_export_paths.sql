-- Exports are looked up by the place of their file: whether another names it before it is removed, and until when it may be had. Removing what has expired read the whole history for each file.
-- Lock cost: export_history takes no writes while the index is built; build it beforehand (concurrently) where it is large. compat: rolling

create index if not exists export_history_path_idx on millrace.export_history (tenant_id, file_path);
