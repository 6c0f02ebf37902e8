import { type Figure, renderFigures } from "./figures.ts";
import { median, runLoad, type RunningServer } from "./processes.ts";
import { makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures how much a second serving process could gain at most: two servers, each with its own file and a core that it shares with a load
 * generator, against one server that has both cores. Servers on one file would also have to share its writer.
 * Usage: node scripts/bench/two-servers.ts [ROUNDS] [SECONDS]
 */
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 8;
const BOTH_CORES = "0,1";

if (import.meta.main) {
  const [rounds = 5, seconds = 4] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await compareProcesses(rounds, seconds)));
}

export async function compareProcesses(rounds: number, seconds: number): Promise<Figure[]> {
  const places = [makeWorkplace(), makeWorkplace()];
  try {
    const servers = await Promise.all(places.map((place) => place.serve(BOTH_CORES)));
    const rate = async (count: number, spell: number): Promise<number> => {
      const loads = places.slice(0, count).map((place, index) => load(place, servers[index], count, spell));
      return (await Promise.all(loads)).reduce((sum, each) => sum + each, 0);
    };
    await rate(2, WARM_UP_SECONDS);
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const one = await rate(1, seconds);
      ratios.push((await rate(2, seconds)) / one);
    }
    for (const server of servers) await server.stop();
    return [
      {
        figure: "posts/s of two servers with a file each over one, two cores shared with the generator",
        value: median(ratios),
        unit: "",
        bound: null,
      },
    ];
  } finally {
    for (const place of places) place.remove();
  }
}

async function load(
  { request }: Workplace,
  server: RunningServer | undefined,
  count: number,
  seconds: number,
): Promise<number> {
  if (server === undefined) throw new Error("there is a server for each place");
  const result = await runLoad(
    { port: server.port, core: BOTH_CORES },
    CONNECTIONS / count,
    seconds,
    request,
  );
  return result.requestsPerSecond;
}
