import type { Database } from "../database/database.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { type FieldLabels, readLabels } from "../endpoints/field-labels.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Language } from "../languages/language.ts";

/** How a chat is told about a form. */
export interface FormWords {
  /** Of the form's fields, by their names: what stands in place of those that have one. */
  readonly labels: FieldLabels;
  /** The form's, else English. */
  readonly language: Language;
}

const PLAIN: FormWords = { labels: {}, language: "en" };

/** Reads how a form calls things. Names and English if the database does not answer: such a message is better than none. */
export function formWordsReader(db: Database): (endpointId: string) => Promise<FormWords> {
  return async (endpointId) => {
    try {
      return await db.read(function* () {
        const endpoint = yield* findEndpoint(endpointId);
        if (endpoint === undefined) return PLAIN;
        return {
          labels: (yield* readLabels(endpoint)) ?? {},
          language: endpoint.settings.language ?? PLAIN.language,
        };
      });
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      return PLAIN;
    }
  };
}
