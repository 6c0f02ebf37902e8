/**
 * The types of files that a form may ask for, by media type, with the extensions of their names. Other types are refused, because the
 * server cannot check whether a file really has that type.
 */
const KNOWN_TYPES: Readonly<Record<string, readonly string[]>> = {
  "application/pdf": ["pdf"],
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ["docx"],
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ["xlsx"],
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": ["pptx"],
  "application/vnd.oasis.opendocument.text": ["odt"],
  "application/vnd.oasis.opendocument.spreadsheet": ["ods"],
  "application/vnd.oasis.opendocument.presentation": ["odp"],
  "application/msword": ["doc"],
  "application/vnd.ms-excel": ["xls"],
  "application/vnd.ms-powerpoint": ["ppt"],
  "application/rtf": ["rtf"],
  "application/epub+zip": ["epub"],
  "image/png": ["png"],
  "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "image/heic": ["heic"],
  "image/heif": ["heif", "heic"],
  "image/avif": ["avif"],
  "image/tiff": ["tif", "tiff"],
  "image/bmp": ["bmp"],
  "audio/mpeg": ["mp3"],
  "audio/mp4": ["m4a"],
  "audio/aac": ["aac"],
  "audio/ogg": ["ogg", "oga", "opus"],
  "audio/wav": ["wav"],
  "audio/flac": ["flac"],
  "audio/amr": ["amr"],
  "video/mp4": ["mp4", "m4v"],
  "video/quicktime": ["mov", "qt"],
  "video/webm": ["webm"],
  "video/x-matroska": ["mkv"],
  "video/3gpp": ["3gp"],
  "application/zip": ["zip"],
  "application/gzip": ["gz", "tgz"],
  "application/x-7z-compressed": ["7z"],
  "application/x-tar": ["tar"],
  "text/plain": ["txt", "text", "log"],
  "text/csv": ["csv"],
  "text/tab-separated-values": ["tsv"],
  "text/markdown": ["md"],
  "text/calendar": ["ics"],
  "text/vcard": ["vcf"],
  "application/json": ["json"],
};

/** The types that a field without `accept` takes: documents without macros, pictures, plain text and tables. */
const DEFAULT_TYPES: ReadonlySet<string> = new Set([
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.spreadsheet",
  "application/vnd.oasis.opendocument.presentation",
  "application/msword",
  "application/vnd.ms-excel",
  "application/vnd.ms-powerpoint",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/heic",
  "image/heif",
  "image/avif",
  "image/tiff",
  "image/bmp",
  "text/plain",
  "text/csv",
]);

/** Types that cannot be recognised by a mark at the beginning of the content. Only the text itself can be checked. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  "text/plain",
  "text/csv",
  "text/tab-separated-values",
  "text/markdown",
  "text/calendar",
  "text/vcard",
  "application/json",
]);

/**
 * Extensions of files that are always refused, because opening them runs code or shows a web page: pages and markup, programs, scripts,
 * installers, shortcuts, disk images, documents with macros.
 */
const NEVER_EXTENSIONS: ReadonlySet<string> = new Set(
  (
    "html htm xhtml xht shtml mht mhtml svg svgz xml xsl xslt xsd rss atom js mjs cjs jse ts jsx tsx wasm swf " +
    "exe com scr pif cpl dll sys drv ocx msi msp mst msix appx appxbundle msixbundle jar jnlp class war apk aab ipa deb rpm pkg " +
    "mpkg dmg iso img vhd vhdx vmdk toast bin run elf so dylib app appimage flatpak snap gadget " +
    "bat cmd ps1 psm1 psd1 ps1xml vb vbs vbe ws wsf wsc wsh sh bash zsh fish csh ksh command workflow action scpt applescript py pyc " +
    "pyw pyz rb pl php php3 php4 php5 phtml phar asp aspx jsp cgi lua hta reg inf ins isp its sct shb shs lnk url " +
    "desktop webloc website scf library-ms search-ms settingcontent-ms application chm hlp crt cer " +
    "docm dotm xlsm xltm xlam xlsb xll xla xlw ppsm pptm potm ppam sldm onepkg one odb mdb accdb mde accde ade adp slk iqy"
  ).split(" "),
);
const NEVER_TYPES =
  /^(?:text\/(?:html|xml|xsl|javascript|ecmascript|x-.*script.*)|image\/svg.*|application\/(?:xhtml.*|xml.*|.*\+xml|javascript|ecmascript|x-javascript|x-sh|x-csh|x-msdownload|x-msi|x-ms-.*|x-ms(?:dos|installer).*|vnd\.microsoft\..*|x-executable|x-elf|x-mach-binary|x-dosexec|x-apple-diskimage|x-iso9660-image|java-archive|java-vm|x-java.*|x-deb|x-rpm|vnd\.android\..*|x-shockwave-flash|wasm|.*macroenabled.*))$/;

/** If two types have the same extension, the first one counts. */
const TYPE_OF_EXTENSION = new Map(
  Object.entries(KNOWN_TYPES)
    .toReversed()
    .flatMap(([type, extensions]) => extensions.map((extension) => [extension, type] as const)),
);

const FAMILIES = ["image", "audio", "video", "text"] as const;
export type FileFamily = (typeof FAMILIES)[number];

/** The extension of a file name, without the dot, in lower case; empty if the name has none. */
export function extensionOf(name: string): string {
  return /\.([^.\s/\\]{1,20})$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** The media type for this extension; undefined if unknown. */
export function typeOfExtension(extension: string): string | undefined {
  return TYPE_OF_EXTENSION.get(extension);
}

/** Whether files of this type may have this extension. */
export function hasExtension(type: string, extension: string): boolean {
  return KNOWN_TYPES[type]?.includes(extension) === true;
}

export function isTextType(type: string): boolean {
  return TEXT_TYPES.has(type);
}

export function isNeverAllowed(type: string, extension: string): boolean {
  return NEVER_EXTENSIONS.has(extension) || NEVER_TYPES.test(type.toLowerCase());
}

/** @param accept the `accept` of a field; undefined means the default types. @param type a known media type. */
export function isAccepted(accept: readonly string[] | undefined, type: string): boolean {
  if (accept === undefined) return DEFAULT_TYPES.has(type);
  return accept.some((each) => {
    const wanted = each.trim().toLowerCase();
    if (wanted.startsWith(".")) return hasExtension(type, wanted.slice(1));
    return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
  });
}

/** What is wrong with one entry of `accept`; undefined if nothing is. */
export function acceptProblem(entry: string): string | undefined {
  const wanted = entry.trim().toLowerCase();
  if (wanted === "*" || wanted === "*/*" || wanted === "application/*")
    return "takes anything, programs too; name the types that the form needs";
  const extension = wanted.startsWith(".") ? wanted.slice(1) : "";
  if (isNeverAllowed(wanted, extension)) return "is never let in, because whoever opens such a file runs it";
  if (FAMILIES.some((family) => wanted === `${family}/*`)) return undefined;
  if (Object.hasOwn(KNOWN_TYPES, wanted) || TYPE_OF_EXTENSION.has(extension)) return undefined;
  return `is not a type that files can be checked for; take a media type like "application/pdf", an extension like ".docx", or one of ${FAMILIES.map((family) => `${family}/*`).join(", ")}`;
}

/** The kinds of files that a field takes, for people: families, and the usual extension of every other type, each once. */
export function kindsOf(accept: readonly string[]): readonly (FileFamily | { readonly extension: string })[] {
  const wanted = accept.map((each) => each.trim().toLowerCase());
  const families = FAMILIES.filter((family) => wanted.includes(`${family}/*`));
  const others = wanted.filter((each) => !each.endsWith("/*"));
  const extensions = others.map((each) => KNOWN_TYPES[each]?.[0] ?? each.replace(/^\./, ""));
  return [...families, ...[...new Set(extensions)].map((extension) => ({ extension }))];
}

/** The `accept` attribute of the input for a field without `accept`. */
export const DEFAULT_ACCEPT: readonly string[] = [...DEFAULT_TYPES];
