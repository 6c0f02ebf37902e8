/** Commands that are not operations, with the reason: they work on the machine, or without a database. */
export const LOCAL_COMMANDS: Readonly<Record<string, string>> = {
  "backup-command#backup": "copies the whole database on this machine",
  "config-commands#check": "looks at the configuration of this machine",
  "config-commands#show": "looks at the configuration of this machine",
  "context-commands#list": "looks at what the user of this machine is logged in to",
  "context-commands#remove": "forgets on this machine",
  "context-commands#use": "chooses on this machine",
  "copy-command#copy": "copies the whole database to another engine",
  "docs-command#register": "prints a page that this program carries",
  "doctor-command#doctor": "examines this machine too: its clock, disk and files",
  "healthcheck-command#healthcheck": "asks a server that runs here whether it is ready",
  "login-commands#login": "keeps a token on this machine, which somebody approves in the dashboard",
  "mail-commands#check": "talks to the mail server of the configuration",
  "mail-commands#test": "talks to the mail server of the configuration",
  "migrate-commands#status": "looks at the structure of the database",
  "migrate-commands#up": "changes the structure of the database",
  "restore-command#restore": "replaces the whole database",
  "schema-commands#check": "reads a file, and no database",
  "secrets-commands#decrypt": "needs the key file of this machine",
  "secrets-commands#encrypt": "needs the key file of this machine",
  "secrets-commands#rotate": "makes the key file of this machine",
  "secrets-commands#status": "needs the key file of this machine",
  "serve-command#serve": "is the server",
  "spam-eval-command#evaluateCommand": "reads a file, and no database",
  "systemd-command#systemd": "prints units for this machine",
  "upgrade-command#upgrade": "looks for a newer release",
  "version-command#register": "prints the version of the program",
  "completion-command#register": "prints a script for this machine's shell",
  "webhook-receiver-commands#listen": "is a receiver on this machine",
  "webhook-receiver-commands#verify": "reads a file, and no database",
};

/** Functions that change rows and that the doors call without an operation, with the reason. */
export const LOCAL_WRITERS: Readonly<Record<string, string>> = {
  "src/sessions/known-clients.ts#flowKey": "makes the key of this installation, before anybody is signed in",
  "src/sessions/ask-by-mail.ts#createMailedRequests":
    "somebody who is not signed in yet has no rights to look at",
  "src/sessions/sign-in.ts#createSignIns": "the same; who it is follows from it",
  "src/sessions/use-link.ts#readLink": "the same",
  "src/sessions/passkeys.ts#askForPasskey": "makes that key too, before a device is asked",
  "src/sessions/session.ts#endSession": "whoever has the cookie ends its session",
  "src/sessions/notify-owner.ts#createOwnerNotifier": "is handed to those who sign in, for their letters",
  "src/sessions/known-clients.ts#rememberAddress":
    "a request of a session that is there, which changes nothing for people",
  "src/sessions/session.ts#noteSeen": "the same",
  "src/tokens/login-store.ts#addLoginRequest":
    "a command line that is not logged in has no rights to look at",
  "src/tokens/login-store.ts#pollLogin": "the same",
  "src/tokens/login-store.ts#spendLogin": "the same; the token is made by an operation",
  "src/tokens/token-store.ts#noteUse": "the same, of a token",
};
