import java.io.IOException;
import java.io.UncheckedIOException;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/** {@code OpenSearchNode FOLDER PORT}: one node with the k-NN plugin on 127.0.0.1, which keeps its data in FOLDER. */
public final class OpenSearchNode {
    private OpenSearchNode() {}

    public static void main(String[] given) throws Exception {
        String folder = given[0];
        int port = Integer.parseInt(given[1]);
        OpenSearchRunner runner = new OpenSearchRunner();
        // Otherwise the runner tries ports until one is free, and refuses those above its own range.
        runner.setMaxHttpPort(-1);
        runner.onBuild((number, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", port);
            // No other node ever looks for this one, so any free port will do.
            settings.put("transport.port", "0");
            settings.put("discovery.type", "single-node");
            // Ingest is missing in the runner's list, and OpenSearch needs it for its own pipelines.
            settings.putList("node.roles", "cluster_manager", "data", "ingest");
            // A developer's disk that is 90 % full must not make every index read-only.
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(runner)));
        runner.build(
                "-basePath", folder,
                "-clusterName", "neve",
                "-numOfNode", "1",
                "-baseHttpPort", Integer.toString(port - 1),
                "-pluginTypes", "org.opensearch.knn.plugin.KNNPlugin",
                "-disableESLogger");
        System.out.println("READY");
        Thread.currentThread().join();
    }

    private static void close(OpenSearchRunner runner) {
        try {
            runner.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
