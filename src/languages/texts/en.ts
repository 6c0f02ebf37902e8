/**
 * What people read who never chose this service: visitors of forms, and recipients of their e-mails. Every language has these keys, with
 * the same names in braces. A text that changes with a number has the forms of `Intl.PluralRules`.
 */
export const en = {
  // What was wrong with an answer. `field` is the label or the name of its field; `amount` is one of the two texts with a number.
  required: "{field} is required",
  wrongType: "{field} must be {expected}, not {received}",
  typeText: "text",
  typeNumber: "a number",
  numberLike: "a number written like {example}",
  typeBoolean: "true or false",
  typeObject: "an object",
  typeList: "a list",
  oneOfOptions: "one of {options}",
  minimumNumber: "{field} must be at least {count}",
  maximumNumber: "{field} must be at most {count}",
  minimumLength: "{field} must have at least {amount}",
  maximumLength: "{field} must have at most {amount}",
  characters: { one: "{count} character", other: "{count} characters" },
  items: { one: "{count} item", other: "{count} items" },
  noEmail: "{field} must be an e-mail address",
  noUrl: "{field} must be a web address that starts with http:// or https://",
  noDate: "{field} must be a date",
  noPhone: "{field} must be a telephone number",
  noMatch: "{field} does not have the expected form",
  noOption: "{field} must be one of: {options}",
  furtherOptions: "and {count} more",
  unknownField: "{field} is not a field of this form",
  unknownMembers: "{field} has members that are not known: {names}",
  unknownSent: "The form sent something that it does not ask for.",
  typeFile: "a file",
  fileSize: "{field}: the file must not be empty and may have {size} at most",
  fileCount: { one: "{field}: {count} file at most", other: "{field}: {count} files at most" },
  fileType: "{field} does not take this kind of file, or its content is not what its name says",
  fileName: "{field}: the file needs a name that can be shown",
  // What a field for files takes; `kinds` is a list of the texts below and of extensions.
  fileTakes: "Up to {size}: {kinds}",
  filesTake: {
    one: "{count} file of up to {size}: {kinds}",
    other: "Up to {count} files of {size} each: {kinds}",
  },
  kindsUsual: "documents, pictures, text and tables",
  kindImage: "pictures",
  kindAudio: "sound recordings",
  kindVideo: "videos",
  kindText: "text files",
  chooseFilesAgain: "Please choose your files again; a page cannot keep them.",

  // Why a form was refused: never a word about plans, keys or the schema.
  formIsBroken: "This form is not set up correctly. Please tell the owner of the site.",
  tryAgain: "Something went wrong on our side. Please send it again in a moment.",
  held: "We have your message; it may take a little longer until it is read.",
  lookAgain: "Some of your answers need another look.",
  tooLarge: "This is more than the form takes. Please shorten it, and leave files out.",
  otherType: "This form does not take what was sent. Please leave files out, and send it again.",
  notFromHere:
    "This form does not take answers from here or at this time. Please tell the owner of the site.",
  challengeRequired:
    "Please allow scripts (JavaScript) on this page and send the form again: it is protected from robots.",
  blocked: "Your message could not be sent. Please get in touch in another way.",
  notNow: "This form cannot take your message right now. Please get in touch in another way.",
  tooMany: "Too many messages came from your connection. Please send it again in a moment.",
  onItsWay: "Your message is on its way already. Please wait a moment.",
  tooSlow: "Your message took too long to arrive. Please send it again.",
  busy: "The service cannot take your form right now. Please send it again in a moment.",
  unreachable: "The server could not be reached. Please try again.",

  // Pages after a form was sent.
  thanks: "Thank you",
  received: "Your answers were received.",
  thanksReceived: "Thank you. Your answers were received.",
  backTo: "Back to {site}",
  headingHeld: "We have your message",
  headingInvalid: "Please check your answers",
  headingRefused: "Your form was not sent",
  goBack: "With your browser’s Back button you get back to the form; what you typed is usually still there.",
  headingClosed: "This form cannot be opened",
  noFormHere:
    "There is no form at this address, or not any more. Please check the address, or ask whoever gave it to you.",
  openAgain: "Please open it again in a moment.",
  send: "Send",
  optional: "optional",
  sendAgain: "Send again",
  frontHeading: "This is a form service",
  frontText:
    "It takes what people write into the forms of other pages. There is nothing to do or to read at this address.",

  // Pages behind the links of e-mails. `address` is the recipient's, `form` the form's name.
  agreeTitle: "May we send you e-mails?",
  agreeText: "Somebody asked that what visitors send through a form also goes to {address}.",
  agreeButton: "Yes, send them to me",
  agreeNote:
    "You did not expect this? Close the page. Nothing is sent without your yes, and each e-mail has a link to stop it.",
  stopTitle: "Stop these e-mails?",
  stopText: "What visitors send through the form {form} goes to {address} by e-mail.",
  stopButton: "Stop sending them to me",
  stopNote: "You want to keep them? Close the page: nothing changes then.",
  agreedTitle: "You get these e-mails now",
  agreedText: "What visitors send through the form {form} from now on goes to {address}.",
  agreedNote: "Each e-mail has a link that stops them.",
  stoppedTitle: "You get no more of these e-mails",
  stoppedText: "What visitors send through the form {form} does not go to {address} any more.",
  stoppedNote: "If you want them again, ask the owner of the form.",
  goodUntil: "The link is good until {day}.",
  failedTitle: "This did not work",
  deadStopLink: "The link does not work: the recipient is no longer there.",
  noMail: "This server sends no e-mail at present.",
  // What follows links of e-mails that do not work: what to do next, those of files, and those to the dashboard.
  deadTitle: "This link does not work",
  deadLinkNext: "If you have not agreed yet, ask the owner of the form for a new e-mail.",
  deadStopNext: "If e-mails still come, use the link in the newest one, or ask the owner of the form.",
  deadFile: "The link is not complete or no longer valid, or the file was deleted.",
  deadEntry: "The link was used or replaced by a newer one, or is too old.",
  deadEntryNext: "Ask whoever sent it for a new one, or sign in.",
  newLetter: "Get a new e-mail",
  signIn: "Sign in",

  // The letter that asks the holder of an address.
  askSubject: "Get the submissions of {form}?",
  askText: "Somebody who looks after the form “{form}” wants to send its submissions to this address.",
  askSubjectAt: "Get the submissions of a form at {host}?",
  askTextAt:
    "Somebody who looks after a form at {host} wants to send its submissions to this address. The page behind the link names the form.",
  askEnding:
    "Nothing is sent before you agree. If you did not expect this, do nothing. The link works for 7 days.",
  askLink: "See and agree",

  // E-mails about submissions.
  newSubmission: "New submission: {form}",
  newSubmissions: { one: "{count} new submission: {form}", other: "{count} new submissions: {form}" },
  // Values in e-mails about submissions: of a box, and what has become of a file.
  yes: "yes",
  no: "no",
  stateScanning: "being scanned for viruses",
  stateUnscanned: "not scanned for viruses",
  stateDeleted: "not kept any more",
  stateInfected: "deleted: it had a virus",
  stateVirus: "deleted: it had the virus {virus}",
  partShown: "Only a part is shown here; all of it is kept as {reference}.",
  filesTooLarge: "Some files are too large for an e-mail: they are with the submission.",
  receivedAt: "Received {time}, spam score {score}.",
  openSubmission: "Open the submission",
  unsubscribe: "Unsubscribe",
  beside: "Not among the fields of the form",
  partOfItShown: "Only a part of it is shown here.",
  valuesLost: {
    one: "Of what was sent, one value had no room and is lost.",
    other: "Of what was sent, {count} values had no room and are lost.",
  },
  moreSubmissions: "And {count} more.",

  // The automatic reply.
  replySubject: "We have received your message: {form}",
  replyText: "Thank you. Your message has arrived.",
  replyForm: "Form",
  replyReference: "Reference",
  replyReceived: "Received",
  replyWhy:
    "This is an automatic e-mail. You get it because somebody wrote your address into this form. If it was not you, you need not do anything.",

  // Labels and choices of the ready-made forms, which their owners change as they like.
  madeName: "Your name",
  madeEmail: "E-mail",
  madePhone: "Phone",
  madeMessage: "Message",
  madeItem: "What you would like",
  madeFirst: "First",
  madeSecond: "Second",
  madeThird: "Third",
  madeCollection: "Day of collection",
  madeWishes: "Wishes",
  madeDay: "Day",
  madePeople: "How many people",
  madeCv: "Your CV",
  madeReason: "Why you would like to work here",
  madeKeep: "You may keep my application for six months",
  madeNews: "Yes, send me your newsletter",
};

/** The forms of a text by the names of `Intl.PluralRules`; just the text in a language with one form. */
type Plural = string | ({ readonly other: string } & Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>);

/** Every text in one language; names in braces stand for values. */
export type Texts = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural;
};
