/** Services whose exports are read, and any table. */
export const TABLE_FORMATS = ["formspree", "netlify", "basin", "google", "csv"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** What a column of an export is beside the fields. */
export type ColumnRole = "id" | "created_at" | "ip_address" | "user_agent";

/** The columns of a service by their names in lower case, and how its times are read. */
export interface FormatFacts {
  readonly roles: Readonly<Record<string, ColumnRole>>;
  /** The member of a JSON row that holds the fields; null if they stand beside the rest. */
  readonly fieldsIn: string | null;
  /** Whether a time without a zone is UTC; else it is what the clocks of the workspace showed. */
  readonly isUtc: boolean;
}

/** `docs/migrating.md` says which of these names are certain, and by which page of the service. */
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
    // The language of the form's owner rules the name.
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
    // What an export of our own is headed by is among them.
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
