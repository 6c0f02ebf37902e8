/** The services whose exports can be read, and `csv` for any table. */
export const TABLE_FORMATS = ["formspree", "netlify", "basin", "google", "csv"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** The meaning of a column that is not a field. Only our own tables have `unknown_fields`. */
export type ColumnRole = "id" | "created_at" | "ip_address" | "user_agent" | "unknown_fields";

/** The roles of a service's columns, by their names in lower case, and how its times are read. */
export interface FormatFacts {
  readonly roles: Readonly<Record<string, ColumnRole>>;
  /** The member of a JSON row that holds the fields; null if the row itself does. */
  readonly fieldsIn: string | null;
  /** Whether a time without a zone is in UTC; otherwise it is in the time zone of the workspace. */
  readonly isUtc: boolean;
}

/** `docs/migrating.md` says which of these names are certain, and which page of the service documents them. */
export const FORMATS: Readonly<Record<TableFormat, FormatFacts>> = {
  formspree: {
    roles: {
      _id: "id",
      _date: "created_at",
      date: "created_at",
      submitted: "created_at",
      _ip: "ip_address",
      _user_agent: "user_agent",
    },
    fieldsIn: null,
    isUtc: true,
  },
  netlify: {
    roles: {
      id: "id",
      created_at: "created_at",
      "created at": "created_at",
      ip: "ip_address",
      user_agent: "user_agent",
      "user agent": "user_agent",
    },
    fieldsIn: "data",
    isUtc: true,
  },
  basin: {
    roles: {
      id: "id",
      "submission id": "id",
      created_at: "created_at",
      "created at": "created_at",
      date: "created_at",
      ip: "ip_address",
      ip_address: "ip_address",
      user_agent: "user_agent",
      "user agent": "user_agent",
    },
    fieldsIn: "payload_params",
    isUtc: true,
  },
  google: {
    // The name of the column depends on the language of the form's owner.
    roles: {
      timestamp: "created_at",
      zeitstempel: "created_at",
      horodateur: "created_at",
      "marca temporal": "created_at",
      "carimbo de data/hora": "created_at",
      "informazioni cronologiche": "created_at",
      tijdstempel: "created_at",
      "sygnatura czasowa": "created_at",
    },
    fieldsIn: null,
    isUtc: false,
  },
  csv: {
    // They include the headings of our own exports.
    roles: {
      id: "id",
      created_at: "created_at",
      timestamp: "created_at",
      ip_address: "ip_address",
      user_agent: "user_agent",
    },
    fieldsIn: null,
    isUtc: false,
  },
};
