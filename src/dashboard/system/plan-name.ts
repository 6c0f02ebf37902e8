/** A plan's name with a capital letter; the configuration has it in small letters. */
export function planName(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1);
}
