/** A plan's name as people read it: the configuration has it in small letters. */
export function planName(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1);
}
