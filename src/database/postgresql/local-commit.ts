/**
 * Begins a statement that is a transaction of its own, and that reads from `settings`: its commit waits for the disk and for no
 * standby. It is for what servers tell each other, of which nothing must outlive the primary. It waits two seconds for a row at most.
 */
export const WITH_LOCAL_COMMIT = `WITH settings AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'local', true), set_config('lock_timeout', '2000', true))`;
