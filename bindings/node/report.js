/** Returns what happened on a cluster since an entry of its record: the story, groups with their lag, faults, the doctor's findings. */
export async function report(kafka, since) {
  const lines = [`what happened on the cluster ${kafka.bootstrapServers} in this test:`];
  for (const part of [story, groups, faults, findings]) {
    try {
      lines.push(...(await part(kafka, since)));
    } catch (error) {
      lines.push(`(a part of the report cannot be made: ${error.message})`);
    }
  }
  return lines.join("\n");
}

async function story(kafka, since) {
  const text = (await kafka.wire.story({ since })).trim();
  return text ? text.split("\n").map((line) => `  ${line}`) : ["  no request was served"];
}

async function groups(kafka) {
  const found = await kafka.groups();
  return found.map(({ groupId, state, members, lag }) => `group ${groupId}: ${state}, ${members.length} members, ${lag === null ? "unknown lag" : `lag ${lag}`}`);
}

async function faults(kafka) {
  const found = await kafka.listFaults();
  return found.map(({ fault, options, hits, missed }) => `fault ${fault} (${options}): ${hits} hits${missed && !hits ? `; ${missed}` : ""}`);
}

async function findings(kafka, since) {
  const found = await kafka.doctor({ since });
  return found.flatMap(({ name, client, problem, advice }) => [`doctor: ${name}: ${client}`, `  problem: ${problem}`, `  advice:  ${advice}`]);
}
