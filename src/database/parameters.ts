/**
 * For a parameter that is a limit, or is compared with a column whose index is not unique. SQLite estimates rows by the value of a plain
 * `?` there, and compiles the statement again for each call: that took up to 60 µs, ten times as long as the statement itself.
 */
export const TEXT_PARAMETER = "CAST(? AS TEXT)";
export const LIMIT_PARAMETER = "CAST(? AS INTEGER)";
