/** The SQL functions of the first version that keep partitions and remove old runs. */
export const WEEK_FUNCTIONS_1 = `
  -- A week for which the default partition has rows already keeps them there.
  CREATE FUNCTION @.prepare_weeks(p_ahead integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    v_name text;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    IF NOT pg_try_advisory_xact_lock(hashtextextended('millrace weeks @.', 0)) THEN RETURN; END IF;
    PERFORM set_config('lock_timeout', '2s', true);
    FOR v_week IN @.this_week() .. @.this_week() + p_ahead LOOP
      v_name := 'events_' || v_week;
      CONTINUE WHEN to_regclass(format('@.%I', v_name)) IS NOT NULL;
      PERFORM 1 FROM @.events_other WHERE week = v_week LIMIT 1;
      CONTINUE WHEN FOUND;
      EXECUTE format('CREATE TABLE @.%I PARTITION OF @.events FOR VALUES FROM (%s) TO (%s)', v_name, v_week, v_week + 1);
      PERFORM @.set_apart(v_name);
    END LOOP;
  END $$;

  -- Drops the partitions of weeks in which nothing is left to keep.
  CREATE FUNCTION @.drop_weeks(p_older_ms double precision) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    v_week integer;
    v_before timestamptz := now() - p_older_ms * interval '1 millisecond';
    v_dropped integer := 0;
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    IF NOT pg_try_advisory_xact_lock(hashtextextended('millrace weeks @.', 0)) THEN RETURN 0; END IF;
    PERFORM set_config('lock_timeout', '2s', true);
    FOR v_week IN
      SELECT substring(c.relname FROM '^events_(\\d+)$')::integer AS week
      FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
      WHERE i.inhparent = '@.events'::regclass AND c.relname ~ '^events_\\d+$' ORDER BY week
    LOOP
      EXIT WHEN v_week >= floor(extract(epoch FROM v_before) / 604800);
      PERFORM 1 FROM @.runs WHERE week = v_week AND (ended_at IS NULL OR ended_at > v_before) LIMIT 1;
      CONTINUE WHEN FOUND;
      PERFORM @.forget_runs(ARRAY(SELECT run_key FROM @.runs WHERE week = v_week FOR UPDATE));
      EXECUTE format('DROP TABLE @.%I', 'events_' || v_week);
      v_dropped := v_dropped + 1;
    END LOOP;
    RETURN v_dropped;
  END $$;

  -- Removes runs that ended before that time, with their events.
  CREATE FUNCTION @.remove_runs(p_older_ms double precision, p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    v_keys bigint[];
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    v_keys := ARRAY(SELECT run_key FROM @.runs WHERE ended_at < now() - p_older_ms * interval '1 millisecond'
      ORDER BY ended_at LIMIT p_most FOR UPDATE SKIP LOCKED);
    DELETE FROM @.events AS e USING @.runs AS r
      WHERE r.run_key = ANY (v_keys) AND e.week = r.week AND e.run_key = r.run_key;
    PERFORM @.forget_runs(v_keys);
    RETURN cardinality(v_keys);
  END $$;

  CREATE FUNCTION @.forget_runs(p_keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM @.grow_tenant(freed.tenant, -freed.bytes) FROM (
      SELECT tenant, sum(bytes)::bigint AS bytes FROM @.runs WHERE run_key = ANY (p_keys)
      GROUP BY tenant ORDER BY tenant) AS freed;
    DELETE FROM @.runs WHERE run_key = ANY (p_keys);
  END $$;
  CREATE INDEX runs_by_end ON @.runs (ended_at) WHERE ended_at IS NOT NULL;
`;
