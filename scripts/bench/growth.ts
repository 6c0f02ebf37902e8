import { type Figure, renderFigures } from "./figures.ts";
import { residentMb, runLoad } from "./processes.ts";
import { makeWorkplace } from "./workplace.ts";

/**
 * Measures the memory of a server after its first posts and after many more, from 64 connections.
 * Usage: node scripts/bench/growth.ts [POSTS]
 */
const CONNECTIONS = 64;
const SPELL_SECONDS = 10;
/** The number of spells until the engine has sized its heap. */
const FIRST_SPELLS = 3;

if (import.meta.main) {
  const [posts = 1_000_000] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await measureGrowth(posts)));
}

export async function measureGrowth(posts: number): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    const server = await place.serve();
    const sizes: number[] = [];
    for (let sent = 0; sent < posts || sizes.length <= FIRST_SPELLS;) {
      const { requests } = await runLoad(server, CONNECTIONS, SPELL_SECONDS, place.request);
      sent += requests;
      sizes.push(residentMb(server.pid));
    }
    await server.stop();
    const early = Math.max(...sizes.slice(0, FIRST_SPELLS));
    const late = Math.min(...sizes.slice(-FIRST_SPELLS));
    return [
      {
        figure: "most memory under that load",
        value: Math.max(...sizes),
        unit: "MB",
        bound: { atMost: 220 },
      },
      {
        // The heap grows and shrinks by about 30 MB. If the server grew, the lowest memory at the end would be above the highest of the
        // beginning.
        figure: `memory after ${posts} posts (least of the last ${FIRST_SPELLS} spells) over the first spells' most`,
        value: late / early,
        unit: "",
        bound: { atMost: 1 },
      },
    ];
  } finally {
    place.remove();
  }
}
