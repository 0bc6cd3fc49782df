/** Ostler's own version, as it introduces itself to agents; a test holds it equal to package.json. */
export const VERSION = "0.1.0";
