/** The plans that docs/configuration.md promises. */
export const BUILT_IN_PLANS = {
  hobby: {
    monthlySubmissions: 250,
    endpoints: 3,
    customSpam: false,
    heldBytes: 33_554_432,
    fileBytes: 104_857_600,
  },
  pro: {
    monthlySubmissions: 10_000,
    endpoints: 50,
    customSpam: true,
    heldBytes: 268_435_456,
    fileBytes: 5_368_709_120,
  },
  business: {
    monthlySubmissions: 250_000,
    endpoints: null,
    customSpam: true,
    heldBytes: 1_073_741_824,
    fileBytes: null,
  },
};
