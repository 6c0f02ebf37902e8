import type { Database } from "../database/database.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { type FieldLabels, readLabels } from "../endpoints/field-labels.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Language } from "../languages/language.ts";

/** The words of a form in a chat. */
export interface FormWords {
  /** The labels of the form's fields, by the names of the fields; a field without a label is not in here. */
  readonly labels: FieldLabels;
  /** The language of the form; English if it has none. */
  readonly language: Language;
}

const PLAIN: FormWords = { labels: {}, language: "en" };

/**
 * Returns a function that reads the words of a form. If the database does not answer, it returns no labels and English, because a message
 * without labels is better than none.
 */
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
