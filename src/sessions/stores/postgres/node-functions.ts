/**
 * The second version: what nodes say about themselves. Nobody misses it after a crash, so it is not logged. `oldest` is the
 * oldest version whose programs may work on the tables.
 */
export const NODES_2 = `
  CREATE UNLOGGED TABLE @.nodes (
    node text PRIMARY KEY,
    tenant text NOT NULL DEFAULT '*',
    body text NOT NULL
  ) WITH (fillfactor = 40);
  SELECT @.set_apart('nodes');

  CREATE FUNCTION @.note_node(p_node text, p_body text) RETURNS TABLE (node text, body text) LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('millrace.tenant', '*', true);
    SET LOCAL synchronous_commit = off;
    IF p_body IS NULL THEN
      DELETE FROM @.nodes AS n WHERE n.node = p_node;
    ELSE
      INSERT INTO @.nodes AS n (node, body) VALUES (p_node, p_body)
        ON CONFLICT ON CONSTRAINT nodes_pkey DO UPDATE SET body = excluded.body;
    END IF;
    RETURN QUERY SELECT n.node, n.body FROM @.nodes AS n WHERE n.node <> p_node;
  END $$;

  ALTER TABLE @.version ADD COLUMN oldest integer;
`;
