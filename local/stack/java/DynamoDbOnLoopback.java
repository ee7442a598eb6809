import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local with its own arguments, but reachable from this machine only, and reading what describes a table once:
 * it has no option for either.
 */
public final class DynamoDbOnLoopback {
    private DynamoDbOnLoopback() {}

    public static void main(String[] given) throws Exception {
        Descriptions.readOnce();
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

    /**
     * The descriptions of tables and streams, which lie in the database as JSON. DynamoDB Local reads them anew with
     * every call, some several times: a third of its processor time.
     */
    private static final class Descriptions extends BeanDeserializerModifier {
        private static final String ACCESS = "software.amazon.dynamodb.services.local.shared.access.";
        private static final List<String> READERS = List.of("sqlite.SQLiteDBAccess", "sqlite.SQLiteDBAccessJob");
        private static final Set<String> DESCRIPTIONS =
                Set.of(ACCESS + "sqlite.TableSchemaInfo", ACCESS + "StreamInfo");

        static void readOnce() throws ReflectiveOperationException {
            for (String reader : READERS) {
                Field mapper = Class.forName(ACCESS + reader).getDeclaredField("MAPPER");
                mapper.setAccessible(true);
                SimpleModule module = new SimpleModule("descriptions");
                ((ObjectMapper) mapper.get(null)).registerModule(module.setDeserializerModifier(new Descriptions()));
            }
        }

        @Override
        public JsonDeserializer<?> modifyDeserializer(
                DeserializationConfig config, BeanDescription described, JsonDeserializer<?> found) {
            return DESCRIPTIONS.contains(described.getBeanClass().getName()) ? new ReadOnce(found) : found;
        }
    }

    /** By the bytes that are read. Everybody gets a copy: a change of a table begins with changing what was read. */
    private static final class ReadOnce extends DelegatingDeserializer {
        private static final long serialVersionUID = 1;
        private static final int MOST = 1_000;
        private final transient Map<ByteBuffer, Object> known = new ConcurrentHashMap<>();

        ReadOnce(JsonDeserializer<?> reading) {
            super(reading);
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> reading) {
            return new ReadOnce(reading);
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            if (!(json.getCurrentLocation().getSourceRef() instanceof byte[] bytes)) {
                return super.deserialize(json, context);
            }
            Object described = known.get(ByteBuffer.wrap(bytes));
            if (described == null) {
                described = super.deserialize(json, context);
                if (known.size() >= MOST) {
                    known.clear();
                }
                known.put(ByteBuffer.wrap(bytes), described);
            }
            try {
                return copyOf(described);
            } catch (ReflectiveOperationException failure) {
                throw new IOException(failure);
            }
        }

        private static Object copyOf(Object described) throws ReflectiveOperationException {
            Object copy = described.getClass().getConstructor().newInstance();
            for (Field field : described.getClass().getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    field.set(copy, copyOfPart(field.get(described)));
                }
            }
            return copy;
        }

        /** Whatever is no collection never changes. */
        private static Object copyOfPart(Object part) {
            if (part instanceof List<?> list) {
                List<Object> copy = new ArrayList<>(list.size());
                list.forEach(one -> copy.add(copyOfPart(one)));
                return copy;
            }
            if (part instanceof Map<?, ?> map) {
                Map<Object, Object> copy = new LinkedHashMap<>();
                map.forEach((key, value) -> copy.put(key, copyOfPart(value)));
                return copy;
            }
            return part;
        }
    }
}
