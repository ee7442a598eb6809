import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** DynamoDB Local with its own arguments, but reachable from this machine only: it has no option for that. */
public final class DynamoDbOnLoopback {
    private DynamoDbOnLoopback() {}

    public static void main(String[] given) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(given);
        for (Connector connector : jettyOf(proxy).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(proxy)));
        // start() would report the start to AWS before it serves.
        proxy.safeStart();
        System.out.println("READY");
        proxy.join();
    }

    private static Server jettyOf(DynamoDBProxyServer proxy) throws ReflectiveOperationException {
        Field jetty = DynamoDBProxyServer.class.getDeclaredField("server");
        jetty.setAccessible(true);
        return (Server) jetty.get(proxy);
    }

    private static void stop(DynamoDBProxyServer proxy) {
        try {
            proxy.stop();
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
