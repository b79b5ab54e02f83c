-- The type of vectors: see millrace.use_vector_type. Idempotent.
do $$
begin
  perform millrace.use_vector_type();
end;
$$;
