-- Registers a version of a law, or finds the newest version if it has the same bytes, profile, options and terms. An
-- older one is not found: a run cuts the newest one, and a law may return to an earlier text.
create or replace function cutter_governance.fn_source_register(
    p_document jsonb, p_bytes bytea, p_version jsonb, p_by text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    document public.source_document;
    version public.source_version;
    v_sha text := encode(sha256(p_bytes), 'hex');
begin
    insert into public.source_document (
        source_document_ref, doc_code, tenant, address_docprefix, source_url, source_family, authority_class,
        display_vi, display_en, forbidden_ids, registered_by)
    values (
        p_document ->> 'document_id', p_document ->> 'document_id', coalesce(p_document ->> 'tenant', 'default'),
        p_document ->> 'docprefix', p_document ->> 'source_uri', coalesce(p_document ->> 'family', 'law'),
        coalesce(p_document ->> 'authority', 'internal'), p_document ->> 'display_vi', p_document ->> 'display_en',
        coalesce((select array_agg(value) from jsonb_array_elements_text(p_document -> 'forbidden_ids')), '{}'), p_by)
    on conflict do nothing;
    select * into document from public.source_document where doc_code = p_document ->> 'document_id' for update;
    if not found then
        return jsonb_build_object('status', 'conflict', 'field', 'docprefix of another document:', 'registered', (
            select doc_code from public.source_document where address_docprefix = p_document ->> 'docprefix'));
    end if;
    if document.address_docprefix <> p_document ->> 'docprefix' then
        return jsonb_build_object('status', 'conflict', 'field', 'docprefix', 'registered', document.address_docprefix);
    end if;
    select * into version from public.source_version v
    where v.source_document_ref = document.source_document_ref and v.content_checksum = v_sha
        and v.profile_sha256 = p_version ->> 'profile_sha256' and v.marking_options = p_version -> 'options'
        and v.change_kind = coalesce(p_version ->> 'change_kind', 'text')
        and v.change_reason is not distinct from p_version ->> 'change_reason'
        and v.effective_from is not distinct from (p_version ->> 'effective_from')::date
        and v.version_seq = (select max(s.version_seq) from public.source_version s
                             where s.source_document_ref = document.source_document_ref);
    if found then
        return jsonb_build_object('status', 'registered_before', 'source_version_id', version.id,
            'version_seq', version.version_seq, 'sha256', v_sha);
    end if;
    insert into public.source_snapshot (sha256, bytes) values (v_sha, p_bytes) on conflict do nothing;
    insert into public.source_version (
        document_version_id, source_document_ref, version_seq, content_checksum, size_bytes, source_format, provenance,
        profile_id, profile_sha256, profile_body, marking_options, registered_by, change_kind, change_reason, effective_from)
    select document.doc_code || '@' || next.seq, document.source_document_ref, next.seq, v_sha, length(p_bytes),
        coalesce(p_version ->> 'format', 'markdown'), coalesce(p_version -> 'provenance', '{}'),
        p_version ->> 'profile_id', p_version ->> 'profile_sha256', p_version ->> 'profile_body', p_version -> 'options', p_by,
        coalesce(p_version ->> 'change_kind', 'text'), p_version ->> 'change_reason', (p_version ->> 'effective_from')::date
    from (select coalesce(max(version_seq), 0) + 1 as seq from public.source_version
          where source_document_ref = document.source_document_ref) as next
    returning * into version;
    return jsonb_build_object('status', 'registered', 'source_version_id', version.id, 'version_seq', version.version_seq,
        'sha256', v_sha);
end
$$;
