/* OpenTelemetry's API package keeps what was registered under this name, so that nothing has to be imported. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Runs `work` inside a span of the memory conventions (`gen_ai.operation.name`), where somebody has registered a tracer. */
export async function spanned<T>(operation: string, work: () => Promise<T>): Promise<T> {
  const tracer = (globalThis as any)[REGISTERED]?.trace?.getTracer?.("@neve/sdk");
  if (!tracer) return work();
  const span = tracer.startSpan(operation, { attributes: { "gen_ai.operation.name": operation } });
  try {
    return await work();
  } catch (error) {
    span.setAttribute("error.type", (error as { code?: string }).code ?? "error");
    span.setStatus({ code: 2 });
    throw error;
  } finally {
    span.end();
  }
}
