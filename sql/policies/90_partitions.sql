-- The partitions of the coming time exist before the first job: making them under load would have to wait for it.
do $$
begin
  while (millrace.maintain_partitions() ->> 'more')::boolean loop
  end loop;
end;
$$;
