// How the connections that write are set up.

/**
 * No more than 8 MiB of pages are kept here: SQLite goes through all of them at each commit that has rearranged a tree, which
 * with 64 MiB was a sixteenth of this process's time. What is not kept is read again from the system's own memory.
 */
export const PRAGMAS = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma cache_size = -8000;
  pragma temp_store = memory;
`
