/** What `settings.mjs` gives the build. */
declare module "settings:policy" {
  export type Setting = {
    description?: string;
    type?: "integer" | "number" | "string" | "object";
    enum?: string[];
    default?: unknown;
    maxLength?: number;
    required?: string[];
    /** Of an object with these fields; with `enum` it is one of the names or such an object. */
    of?: Record<string, Setting>;
    /** Of one whose names are the tenant's. */
    each?: Setting;
  };
  const settings: Record<string, Setting>;
  export default settings;
}
