/** What everything of a release is made from, besides the executables. */
export interface Parts {
  readonly version: string;
  /** When the commit was made, in seconds since 1970: the time of everything that has one. */
  readonly seconds: number;
  /** The address under which the files of a release will be found. */
  readonly url: string;
  readonly license: string;
  readonly thirdParty: string;
}

/** A file of the release. */
export interface Made {
  /** Its path in the folder of the release. */
  readonly name: string;
  readonly content: Buffer | string;
}
