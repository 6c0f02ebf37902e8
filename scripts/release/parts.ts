/** The parts that a release is made from, besides the executables. */
export interface Parts {
  readonly version: string;
  /** The time of the commit, in seconds since 1970. Everything in a release that has a time has this one. */
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
  /** The libraries that the program and its addons name as needed; empty if the program is not for Linux. */
  readonly needed: readonly string[];
}

/** A file of the release. */
export interface Made {
  /** The path in the folder of the release. */
  readonly name: string;
  readonly content: Buffer | string;
}
