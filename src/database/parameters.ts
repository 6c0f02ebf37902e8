/**
 * For a parameter that is a limit, or that is compared with a column whose index is not unique. For a plain `?` SQLite would estimate the
 * number of rows by its value, and compile the statement again for each call. That took up to 60 µs, ten times as long as the statement
 * itself.
 */
export const TEXT_PARAMETER = "CAST(? AS TEXT)";
export const LIMIT_PARAMETER = "CAST(? AS INTEGER)";
