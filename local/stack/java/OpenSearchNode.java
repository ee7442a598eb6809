import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.index.IndexService;
import org.opensearch.index.shard.IndexSettingProvider;
import org.opensearch.plugins.Plugin;

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
            // Garbage that this collector leaves until the heap is full counts as in use: writes were refused with 429.
            settings.put("indices.breaker.total.use_real_memory", false);
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(runner)));
        runner.build(
                "-basePath", folder,
                "-clusterName", "neve",
                "-numOfNode", "1",
                "-baseHttpPort", Integer.toString(port - 1),
                "-pluginTypes", "org.opensearch.knn.plugin.KNNPlugin," + LetsGoSoon.class.getName(),
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

    /**
     * Every shard looks each quarter of a second, not each half a minute, whether it still has to keep what was
     * deleted for another copy of itself: there is none, and whoever looks for deleted words in what is stored would
     * wait for that. OpenSearch has the setting, and leaves it to others to make it known.
     */
    public static final class LetsGoSoon extends Plugin {
        @Override
        public List<Setting<?>> getSettings() {
            return List.of(IndexService.RETENTION_LEASE_SYNC_INTERVAL_SETTING);
        }

        @Override
        public Collection<IndexSettingProvider> getAdditionalIndexSettingProviders() {
            return List.of(new IndexSettingProvider() {
                @Override
                public Settings getAdditionalIndexSettings(String index, boolean ofDataStream, Settings given) {
                    return Settings.builder()
                            .put(IndexService.RETENTION_LEASE_SYNC_INTERVAL_SETTING.getKey(), "250ms")
                            .build();
                }
            });
        }
    }
}
