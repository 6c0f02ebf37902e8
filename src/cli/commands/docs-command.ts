import type { Command } from "commander";
import { FormsvcError } from "../../foundation/errors.ts";
import { addCommand, command } from "../command.ts";

export function register(program: Command): void {
  addCommand(
    program,
    command({
      usage: "docs [topic]",
      isLocal: true,
      summary: "Show a page of the documentation of this version, or list the pages",
      notes:
        "Plain text in lines of 80 columns. On a terminal, $PAGER shows a page that is longer than the screen.",
      examples: ["formsvc docs", "formsvc docs webhooks", "formsvc docs recipes-hugo > hugo.txt"],
      action: async ({ output }, _options, [given]) => {
        const { findPage, topicName, topics } = await import("../../manual/manual.ts");
        if (given === undefined) {
          const rows = topics.map(({ name, summary }) => [name, summary]);
          if (output.isJson) return output.json({ data: topics });
          return output.table(["TOPIC", "WHAT IT IS ABOUT"], rows, "");
        }
        const topic = topicName(given);
        const page = findPage(topic);
        if (page === null) throw await unknownTopic(given);
        const { pageText } = await import("../output/page-text.ts");
        const text = pageText(page);
        if (output.isJson) return output.json({ topic, title: page.title, text });
        const { showText } = await import("../output/pager.ts");
        return showText(output, text);
      },
    }),
  );
}

async function unknownTopic(given: string): Promise<FormsvcError> {
  const { nearTopics } = await import("../../manual/manual.ts");
  const near = nearTopics(given);
  const advice = near.length > 0 ? `is it ${near.join(" or ")}?` : "formsvc docs lists the pages";
  return new FormsvcError("usage", `there is no page “${given}” in the documentation; ${advice}`);
}
