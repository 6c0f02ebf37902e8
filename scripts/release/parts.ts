/** What everything of a release is made from, besides the executables. */
export interface Parts {
  readonly version: string;
  /** When the commit was made, in seconds since 1970: the time of everything that has one. */
  readonly seconds: number;
  /** The address under which the files of a release will be found; empty if it is not known. */
  readonly url: string;
  readonly license: string;
  readonly thirdParty: string;
  /** The bill of materials. */
  readonly bill: string;
}

/** The program of one platform. */
export interface Executable {
  readonly bytes: Buffer;
  /** The libraries that it and the addons inside it name as needed; empty if it is not for Linux. */
  readonly needed: readonly string[];
}

/** A file of the release. */
export interface Made {
  /** Its path in the folder of the release. */
  readonly name: string;
  readonly content: Buffer | string;
}
