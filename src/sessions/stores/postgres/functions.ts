/** The SQL functions of the first version. Each is one transaction, and sets its own tenant. */
export const FUNCTIONS_1 = `
  CREATE FUNCTION @.create_run(p_id text, p_thread text, p_tenant text, p_names_tenant boolean,
    p_created_at double precision, p_settings text, p_messages json, p_run_bytes bigint, p_thread_bytes bigint)
  RETURNS TABLE (code text, detail text) LANGUAGE plpgsql AS $$
  DECLARE
    v_found text;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    PERFORM 1 FROM @.runs WHERE id = p_id;
    IF FOUND THEN RETURN QUERY SELECT 'run-exists', NULL::text; RETURN; END IF;
    IF p_thread IS NOT NULL THEN
      PERFORM 1 FROM @.threads WHERE id = p_thread AND tenant = p_tenant FOR UPDATE;
      IF NOT FOUND THEN RETURN QUERY SELECT 'unknown-thread', NULL::text; RETURN; END IF;
      SELECT id INTO v_found FROM @.runs WHERE thread_id = p_thread AND status IS NULL;
      IF FOUND THEN RETURN QUERY SELECT 'thread-busy', v_found; RETURN; END IF;
    END IF;
    INSERT INTO @.runs (id, thread_id, tenant, names_tenant, week, created_at, settings, bytes)
      VALUES (p_id, p_thread, p_tenant, p_names_tenant, @.this_week(), p_created_at, p_settings, p_run_bytes)
      ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN RETURN QUERY SELECT 'run-exists', NULL::text; RETURN; END IF;
    IF p_thread IS NOT NULL THEN
      PERFORM @.add_messages(p_thread, p_tenant, p_created_at, p_thread_bytes, p_messages);
    END IF;
    PERFORM @.grow_tenant(p_tenant, p_run_bytes + p_thread_bytes);
    RETURN QUERY SELECT NULL::text, NULL::text;
  END $$;

  -- Appends to several logs. An entry that is refused changes nothing, and does not affect the others. p_again: an earlier
  -- attempt may have been stored; an entry whose last event is there counts as stored.
  CREATE FUNCTION @.append(p_ids text[], p_epochs bigint[], p_firsts bigint[], p_lasts bigint[], p_statuses text[],
    p_parked boolean[], p_wakes double precision[], p_sizes bigint[], p_entries integer[], p_seqs bigint[], p_bodies text,
    p_more json, p_again boolean)
  RETURNS TABLE (code text, detail text) LANGUAGE plpgsql AS $$
  DECLARE
    v_bodies text[] := string_to_array(p_bodies, E'\\n');
    v_run record;
    v_weeks integer[];
    v_keys bigint[];
    v_tenants text[];
    v_sizes bigint[];
    v_code text;
    v_more json;
    v_step json;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    PERFORM 1 FROM @.runs WHERE id = ANY (p_ids) ORDER BY id FOR UPDATE;
    FOR i IN 1 .. cardinality(p_ids) LOOP
      SELECT * INTO v_run FROM @.runs WHERE id = p_ids[i];
      v_code := CASE
        WHEN NOT FOUND THEN 'unknown-run'
        WHEN v_run.status IS NOT NULL THEN CASE WHEN p_firsts[i] IS NOT NULL THEN 'run-over' END
        WHEN CASE WHEN v_run.worker IS NOT NULL THEN v_run.epoch END IS DISTINCT FROM p_epochs[i] THEN 'claim-lost'
        WHEN p_firsts[i] <> v_run.last_seq + 1 THEN 'out-of-sequence'
      END;
      IF p_again AND v_code IN ('run-over', 'claim-lost', 'out-of-sequence') AND v_run.last_seq >= p_lasts[i] THEN
        PERFORM 1 FROM @.events AS stored
          JOIN unnest(p_entries, p_seqs, v_bodies) AS given (entry, seq, body)
            ON given.entry = i AND given.seq = p_lasts[i] AND given.body = stored.body
          WHERE stored.week = v_run.week AND stored.run_key = v_run.run_key AND stored.seq = p_lasts[i];
        IF FOUND THEN
          RETURN QUERY SELECT NULL::text, NULL::text;
          CONTINUE;
        END IF;
      END IF;
      IF v_code IS NOT NULL OR p_firsts[i] IS NULL THEN
        RETURN QUERY SELECT v_code,
          json_build_object('lastSeq', v_run.last_seq, 'epoch', v_run.epoch, 'worker', v_run.worker)::text;
        CONTINUE;
      END IF;
      v_weeks[i] := v_run.week;
      v_keys[i] := v_run.run_key;
      v_tenants[i] := v_run.tenant;
      v_sizes[i] := p_sizes[i];
      UPDATE @.runs SET last_seq = p_lasts[i], bytes = bytes + p_sizes[i], status = p_statuses[i],
          ended_at = CASE WHEN p_statuses[i] IS NOT NULL THEN now() END,
          worker = CASE WHEN p_statuses[i] IS NULL THEN worker END,
          parked_seq = CASE WHEN p_parked[i] THEN p_lasts[i] ELSE parked_seq END,
          wake_at = CASE WHEN p_parked[i] THEN p_wakes[i] ELSE wake_at END
        WHERE run_key = v_run.run_key;
      v_more := p_more -> (i - 1);
      IF json_typeof(v_more) = 'object' THEN
        FOR v_step IN SELECT * FROM json_array_elements(v_more -> 'steps') LOOP
          IF v_step ->> 0 = 'asked' THEN
            INSERT INTO @.questions (run_key, call_id, tenant, asked_at, body)
              VALUES (v_run.run_key, v_step ->> 1, v_run.tenant, (v_step ->> 2)::double precision, v_step ->> 3)
              ON CONFLICT (run_key, call_id) DO UPDATE SET asked_at = excluded.asked_at, body = excluded.body;
          ELSE
            DELETE FROM @.questions WHERE run_key = v_run.run_key AND call_id = v_step ->> 1;
            INSERT INTO @.audit (tenant, body) VALUES (v_run.tenant, v_step ->> 2);
          END IF;
        END LOOP;
        IF v_run.thread_id IS NOT NULL AND v_more -> 'thread' IS NOT NULL THEN
          PERFORM @.add_messages(v_run.thread_id, v_run.tenant, (v_more -> 'thread' ->> 'at')::double precision,
            (v_more -> 'thread' ->> 'bytes')::bigint, v_more -> 'thread' -> 'messages');
          v_sizes[i] := v_sizes[i] + (v_more -> 'thread' ->> 'bytes')::bigint;
          INSERT INTO @.usage (thread_id, model, tenant, body)
            SELECT v_run.thread_id, line ->> 0, v_run.tenant, line ->> 1
            FROM json_array_elements(v_more -> 'thread' -> 'usage') AS line
            ON CONFLICT (thread_id, model) DO UPDATE SET body = excluded.body;
        END IF;
      END IF;
      IF p_statuses[i] IS NOT NULL THEN
        DELETE FROM @.questions WHERE run_key = v_run.run_key;
        DELETE FROM @.answers WHERE run_key = v_run.run_key;
      END IF;
      RETURN QUERY SELECT NULL::text, NULL::text;
    END LOOP;
    INSERT INTO @.events (week, run_key, seq, tenant, body)
      SELECT v_weeks[given.entry], v_keys[given.entry], given.seq, v_tenants[given.entry], given.body
      FROM unnest(p_entries, p_seqs, v_bodies) AS given (entry, seq, body)
      WHERE v_keys[given.entry] IS NOT NULL;
    -- In one order, so that two writers cannot wait for each other.
    PERFORM @.grow_tenant(grown.tenant, grown.bytes) FROM (
      SELECT tenant, sum(bytes)::bigint AS bytes FROM unnest(v_tenants, v_sizes) AS each (tenant, bytes)
      WHERE tenant IS NOT NULL GROUP BY tenant ORDER BY tenant) AS grown;
  END $$;

  -- The events after a cursor; a single row without a seq if there is no such run.
  CREATE FUNCTION @.read_events(p_id text, p_after bigint, p_limit bigint, p_characters bigint)
  RETURNS TABLE (seq bigint, body text) LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
    v_left bigint := p_characters;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    SELECT run_key, week INTO v_run FROM @.runs WHERE id = p_id;
    IF NOT FOUND THEN RETURN QUERY SELECT NULL::bigint, NULL::text; RETURN; END IF;
    FOR seq, body IN
      SELECT e.seq, e.body FROM @.events AS e
      WHERE e.week = v_run.week AND e.run_key = v_run.run_key AND e.seq > p_after ORDER BY e.seq LIMIT p_limit
    LOOP
      RETURN NEXT;
      v_left := v_left - length(body);
      EXIT WHEN v_left <= 0;
    END LOOP;
  END $$;

  CREATE FUNCTION @.claim(p_id text, p_worker text, p_at double precision, p_seen bigint)
  RETURNS TABLE (code text, detail text, epoch bigint) LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    SELECT r.run_key, r.status, r.epoch, r.worker INTO v_run FROM @.runs AS r WHERE r.id = p_id FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'unknown-run', NULL::text, 0::bigint; RETURN; END IF;
    IF v_run.status IS NOT NULL THEN RETURN QUERY SELECT 'run-over', NULL::text, 0::bigint; RETURN; END IF;
    IF p_seen <> (CASE WHEN v_run.worker IS NULL THEN 0 ELSE v_run.epoch END) THEN
      RETURN QUERY SELECT 'claim-lost',
        json_build_object('epoch', v_run.epoch, 'worker', v_run.worker)::text, 0::bigint;
      RETURN;
    END IF;
    UPDATE @.runs AS r SET epoch = v_run.epoch + 1, worker = p_worker, claimed_at = p_at WHERE r.run_key = v_run.run_key;
    RETURN QUERY SELECT NULL::text, NULL::text, v_run.epoch + 1;
  END $$;

  -- Extends a claim, or gives it back if there is no time.
  CREATE FUNCTION @.change_claim(p_id text, p_epoch bigint, p_at double precision)
  RETURNS TABLE (code text, detail text) LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    SELECT r.run_key, r.epoch, r.worker INTO v_run FROM @.runs AS r WHERE r.id = p_id FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'unknown-run', NULL::text; RETURN; END IF;
    IF v_run.worker IS NULL OR v_run.epoch <> p_epoch THEN
      RETURN QUERY SELECT 'claim-lost', json_build_object('epoch', v_run.epoch, 'worker', v_run.worker)::text;
      RETURN;
    END IF;
    UPDATE @.runs AS r SET claimed_at = p_at, worker = CASE WHEN p_at IS NOT NULL THEN r.worker END
      WHERE r.run_key = v_run.run_key;
    RETURN QUERY SELECT NULL::text, NULL::text;
  END $$;

  CREATE FUNCTION @.keep_file(p_name text, p_data bytea, p_run text, p_epoch bigint)
  RETURNS TABLE (code text, detail text) LANGUAGE plpgsql AS $$
  DECLARE
    v_run record;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    IF p_run IS NOT NULL THEN
      SELECT r.epoch, r.worker INTO v_run FROM @.runs AS r WHERE r.id = p_run FOR SHARE;
      IF NOT FOUND THEN RETURN QUERY SELECT 'unknown-run', NULL::text; RETURN; END IF;
      IF v_run.worker IS NULL OR v_run.epoch IS DISTINCT FROM p_epoch THEN
        RETURN QUERY SELECT 'claim-lost', json_build_object('epoch', v_run.epoch, 'worker', v_run.worker)::text;
        RETURN;
      END IF;
    END IF;
    INSERT INTO @.files (name, data) VALUES (p_name, p_data) ON CONFLICT (name) DO UPDATE SET data = excluded.data;
    RETURN QUERY SELECT NULL::text, NULL::text;
  END $$;

  CREATE FUNCTION @.remove_thread(p_tenant text, p_id text) RETURNS TABLE (code text, detail text) LANGUAGE plpgsql AS $$
  DECLARE
    v_bytes bigint;
    v_found text;
  BEGIN
    PERFORM set_config('millrace.tenant', p_tenant, true);
    SELECT bytes INTO v_bytes FROM @.threads WHERE id = p_id AND tenant = p_tenant FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'unknown-thread', NULL::text; RETURN; END IF;
    SELECT id INTO v_found FROM @.runs WHERE thread_id = p_id AND status IS NULL;
    IF FOUND THEN RETURN QUERY SELECT 'thread-busy', v_found; RETURN; END IF;
    v_bytes := v_bytes + (SELECT coalesce(sum(bytes), 0) FROM @.runs WHERE thread_id = p_id);
    DELETE FROM @.events AS e USING @.runs AS r
      WHERE r.thread_id = p_id AND e.week = r.week AND e.run_key = r.run_key;
    DELETE FROM @.threads WHERE id = p_id;
    PERFORM @.grow_tenant(p_tenant, -v_bytes);
    RETURN QUERY SELECT NULL::text, NULL::text;
  END $$;
`;
