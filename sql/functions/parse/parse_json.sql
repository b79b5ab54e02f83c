-- millrace.parse_json: a parse that somebody else does, as the stage sees it; with the content where it is here. The hash of the capability is nobody's business.
create or replace function millrace.parse_json(p_request millrace.parse_request) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('state', p_request.state, 'parser', p_request.parser, 'remote_id', p_request.remote_id, 'reason', p_request.reason, 'asks', p_request.asks,
    'call_id', p_request.call_id, 'waited_seconds', extract(epoch from millrace.now() - p_request.asked_at), 'left_seconds', extract(epoch from p_request.deadline - millrace.now()),
    'content', (select jsonb_build_object('sha256', encode(b.sha256, 'hex'), 'size_bytes', b.size_bytes, 'store_key', b.store_key)
                  from millrace.blob_object b where b.tenant_id = p_request.tenant_id and b.sha256 = p_request.sha256));
end;
$$;
