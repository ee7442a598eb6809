import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * {@code EndWithParent CLASS ARGUMENT...} runs the main method of CLASS, and ends when standard input does.
 *
 * The launcher keeps the other end of the pipe open for as long as it lives. However it dies, also by a kill that it
 * cannot see coming, the system closes the pipe: so no server outlives its launcher.
 */
public final class EndWithParent {
    /** For the shutdown hooks of a server whose launcher is gone. */
    private static final long PATIENCE_MS = 10_000;

    private EndWithParent() {}

    public static void main(String[] given) throws Exception {
        inBackground(EndWithParent::endAfterInput);
        try {
            Class.forName(given[0])
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(given, 1, given.length));
        } catch (InvocationTargetException failure) {
            failure.getCause().printStackTrace();
            System.exit(1);
        }
    }

    private static void endAfterInput() {
        try {
            while (System.in.read() >= 0) {
                // Nobody sends anything: what counts is the end.
            }
        } catch (IOException closed) {
            System.err.println("Standard input failed: " + closed);
        }
        inBackground(EndWithParent::haltAfterPatience);
        System.exit(0);
    }

    private static void haltAfterPatience() {
        try {
            Thread.sleep(PATIENCE_MS);
        } catch (InterruptedException interrupted) {
            System.err.println("Interrupted: ending at once");
        }
        Runtime.getRuntime().halt(1);
    }

    private static void inBackground(Runnable work) {
        Thread thread = new Thread(work, "end-with-parent");
        thread.setDaemon(true);
        thread.start();
    }
}
