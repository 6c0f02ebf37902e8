import { type PoolClient, Query, type QueryConfig, type QueryResult } from "pg";

/**
 * Sends a statement as the driver's `query` does, but drops what was sent and answered when the answer is here. The engine keeps
 * the driver's own objects until it collects old ones: with the rows of each batch that cost a post some 15 microseconds.
 */
export async function sendQuery(client: PoolClient, query: string | QueryConfig): Promise<QueryResult> {
  try {
    return await answerTo(client, query);
  } catch (error) {
    // The driver does the same: the stack shows who asked, not the socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

function answerTo(client: PoolClient, query: string | QueryConfig): Promise<QueryResult> {
  const { text, name, values } = typeof query === "string" ? { text: query } : query;
  const sending = new Query(text);
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: QueryResult): void => {
      Object.assign(sending, { values: undefined, callback() {} });
      if (error !== null) {
        reject(error);
        return;
      }
      Object.assign(sending, { _result: undefined, _results: undefined });
      resolve(result);
    };
    Object.assign(sending, { name, values, callback });
    client.query(sending);
  });
}
